"""The scalar samplers: every run followed to its end, so that each probability is bracketed with certainty."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pytest

from sfumato.audit import exact
from tests.entropy import ChoiceTape, Restart, SeededEntropy, every_choice
from tests.kernel.laws import (
    PRECISE,
    decimal,
    exp_minus,
    gaussian_total,
    gaussian_weight,
    geometric_law,
    laplace_law,
    mutant,
)

Law = Callable[[Any], Decimal]
ROUNDING = Decimal(10) ** -45


def brackets(sampler: Callable[[ChoiceTape], Any], law: Law, *, undecided: float, once: str | None = None) -> bool:
    """Whether every outcome's exact probability lies between what was found and what may still come.

    A run that restarts repeats the whole law, so an outcome of mass m has the probability m / (1 - restarts).
    """
    with localcontext(PRECISE):
        masses, left = every_choice(sampler, undecided=undecided, once=once)
        left = _decimal(left)
        restarts = _decimal(masses.pop(Restart, Fraction(0)))
        found = {outcome: _decimal(mass) for outcome, mass in masses.items()}
        claimed = {outcome: law(outcome) for outcome in found}
        # The law sums to one, so what was not found may weigh no more than what was not followed.
        missing = 1 - sum(claimed.values())
        within = all(
            mass / (1 - restarts) - ROUNDING <= claimed[outcome]
            and claimed[outcome] * (1 - restarts - left) <= mass + left + ROUNDING
            for outcome, mass in found.items()
        )
        return within and missing * (1 - restarts - left) <= left + ROUNDING


def _decimal(mass: Any) -> Decimal:
    return mass if isinstance(mass, Decimal) else decimal(mass)


def samplers(old: str = "", new: str = "") -> Any:
    """A copy of the module, to change a line or to replace a callee."""
    return mutant(exact, old or "from math import isqrt", new or "from math import isqrt")


def with_rational_coins(module: Any) -> Any:
    """bernoulli is replaced by a coin of the same rational probability: masses stay fractions."""
    module.bernoulli = lambda probability, tape: tape.coin(probability)
    return module


def with_ideal_coins(module: Any) -> Any:
    """bernoulli_exp is replaced by a coin that is right by definition."""
    module.bernoulli_exp = lambda gamma, tape: tape.coin(exp_minus(gamma))
    return module


@lru_cache
def geometric_weights(scale: Fraction) -> list[Decimal]:
    return [geometric_law(scale, k) for k in range(int(40 * scale) + 40)]


@lru_cache
def laplace_weights(scale: Fraction) -> tuple[list[int], list[Decimal]]:
    values = sorted(range(-int(30 * scale), int(30 * scale) + 1), key=abs)
    return values, [laplace_law(scale, k) for k in values]


def with_ideal_geometric(module: Any) -> Any:
    module.geometric = lambda scale, tape: tape.pick(geometric_weights(scale))
    return module


def with_ideal_candidates(module: Any) -> Any:
    """discrete_laplace and bernoulli_exp are replaced."""

    def discrete_laplace(scale: Fraction, tape: ChoiceTape) -> int:
        values, weights = laplace_weights(scale)
        return values[tape.pick(weights)]

    module.discrete_laplace = discrete_laplace
    return with_ideal_coins(module)


# ---- bernoulli ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(3, 7), Fraction(999, 1000)])
def test_bernoulli_is_followed_completely(probability: Fraction) -> None:
    masses, left = every_choice(lambda tape: exact.bernoulli(probability, tape), undecided=1e-9)
    assert left == 0
    assert masses[True] == probability
    assert masses[False] == 1 - probability


def test_bernoulli_twin_is_caught() -> None:
    twin = samplers("< probability.numerator", "<= probability.numerator")
    masses, _ = every_choice(lambda tape: twin.bernoulli(Fraction(3, 7), tape), undecided=1e-9)
    assert masses[True] != Fraction(3, 7)


# ---- bernoulli_exp -----------------------------------------------------------------------------------------


def coin_law(gamma: Fraction) -> Law:
    return lambda outcome: exp_minus(gamma) if outcome else 1 - exp_minus(gamma)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3, 2)])
def test_bernoulli_exp(gamma: Fraction) -> None:
    assert brackets(lambda tape: exact.bernoulli_exp(gamma, tape), coin_law(gamma), undecided=1e-3)


@pytest.mark.parametrize(
    "gamma", [Fraction(1, 10**9), Fraction(1, 3), Fraction(9, 10), Fraction(7, 3), Fraction(2), Fraction(4)]
)
def test_bernoulli_exp_with_rational_coins(gamma: Fraction) -> None:
    module = with_rational_coins(samplers())
    assert brackets(lambda tape: module.bernoulli_exp(gamma, tape), coin_law(gamma), undecided=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "gamma"),
    [
        ("return tries % 2 == 1", "return tries % 2 == 0", Fraction(1, 2)),
        ("    tries = 1\n", "    tries = 2\n", Fraction(1, 2)),
        ("bernoulli(gamma / tries, entropy)", "bernoulli(gamma / 2, entropy)", Fraction(1)),
        ("        gamma -= 1\n", "        gamma -= min(2, gamma)\n", Fraction(5, 2)),
        ("    return _bernoulli_exp_at_most_one(gamma, entropy)", "    return True", Fraction(3, 2)),
        ("_one(gamma, entropy)\n\n", "_one(gamma * 9 / 10, entropy)\n\n", Fraction(1)),
    ],
)
def test_bernoulli_exp_twins_are_caught(old: str, new: str, gamma: Fraction) -> None:
    twin = with_rational_coins(samplers(old, new))
    assert not brackets(lambda tape: twin.bernoulli_exp(gamma, tape), coin_law(gamma), undecided=1e-3)


# ---- geometric ---------------------------------------------------------------------------------------------

SCALES = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(7, 3), Fraction(10)]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1)])
def test_geometric(scale: Fraction) -> None:
    assert brackets(lambda tape: exact.geometric(scale, tape), lambda k: geometric_law(scale, k), undecided=1e-2)


@pytest.mark.parametrize("scale", SCALES)
def test_geometric_with_ideal_coins(scale: Fraction) -> None:
    module = with_ideal_coins(samplers())
    assert brackets(
        lambda tape: module.geometric(scale, tape), lambda k: geometric_law(scale, k), undecided=1e-12, once="below"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(low + t * high) // s", "(low + t * high)"),
        ("(low + t * high) // s", "(low + high) // s"),
        ("    low = entropy.below(t)\n    while", "    low = entropy.below(t + 1)\n    while"),
        ("while not bernoulli_exp(Fraction(low, t), entropy)", "while False"),
        ("while bernoulli_exp(Fraction(1), entropy)", "while bernoulli_exp(Fraction(10, 11), entropy)"),
        ("s, t = scale.denominator, scale.numerator", "s, t = scale.denominator * 10, scale.numerator * 9"),
    ],
)
def test_geometric_twins_are_caught(old: str, new: str) -> None:
    twin, scale = with_ideal_coins(samplers(old, new)), Fraction(7, 3)
    assert not brackets(
        lambda tape: twin.geometric(scale, tape), lambda k: geometric_law(scale, k), undecided=1e-6, once="below"
    )


# ---- discrete Laplace --------------------------------------------------------------------------------------


def test_discrete_laplace() -> None:
    scale = Fraction(1)
    assert brackets(lambda tape: exact.discrete_laplace(scale, tape), lambda k: laplace_law(scale, k), undecided=3e-2)


def test_forgotten_minus_zero_is_caught() -> None:
    twin, scale = samplers("if magnitude or not negative:", "if True:"), Fraction(1)
    assert not brackets(
        lambda tape: twin.discrete_laplace(scale, tape), lambda k: laplace_law(scale, k), undecided=3e-2
    )


@pytest.mark.parametrize("scale", SCALES)
def test_discrete_laplace_with_ideal_geometric(scale: Fraction) -> None:
    module = with_ideal_geometric(samplers())
    assert brackets(
        lambda tape: module.discrete_laplace(scale, tape),
        lambda k: laplace_law(scale, k),
        undecided=1e-12,
        once="below",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if magnitude or not negative:", "if True:"),
        ("if magnitude or not negative:", "if magnitude:"),
        ("negative = entropy.below(2) == 1", "negative = entropy.below(3) == 1"),
        ("magnitude = geometric(scale, entropy)", "magnitude = geometric(scale * 9 / 10, entropy)"),
        ("magnitude = geometric(scale, entropy)", "magnitude = geometric(scale * 11 / 10, entropy)"),
    ],
)
def test_discrete_laplace_twins_are_caught(old: str, new: str) -> None:
    twin, scale = with_ideal_geometric(samplers(old, new)), Fraction(2)
    assert not brackets(
        lambda tape: twin.discrete_laplace(scale, tape), lambda k: laplace_law(scale, k), undecided=1e-6, once="below"
    )


# ---- discrete Gaussian -------------------------------------------------------------------------------------

VARIANCES = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(5, 2), Fraction(4), Fraction(10)]


def gaussian_law(variance: Fraction) -> Law:
    total = gaussian_total(variance)
    return lambda k: gaussian_weight(variance, k) / total


@pytest.mark.parametrize("variance", VARIANCES)
def test_discrete_gaussian_with_ideal_candidates(variance: Fraction) -> None:
    module = with_ideal_candidates(samplers())
    assert brackets(
        lambda tape: module.discrete_gaussian(variance, tape), gaussian_law(variance), undecided=1e-12, once="pick"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(abs(candidate) - variance / scale) ** 2", "abs(candidate) ** 2"),
        ("(abs(candidate) - variance / scale) ** 2", "(candidate - variance / scale) ** 2"),
        ("/ (2 * variance), entropy)", "/ (2 * variance * Fraction(9, 10)), entropy)"),
        ("/ (2 * variance), entropy)", "/ (2 * variance * Fraction(11, 10)), entropy)"),
        ("discrete_laplace(Fraction(scale), entropy)", "discrete_laplace(scale * Fraction(9, 10), entropy)"),
    ],
)
def test_discrete_gaussian_twins_are_caught(old: str, new: str) -> None:
    twin, variance = with_ideal_candidates(samplers(old, new)), Fraction(5, 2)
    assert not brackets(
        lambda tape: twin.discrete_gaussian(variance, tape), gaussian_law(variance), undecided=1e-6, once="pick"
    )


def test_the_scale_of_the_candidates_changes_the_speed_and_not_the_law() -> None:
    control, variance = with_ideal_candidates(samplers("isqrt(variance.numerator // variance.denominator) + 1", "7")), 4
    assert brackets(
        lambda tape: control.discrete_gaussian(Fraction(variance), tape),
        gaussian_law(Fraction(variance)),
        undecided=1e-9,
        once="pick",
    )


def test_draws_are_plain_integers() -> None:
    entropy = SeededEntropy("plain integers")
    for scale in (Fraction(1, 3), Fraction(2), Fraction(100)):
        assert type(exact.geometric(scale, entropy)) is int
        assert type(exact.discrete_laplace(scale, entropy)) is int
        assert type(exact.discrete_gaussian(scale, entropy)) is int
