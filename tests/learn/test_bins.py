"""Bins come from declarations alone; an engine and a model put every value into the same one."""

from datetime import date
from fractions import Fraction
from math import inf, nan, nextafter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.errors import Refused, UsageError
from sfumato.kernel.certify import certify
from sfumato.learn.bins import Line, Listed, binned
from sfumato.learn.frames import codes_of, scaled_of, steps_of
from sfumato.learn.scaled import scaled
from sfumato.plan.expressions import Column, RangeKey
from sfumato.plan.nodes import CountRows, Measure, Plan
from sfumato.plan.sources import Computed, Rows
from tests.learn.people import COLUMNS, FEATURES, opened, people


def engine_codes(folder: Path, declared: Any, values: list[Any], kind: Any = None) -> list[int]:
    """The cell that the engine puts each value in, one row a value."""
    table = pa.table({"row": list(range(len(values))), "x": pa.array(values, kind)})
    columns = {"row": sf.Int(0, len(values) - 1), "x": declared}
    ledger = folder / f"{abs(hash((str(declared), len(values))))}.ledger"
    with sf.protect(table, unit=sf.Row(), columns=columns, budget=sf.Budget(1), ledger=ledger, table="t") as session:
        one = binned("x", declared)
        kept = (Computed("row", Column("row"), columns["row"]), Computed("x", one.code, sf.Int(0, one.size - 1)))
        keys = (RangeKey(Column("row"), 0, len(values) - 1), RangeKey(Column("x"), 0, one.size - 1))
        plan = Plan(Rows("t", None, kept), sf.Row(), None, keys, (Measure(CountRows(), "laplace", Fraction(1)),))
        certified = certify(plan, session.schema, "epsilon")
        found = look(session._engine, certified.countings, written(certified, session._engine.dialect))
    counts = np.array([row[0] for row in found.entries]).reshape(len(values), one.size)
    assert (counts.sum(axis=1) == 1).all(), "every row is in one cell"
    return counts.argmax(axis=1).tolist()


def around(numbers: list[float]) -> list[float]:
    return [x for one in numbers for x in (nextafter(one, -inf), one, nextafter(one, inf))]


REALS = [
    sf.Float(-1, 1),
    sf.Float(0.1, 0.7),
    sf.Float(-1e6, 3),
    sf.Float(0, 100_000),
    sf.Float(10**15, 10**15 + 3),
    sf.Float(10**9, 10**9 + 1e-6),
]


@pytest.mark.parametrize("declared", REALS, ids=str)
def test_every_real_falls_into_the_same_cell_for_engine_and_model(tmp_path: Path, declared: sf.Float) -> None:
    feature = binned("x", declared).feature
    assert isinstance(feature.cells, Line)
    lower, upper = float(declared.lower), float(declared.upper)
    inside = np.linspace(lower - 1, upper + 1, 301).tolist()
    values = [*around([*feature.cells.cuts, lower, upper]), *inside, inf, -inf, nan, None, 0.0, -0.0]
    expected = codes_of(pa.table({"x": pa.array(values, pa.float64())}), [feature])[:, 0].tolist()
    assert engine_codes(tmp_path, declared, values, pa.float64()) == expected
    assert max(expected) == feature.size - 1


WHOLE = [
    sf.Int(17, 90), sf.Int(0, 5), sf.Int(0, 99_999), sf.Int(-40, 1000), sf.Int(3, 10**9), sf.Int(0, 10**12),
    sf.Int(-(10**9), 10**9), sf.Int(-(1 << 62), 1 << 62),
    sf.Int(10**18, 10**18 + 1000),
]  # fmt: skip


@pytest.mark.parametrize("declared", WHOLE, ids=str)
def test_every_whole_number_falls_into_the_same_cell(tmp_path: Path, declared: sf.Int) -> None:
    feature = binned("x", declared).feature
    assert isinstance(feature.cells, Line)
    ends = [int(declared.lower), int(declared.upper)]
    near = [int(cut) + step for cut in feature.cells.cuts for step in (-1, 0, 1)]
    values = [*near, *(end + step for end in ends for step in (-2, -1, 0, 1, 2)), None, 7, 100]
    expected = codes_of(pa.table({"x": pa.array(values, pa.int64())}), [feature])[:, 0].tolist()
    assert engine_codes(tmp_path, declared, values, pa.int64()) == expected
    assert set(range(feature.size)) <= {*expected, feature.size - 1}, "no cell is empty"


def test_halves_of_whole_numbers_fall_into_the_same_cell(tmp_path: Path) -> None:
    """Columns of doubles that are declared as whole numbers, as pandas has them where one is missing."""
    halves = [place / 4 for place in range(-9, 48)]
    for declared in (sf.Category([3, 1, 2, -1]), sf.Int(-1, 9), sf.Int(0, 5), sf.Int(0, 99_999), sf.Int(-40, 1000)):
        values = [*halves, *(around([0.5, 1.5, 2.5])), 1e300, -1e300, nan, None]
        feature = binned("x", declared).feature
        expected = codes_of(pa.table({"x": pa.array(values, pa.float64())}), [feature])[:, 0].tolist()
        assert engine_codes(tmp_path, declared, values, pa.float64()) == expected


def test_values_of_a_category_and_days(tmp_path: Path) -> None:
    for declared, values in (
        (sf.Category(["a", "b'c", "ü"]), ["a", "b'c", "ü", "A", "", None, "zz"]),
        (sf.Category([3, 1, 2]), [1, 2, 3, 4, None, -1]),
        (sf.Category([True, False]), [True, False, None]),
        (sf.Date("2020-01-01", "2020-12-31"), [date(2019, 1, 1), date(2020, 1, 12), date(2020, 12, 31), None]),
        (sf.Date("2020-01-01", "2020-01-05"), [date(2020, 1, day) for day in range(1, 7)]),
    ):
        feature = binned("x", declared).feature
        expected = codes_of(pa.table({"x": values}), [feature])[:, 0].tolist()
        assert engine_codes(tmp_path, declared, values) == expected


def test_which_cells_a_declaration_has() -> None:
    sizes = {name: binned(name, COLUMNS[name]).feature.size for name in FEATURES}
    assert sizes == {
        "age": 33, "kids": 7, "wealth": 64, "mood": 33, "debt": 46, "city": 6, "grade": 4, "member": 3, "since": 33,
    }  # fmt: skip
    assert binned("age", sf.Int(17, 90), 1999).feature.size == 17, "of few expected rows fewer cells"
    assert binned("x", sf.Int(0, 99_999)).feature.cells.cuts[:12] == (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
    labels = binned("x", sf.Int(0, 99_999)).feature.cells
    assert [labels.label(cell) for cell in (0, 8, 62, 63)] == ["below 1", "8 to 9", "98304 and more", "missing"]
    days = binned("x", sf.Date("2020-01-01", "2020-12-31")).feature.cells
    assert days.label(1) == "2020-01-12 to 2020-01-23"
    assert Listed((True, False)).label(0) == "true"
    assert binned("x", sf.Int(0, 1)).feature.cells.label(0) == "below 1"
    assert binned("x", sf.Int(0, 1)).feature.cells.label(1) == "1 and more"
    reals = binned("x", sf.Float(0, 1)).feature.cells
    assert [reals.label(cell) for cell in (1, 32)] == ["0.03125 to below 0.0625", "missing"]
    assert Line((), "real").label(0) == "any"


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (sf.Text(), "is free text"),
        (sf.Identifier(), "names people"),
        (sf.Int(), "has no bounds"),
        (sf.Float(private_bounds=0.3), "has no bounds"),
        (sf.Date(), "has no bounds"),
    ],
    ids=str,
)
def test_what_has_no_public_bins_is_refused(declared: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        binned("x", declared)


def test_bins_do_not_look_at_rows(tmp_path: Path) -> None:
    """The same declarations on two tables that have nothing in common: the same features."""
    features = []
    for name, table in (("a", people(50)), ("b", people(50, seed=8).slice(0, 1))):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name, table) as session:
            model = sf.learn.NaiveBayes("y", spend=1).fit(session)
            features.append(model.model_.features)
    assert features[0] == features[1]


# ---- tables that people bring


def test_tables_of_every_kind_have_the_same_codes() -> None:
    table = people(200).drop_columns(["y", "id"])
    features = [binned(name, COLUMNS[name]).feature for name in FEATURES]
    expected = codes_of(table, features)
    assert expected.shape == (200, len(FEATURES))
    assert (codes_of(table.to_pandas(), features) == expected).all()
    assert (codes_of(pl.from_arrow(table), features) == expected).all()
    assert (codes_of(table.to_pylist(), features) == expected).all()
    shuffled = table.select(FEATURES[::-1]).append_column("more", pa.array([0] * 200))
    assert (codes_of(shuffled, features) == expected).all(), "columns go by their names"
    objects = np.array([[row[name] for name in FEATURES] for row in table.to_pylist()], dtype=object)
    assert (codes_of(objects, features) == expected).all(), "and in an array by their places"
    categorical = table.to_pandas().astype({"city": "category"})
    assert (codes_of(categorical, features) == expected).all()
    assert codes_of(table.slice(0, 0), features).shape == (0, len(FEATURES))
    floats = pd.DataFrame({"grade": [1.0, 2.0, nan, 2.5]})
    assert codes_of(floats, [binned("grade", COLUMNS["grade"]).feature])[:, 0].tolist() == [0, 1, 3, 1], (
        "halves go to the even number, as engines read them"
    )


def test_a_table_that_does_not_fit_is_refused() -> None:
    features = [binned(name, COLUMNS[name]).feature for name in ("age", "since")]
    with pytest.raises(UsageError, match='no column "since"'):
        codes_of(pa.table({"age": [1]}), features)
    with pytest.raises(UsageError, match='"age" is not of the kind'):
        codes_of(pa.table({"age": ["old"], "since": [date(2020, 1, 1)]}), features)
    with pytest.raises(UsageError, match='"age" is not of the kind'):
        codes_of(pa.table({"age": [date(2020, 1, 1)], "since": [date(2020, 1, 1)]}), features)
    with pytest.raises(UsageError, match="X has 3 features, but Sfumato is expecting 2"):
        codes_of(np.zeros((2, 3)), features)
    with pytest.raises(UsageError, match="X is no table"):
        codes_of(np.zeros(3), features)
    assert codes_of(pa.table({"age": ["20", None], "since": ["2020-01-01", None]}), features).tolist() == [
        [1, 25],
        [32, 32],
    ]


def test_what_is_infinite_counts_as_at_the_bound_as_engines_count_it() -> None:
    """What is missing, and no number, is missing."""
    table = pa.table({"x": [inf, 9.0, -inf, -9.0, nan, None]})
    codes = codes_of(table, [binned("x", sf.Float(-2, 3)).feature])[:, 0].tolist()
    assert codes == [31, 31, 0, 0, 32, 32]
    span = [scaled("x", sf.Float(-2, 3), 127).feature]
    for told in (scaled_of(table, span)[:, 0], steps_of(table, span, 127)[:, 0] / 127):
        assert told[:4].tolist() == [1, 1, -1, -1]
        assert np.isnan(told[4:]).all()
