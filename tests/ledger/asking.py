"""A small private table on disk and sessions on it, for processes that tests start, trace and kill."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

import sfumato as sf
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.protocol import Query
from sfumato.engines.ticks import SHORTEST_NS
from sfumato.ledger.ledger import Ledger
from sfumato.schema.table import Schema

BUDGET = sf.Budget(epsilon=10**6)


def write_table(folder: Path) -> None:
    ages = [20 + row % 40 for row in range(200)]
    pyarrow.parquet.write_table(pa.table({"user_id": list(range(200)), "age": ages}), folder / "people.parquet")


def open_session(folder: Path) -> sf.Session:
    return sf.protect(
        folder / "people.parquet",
        unit=sf.Person("user_id", max_rows=1),
        columns={"age": sf.Int(17, 90)},
        budget=BUDGET,
    )


class InstantEngine:
    """Counts 200 rows without looking, so that a process spends its short life in the ledger."""

    shortest_tick = SHORTEST_NS
    dialect = DUCKDB

    def version(self) -> str:
        return "v1"

    def lane(self, asked: object) -> AbstractContextManager["InstantEngine"]:
        return nullcontext(self)

    def one(self) -> "InstantEngine":
        return self

    def slot(self) -> AbstractContextManager[None]:
        return nullcontext()

    def rows(self, queries: Sequence[Query], version: str) -> list[list[tuple[int, int]]]:
        return [[(0, 200)] for _ in queries]

    def close(self) -> None:
        pass


def open_instantly(folder: Path) -> sf.Session:
    schema = Schema("people", sf.Person("user_id", max_rows=1), {"age": sf.Int(17, 90)})
    ledger = Ledger(folder / "people.ledger", schema=schema, budget=BUDGET)
    return sf.Session(schema, InstantEngine(), ledger, "analyst")


def question(number: int) -> str:
    return f"SELECT COUNT(*) AS n FROM people WHERE age <> {number}"


def append_durably(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)
