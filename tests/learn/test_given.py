"""`fit(X, y)`: no cell of a table in memory decides how the cells of others are read, and nobody's cell is quoted."""

from collections import UserList, deque
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.protected import column_of

CLASSES = sf.Category(["n", "y"])
MANY = 20


def of_lists(cells: list[Any]) -> Any:
    return [[cell] for cell in cells]


def of_a_queue(cells: list[Any]) -> Any:
    return deque([cell] for cell in cells)


class Walked(UserList[Any]):
    """A sequence of its own kind."""


def of_a_sequence(cells: list[Any]) -> Any:
    return Walked([cell] for cell in cells)


def of_dicts(cells: list[Any]) -> Any:
    return [{"a": cell} for cell in cells]


def of_objects(cells: list[Any]) -> Any:
    made = np.empty((len(cells), 1), dtype=object)
    for place, cell in enumerate(cells):
        made[place, 0] = cell
    return made


class OwnFrame(pd.DataFrame):
    @property
    def _constructor_sliced(self) -> Any:
        return OwnSeries


class OwnSeries(pd.Series):  # type: ignore[type-arg]
    """Somebody's class in a module of their own."""


class OwnColumn(pl.Series):
    """Likewise."""


class Turns:
    """Has rows, and turns itself into an array."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)


class Stands:
    """Stands for a table, as narwhals' frames do."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def to_native(self) -> Any:
        return self.table

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise AssertionError


def of_pandas(cells: list[Any]) -> Any:
    return pd.DataFrame({"a": pd.Series(of_objects(cells)[:, 0], dtype=object)})


WAYS = [of_lists, of_a_queue, of_a_sequence, of_dicts, of_objects, of_pandas]
CELLS: list[tuple[Any, Any]] = [
    (1.0, sf.Category(["1", "2"])),
    (True, sf.Category(["true", "false"])),
    (True, sf.Int(0, 1)),
    (np.bool_(True), sf.Int(0, 1)),
    (2**53 + 1, sf.Int(2**53 - 5, 2**53 + 5)),
    (np.datetime64("2020-01-02"), sf.Date("2020-01-01", "2020-01-31")),
    (Fraction(1, 2), sf.Float(0, 1)),
]
STRANGERS = [
    "x",
    0.5,
    None,
    7,
    2**70,
    b"\xff",
    date(2020, 1, 2),
    np.datetime64("2020-01-02T03:04:05.123456789"),
    [1, 2],
]


def rows_of(tmp_path: Path, X: Any, y: Any, columns: dict[str, Any]) -> tuple[int, ...]:
    """The rows in each cell of the column, with so little noise that it is none."""
    place = tmp_path / f"{len(list(tmp_path.iterdir()))}.ledger"
    model = sf.learn.NaiveBayes("y", spend=60, columns=columns, ledger=place).fit(X, y)
    found: tuple[int, ...] = model.model_.fitted.rows[0]  # type: ignore[union-attr]
    return found


def moved(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    return sum(abs(one - other) for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(("cell", "declared"), CELLS, ids=lambda value: repr(value)[:20])
def test_one_row_more_moves_one_row(way: Callable[[list[Any]], Any], cell: Any, declared: Any, tmp_path: Path) -> None:
    columns, y = {"a": declared, "y": CLASSES}, ["n", "y"] * (MANY // 2)
    before = rows_of(tmp_path, way([cell] * MANY), y, columns)
    for stranger in STRANGERS:
        after = rows_of(tmp_path, way([*[cell] * MANY, stranger]), [*y, "n"], columns)
        assert moved(before, after) <= 1, stranger


@pytest.mark.parametrize(
    ("classes", "kinds"), [([1.0, 2.0], ["1", "2"]), ([True, False], ["true", "false"]), ([1, 2], [1, 2])]
)
@pytest.mark.parametrize("stranger", ["x", 0.5, None, b"\xff", 2**70, date(2020, 1, 2)])
def test_one_class_more_changes_no_other(classes: Any, kinds: Any, stranger: Any, tmp_path: Path) -> None:
    columns = {"a": sf.Int(0, 1), "y": sf.Category(kinds)}
    y = classes * (MANY // 2)
    before = rows_of(tmp_path, [[1]] * MANY, y, columns)
    after = rows_of(tmp_path, [[1]] * (MANY + 1), [*y, stranger], columns)
    assert before == (0, MANY, 0), "all classes are read"
    assert moved(before, after) <= 1


def test_twin_a_library_that_looks_for_a_common_type_reads_all_rows_otherwise() -> None:
    cells = [*[1.0] * MANY, "x"]
    assert pa.array(np.asarray(cells).tolist()).to_pylist()[0] == "1.0"
    assert column_of(cells).to_pylist() == [*["1"] * MANY, "x"]


class Shy:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("secret 4711")


class Torn(list[Any]):
    def __len__(self) -> int:
        raise RuntimeError("secret 4711")


@pytest.mark.parametrize("ordinary", [Decimal(1), "a", 2.5])
def test_a_cell_that_raises_when_it_is_looked_at_stops_no_other(ordinary: Any) -> None:
    for cell in (Shy, lambda: Torn([1])):
        few = [ordinary] * 3
        more = [*few, cell()]
        assert column_of(more).to_pylist()[:3] == column_of(few).to_pylist()
        assert column_of(of_pandas(more)).to_pylist()[:3] == column_of(of_pandas(few)).to_pylist()


def test_what_is_behind_a_mask_is_missing(tmp_path: Path) -> None:
    masked = np.ma.array([[1]] * MANY + [[0]], mask=[[False]] * MANY + [[True]])
    columns, y = {"a": sf.Int(0, 1), "y": CLASSES}, ["n", "y"] * (MANY // 2) + ["n"]
    assert rows_of(tmp_path, masked, y, columns) == (0, MANY, 1)
    assert column_of(masked).to_pylist() == ["1"] * MANY + [None]


@pytest.mark.parametrize("given", ["text", b"bytes", {"a": [1]}, 7, [1, 2]])
def test_what_has_no_rows_is_refused_in_words(given: Any, tmp_path: Path) -> None:
    with pytest.raises(SfumatoError, match="row"):
        rows_of(tmp_path, given, ["n"], {"a": sf.Int(0, 1), "y": CLASSES})


LARGE = [2**60 + 1, 3]


@pytest.mark.parametrize(
    "made",
    [
        lambda cells: OwnSeries(cells, dtype="Int64"),
        lambda cells: OwnSeries(cells, dtype="int64[pyarrow]"),
        lambda cells: OwnFrame({"y": pd.array(cells, dtype="Int64")}),
        lambda cells: pd.array(cells, dtype="Int64"),
        lambda cells: pd.Index(cells, dtype="Int64"),
        lambda cells: OwnColumn("y", cells, dtype=pl.Int64),
    ],
    ids=["own series", "own series of Arrow's", "own frame", "array", "index", "own column of Polars"],
)
def test_a_class_of_ones_own_has_the_type_of_the_one_it_comes_from(made: Any) -> None:
    """Twin: NumPy makes doubles of whole numbers of which one is missing."""
    assert [int(cell) for cell in column_of(made(LARGE)).to_pylist()] == LARGE
    assert [int(cell) for cell in column_of(made([*LARGE, None])).to_pylist()[:2]] == LARGE
    assert int(pl.Series([*LARGE, None]).to_numpy()[0]) != LARGE[0]


def test_a_frame_of_ones_own_is_read_as_its_own_kind(tmp_path: Path) -> None:
    columns, y = {"a": sf.Category([2**60 + 1, 2**60 + 3]), "y": CLASSES}, ["n", "y"] * (MANY // 2)
    for made in (OwnFrame, Stands, lambda table: Stands(pl.from_pandas(table).lazy())):
        few = pd.DataFrame({"a": pd.array([2**60 + 1] * MANY, dtype="Int64")})
        more = pd.DataFrame({"a": pd.array([2**60 + 1] * MANY + [None], dtype="Int64")})
        table = (lambda one: Stands(one)) if made is Stands else made
        assert rows_of(tmp_path, table(few), y, columns) == (MANY, 0, 0)
        assert rows_of(tmp_path, table(more), [*y, "n"], columns) == (MANY, 0, 1)


def test_what_only_turns_itself_into_an_array_is_refused_by_its_class(tmp_path: Path) -> None:
    columns = {"a": sf.Int(0, 1), "y": CLASSES}
    for X, y in ((Turns([[1]] * 4), ["n", "y"] * 2), ([[1]] * 4, Turns(["n", "y"] * 2))):
        with pytest.raises(SfumatoError, match="a value of type Turns"):
            rows_of(tmp_path, X, y, columns)


@pytest.mark.parametrize(
    "given", [pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2])], ids=lambda one: type(one).__module__
)
def test_a_column_is_no_table(given: Any, tmp_path: Path) -> None:
    with pytest.raises(SfumatoError, match="row"):
        rows_of(tmp_path, given, ["n", "y"], {"a": sf.Int(0, 1), "y": CLASSES})


class RaisingKey:
    def __str__(self) -> str:
        raise RuntimeError("secret 4711")

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "row", [Torn([1]), {RaisingKey(): 1}, np.array(1), None, range(1)], ids=lambda row: type(row).__name__
)
def test_what_is_no_row_is_refused_in_words(row: Any, tmp_path: Path) -> None:
    for rows in ([[1], row], [{"a": 1}, row]):
        with pytest.raises(SfumatoError) as told:
            rows_of(tmp_path, rows, ["n", "y"], {"a": sf.Int(0, 1), "y": CLASSES})
        assert "4711" not in str(told.value)


def test_a_label_of_a_row_is_no_attribute(tmp_path: Path) -> None:
    labels = ["Ann", "columns", "collect", "to_native"]
    columns = {"a": sf.Int(0, 1), "y": CLASSES}
    classes = pd.Series(["n", "y"] * 2, index=labels)
    assert column_of(classes).to_pylist() == ["n", "y"] * 2
    assert rows_of(tmp_path, pd.DataFrame({"a": [1] * 4}, index=labels), classes, columns) == (0, 4, 0)
    with pytest.raises(SfumatoError, match="row"):
        rows_of(tmp_path, pd.Series([1] * 4, index=labels), classes, columns)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_times_behind_a_mask_are_missing(unit: str) -> None:
    times = np.ma.array(np.array(["2020-01-02", "2020-01-03"], dtype=f"datetime64[{unit}]"), mask=[False, True])
    assert [None if cell is None else str(cell)[:10] for cell in column_of(times).to_pylist()] == ["2020-01-02", None]


class Rude:
    def __iter__(self) -> Any:
        raise ValueError("secret 4711")


def test_what_cannot_be_read_is_refused_without_a_cell() -> None:
    with pytest.raises(SfumatoError) as told:
        column_of(Rude())
    assert "4711" not in str(told.value)


@pytest.mark.parametrize(
    "given",
    [
        np.array([1, 2]), np.array([[1], [2]]), np.array([1.0, 2.0], dtype=np.float16), [1, 2], [[1], [2]],
        pd.Series([1, 2]), pd.DataFrame({"y": [1, 2]}), pl.Series([1, 2]), pl.DataFrame({"y": [1, 2]}),
        pa.array([1, 2]), pa.chunked_array([[1], [2]]), pa.array(np.array([1, 2], dtype=np.float16)),
    ],
    ids=lambda given: type(given).__module__ + type(given).__name__,
)  # fmt: skip
def test_all_ways_to_hand_over_a_column_say_the_same(given: Any) -> None:
    assert [float(cell) for cell in column_of(given).to_pylist()] == [1.0, 2.0]


def test_days_are_days() -> None:
    assert str(column_of(np.array(["2020-01-02", "NaT"], dtype="datetime64[D]")).to_pylist()[0])[:10] == "2020-01-02"


def test_tables_of_all_kinds_go_the_same_way(tmp_path: Path) -> None:
    table = pa.table({"a": [1] * MANY, "y": ["n", "y"] * (MANY // 2)})
    columns = {"a": sf.Int(0, 1), "y": CLASSES}
    for given in (table, table.to_pandas(), pl.from_arrow(table), pl.from_arrow(table).lazy()):  # type: ignore[union-attr]
        assert rows_of(tmp_path, given, None, columns) == (0, MANY, 0)
