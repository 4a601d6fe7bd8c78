"""What the figures about real tables are made of: ratios with their intervals, an inverted CDF, an error by its law."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from benchmarks import bars, bounds, ends
from benchmarks.bars import Column as Measured
from benchmarks.bars import Shares
from benchmarks.measure import Report
from benchmarks.rank_error import expected_error
from benchmarks.real import tables
from benchmarks.real.cases import CASES, KINDS
from benchmarks.real.peers import candidates
from benchmarks.real.ratios import Ratio, of_runs, stated
from sfumato.answers.cells import quantile
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Grid
from sfumato.query.bound import Quantile
from sfumato.query.rewrite import QuantileColumn
from tests.entropy import SeededEntropy
from tests.tables import TableMissing

HALF = Fraction(1, 2)


@pytest.mark.parametrize(("factor", "worse", "better"), [(1.0, False, False), (1.3, True, False), (0.8, False, True)])
def test_a_ratio_of_errors_is_judged_by_its_interval(factor: float, worse: bool, better: bool) -> None:
    generator = np.random.default_rng(1)
    ours, theirs = factor * np.abs(generator.normal(size=4000)), np.abs(generator.normal(size=4000))
    found = of_runs(ours, theirs)
    assert found.low < found.value < found.high
    assert (found.worse, found.better) == (worse, better)


def test_few_runs_do_not_make_an_answer_worse() -> None:
    generator = np.random.default_rng(2)
    found = of_runs(1.3 * np.abs(generator.normal(size=20)), np.abs(generator.normal(size=20)))
    assert found.high / found.low > 1.5
    assert not found.worse


def test_no_error_beside_none_is_alike_and_no_answer_is_worse() -> None:
    assert of_runs(np.zeros(9), np.zeros(9)) == stated(1.0)
    assert of_runs(np.full(9, inf), np.ones(9)).worse
    assert of_runs(np.ones(9), np.zeros(9)).worse


def test_a_cdf_is_inverted_from_both_ends_inwards() -> None:
    points = [1.0, 2.0, 3.0, 4.0]
    bars = [(0.0, 0.2), (0.3, 0.55), (0.45, 0.7), (0.8, 1.0)]
    length = Measured("", "t", "x", sf.Float(0, 4))
    assert Shares(length, points, bars).inverted(0.5) == (1.0, 4.0)
    assert Shares(length, points, bars).inverted(0.25) == (1.0, 2.0)
    assert Shares(length, points, bars).inverted(0.1) == (0.0, 2.0)
    # Up to 1 lie too few, up to 4 too many: 2, 3 or 4.
    assert Shares(Measured("", "t", "x", sf.Int(1, 4)), points, bars).inverted(0.5) == (2.0, 4.0)


def test_a_point_that_passes_beyond_one_that_does_not_is_not_believed() -> None:
    bars = [(0.0, 0.6), (0.1, 0.4), (0.9, 1.0)]
    assert Shares(Measured("", "t", "x", sf.Float(0, 3)), [1.0, 2.0, 3.0], bars).inverted(0.5) == (0.0, 3.0)


@pytest.mark.parametrize("whole", [False, True])
def test_the_expected_error_is_that_of_draws(whole: bool) -> None:
    grid = Grid(Column("x"), Fraction(-1, 2) if whole else Fraction(0), Fraction(39, 2) if whole else Fraction(20), 20)
    column = QuantileColumn("q", 0, 0, Quantile(grid, HALF, whole))
    cells = CellCounts(np.array([2, 3, 7, 15], dtype=np.int64), np.array([3, 4, 3, 6], dtype=np.int64))
    ranks = RankChoice.for_share(Fraction(1), "epsilon", 1, 1, (HALF,), grid.size)
    entropy, truth = SeededEntropy("errors"), 7.0
    errors = np.array([abs(quantile(column, ranks.choose(cells, entropy), ranks) - truth) for _ in range(1500)])
    expected = expected_error(ranks, cells, column, truth)
    deviation = errors.std() / sqrt(len(errors))
    assert abs(errors.mean() - expected) < 6 * deviation
    wrong = expected_error(RankChoice.for_share(HALF, "epsilon", 1, 1, (HALF,), grid.size), cells, column, truth)
    assert abs(errors.mean() - wrong) > 6 * deviation


@pytest.mark.parametrize(
    ("ends", "whole", "step"), [((0, 80), False, 0.005), ((-60, 300), False, 0.02), ((17, 90), True, 1)]
)
def test_candidates_of_a_peer_lie_at_round_numbers(ends: tuple[float, float], whole: bool, step: float) -> None:
    found = candidates(*ends, whole=whole)
    assert (found[0], found[-1]) == ends
    assert set(range(int(ends[0]), int(ends[1]) + 1)) <= set(found)
    assert np.allclose(np.diff(found), step)


def test_questions_about_real_tables_are_many_of_every_kind() -> None:
    by_kind = Counter(case.kind for case in CASES)
    assert set(by_kind) == set(KINDS)
    assert len(KINDS) == 8
    assert by_kind.total() >= 60
    assert min(by_kind.values()) >= 7


def test_half_of_the_widths_is_judged_as_it_is() -> None:
    """The widest is judged by what is certain of it."""
    report = Report("")
    wide = [bars.Case(Ratio(value, value / 2, value), 1.0) for value in (2.0, 3.5, 3.6)]
    bars._widths(report, "wide", wide, 3)
    assert [line[0] for line in report.missed] == ["  half of them up to"]
    column = bars.Measured("column", tuple(wide * len(bars.SPENDS)), (), (), ())
    missed = [line[0] for line in bars._alone([column], "rho").missed]
    assert [line for line in missed if line.startswith("level")] == [
        f"level {level:g}, all columns and spends: width, half of them up to" for level in (0.5, 0.9)
    ]


def test_what_people_paid_is_read_from_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PACKAGES", tmp_path / "real")
    fares = pd.read_parquet(tables.real("fares"))["fare"]
    assert (len(fares), fares.isna().sum(), fares.min(), fares.max()) == (1309, 1, 0.0, 512.3292)
    monkeypatch.setattr(tables, "PACKAGES", tmp_path / "none")
    monkeypatch.setattr(tables, "FARES", "sklearn/nothing.gz")
    with pytest.raises(TableMissing, match="make bench brings scikit-learn"):
        tables.real("fares")


# ---- bounds and ends that are found


def test_fourteen_columns_and_ages_are_measured_and_errors_of_six_against_earlier_ones() -> None:
    names = {name for names in bounds.COLUMNS.values() for name in names}
    assert len(names) == 13  # and PUMS, which is not always there
    assert set(bounds.BEFORE) == {"hours_per_week", "capital_loss", "age", "height", "bmi", "distance"} <= names
    assert {len(errors) for errors in bounds.BEFORE.values()} == {len(bounds.KINDS) * len(bounds.SPENDS)}


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of ages, few runs."""
    ages = np.random.default_rng(3).integers(20, 80, 30_000)
    monkeypatch.setattr(bounds, "real", lambda name: name)
    monkeypatch.setattr(bounds, "_read", lambda place, names: ((name, ages) for name in names))
    monkeypatch.setattr(bounds, "COLUMNS", {"adult": ("age",)})
    monkeypatch.setattr(bounds, "_peer", lambda: Report("peer"))
    for name in ("RUNS", "MORE", "MANY"):
        monkeypatch.setattr(bounds, name, 20)
    monkeypatch.setattr(ends, "RUNS", dict.fromkeys(ends.RUNS, 20))


@pytest.mark.usefixtures("_short")
def test_what_is_left_out_is_said_and_income_has_its_target(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ends, "reports", _no_reports)
    monkeypatch.setattr(bounds, "pums", lambda: None)
    report = next(bounds.run())
    assert report.left_out == [bounds.WITHOUT_PUMS]
    assert not any("PUMS" in line[0] for line in report.lines)
    report.show()
    assert "Left out: PUMS income and age" in capsys.readouterr().out
    monkeypatch.setattr(bounds, "pums", lambda: Path("PUMS.csv"))
    report = next(bounds.run())
    assert report.left_out == []
    targets = [(what.strip(), target) for what, _, target, _ in report.lines if target in ("≤ 8", "≤ 2.4")]
    assert targets == [
        ("error / where all cells were counted, most of 12", "≤ 2.4"),
        *((f"error at spend 1, {kind} in {currency}", "≤ 8") for kind in ("SUM", "AVG") for currency in "ερ"),
    ]


def _no_reports(columns: object) -> Iterator[Report]:
    del columns
    return iter(())


@pytest.mark.parametrize("whole", [False, True])
def test_truths_of_bins_and_points_are_those_of_the_rows(whole: bool) -> None:
    ordered = np.array([1, 2, 2, 3, 4, 5, 5, 9]) if whole else np.array([1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 9.0])
    below = partial(np.searchsorted, ordered)
    histogram = [{"low": 1, "high": 2 if whole else 3}, {"low": 3, "high": 4 if whole else 5}]
    assert ends.truths_of(histogram, below, len(ordered), whole=whole).tolist() == [3, 2]
    shares = ends.truths_of([{"at": 2, "share": 0.0}, {"at": 5, "share": 0.0}], below, len(ordered), whole=whole)
    assert shares.tolist() == ([3 / 8, 7 / 8] if whole else [1 / 8, 5 / 8])


@pytest.mark.usefixtures("_short")
def test_bars_between_found_ends_are_held_against_the_rows() -> None:
    ages = np.random.default_rng(3).integers(20, 80, 30_000)
    spreads, lists = ends.reports({"age": ages})
    assert not spreads.missed
    assert not lists.missed
    held = ends._measured(ages)
    assert held.held["HISTOGRAM"] == held.by_cells["HISTOGRAM"], "whole numbers have cells of their own"
    assert 0 < held.error < 0.05
    assert held.bar[0] < 1 < held.bar[1]
