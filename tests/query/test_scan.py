"""The clipping scan: every clipped sum from one release, with 18 times less noise than one release for each."""

import json
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.bounds import app
from sfumato.errors import BudgetExceeded, UsageError
from sfumato.kernel.mechanisms import DiscreteLaplace

ROWS = 3_000


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame({"age": rng.integers(17, 91, ROWS), "weight": rng.uniform(-5, 110, ROWS), "city": ["x"] * ROWS})


def opened(people: pd.DataFrame, folder: Path, epsilon: float = 1000, unit: Any = None) -> sf.Session:
    return sf.protect(
        people,
        unit=unit or sf.Row(),
        columns={"age": sf.Int(), "weight": sf.Float(-5, 120), "city": sf.Text()},
        budget=sf.Budget(epsilon=epsilon),
        ledger=folder / "people.ledger",
        table="people",
    )


def true_sum(values: Any, bound: float) -> float:
    return float(np.clip(values, 0, bound).sum())


def test_the_whole_curve_costs_one_question(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people, tmp_path, 1) as session:
        scan = session.bounds("AGE", spend=0.5, upper=150)
        assert [point.bound for point in scan.points] == list(range(151))
        assert (scan.column, scan.cached, scan.cost.epsilon, scan.left.epsilon) == ("age", False, 0.5, 0.5)
        assert scan.points[0].total == 0
        assert len(session.history()) == 1
        again = session.bounds("age", spend=0.5, upper=150)
        assert again.cached
        assert (again.points, again.recommended) == (scan.points, scan.recommended)
        with pytest.raises(BudgetExceeded):
            session.bounds("age", spend=0.6, upper=150)


def test_noise_is_18_times_smaller_than_that_of_150_sums(people: pd.DataFrame, tmp_path: Path) -> None:
    """150 noisy sums at ε 0.01 each against one histogram at the same total of 1.5, at the bound 100."""
    apart = DiscreteLaplace.for_epsilon(Fraction(1, 100), 100).deviation()
    assert apart == pytest.approx(14_142, rel=1e-3)
    with opened(people, tmp_path) as session:
        together = session.bounds("age", spend=1.5, upper=150).points[100].deviation
    assert together == pytest.approx(790, rel=0.02)
    assert 17 < apart / together < 19


def test_the_error_band_is_as_wide_as_the_errors(people: pd.DataFrame, tmp_path: Path) -> None:
    errors = []
    for run in range(40):
        folder = tmp_path / str(run)
        folder.mkdir()
        with opened(people, folder) as session:
            point = session.bounds("age", spend=1.5, upper=150).points[100]
            errors.append((point.total - true_sum(people.age, 100)) / point.deviation)
    assert abs(np.mean(errors)) < 6 / sqrt(40)
    assert 0.4 < np.std(errors) < 1.7


def test_the_recommended_bound_is_near_the_largest_value(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people, tmp_path) as session:
        assert 80 <= session.bounds("age", spend=50, upper=150).recommended <= 90
        scan = session.bounds("weight", spend=100, points=50)
        assert len(scan.points) == 51
        assert scan.points[-1].bound == 120
        assert scan.points[-1].total == pytest.approx(true_sum(people.weight, 120), rel=0.02)
        assert 95 <= scan.recommended <= 115


def test_a_person_is_paid_with_all_rows(people: pd.DataFrame, tmp_path: Path) -> None:
    people["who"] = np.arange(ROWS) // 2
    with opened(people, tmp_path, unit=sf.Person("who", max_rows=2)) as session:
        scan = session.bounds("age", spend=1.5, upper=150)
    assert scan.points[100].deviation == pytest.approx(2 * 790, rel=0.08)


@pytest.mark.parametrize(
    ("column", "given", "why"),
    [
        ("city", {"upper": 5}, "holds no numbers"),
        ("age", {}, "no public upper end"),
        ("age", {"upper": -1}, "upper"),
        ("age", {"upper": 9, "points": 1}, "points"),
        ("age", {"upper": 9, "points": 1000}, "points"),
        ("age", {"upper": 9, "points": 2.5}, "points"),
        ("age", {"upper": 9, "spend": None}, "spend"),
    ],
)
def test_what_is_refused(people: pd.DataFrame, tmp_path: Path, column: str, given: Any, why: str) -> None:
    with opened(people, tmp_path) as session, pytest.raises(UsageError, match=why):
        session.bounds(column, **{"spend": 1, **given})


@pytest.fixture
def policy(people: pd.DataFrame, tmp_path: Path) -> str:
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "people.toml").write_text(
        '[data]\nsource = "people.csv"\n[unit]\nkind = "row"\n[budget]\nepsilon = 3\n'
        '[columns]\nage = { type = "int" }\n'
    )
    return str(tmp_path / "people.toml")


def test_the_command_prints_and_draws(policy: str, tmp_path: Path) -> None:
    run = CliRunner()
    page = tmp_path / "bounds.html"
    arguments = [policy, "age", "--spend", "1", "--upper", "150"]
    first = run.invoke(app, [*arguments, "--plot", str(page)])
    assert first.exit_code == 0, first.output
    assert "Recommended upper bound of age: " in first.output
    assert "Cost epsilon 1 for all 151 sums." in first.output
    assert "Bounds for age" in page.read_text(encoding="utf-8")
    said = json.loads(run.invoke(app, [*arguments, "--format", "json"]).output)
    assert said["cached"] is True
    assert len(said["points"]) == 151
    lines = run.invoke(app, [*arguments, "--format", "csv"]).output.splitlines()
    assert lines[0] == "bound,sum,plus_minus"
    assert len(lines) == 152
    assert "free" in run.invoke(app, arguments).output
