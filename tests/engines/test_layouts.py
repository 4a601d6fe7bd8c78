"""A column whose type promises other bytes than there are is refused: the engine would read beside its cells.

Cells that their own type does not allow are missing.
"""

import json
import uuid
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable
from sfumato.schema.columns import Declared, Float, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

NAME, ABOUT = b"ARROW:extension:name", b"ARROW:extension:metadata"
OF_DUCKDB = {"hugeint": 16, "uhugeint": 16, "time_tz": 8}
SIXTEEN = [number.to_bytes(16, "little") for number in (5, 1, 2, 3)]


def opaque(name: str, storage: pa.DataType, cells: list[bytes], vendor: str = "DuckDB") -> "pa.Array[Any]":
    return pa.ExtensionArray.from_storage(pa.opaque(storage, name, vendor), pa.array(cells, storage))


def said(cells: "pa.Array[Any]", name: str, about: dict[str, str] | None = None) -> pa.Table:
    """A column that another program has given a name of Arrow's, which Arrow here does not believe."""
    told = {NAME: name.encode()} | ({} if about is None else {ABOUT: json.dumps(about).encode()})
    return pa.table([cells], schema=pa.schema([pa.field("v", cells.type, metadata=told)]))


def texts(frame: object, declared: Declared | None = None) -> list[Any]:
    engine = DuckDBEngine(frame, Schema("data", Row(), {"v": declared or Text()}))
    try:
        return [cell for (cell,) in engine.run("SELECT v FROM data")]
    finally:
        engine.close()


WRONG = {
    "wide numbers of no fixed length": pa.table({"v": opaque("hugeint", pa.large_binary(), SIXTEEN)}),
    "wide numbers of eight bytes": pa.table({"v": opaque("uhugeint", pa.binary(8), [b"x" * 8] * 4)}),
    "times of no fixed length": pa.table({"v": opaque("time_tz", pa.binary(), [b"x" * 8] * 4)}),
    "a kind of the engine's that is not known here": pa.table({"v": opaque("bit", pa.binary(), [b"\0\1"] * 4)}),
    "somebody else's": pa.table({"v": opaque("hugeint", pa.binary(16), SIXTEEN, "Other")}),
    "a wide number in name": said(
        pa.array([b"x" * 16] * 2, pa.large_binary()), "arrow.opaque", {"type_name": "hugeint", "vendor_name": "DuckDB"}
    ),
    "a UUID in name": said(pa.array([b"x" * 16] * 2, pa.large_binary()), "arrow.uuid"),
    "true or false in name": said(pa.array([1, 0], pa.int64()), "arrow.bool8"),
    "the engine's own name": said(pa.array([b"x" * 16] * 2, pa.large_binary()), "duckdb.hugeint"),
    "in a list": pa.table({"v": pa.nulls(3, pa.list_(pa.opaque(pa.large_binary(), "hugeint", "DuckDB")))}),
    "in a dictionary": pa.table(
        {
            "v": pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 0], pa.int8()), opaque("hugeint", pa.large_binary(), SIXTEEN)
            )
        }
    ),
}


@pytest.mark.parametrize("frame", WRONG.values(), ids=WRONG)
def test_a_name_that_promises_other_bytes_refuses_the_table(frame: pa.Table) -> None:
    for source in (frame, pa.RecordBatchReader.from_batches(frame.schema, frame.to_batches())):
        with pytest.raises(DataUnreadable, match=r'the column "v" is of the type (arrow|duckdb)'):
            texts(source)
    assert len(texts(frame.append_column("w", pa.array([1] * len(frame))).rename_columns(["other", "v"]))) == len(frame)


def test_polars_keeps_such_a_type_and_other_bytes() -> None:
    """One row more, placed first, moved every value: they were read from where the column keeps its places."""
    for cells in (SIXTEEN, SIXTEEN[:1] + SIXTEEN):
        frame = pl.from_arrow(pa.table({"v": opaque("hugeint", pa.binary(16), cells)}))
        with pytest.raises(DataUnreadable, match=r'the column "v" is of the type arrow[.]opaque'):
            texts(frame)
        with pytest.raises(DataUnreadable, match=r'the column "v" is of the type arrow[.]opaque'):
            DuckDBEngine(frame.with_columns(n=1), Schema("data", Person("v", max_rows=1), {"n": Float(0, 1)}))


def test_types_that_are_what_they_say_are_read() -> None:
    wide = pa.table({"v": opaque("hugeint", pa.binary(16), SIXTEEN)})
    assert texts(wide) == ["5", "1", "2", "3"]
    assert texts(wide, Float(0, 9)) == [5, 1, 2, 3]
    known = uuid.UUID(int=7)
    assert texts(
        pa.table({"v": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([known.bytes], pa.binary(16)))})
    ) == [str(known)]
    assert texts(pa.table({"v": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))})) == [
        "true",
        "false",
    ]
    assert texts(pa.table({"v": pa.ExtensionArray.from_storage(pa.json_(), pa.array(['"x"', "3"]))})) == ["x", "3"]
    assert texts(said(pa.array(["x"]), "somebody.else")) == ["x"]


@pytest.mark.parametrize("digits", [9, 15, 18, 38])
def test_a_decimal_beyond_its_own_digits_is_missing(digits: int, tmp_path: Path) -> None:
    """Arrow makes such cells where it is told not to look; what the engine writes of one is any bytes."""
    numbers = [5, 10**digits, -(10**digits), 10 ** (digits - 1), -1, 10**digits - 1]
    held = [number.to_bytes(16, "little", signed=True) for number in numbers]
    cells = pa.Array.from_buffers(pa.decimal128(digits, digits), len(held), [None, pa.py_buffer(b"".join(held))])
    frame = pa.table({"v": cells})
    with duckdb.connect(str(path := tmp_path / "kept.duckdb")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM frame")
    for source in (frame, path):
        found = texts(source)
        assert found[1] is found[2] is None
        assert [cell is None for cell in found] == [False, True, True, False, False, False]
        assert found[3] == "0.1"
