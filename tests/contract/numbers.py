"""The contracts of noise on numbers."""

from collections.abc import Callable, Hashable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from sfumato.kernel.widths import error
from sfumato.noise.stairs import DiscreteStaircase
from tests.contract.check_mechanism import Law, Spec, parameters
from tests.kernel.laws import PRECISE, exp_minus, gaussian_total, gaussian_weight, laplace_law, laplace_tail
from tests.noise.test_stairs import chance as staircase_chance

F = Fraction
ONE = F(1)
KERNEL_BAD = (F(0), F(-1))
FEW = 8_000  # for calls that draw one outcome at a time; their laws are enumerated elsewhere too


# ---- laws on whole numbers, tails gathered at the ends -----------------------------------------------------


def laplace_at(scale: Fraction, centre: int, reach: int) -> dict[Hashable, Decimal]:
    with localcontext(PRECISE):
        law = {k: laplace_law(scale, k - centre) for k in range(1 - reach, reach)}
        return law | {reach: laplace_tail(scale, reach - centre), -reach: laplace_tail(scale, reach + centre)}


def gaussian_at(variance: Fraction, centre: int, reach: int) -> dict[Hashable, Decimal]:
    with localcontext(PRECISE):
        total = gaussian_total(variance)
        law = {k: gaussian_weight(variance, k - centre) / total for k in range(1 - reach, reach)}
        above, below = (
            sum(gaussian_weight(variance, k + shift) for k in range(reach, 4 * reach)) / total
            for shift in (-centre, centre)
        )
        return law | {reach: above, -reach: below}


def staircase_at(law: DiscreteStaircase, centre: int, reach: int) -> dict[Hashable, Decimal]:
    with localcontext(PRECISE):
        inside = {k: staircase_chance(law, k - centre) for k in range(1 - reach, reach)}
        above, below = (
            sum(staircase_chance(law, k + shift) for k in range(reach, 16 * reach)) for shift in (-centre, centre)
        )
        return inside | {reach: above, -reach: below}


def clipped(values: Any, reach: int) -> list[int]:
    return np.clip(values, -reach, reach).tolist()


# ---- real numbers, in bins of a quarter --------------------------------------------------------------------

BINS = range(-32, 40)  # of width 1/4; what lies beyond falls into the first and the last


def bins(values: Any) -> list[int]:
    return np.clip(np.floor(np.asarray(values) * 4), BINS[0], BINS[-1]).astype(int).tolist()


def binned(above: Callable[[int], Decimal], steps: int, centre: int) -> Law:
    """The law of the bins, from P(noise >= k steps) and the number of steps in one unit."""
    with localcontext(PRECISE):
        tails = [above(bin_ * steps // 4 - centre * steps) for bin_ in BINS[1:]]
        edges = [Decimal(1), *tails, Decimal(0)]
        return {bin_: above - below for bin_, (above, below) in zip(BINS, pairwise(edges), strict=True)}


def laplace_bins(value: int, price: Fraction) -> Law:
    about = noise.describe("laplace", sensitivity=1, epsilon=price, entries=200_000)
    return binned(partial(laplace_tail, F(about.event["scale"])), int(1 / about.step), value)


def staircase_bins(value: int, price: Fraction) -> Law:
    law = DiscreteStaircase.for_epsilon(price, 1 << 20)

    def above(k: int) -> Decimal:
        """P(noise >= k), by the tail in closed form."""
        if k <= 0:
            return 1 - above(1 - k)
        with localcontext(PRECISE):
            q = exp_minus(law.epsilon)
            period = law.width + q * (law.sensitivity - law.width)
            level, inside = divmod(k, law.sensitivity)
            left = max(law.width - inside, 0) + q * (law.sensitivity - max(inside, law.width))
            return exp_minus(law.epsilon * level) * (left * (1 - q) + q * period) / (2 * period - (1 - q))

    return binned(above, 1 << 20, value)


# ---- contracts ---------------------------------------------------------------------------------------------


def priced(mechanism: str, price: Fraction) -> Fraction:
    return noise.describe(mechanism, sensitivity=1, epsilon=price).cost["epsilon"]


def recorded(mechanism: str, price: Fraction) -> Any:
    return noise.describe(mechanism, sensitivity=1, epsilon=price).event


LAPLACE = Spec(
    name="laplace",
    price=ONE,
    neighbours=(0, 1),
    draw=lambda value, price, count, entropy: bins(
        noise.laplace(np.full(count, float(value)), sensitivity=1, epsilon=price, entropy=entropy)
    ),
    law=laplace_bins,
    cost=partial(priced, "laplace"),
    event=partial(recorded, "laplace"),
    refuses=parameters(noise.laplace, 1, sensitivity=1, epsilon=1),
    refusal=UsageError,
    errors=lambda price, count, entropy: np.abs(
        noise.laplace(np.zeros(count), sensitivity=1, epsilon=price, entropy=entropy)
    ).tolist(),
    error=lambda confidence, price: noise.interval("laplace", sensitivity=1, epsilon=price, confidence=confidence),
    audit_flags_twin=True,
)

GEOMETRIC = Spec(
    name="geometric",
    price=ONE,
    neighbours=(0, 2),
    draw=lambda value, price, count, entropy: clipped(
        noise.geometric(np.full(count, value), sensitivity=2, epsilon=price, entropy=entropy), 30
    ),
    law=lambda value, price: laplace_at(2 / price, value, 30),
    cost=partial(priced, "geometric"),
    event=partial(recorded, "geometric"),
    refuses=parameters(noise.geometric, 1, sensitivity=1, epsilon=1),
    refusal=UsageError,
    errors=lambda price, count, entropy: np.abs(
        noise.geometric(np.zeros(count, dtype=int), sensitivity=2, epsilon=price, entropy=entropy)
    ).tolist(),
    error=lambda confidence, price: noise.interval("geometric", sensitivity=2, epsilon=price, confidence=confidence),
    audit_flags_twin=True,
)

STAIRCASE = Spec(
    name="staircase",
    price=F(2),
    neighbours=(0, 1),
    draw=lambda value, price, count, entropy: bins(
        [noise.staircase(value, sensitivity=1, epsilon=price, entropy=entropy) for _ in range(count)]
    ),
    law=staircase_bins,
    cost=partial(priced, "staircase"),
    event=partial(recorded, "staircase"),
    refuses=parameters(noise.staircase, 1, sensitivity=1, epsilon=1),
    refusal=UsageError,
    errors=lambda price, count, entropy: [
        abs(noise.staircase(0, sensitivity=1, epsilon=price, entropy=entropy)) for _ in range(count // 4)
    ],
    error=lambda confidence, price: noise.interval("staircase", sensitivity=1, epsilon=price, confidence=confidence),
    draws=FEW,
)

DISCRETE_STAIRCASE = Spec(
    name="DiscreteStaircase",
    price=F(2),
    neighbours=(0, 5),
    draw=lambda value, price, count, entropy: clipped(value + DiscreteStaircase(price, 5, 2).draw(count, entropy), 40),
    law=lambda value, price: staircase_at(DiscreteStaircase(price, 5, 2), value, 40),
    cost=lambda price: DiscreteStaircase(price, 5, 2).epsilon,
    event=lambda price: DiscreteStaircase(price, 5, 2).event(),
    refuses={"epsilon": lambda bad: DiscreteStaircase(bad, 5, 2), "width": lambda bad: DiscreteStaircase(ONE, 5, bad)},
    bad=KERNEL_BAD,
    errors=lambda price, count, entropy: np.abs(DiscreteStaircase(price, 5, 2).draw(count, entropy)).tolist(),
    error=lambda confidence, price: DiscreteStaircase(price, 5, 2).error(confidence),
    audit_flags_twin=True,
)


def gaussian_steps(price: Fraction) -> tuple[Fraction, Fraction]:
    """ρ for noise of a few steps of the grid, and the step: a change of one step then costs `price`."""
    about = noise.describe("gaussian", sensitivity=1, rho=1, entries=200_000)
    return price * int(about.event["sensitivity"]) ** 2, about.step


def draw_gaussian(value: int, price: Fraction, count: int, entropy: Any) -> list[int]:
    """Reads 200,000 entries whatever is asked for, so that the grid is the same."""
    rho, step = gaussian_steps(price)
    noisy = noise.gaussian(np.full(200_000, value * float(step)), sensitivity=1, rho=rho, entropy=entropy)
    return clipped(np.round(noisy / float(step)).astype(int), 20)[:count]


GAUSSIAN = Spec(
    name="gaussian",
    price=F(1, 18),
    neighbours=(0, 1),
    draw=draw_gaussian,
    law=lambda value, price: gaussian_at(1 / (2 * price), value, 20),
    cost=lambda price: noise.describe("gaussian", sensitivity=1, rho=price).cost["rho"],
    event=lambda price: noise.describe("gaussian", sensitivity=1, rho=price).event,
    refuses=parameters(noise.gaussian, 1, sensitivity=1, rho=1)
    | parameters(noise.gaussian, 1, sensitivity=1, epsilon=1, delta=1e-6),
    refusal=UsageError,
    currency="rho",
    errors=lambda price, count, entropy: np.abs(
        noise.gaussian(np.zeros(count), sensitivity=1, rho=price, entropy=entropy)
    ).tolist(),
    error=lambda confidence, price: noise.interval("gaussian", sensitivity=1, rho=price, confidence=confidence),
)

DISCRETE_LAPLACE = Spec(
    name="DiscreteLaplace",
    price=ONE,
    neighbours=(0, 3),
    draw=lambda value, price, count, entropy: clipped(
        value + DiscreteLaplace.for_epsilon(price, 3).draw(count, entropy), 40
    ),
    law=lambda value, price: laplace_at(3 / price, value, 40),
    cost=lambda price: DiscreteLaplace.for_epsilon(price, 3).cost("epsilon", 3),
    event=lambda price: DiscreteLaplace.for_epsilon(price, 3).event(3),
    refuses={"scale": DiscreteLaplace},
    bad=KERNEL_BAD,
    errors=lambda price, count, entropy: np.abs(DiscreteLaplace(3 / price).draw(count, entropy)).tolist(),
    error=lambda confidence, price: error(DiscreteLaplace(3 / price), confidence),
    audit_flags_twin=True,
)

DISCRETE_GAUSSIAN = Spec(
    name="DiscreteGaussian",
    price=F(1, 8),
    neighbours=(0, 2),
    draw=lambda value, price, count, entropy: clipped(
        value + DiscreteGaussian.for_rho(price, l2_squared=4).draw(count, entropy), 30
    ),
    law=lambda value, price: gaussian_at(4 / (2 * price), value, 30),
    cost=lambda price: DiscreteGaussian.for_rho(price, l2_squared=4).cost("rho", 4),
    event=lambda price: DiscreteGaussian.for_rho(price, l2_squared=4).event(4),
    refuses={"variance": DiscreteGaussian},
    bad=KERNEL_BAD,
    currency="rho",
    errors=lambda price, count, entropy: np.abs(DiscreteGaussian(2 / price).draw(count, entropy)).tolist(),
    error=lambda confidence, price: error(DiscreteGaussian(2 / price), confidence),
)

NUMBERS = (
    LAPLACE,
    GEOMETRIC,
    STAIRCASE,
    GAUSSIAN,
    DISCRETE_LAPLACE,
    DISCRETE_GAUSSIAN,
    DISCRETE_STAIRCASE,
)
