"""A column whose type promises other bytes than there are is refused: the engine would read beside its cells.

Cells that their own type does not allow are missing.
"""

import json
import uuid
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pytest

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable, SfumatoError
from sfumato.schema.columns import Category, Date, Declared, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.marks import one_in

NAME, ABOUT = b"ARROW:extension:name", b"ARROW:extension:metadata"
Layer = Callable[["pa.Array[Any]"], "pa.Array[Any]"]
OF_DUCKDB = {"hugeint": 16, "uhugeint": 16, "time_tz": 8}
BLOCK = 2048  # rows that the engine works on at a time
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


def beyond(kind: pa.DataType, blocks: int) -> pa.Table:
    """A block of sound cells, then blocks of cells that have more digits than their type."""
    sound, odd = [Decimal(0)] * BLOCK, [Decimal(10) ** (kind.precision - kind.scale + 1)] * (BLOCK * blocks)
    wide = pa.array([*sound, *odd], pa.decimal128(38, kind.scale))
    return pa.table({"v": wide.cast(kind, safe=False)})


KINDS = [pa.decimal128(9, 2), pa.decimal128(4, 2), pa.decimal128(18, 3), pa.decimal64(9, 2), pa.decimal32(4, 2)]


class Named(pa.ExtensionType):  # type: ignore[misc]
    """Anybody may name a type of their own, also like one of Arrow's."""

    def __init__(self, storage: pa.DataType, name: str = "my.money") -> None:
        super().__init__(storage, name)

    def __arrow_ext_serialize__(self) -> bytes:
        return bytes(self.extension_name, "utf-8")

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> "Named":
        return cls(storage, serialized.decode())


def named(cells: "pa.Array[Any]") -> "pa.Array[Any]":
    return pa.ExtensionArray.from_storage(Named(cells.type), cells)


def runs(cells: "pa.Array[Any]", inside: Layer) -> "pa.Array[Any]":
    """Of each cell a run of its own and, behind it, all those like it."""
    found = pa.compute.run_end_encode(cells)
    return found if inside is plain else pa.RunEndEncodedArray.from_arrays(found.run_ends, inside(found.values))


def coded(cells: "pa.Array[Any]", inside: Layer) -> "pa.Array[Any]":
    found = cells.dictionary_encode()
    return pa.DictionaryArray.from_arrays(found.indices, inside(found.dictionary))


def plain(cells: "pa.Array[Any]") -> "pa.Array[Any]":
    return cells


LAYERS: dict[str, Layer] = {
    "runs": lambda cells: runs(cells, plain),
    "a dictionary": lambda cells: coded(cells, plain),
    "a type of one's own": named,
    "its own in its own": lambda cells: named(named(cells)),
    "runs of a dictionary": lambda cells: runs(cells, lambda held: coded(held, plain)),
    "runs of its own": lambda cells: runs(cells, named),
    "a dictionary of its own": lambda cells: coded(cells, named),
    "its own of runs": lambda cells: named(runs(cells, plain)),
    "its own of a dictionary": lambda cells: named(coded(cells, plain)),
    "its own of runs of a dictionary": lambda cells: named(runs(cells, lambda held: coded(held, plain))),
    "runs of its own of a dictionary": lambda cells: runs(cells, lambda held: named(coded(held, plain))),
    "runs of a dictionary of its own": lambda cells: runs(cells, lambda held: coded(held, named)),
}


def layered(layer: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: pa.table({"v": LAYERS[layer](table["v"].combine_chunks())})


HOLDERS: dict[str, Callable[[pa.Table], Any]] = {
    "a table": lambda table: table,
    "chunks": lambda table: pa.table({"v": pa.chunked_array([table["v"].combine_chunks()[:7], table["v"].slice(7)])}),
    "a batch": lambda table: table.combine_chunks().to_batches()[0],
    "a reader": lambda table: table.to_reader(),
    "a data set": pa.dataset.dataset,
    "pandas": lambda table: pd.DataFrame({"v": table["v"].to_pandas(types_mapper=pd.ArrowDtype)}),
    **{layer: layered(layer) for layer in LAYERS},
    **{f"{layer} in a reader": lambda table, layer=layer: layered(layer)(table).to_reader() for layer in LAYERS},
}


# Arrow has no dictionaries of the narrow kinds, and makes no runs of layers around cells beyond their digits.
HELD = [
    (one, kind)
    for one in HOLDERS
    for kind in KINDS
    if ("dictionary" not in one or pa.types.is_decimal128(kind)) and "runs of" not in one
]


@pytest.mark.parametrize(("holder", "kind"), HELD, ids=str)
def test_a_decimal_beyond_its_type_shows_no_other_row(kind: pa.DataType, holder: str) -> None:
    """The engine kept what a cell of another row had left there: one row was counted in all blocks behind hers."""
    found = texts(HOLDERS[holder](beyond(kind, 3)))
    assert found[:BLOCK] == ["0"] * BLOCK
    assert set(found[BLOCK:]) == {None}


def test_sound_decimals_are_read_as_before() -> None:
    cells = [Decimal("12.30"), None, Decimal("-9999999.99"), Decimal("9999999.99"), Decimal("0.01")]
    table = pa.table({"v": pa.array(cells, pa.decimal128(9, 2))})
    for holder in HOLDERS.keys() - {"pandas"}:
        assert texts(HOLDERS[holder](table)) == ["12.3", None, "-9999999.99", "9999999.99", "0.01"], holder


@pytest.mark.parametrize("names", [["V", "v"], ["v", "v"], [""], ["v\0x"]])
def test_a_name_that_the_engine_would_give_is_not_there(names: list[str]) -> None:
    frame = pa.table([pa.array([1])] * len(names), names=names)
    for declared in ("v_1", "v0", "V_1"):
        with pytest.raises(DataUnreadable if names[0] in declared else SfumatoError):
            DuckDBEngine(frame, Schema("data", Row(), {declared: Float(0, 1)}))


@pytest.mark.parametrize(
    ("storage", "name", "cells"),
    [(pa.large_binary(), "arrow.uuid", [b"x" * 16]), (pa.int64(), "arrow.bool8", [1])],
)
def test_a_type_of_somebodys_own_is_not_believed_by_its_name(storage: pa.DataType, name: str, cells: list[Any]) -> None:
    column = pa.ExtensionArray.from_storage(Named(storage, name), pa.array(cells, storage))
    with pytest.raises(DataUnreadable, match="is of the type arrow"):
        texts(pa.table({"v": column}))


DECLARED: list[Declared] = [Text(), Int(0, 9), Float(0, 9), Category(("3", "5")), Category((3, 5)), Date()]
# Of each type a cell that all others have, and an odd one.
VALUES: dict[pa.DataType, tuple[Any, Any]] = {
    pa.int8(): (5, 3),
    pa.int64(): (5, 3),
    pa.uint64(): (5, 3),
    pa.float32(): (5.0, 3.5),
    pa.float64(): (5.0, 3.5),
    pa.string(): ("5", "3 of us, written at length"),
    pa.large_string(): ("5", "3"),
    pa.binary(): (b"5", b"3"),
    pa.bool_(): (True, False),
    pa.date32(): (date(2020, 1, 2), date(1999, 1, 1)),
    pa.timestamp("us"): (datetime(2020, 1, 2, 3), datetime(1999, 1, 1)),
    pa.decimal128(9, 2): (Decimal(5), Decimal("3.5")),
    pa.decimal128(38, 2): (Decimal(5), Decimal("3.5")),
}


def all_of(frame: object) -> list[Any]:
    names = [f"c{place}" for place in range(len(VALUES) * len(DECLARED))]
    columns = dict(zip(names, DECLARED * len(VALUES), strict=True))
    engine = DuckDBEngine(frame, Schema("data", Row(), columns))
    try:
        return engine.run("SELECT * FROM data")
    finally:
        engine.close()


@pytest.mark.parametrize("layer", one_in(5, LAYERS))
def test_what_lies_in_layers_is_read_as_a_plain_column(layer: str) -> None:
    """An engine that takes one layer off shows places in a dictionary, and one row in front moves all of them."""
    for order in ([None, 1, 0, 0, None, 0], [0, 0, None, 0, 1]):
        plain: list[Any] = []
        layers: list[Any] = []
        for kind, cells in VALUES.items():
            column = pa.array([None if place is None else cells[place] for place in order], kind)
            held = LAYERS[layer](column)
            plain += [column] * len(DECLARED)
            layers += [pa.chunked_array([held.slice(1), LAYERS[layer](column[2:]), held[:0]])] * len(DECLARED)
        names = [f"c{place}" for place in range(len(plain))]
        wanted = all_of(pa.table(plain, names))
        table = pa.table(layers, names)
        for frame in (table, table.to_reader()):
            assert all_of(frame) == [*wanted[1:], *wanted[2:]]
        if layer == "runs of a dictionary of its own":  # Arrow cannot scan a data set of it
            with pytest.raises(DataUnreadable):
                all_of(pa.dataset.dataset(table))
        else:
            assert all_of(pa.dataset.dataset(table)) == [*wanted[1:], *wanted[2:]]
