"""The clipping scan: every clipped sum from one release, with 18 times less noise than one release for each."""

import json
from fractions import Fraction
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.answers.clipping_line import ClippingLine, clipping_line
from sfumato.answers.clipping_scan import Point, Scan, scanned
from sfumato.cli.bounds import app
from sfumato.errors import BudgetExceeded, UsageError
from sfumato.kernel.cost import rho_for
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.widths import deviation
from sfumato.ledger.terms import Amount
from tests.entropy import SeededEntropy
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
        assert 100 < scan.recommended <= 120  # bounds are a fifth apart


AGES = {"upper": 150, "rows": 20_000, "shape": lambda rng, n: np.clip(rng.gamma(8, 4.9, n).round(), 17, 90)}
WIDE = {**AGES, "upper": 1000}
INCOMES = {"upper": 1_000_000, "rows": 20_000, "shape": lambda rng, n: rng.lognormal(10.3, 0.8, n)}
SPIKE = {"upper": 100_000, "rows": 20_000, "shape": lambda rng, n: np.where(np.arange(n) < 100, 99_999.0, 0.0)}
DRAWS = 200


def measured_on(line: ClippingLine, amount: Fraction, currency: str, rows_each: int = 1) -> Additive:
    """As a scan is measured: running totals with Gaussian noise, or cells with Laplace noise."""
    strategy = Strategy("roots", line.size) if currency == "rho" else None
    most, squared = (1, 1) if strategy is None else (strategy.most, strategy.spread_squared)
    return Additive.for_share(
        amount,
        currency,
        rows_each * most,
        rows_each**2 * squared,
        line.size,
        strategy,  # type: ignore[arg-type]
    )


def scan_of(
    values: Any, line: ClippingLine, measured: Additive, entropy: Entropy, unit_noise: float, clean: bool = False
) -> Scan:
    """What would be released of these values, and what is made of it."""
    cells = np.searchsorted(np.array(line.ends), np.clip(values, 0, line.upper), side="left")
    falling = np.bincount(cells, minlength=line.size)[::-1]
    answers = falling if measured.strategy is None else measured.strategy.answers(falling)
    noisy = answers + (0 if clean else measured.law.draw(len(answers), entropy))
    amount = Amount(1, 0.0)
    return scanned("x", line, noisy.tolist(), measured, unit_noise=unit_noise, cost=amount, left=amount, cached=False)


def bounds_drawn(case: Any, epsilon: float, rows_each: int) -> tuple[list[float | None], Any, Any]:
    """Recommendations over many seeded draws, the values, and the root mean square error of a later sum by bound."""
    rng, entropy = np.random.default_rng(3), SeededEntropy("3")
    values = case["shape"](rng, case["rows"])
    whole = case["upper"] <= 1000
    line = clipping_line(sf.Int(0, case["upper"]) if whole else sf.Float(0, case["upper"]), 150)
    noise = sqrt(2) * rows_each / epsilon
    measured = measured_on(line, Fraction(str(epsilon)), "epsilon", rows_each)
    found = [scan_of(values, line, measured, entropy, noise).recommended for _ in range(DRAWS)]
    cost = {end: sqrt(np.maximum(values - end, 0).sum() ** 2 + (noise * end) ** 2) for end in line.ends if end > 0}
    return found, values, cost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "epsilon", "rows_each", "middle", "nearly_all"),
    [
        (AGES, 0.2, 5, 1.5, 2),
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


@pytest.mark.parametrize("epsilon", [0.0001, 0.001, 0.03])
def test_where_noise_hides_the_values_no_bound_is_recommended(epsilon: float) -> None:
    found, _, _ = bounds_drawn(AGES, epsilon, 5)
    assert found.count(None) > 0.9 * DRAWS


def test_a_bound_that_is_far_too_large_costs_no_more_than_a_step() -> None:
    found, _, _ = bounds_drawn({**AGES, "upper": 1_000_000}, 1, 1)
    assert {bound for bound in found if bound is not None and 79 <= bound <= 120} >= {
        bound for bound in found if found.count(bound) > DRAWS / 20
    }
    assert sum(bound is not None and 79 <= bound <= 120 for bound in found) > 0.95 * DRAWS


# ---- how many rows a recommended bound clips

RNG = np.random.default_rng(5)
FARES = RNG.lognormal(2.8, 1.05, 900)  # as those of the Titanic: 2.5 % above 130, the largest 450
TAIL = RNG.pareto(1.5, 3000) * 1000 + 1000
EVEN = RNG.uniform(0, 100, 2000)
HOURS = np.clip(RNG.normal(40, 12, 20_000).round(), 1, 99)
DELTA = Fraction(5, 10**7)


def priced(spend: float, currency: str) -> Fraction:
    return rho_for(Fraction(str(spend)), DELTA) if currency == "rho" else Fraction(str(spend))


def share_beyond(values: Any, bound: float) -> float:
    return float((values > bound).mean())


def later_noise(amount: Fraction, currency: str) -> float:
    return sqrt(1 / (2 * amount)) if currency == "rho" else sqrt(2) / float(amount)


@pytest.mark.slow
@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize(
    ("values", "declared"),
    [
        (FARES, sf.Float(0, 1000)),
        (FARES, sf.Float(0, 10_000)),
        (TAIL, sf.Float(0, 1e6)),
        (EVEN, sf.Float(0, 1e4)),
        (HOURS, sf.Int(0, 168)),
        (HOURS, sf.Int(0, 10_000)),
    ],
)
def test_few_rows_are_clipped_at_every_spend_or_no_bound_is_recommended(
    values: Any, declared: Any, currency: str
) -> None:
    """Fresh noise, 200 runs: of these 1 % at most clip a tenth of the rows, and 1 % have a bound beyond twice the
    largest value (measured); that 20 do has a probability of 3e-14.
    """
    line = clipping_line(declared, 150)
    found = []
    for spend in (0.1, 0.2, 0.5, 1, 2):
        amount = priced(spend, currency)
        measured = measured_on(line, amount, currency)
        noise = later_noise(amount, currency)
        found += [scan_of(values, line, measured, SystemEntropy(), noise).recommended for _ in range(40)]
    bounds = [bound for bound in found if bound is not None]
    assert len(bounds) >= 40  # at the largest spend always
    assert sum(share_beyond(values, bound) > 0.1 for bound in bounds) < 20
    assert sum(bound > 2 * values.max() for bound in bounds) < 20


def test_without_noise_no_more_than_one_row_in_fifty_is_clipped() -> None:
    for values, declared in ((FARES, sf.Float(0, 1000)), (TAIL, sf.Float(0, 1e6)), (HOURS, sf.Int(0, 168))):
        line = clipping_line(declared, 150)
        for currency in ("epsilon", "rho"):
            measured = measured_on(line, Fraction(50), currency)
            # A later sum is so noisy that it would want the smallest bound there is.
            scan = scan_of(values, line, measured, SystemEntropy(), 1e9, clean=True)
            assert scan.recommended is not None
            assert scan.beyond is not None
            share = (values > scan.recommended).mean()
            place = line.ends.index(scan.recommended)
            assert share <= 1 / 50 < (values > line.ends[place - 1]).mean()
            assert share < scan.beyond < share + 0.02


def test_a_drawn_case() -> None:
    """900 fares in ρ: nothing is said at 0.1, and 0.5 shows where nearly all of them lie."""
    line, entropy = clipping_line(sf.Float(0, 1000), 150), SeededEntropy("8")
    small, more = (priced(spend, "rho") for spend in (0.1, 0.5))
    hidden = scan_of(FARES, line, measured_on(line, small, "rho"), entropy, later_noise(small, "rho"))
    assert (hidden.recommended, hidden.beyond) == (None, None)
    assert hidden.times is not None
    assert 3 < hidden.times < 8
    assert f"Spend more (about {hidden.times:.2g} times as much) to see it." in hidden.says()
    seen = scan_of(FARES, line, measured_on(line, more, "rho"), entropy, later_noise(more, "rho"))
    assert seen.recommended is not None
    assert seen.beyond is not None
    assert share_beyond(FARES, seen.recommended) < seen.beyond < 0.12
    assert f"At most {ceil(1000 * seen.beyond) / 10:g} % of the rows lie beyond it." in seen.says()
    assert seen.to_dict()["beyond"] == seen.beyond


def test_nobody_at_all_is_no_bound_and_no_advice() -> None:
    line = clipping_line(sf.Float(0, 1000), 150)
    scan = scan_of(np.array([]), line, measured_on(line, Fraction(1), "epsilon"), SeededEntropy("1"), 1.0, clean=True)
    assert (scan.recommended, scan.times) == (None, None)
    assert "Spend more to see it." in scan.says()


def test_bounds_lie_close_together_near_0_and_hold_a_whole_number_each() -> None:
    line = clipping_line(sf.Float(0, 1000), 150)
    assert (line.ends[-1], line.size) == (1000, 64)
    assert line.ends[0] < 0.01
    assert all(after / before < 1.2 for before, after in zip(line.ends[-20:], line.ends[-19:], strict=False))
    assert line.lows[1:] == line.ends[:-1]
    for upper in (*range(2, 400), 1000, 10**6, 10**18):
        for points in (2, 5, 150):
            whole = clipping_line(sf.Int(0, upper), points)
            assert whole.size <= points + 1
            assert (whole.lows[0], whole.ends[-1]) == (0, upper)
            assert all(low <= end for low, end in zip(whole.lows, whole.ends, strict=True))
            assert upper > 10**15 or all(
                low == end + 1 for low, end in zip(whole.lows[1:], whole.ends[:-1], strict=True)
            )


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_cells_count_what_they_say(tmp_path: Path, delta: float) -> None:
    """Through the SQL that is emitted: whole numbers and fractions, some of them missing, negative or too large.

    A value counts as the middle of its cell.
    """
    ages = [0, 0, 1, 2, 3, 10, 100, 500, 999, 1000, 5000, -7, None]
    people = pd.DataFrame({"age": pd.array(ages * 40, dtype="Int64"), "pay": [1.5 * (one or 0) for one in ages] * 40})
    with sf.protect(
        people,
        unit=sf.Row(),
        columns={"age": sf.Int(), "pay": sf.Float()},
        budget=sf.Budget(10**6, delta),
        ledger=tmp_path / "ledger",
        table="people",
    ) as session:
        age, pay = (session.bounds(name, spend=10**5, upper=1000) for name in ("age", "pay"))
    known = people.age.dropna().to_numpy(dtype=float)
    assert age.points[-1].total == pytest.approx(true_sum(known, 1000), rel=0.1)  # the middle of a cell
    for point in age.points:
        if point.bound < 10:  # whole numbers one by one
            assert point.total == pytest.approx(true_sum(known, point.bound), rel=0.02)
    for point in pay.points:
        assert point.total == pytest.approx(true_sum(people.pay, point.bound), rel=0.1, abs=1)


def test_a_scan_asks_with_what_is_allowed(people: pd.DataFrame, tmp_path: Path) -> None:
    """Running totals where noise is Gaussian, unless the owner does not allow these."""
    found = {}
    for allow in (["additive", "running"], ["additive"]):
        with sf.protect(
            people,
            unit=sf.Row(),
            columns={"age": sf.Int()},
            budget=sf.Budget(10, 1e-6),
            ledger=tmp_path / f"{len(allow)}.ledger",
            table="people",
            allow=allow,
        ) as session:
            found[len(allow)] = session.bounds("age", spend=1, upper=150)
    assert found[2].points[100].deviation < found[1].points[100].deviation / 2
    assert all(scan.recommended is not None and scan.recommended > 70 for scan in found.values())


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
