"""Numbers known beforehand: the table of bounds, the curves of the figure, and where the simplified formula breaks."""

from fractions import Fraction
from math import e, exp, log, sqrt, tanh

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln

from sfumato.accounting import compose, deviations
from sfumato.accounting.events import Event, plan
from sfumato.accounting.optimal import optimal_delta, optimal_epsilon
from sfumato.accounting.simple import advanced, closed_form, sequential, thesis, zcdp

DELTA = Fraction(1, 10**5)

# ε₀ = 0.1, δ = 1e-5; rounded to the nearest in the last digit shown.
TABLE = {
    "sequential": "1.00 5.00 10.00 20.0 50.0 100",
    "formula": "3.03 6.79 9.60 13.6 21.5 30.3",
    "advanced": "1.62 3.92 5.85 8.89 16.0 25.7",
    "closed form": "1.00 3.59 5.30 7.79 13.2 20.2",
    "zcdp": "1.31 3.19 4.73 7.08 12.3 19.0",
    "optimal": "0.994 2.845 4.307 6.51 11.41 17.79",
    "pld": "0.990 2.80 4.22 6.38 11.19 17.42",
}
COUNTS = (10, 50, 100, 200, 500, 1000)
CURVE = (*range(1, 201, 7), *range(210, 1001, 79))
# Twelve digits from an exact binomial sum, and a bracket of 1e-5 around the Laplace law (two discretisations).
OPTIMA = (0.993691176759, 2.844667152177, 4.306791372517, 6.510335013764, 11.408905366999, 17.787128449720)
LAPLACE = (0.98996231, 2.7966010, 4.2203470, 6.3816477, 11.190661, 17.423650)


@pytest.mark.parametrize("column", range(len(COUNTS)))
def test_the_table(column: int) -> None:
    count = COUNTS[column]
    bounds = compose([("laplace", 0.1)] * count, 1e-5)
    found = {
        "sequential": bounds.sequential,
        "formula": 2 * 0.1 * sqrt(2 * count * log(1e5)),
        "advanced": bounds.advanced,
        "closed form": closed_form(Fraction(1, 10), count, DELTA),
        "zcdp": bounds.zcdp,
        "optimal": bounds.optimal,
        "pld": bounds.pld,
    }
    for name, row in TABLE.items():
        shown = row.split()[column]
        assert f"{found[name]:.{len(shown.partition('.')[2])}f}" == shown, name
    assert bounds.optimal == pytest.approx(OPTIMA[column], rel=1e-11)
    assert bounds.pld == pytest.approx(LAPLACE[column], rel=5e-7)
    if bounds.thesis is not None:
        assert bounds.thesis == pytest.approx(found["formula"], rel=1e-9)


def test_a_hundred_at_one() -> None:
    bounds = compose([("laplace", 1)] * 100)
    assert bounds.sequential == 100
    assert bounds.advanced == pytest.approx(219.8, abs=0.05)
    assert bounds.thesis is None
    assert "k ε² <= 8 ln(1/δ)" in bounds.thesis_reason
    assert bounds.zcdp == pytest.approx(96.0, abs=0.05)
    assert bounds.optimal == pytest.approx(79.8, abs=0.05)
    assert bounds.pld == pytest.approx(68.3, abs=0.05)
    assert closed_form(Fraction(1), 100, DELTA) == pytest.approx(94.2, abs=0.05)
    assert bounds.best == ("pld", bounds.pld)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1"])
def test_the_curves_of_the_figure(epsilon: str) -> None:
    """Each bound as on paper, with other means than those of the package."""
    size = Fraction(epsilon)
    for count in CURVE:
        listed = ((Event("pure", size), count),)
        for name, value, expected in (
            ("sequential", sequential(listed, DELTA), count * float(size)),
            ("advanced", advanced(listed, DELTA), drv(float(size), count)),
            ("closed form", closed_form(size, count, DELTA), kov(float(size), count)),
            ("optimal", optimal_epsilon(listed, DELTA), worst_case(float(size), count)),
            ("zcdp", zcdp(listed, DELTA), concentrated(float(size) ** 2 / 2 * count)),
        ):
            assert value == pytest.approx(expected, rel=1e-9), (name, count)


def drv(epsilon: float, count: int) -> float:
    """Dwork, Rothblum, Vadhan 2010, Theorem III.3."""
    return epsilon * sqrt(2 * count * log(1e5)) + count * epsilon * (exp(epsilon) - 1)


def kov(epsilon: float, count: int) -> float:
    """Kairouz, Oh, Viswanath 2015, Theorem 3.4."""
    drift = count * epsilon * tanh(epsilon / 2)
    logarithms = (log(e + sqrt(count) * epsilon * 1e5), log(1e5))
    return min(count * epsilon, *(drift + epsilon * sqrt(2 * count * each) for each in logarithms))


def worst_case(epsilon: float, count: int) -> float:
    """Where the δ of `count` answers of randomised response is 1e-5, by logarithms of factorials."""
    lies = np.arange(count + 1)
    chance = gammaln(count + 1) - gammaln(lies + 1) - gammaln(count - lies + 1) - count * np.log1p(exp(-epsilon))
    masses, losses = np.exp(chance - lies * epsilon), (count - 2 * lies) * epsilon

    def excess(at: float) -> float:
        return float(masses @ -np.expm1(np.minimum(at - losses, 0))) - 1e-5

    return float(brentq(excess, 0, count * epsilon, xtol=1e-13))


def concentrated(rho: float) -> float:
    """The smallest ε that any order α gives (Canonne, Kamath, Steinke 2020, Proposition 12)."""

    def at(logarithm: float) -> float:
        order = 1 + exp(logarithm)
        return rho * order + (log(1e5 / order) + (order - 1) * np.log1p(-1 / order)) / (order - 1)

    return float(minimize_scalar(at, bounds=(-6, 12), method="bounded", options={"xatol": 1e-9}).fun)


@pytest.mark.parametrize(
    ("epsilon", "delta", "first"),
    [
        ("0.25", "1e-5", 1928),
        ("0.5", "1e-5", 525),
        ("0.75", "1e-5", 265),
        ("1", "1e-5", 176),
        ("1.5", "1e-5", 113),
        ("2", "1e-5", 97),
        ("1", "1e-4", 144),
    ],
)
def test_where_the_simplified_formula_begins_to_lie(epsilon: str, delta: str, first: int) -> None:
    """At `first` the formula is below the exact optimum, one mechanism earlier it is not; there it is refused."""
    size, chance = Fraction(epsilon), Fraction(delta)

    def formula(count: int) -> float:
        return 2 * float(size) * sqrt(2 * count * log(1 / chance))

    assert optimal_delta(((Event("pure", size), first),), formula(first)) > float(chance)
    assert optimal_delta(((Event("pure", size), first - 1),), formula(first - 1)) <= float(chance)
    assert thesis(((Event("pure", size), first),), chance)[0] is None


def test_at_a_thousand_the_formula_hides_a_certain_loss() -> None:
    claimed = 2 * sqrt(2 * 1000 * log(1e5))
    assert claimed == pytest.approx(303.5, abs=0.05)
    assert optimal_delta(plan({("pure", 1): 1000}), claimed) == pytest.approx(0.99999998, abs=1e-8)


@pytest.mark.parametrize(("epsilon", "last"), [("1", 92), ("0.1", 9210), ("2", 23)])
def test_the_range_of_the_simplified_formula(epsilon: str, last: int) -> None:
    """k ε² <= 8 ln(1/δ): at ε = 1 exactly where it is worse than adding up."""
    size = Fraction(epsilon)
    inside, outside = ((Event("pure", size), last),), ((Event("pure", size), last + 1),)
    value, reason = thesis(inside, DELTA)
    assert (value is None, reason) == (False, "")
    assert value > sequential(inside, DELTA) if epsilon == "1" else True
    assert value >= zcdp(inside, DELTA)
    assert thesis(outside, DELTA)[0] is None


def test_where_the_curves_cross() -> None:
    """The formula beats the sum from 8 ln(1/δ) = 92.1 on, the true theorem at ε = 0.1 from 29, at 0.5 from 187."""
    assert 8 * log(1e5) == pytest.approx(92.1, abs=0.01)
    for epsilon, first in ((Fraction(1, 10), 29), (Fraction(1, 2), 187)):
        for count in (first - 1, first):
            listed = ((Event("pure", epsilon), count),)
            better = advanced(listed, DELTA) < sequential(listed, DELTA)
            assert better == (count == first)
    for count in (10, 1000, 100000):
        listed = ((Event("pure", Fraction(7, 10)), count),)  # above ln 2 the theorem never wins
        assert advanced(listed, DELTA) > sequential(listed, DELTA)


def test_twenty_doctors() -> None:
    noise = deviations(20, 0.1, 1e-5)
    assert (noise.laplace, noise.classical, noise.analytic) == pytest.approx((282.8, 216.7, 137.5), abs=0.05)
    assert deviations(20, 2).classical is None
    first = next(k for k in range(1, 50) if deviations(k, 0.1).classical < deviations(k, 0.1).laplace)
    assert first == 12


def test_one_mechanism_alone() -> None:
    """Closed forms: δ(ε) = 1 - e^((ε - ε₀)/2) of Laplace noise, e^ε₀/(1+e^ε₀) (1 - e^(ε - ε₀)) of the worst case."""
    delta = 1e-5
    assert compose([("laplace", 1)], delta).pld == pytest.approx(1 + 2 * log(1 - delta), abs=1e-8)
    share = exp(1) / (1 + exp(1))
    assert compose([("pure", 1)], delta).optimal == pytest.approx(1 + log(1 - delta / share), abs=1e-12)
