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
from sfumato.answers.clipping_scan import Point, Scan, scanned
from sfumato.cli.bounds import app
from sfumato.errors import BudgetExceeded, UsageError
from sfumato.kernel.mechanisms.additive import DiscreteLaplace
from sfumato.kernel.widths import deviation
from sfumato.ledger.terms import Amount
from tests.plots.reading import read

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
    apart = deviation(DiscreteLaplace.for_epsilon(Fraction(1, 100), 100))
    assert apart == pytest.approx(14_142, rel=1e-3)
    with opened(people, tmp_path) as session:
        together = session.bounds("age", spend=1.5, upper=150).points[100].deviation
    assert together == pytest.approx(790, rel=0.02)
    assert 17 < apart / together < 19


@pytest.mark.slow
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


AGES = {"upper": 150, "rows": 20_000, "shape": lambda rng, n: np.clip(rng.gamma(8, 4.9, n).round(), 17, 90)}
WIDE = {**AGES, "upper": 1000}
INCOMES = {"upper": 1_000_000, "rows": 20_000, "shape": lambda rng, n: rng.lognormal(10.3, 0.8, n)}
SPIKE = {"upper": 100_000, "rows": 20_000, "shape": lambda rng, n: np.where(np.arange(n) < 100, 99_999.0, 0.0)}
DRAWS = 200


def bounds_drawn(case: Any, epsilon: float, rows_each: int) -> tuple[list[float | None], Any, Any]:
    """Recommendations over many seeded draws, the values, and the root mean square error of a later sum by bound."""
    rng = np.random.default_rng(3)
    values = case["shape"](rng, case["rows"])
    whole = case["upper"] <= 150
    edges = np.arange(case["upper"] + 2) - 0.5 if whole else np.linspace(0, case["upper"], 152)
    truth = np.histogram(values, edges)[0]
    ends = edges[1:] - 0.5 * whole
    noise = sqrt(2) * rows_each / epsilon
    found = []
    for _ in range(DRAWS):
        drawn = truth + rng.laplace(0, rows_each / epsilon, len(truth))
        bins = [
            {"low": low + 0.5 * whole, "high": high, "count": count}
            for low, high, count in zip(edges, ends, drawn, strict=False)
        ]
        amount = Amount(epsilon, 0.0)
        made = scanned("x", bins, noise, unit_noise=noise, cost=amount, left=amount, cached=False)
        found.append(made.recommended)
    cost = {end: sqrt(np.maximum(values - end, 0).sum() ** 2 + (noise * end) ** 2) for end in ends.tolist() if end > 0}
    return found, values, cost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "epsilon", "rows_each", "middle", "nearly_all"),
    [
        (AGES, 0.03, 5, 1.5, 2.5),
        (AGES, 0.1, 5, 1.5, 2),
        (AGES, 1, 5, 1.2, 1.6),
        (WIDE, 0.1, 5, 1.5, 4),
        (WIDE, 1, 5, 1.2, 3),
        (INCOMES, 0.1, 1, 2, 3),
        (INCOMES, 1, 1, 1.5, 3),
        (SPIKE, 1, 1, 1.1, 1.1),
    ],
)
def test_the_recommended_bound_costs_little_more_than_the_best(
    case: Any, epsilon: float, rows_each: int, middle: float, nearly_all: float
) -> None:
    found, values, cost = bounds_drawn(case, epsilon, rows_each)
    assert None not in found
    assert min(found) > np.median(values)
    ratios = np.array([cost[bound] for bound in found]) / min(cost.values())
    assert np.median(ratios) < middle
    assert np.quantile(ratios, 0.9) < nearly_all


@pytest.mark.parametrize("epsilon", [0.0001, 0.001])
def test_where_noise_hides_the_values_no_bound_is_recommended(epsilon: float) -> None:
    found, _, _ = bounds_drawn(AGES, epsilon, 5)
    assert found.count(None) > 0.9 * DRAWS


def test_values_in_the_first_bin_are_seen() -> None:
    found, _, _ = bounds_drawn({**AGES, "upper": 1_000_000}, 1, 1)
    assert found.count(pytest.approx(1_000_000 / 151)) > 0.8 * DRAWS


def test_the_words_and_the_picture_of_a_scan_with_and_without_a_bound() -> None:
    points = (Point(1.0, 5.0, 1.0), Point(2.0, 6.0, 1.0))
    seen = Scan("age", points, 2.0, Amount(1.0, 0.0), Amount(2.0, 0.0), False)
    assert seen.says().startswith("Recommended upper bound of age: 2.")
    assert [mark.x for mark in seen.chart().panels[0].marks] == [2.0]
    hidden = Scan("age", points, None, Amount(1.0, 0.0), Amount(2.0, 0.0), False)
    assert "Spend more" in hidden.says()
    assert hidden.says() in hidden.chart().panels[0].takeaway
    assert not hidden.chart().panels[0].marks
    assert hidden.to_dict()["recommended"] is None


def test_a_notebook_shows_and_draws_a_scan(people: pd.DataFrame, tmp_path: Path) -> None:
    with opened(people, tmp_path) as session:
        scan = session.bounds("age", spend=50, upper=150)
    reader = read(scan._repr_html_())
    assert [cell.text for cell in reader.all("th")] == ["bound", "sum", "±"]
    assert len(reader.all("tr")) == 1 + 14
    assert scan.says() in scan._repr_html_()
    assert "Cost epsilon 50 for all 151 sums." in scan._repr_html_()
    high, low, curve, mark = scan.plot().data
    assert list(curve.y) == [point.total for point in scan.points]
    assert [(one, two) for one, two in zip(low.y, high.y, strict=True)] == [point.interval for point in scan.points]
    assert list(mark.x) == [scan.recommended]


def test_a_person_is_paid_with_all_rows(people: pd.DataFrame, tmp_path: Path) -> None:
    people["who"] = np.arange(ROWS) // 2
    with opened(people, tmp_path, unit=sf.Person("who", max_rows=2)) as session:
        scan = session.bounds("age", spend=1.5, upper=150)
    assert scan.points[100].deviation == pytest.approx(2 * 790, rel=0.08)


@pytest.mark.parametrize(
    ("column", "given", "why"),
    [
        ("city", {"upper": 5}, "holds no numbers"),
        ("age", {}, "no declared upper bound"),
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
