"""Staircase noise: the law by exhaustion, the loss in exact levels, and less error than Laplace noise."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp
from typing import Any

import numpy as np
import pytest

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.samplers import discrete_laplace
from sfumato.noise import stairs
from sfumato.noise.stairs import DiscreteStaircase
from tests.entropy import ChoiceTape, Restart, SeededEntropy, every_choice
from tests.kernel.laws import PRECISE, chi_square, decimal, exp_minus, geometric_law, laplace_law, mutant

F = Fraction
SMALL = [(F(1), 1, 1), (F(1), 3, 1), (F(2), 3, 2), (F(1, 2), 4, 4), (F(3), 5, 2), (F(1), 8, 3)]


def level(law: DiscreteStaircase, x: int) -> int:
    return (abs(x) + law.sensitivity - law.width) // law.sensitivity


def total(law: DiscreteStaircase) -> Decimal:
    """The sum of all weights exp(-ε · level)."""
    with localcontext(PRECISE):
        q = exp_minus(law.epsilon)
        return 2 * (law.width + q * (law.sensitivity - law.width)) / (1 - q) - 1


def chance(law: DiscreteStaircase, x: int) -> Decimal:
    with localcontext(PRECISE):
        return exp_minus(law.epsilon * level(law, x)) / total(law)


def cells(draws: np.ndarray[Any, Any], law: DiscreteStaircase) -> tuple[list[int], list[float]]:
    reach = int(12 * law.sensitivity / law.epsilon) + law.sensitivity
    counts = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)
    chances = [float(chance(law, x)) for x in range(-reach, reach + 1)]
    chances[0] = chances[-1] = (1 - sum(chances[1:-1])) / 2
    return counts.tolist(), chances


# ---- the law -----------------------------------------------------------------------------------------------


class IdealCoin:
    def __init__(self, weight: Fraction, gamma: Fraction) -> None:
        with localcontext(PRECISE):
            self.chance = 1 / (1 + decimal(weight) * exp_minus(gamma))

    def draw(self, count: int, tape: ChoiceTape) -> np.ndarray[Any, Any]:
        return np.array([tape.coin(self.chance) for _ in range(count)])


def ideal_geometric(scale: Fraction, count: int, tape: ChoiceTape) -> np.ndarray[Any, Any]:
    weights = [geometric_law(scale, k) for k in range(60)]
    weights.append(1 - sum(weights))
    return np.array([tape.pick(weights) for _ in range(count)])


def ideal_uniform(bound: int, count: int, tape: ChoiceTape) -> np.ndarray[Any, Any]:
    return np.array([tape.below(bound) for _ in range(count)])


def exhausted(module: Any, law: DiscreteStaircase, monkeypatch: pytest.MonkeyPatch) -> dict[int, Decimal]:
    """The law of the module's staircase with ideal callees, given that nothing is rejected."""
    monkeypatch.setattr(module, "geometric", ideal_geometric)
    monkeypatch.setattr(module, "Odds", IdealCoin)
    monkeypatch.setattr(module, "uniform_below", ideal_uniform)
    twin = module.DiscreteStaircase(law.epsilon, law.sensitivity, law.width)
    with localcontext(PRECISE):
        masses, left = every_choice(lambda tape: int(twin.draw(1, tape)[0]), undecided=1e-6, once="pick")
        accepted = 1 - masses.pop(Restart, Decimal(0)) - left
        return {x: mass / accepted for x, mass in masses.items()}


def is_the_law(found: dict[int, Decimal], law: DiscreteStaircase) -> bool:
    return all(
        abs(found.get(x, Decimal(0)) - chance(law, x)) < 3e-6 for x in range(-40, 41) if level(law, x) * law.epsilon < 8
    )


@pytest.mark.parametrize(("epsilon", "sensitivity", "width"), SMALL)
def test_the_law_by_exhaustion(
    epsilon: Fraction, sensitivity: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = DiscreteStaircase(epsilon, sensitivity, width)
    assert is_the_law(exhausted(stairs, law, monkeypatch), law)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kept = ~(negative & (size == 0))", "kept = ~(negative & (size != size))"),
        ("Fraction(upper, self.width)", "Fraction(self.width, upper)"),
        ("far = self.width + uniform_below(", "far = uniform_below("),
        ("geometric(1 / self.epsilon", "geometric(2 / self.epsilon"),
    ],
)
def test_twins_of_the_sampler_are_caught(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law = DiscreteStaircase(F(2), 3, 2)
    assert not is_the_law(exhausted(mutant(stairs, old, new), law, monkeypatch), law)


@pytest.mark.parametrize(("epsilon", "sensitivity", "width"), SMALL)
def test_draws_follow_the_law_and_not_one_of_less_noise(epsilon: Fraction, sensitivity: int, width: int) -> None:
    law, twin = (DiscreteStaircase(e, sensitivity, width) for e in (epsilon, epsilon * 10 / 9))
    assert chi_square(*cells(law.draw(200_000, SeededEntropy("stairs")), law)) > 1e-6
    assert chi_square(*cells(twin.draw(200_000, SeededEntropy("stairs")), law)) < 1e-6


def test_chances_add_up_to_one() -> None:
    for epsilon, sensitivity, width in SMALL:
        law = DiscreteStaircase(epsilon, sensitivity, width)
        with localcontext(PRECISE):
            reach = 130 * sensitivity * int(1 / epsilon + 1)
            inside = sum(chance(law, x) for x in range(-reach, reach + 1))
            assert abs(inside - 1) < Decimal(10) ** -40


def test_one_step_a_period_is_discrete_laplace() -> None:
    law = DiscreteStaircase.for_epsilon(F(3, 2), 1)
    for x in range(-20, 21):
        assert abs(chance(law, x) - laplace_law(1 / law.epsilon, x)) < Decimal(10) ** -50


@pytest.mark.parametrize("epsilon", [F(1, 10**6), F(1, 10**12), F(1, 10**60)])
def test_tiny_prices_buy_integers_of_any_size(epsilon: Fraction) -> None:
    law = DiscreteStaircase.for_epsilon(epsilon, 1 << 20)
    sizes = [abs(int(x)) for x in law.draw(4000, SeededEntropy("huge"))]
    mean, scale = sum(sizes) / len(sizes), float(law.sensitivity / epsilon)
    assert abs(mean / scale - 1) < 6 / 4000**0.5
    assert abs(law.mean_error() / scale - 1) < 1e-9


def test_nothing_is_drawn_when_nothing_is_wanted() -> None:
    assert len(DiscreteStaircase(F(1), 2, 1).draw(0, SeededEntropy("none"))) == 0


# ---- privacy -----------------------------------------------------------------------------------------------


def worst(law: DiscreteStaircase, change: int) -> int:
    """The largest difference of levels between two numbers at most `change` apart: the loss in units of ε."""
    reach = 4 * law.sensitivity
    return max(
        abs(level(law, x) - level(law, x + d)) for x in range(-reach, reach + 1) for d in range(-change, change + 1)
    )


@pytest.mark.parametrize("sensitivity", range(1, 9))
def test_the_loss_is_epsilon_for_every_width(sensitivity: int) -> None:
    for width in range(1, sensitivity + 1):
        assert worst(DiscreteStaircase(F(1), sensitivity, width), sensitivity) == 1


@pytest.mark.parametrize("sensitivity", range(1, 9))
def test_a_period_below_the_sensitivity_is_caught(sensitivity: int) -> None:
    for width in range(1, sensitivity + 1):
        assert worst(DiscreteStaircase(F(1), sensitivity, width), sensitivity + 1) == 2


def test_a_staircase_on_each_of_two_numbers_would_lose_twice_epsilon() -> None:
    """An L1 change of 2 may cross an edge in both: why a list is refused. Laplace noise would lose ε."""
    law = DiscreteStaircase.for_epsilon(F(1), 2)
    lost = max(
        level(law, x + 1) - level(law, x) + level(law, y + 1) - level(law, y)
        for x, y in product(range(-8, 8), repeat=2)
    )
    assert lost == 2
    for value in ([1.0, 2.0], np.zeros(2)):
        with pytest.raises(UsageError, match="one number"):
            noise.staircase(value, sensitivity=2, epsilon=1)


# ---- error -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "less"), [(1, 0.04), (2, 0.15), (5, 0.59)])
def test_the_mean_error_is_below_that_of_laplace_noise(epsilon: int, less: float) -> None:
    about = noise.describe("staircase", sensitivity=1, epsilon=epsilon)
    assert round(1 - about.scale * epsilon, 2) == less
    assert about.scale == pytest.approx(exp(epsilon / 2) / (exp(epsilon) - 1), rel=1e-5)
    law = DiscreteStaircase.for_epsilon(F(epsilon), 1 << 20)
    ours = np.abs(law.draw(200_000, SeededEntropy("mean"))).mean()
    laplace = np.abs(discrete_laplace(F(1 << 20, epsilon), 200_000, SeededEntropy("mean"))).mean()
    assert ours / laplace == pytest.approx(1 - less, abs=0.012)


@pytest.mark.parametrize(("epsilon", "sensitivity", "width"), [*SMALL, (F(9), 4, 1)])
def test_mean_error_and_error_are_those_of_the_law(epsilon: Fraction, sensitivity: int, width: int) -> None:
    law = DiscreteStaircase(epsilon, sensitivity, width)
    reach = 60 * sensitivity * int(1 / epsilon + 1)
    chances = [float(chance(law, x)) for x in range(reach)]
    assert law.mean_error() == pytest.approx(2 * sum(x * p for x, p in enumerate(chances)), rel=1e-9)
    within = np.cumsum(chances) * 2 - chances[0]
    for confidence in (0.01, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9):
        error = law.error(confidence)
        assert within[error] >= confidence - 1e-12
        assert error == 0 or within[error - 1] < confidence + 1e-12
    for size in (0, 1, sensitivity, 5 * sensitivity + 1):
        assert law.beyond(size) == pytest.approx(1 - within[size], abs=1e-12)


@pytest.mark.parametrize("epsilon", [F(1, 100), F(1), F(2), F(5), F(12)])
def test_no_other_width_is_better_by_more_than_the_grid_is_coarse(epsilon: Fraction) -> None:
    law = DiscreteStaircase.for_epsilon(epsilon, 4096)
    best = min(DiscreteStaircase(epsilon, 4096, width).mean_error() for width in range(1, 4097, 5))
    assert law.mean_error() <= best * (1 + 2e-3)


def test_widths_at_the_ends() -> None:
    assert DiscreteStaircase.for_epsilon(F(10**100), 1 << 20).width == 1
    assert DiscreteStaircase.for_epsilon(F(1, 10**100), 1 << 20).width == 1 << 19
    assert DiscreteStaircase.for_epsilon(F(10**100), 1 << 20).mean_error() == 0


@pytest.mark.parametrize("error", [0.001, 0.1, 0.7, 1, 10, 1e6])
def test_the_price_of_an_error_buys_that_error(error: float) -> None:
    epsilon = noise.epsilon_for("staircase", sensitivity=1, error=error)
    assert noise.interval("staircase", sensitivity=1, epsilon=epsilon) == pytest.approx(error, rel=2e-3)
    assert noise.interval("staircase", sensitivity=1, epsilon=epsilon * 0.99) > error
    if error < 0.5:
        assert epsilon < noise.epsilon_for("laplace", sensitivity=1, error=error)


# ---- the public call ---------------------------------------------------------------------------------------


def test_description() -> None:
    about = noise.describe("staircase", sensitivity=3, epsilon=2)
    assert (dict(about.cost), about.step) == ({"epsilon": 2}, F(1, 2**19))
    width = round(3 * 2**19 / (1 + exp(1)))
    assert about.event == {
        "mechanism": "discrete_staircase",
        "epsilon": "2",
        "sensitivity": str(3 * 2**19),
        "width": str(width),
    }
    assert DiscreteStaircase(F(1, 3), 2, 1).rho() == F(1, 18)
    for bad in ({"entries": 2}, {"delta": 0.1}, {"rho": 1}):
        with pytest.raises(UsageError):
            noise.describe("staircase", sensitivity=1, epsilon=1, **bad)
    with pytest.raises(UsageError, match="epsilon is missing"):
        noise.describe("staircase", sensitivity=1)


@pytest.mark.parametrize("value", [42, 3.1, -1e300, [5], np.array([[7.5]]), Decimal("0.1"), F(1, 3)], ids=repr)
def test_the_answer_is_the_rounded_value_plus_the_laws_noise(value: object) -> None:
    step = noise.describe("staircase", sensitivity=2, epsilon=1).step
    drawn = DiscreteStaircase.for_epsilon(F(1), int(2 / step)).draw(1, SeededEntropy("call"))[0]
    number = value[0] if isinstance(value, list) else float(value[0, 0]) if isinstance(value, np.ndarray) else value
    rounded = (F(number) / step + F(1, 2)).__floor__()
    answer = noise.staircase(value, sensitivity=2, epsilon=1, entropy=SeededEntropy("call"))
    assert np.ravel(answer).tolist() == [float((rounded + int(drawn)) * step)]
    assert np.shape(answer) == np.shape(value)
    assert type(answer) is (type(value) if isinstance(value, list | np.ndarray) else float)


def test_every_output_lies_on_the_declared_grid() -> None:
    entropy = SeededEntropy("grid")
    for sensitivity in (1, 0.3, Decimal("1e-9")):
        step = noise.describe("staircase", sensitivity=sensitivity, epsilon=2).step
        for value in (0.0, 1 / 3, -1e-7):
            answer = noise.staircase(value, sensitivity=sensitivity, epsilon=2, entropy=entropy)
            assert (F(answer) / step).denominator == 1


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "width"), [(F(0), 1, 1), (F(-1), 1, 1), (F(1), 2, 0), (F(1), 2, 3), (F(1), 2**64, 1)]
)
def test_stairs_that_do_not_exist(epsilon: Fraction, sensitivity: int, width: int) -> None:
    with pytest.raises(ValueError, match="staircase"):
        DiscreteStaircase(epsilon, sensitivity, width)


@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), 0, -1, None])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon"])
def test_parameters_that_are_refused(bad: object, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        noise.staircase(1, **({"sensitivity": 1, "epsilon": 1} | {name: bad}))


@pytest.mark.parametrize("value", ["1", True, None, float("nan"), [], [float("inf")], np.array(["a"])], ids=repr)
def test_values_that_are_refused(value: object) -> None:
    with pytest.raises(UsageError):
        noise.staircase(value, sensitivity=1, epsilon=1)
