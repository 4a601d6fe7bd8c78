"""Corners of the engine's tables that few columns reach: encodings of Arrow, texts that are none, names like ours."""

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.frames import _arrow, _objects, column_of
from sfumato.engines.duckdb.further_tables import LOADED
from sfumato.errors import EngineFailed, Refused
from sfumato.schema.columns import Int
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

SCHEMA = Schema("t", Row(), {"x": Int(0, 9)})


def test_columns_of_arrow_that_pandas_holds() -> None:
    runs: Any = pc.run_end_encode(pa.array([1, 1, 2]))
    assert _arrow(runs, is_id=False).to_pylist() == [1, 1, 2]
    assert _arrow(pa.array([b"a", None, b"\xff"]), is_id=False).to_pylist() == ["a", None, None]
    days = _arrow(pa.array([date(2020, 2, 29), None], pa.date32()), is_id=False)
    assert [None if cell is None else str(cell)[:10] for cell in days.to_pylist()] == ["2020-02-29", None]


def test_texts_that_are_none_are_missing_one_by_one() -> None:
    assert _objects(pd.Series(["a", "\ud800", None], dtype=object), is_id=False).to_pylist() == ["a", None, None]


def test_what_is_refused_while_a_column_is_read_stays_refused() -> None:
    class Refusing:
        def __iter__(self) -> Any:
            raise Refused("no.", "Never.")

    with pytest.raises(Refused, match="no"):
        column_of(Refusing())


def test_a_copy_is_dropped_where_something_fails_beside_it() -> None:
    engine = DuckDBEngine(pa.table({"x": [1, 2]}), SCHEMA)
    copy = engine.kept("t", SCHEMA, engine.version())
    name = copy.__enter__()
    assert engine.run(f"SELECT COUNT(*) FROM {name}") == [(2,)]
    assert not copy.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    with pytest.raises(EngineFailed):
        engine.run(f"SELECT * FROM {name}")
    engine.close()


def test_a_table_named_like_our_own_is_loaded_beside_them(tmp_path: Path) -> None:
    pd.DataFrame({"who": [1], "y": [3]}).to_parquet(tmp_path / "y.parquet")
    mine = f"{LOADED}0"
    other = Table(tmp_path / "y.parquet", {"y": Int(0, 9)})
    schema = Schema("t", Person("who", 2, 2), {"x": Int(0, 9)}, tables={mine: other})
    engine = DuckDBEngine(pa.table({"who": [1], "x": [2]}), schema)
    assert engine.run(f"SELECT y FROM {mine}") == [(3,)]
    engine.close()
