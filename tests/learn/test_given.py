"""`fit(X, y)`: no cell of a table in memory decides how the cells of others are read, and nobody's cell is quoted."""

from collections.abc import Callable
from datetime import date
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


def of_dicts(cells: list[Any]) -> Any:
    return [{"a": cell} for cell in cells]


def of_objects(cells: list[Any]) -> Any:
    made = np.empty((len(cells), 1), dtype=object)
    for place, cell in enumerate(cells):
        made[place, 0] = cell
    return made


def of_pandas(cells: list[Any]) -> Any:
    return pd.DataFrame({"a": pd.Series(of_objects(cells)[:, 0], dtype=object)})


WAYS = [of_lists, of_dicts, of_objects, of_pandas]
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
