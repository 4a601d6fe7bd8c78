"""How far noise strays, before any is drawn: the error a price buys, and the price of an error."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, log, sqrt
from types import MappingProxyType

from sfumato.errors import out_of_range
from sfumato.kernel.cost import epsilon_for as zcdp_epsilon
from sfumato.kernel.mechanisms.additive import DiscreteLaplace
from sfumato.kernel.mechanisms.protocol import Event
from sfumato.kernel.widths import deviation
from sfumato.kernel.widths import error as error_of
from sfumato.noise.calibration import NUMERIC, Calibrated, Price, calibrated, probability, whole_sensitivity
from sfumato.noise.gaussian_delta import delta_above
from sfumato.noise.grid import Grid
from sfumato.noise.stairs import DiscreteStaircase, StaircaseNoise, staircase_noise
from sfumato.noise.wordings import (
    delta_suffices,
    delta_without_use,
    error_too_small,
    gaussian_needs_delta,
    mechanism_unknown,
)
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown, whole

Test = Callable[[float], bool]
Noise = Calibrated | StaircaseNoise

NAMES = (*NUMERIC, "staircase")
COARSE = 1000.0  # steps; noise narrower than this feels the grid, and its error is counted in steps
LARGEST_MISS = Fraction(1, 10**12)
SMALLEST_EPSILON = 1e-12  # of Gaussian noise: below, delta alone decides
EPSILON_SPAN = (1e-200, 1e200)
PRICE_SPAN = (1e-99, 1e99)  # what the calls accept as epsilon
SEARCH_ACCURACY = 1e-9
AGREEMENT = 1.001


@dataclass(frozen=True, slots=True)
class Description:
    """What a mechanism would do: its price, the record a ledger would keep, the grid, the spread and the error."""

    mechanism: str
    cost: Mapping[str, Fraction]
    event: Event
    step: Fraction
    scale: float
    error95: float


def describe(
    mechanism: str,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber | None = None,
    delta: GivenNumber | None = None,
    rho: GivenNumber | None = None,
    entries: int = 1,
) -> Description:
    """What "laplace", "geometric", "gaussian" or "staircase" would do at this price; draws nothing.

    `scale` is the Laplace scale, the Gaussian standard deviation or the mean error of a staircase (for Laplace noise
    mean error and scale are one) in the unit of the value; `error95` is what 95 % of the draws stay within, for each
    entry.
    """
    price, count = Price(epsilon, delta, rho), whole(entries, "entries", least=1)
    noise = _noise(mechanism, sensitivity, price=price, entries=count)
    error = _error(mechanism, noise, exact(sensitivity, "sensitivity"), Fraction(95, 100))
    if isinstance(noise, StaircaseNoise):
        cost, event = {"epsilon": noise.law.epsilon}, noise.law.event()
    else:
        cost, event = dict(noise.cost), noise.event()
    scale = _spread(noise) * float(noise.grid.step)
    return Description(mechanism, MappingProxyType(cost), event, noise.grid.step, scale, error)


def interval(
    mechanism: str,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber | None = None,
    delta: GivenNumber | None = None,
    rho: GivenNumber | None = None,
    confidence: GivenNumber = 0.95,
    entries: int = 1,
) -> float:
    """The error that a draw stays within with this probability, for each entry.

    Claim: laplace gives -sensitivity / epsilon · ln(1 - confidence), the real-valued form; geometric the smallest
    whole number that holds; gaussian the normal quantile times the standard deviation. Where the noise is narrower
    than a thousand steps of the grid, and for a staircase always, the error is counted in steps, rounding included.
    """
    level = _confidence(confidence)
    price, count = Price(epsilon, delta, rho), whole(entries, "entries", least=1)
    noise = _noise(mechanism, sensitivity, price=price, entries=count)
    return _error(mechanism, noise, exact(sensitivity, "sensitivity"), level)


def epsilon_for(
    mechanism: str,
    *,
    sensitivity: GivenNumber,
    error: GivenNumber,
    confidence: GivenNumber = 0.95,
    delta: GivenNumber | None = None,
    entries: int = 1,
) -> float:
    """The smallest epsilon with which a draw stays within `error` with this probability: `interval` read backwards."""
    level, bound = _confidence(confidence), exact_positive(error, "error")
    change, count = exact_positive(sensitivity, "sensitivity"), whole(entries, "entries", least=1)
    if mechanism not in NAMES:
        raise mechanism_unknown(str(mechanism), NAMES)
    if mechanism == "gaussian" and delta is None:
        raise gaussian_needs_delta()
    if mechanism != "gaussian" and delta is not None:
        raise delta_without_use(mechanism)
    match mechanism:
        case "geometric":
            return _geometric_epsilon(whole_sensitivity(change), bound, level)
        case "laplace":
            epsilon = -float(change / bound) * log(1 - level)
        case "staircase":
            epsilon = _staircase_epsilon(change, float(bound), level, count)
        case _:
            epsilon = _gaussian_epsilon(Grid.holding(change, count), change, bound / _normal(level), delta)
    reached = interval(
        mechanism, sensitivity=change, epsilon=epsilon, delta=delta, confidence=confidence, entries=count
    )
    if reached > AGREEMENT * float(bound):
        raise error_too_small()
    return epsilon


def _noise(mechanism: str, sensitivity: GivenNumber, *, price: Price, entries: int) -> Noise:
    if mechanism == "staircase":
        return staircase_noise(sensitivity, price=price, entries=entries)
    if mechanism not in NAMES:
        raise mechanism_unknown(str(mechanism), NAMES)
    return calibrated(mechanism, sensitivity, price=price, entries=entries)


def _error(mechanism: str, noise: Noise, sensitivity: Fraction, level: Fraction) -> float:
    if isinstance(noise, StaircaseNoise):
        return noise.error(float(level))
    if mechanism == "geometric":
        return error_of(noise.law, float(level))
    spread = _spread(noise)
    if spread < COARSE:
        return (error_of(noise.law, float(level)) + 0.5) * float(noise.grid.step)
    if mechanism == "laplace":
        return -float(sensitivity / dict(noise.cost)["epsilon"]) * log(1 - level)
    return _normal(level) * spread * float(noise.grid.step)


def _spread(noise: Noise) -> float:
    """The Laplace scale, the Gaussian standard deviation or the mean error of a staircase, in steps."""
    law = noise.law
    if isinstance(law, DiscreteStaircase):
        return law.mean_error()
    return float(law.scale) if isinstance(law, DiscreteLaplace) else deviation(law)


def _geometric_epsilon(sensitivity: int, error: Fraction, level: Fraction) -> float:
    most = error.numerator // error.denominator

    def enough(epsilon: float) -> bool:
        return error_of(DiscreteLaplace.for_epsilon(Fraction(epsilon), sensitivity), float(level)) <= most

    return _smallest(enough, *EPSILON_SPAN)


def _staircase_epsilon(sensitivity: Fraction, error: float, level: Fraction, entries: int) -> float:
    def enough(epsilon: float) -> bool:
        price = Price(Fraction(epsilon))
        return staircase_noise(sensitivity, price=price, entries=entries).error(float(level)) <= error

    return _smallest(enough, *PRICE_SPAN)


def _gaussian_epsilon(grid: Grid, sensitivity: Fraction, deviation: Fraction, delta: GivenNumber | None) -> float:
    steps, variance, target = grid.euclidean(sensitivity), (deviation / grid.step) ** 2, probability(delta, "delta")

    def enough(epsilon: float) -> bool:
        return delta_above(variance, steps, Fraction(epsilon)) <= float(target)

    if grid.entries > 1:
        epsilon = float(zcdp_epsilon(steps**2 / (2 * variance), target))
        if epsilon < SMALLEST_EPSILON:
            raise delta_suffices()
        return epsilon
    if enough(SMALLEST_EPSILON):
        raise delta_suffices()
    return _smallest(enough, SMALLEST_EPSILON, EPSILON_SPAN[1])


def _smallest(enough: Test, low: float, high: float) -> float:
    """The smallest argument that is enough, from above. Needs: `enough` stays true once it is."""
    while high > low * (1 + SEARCH_ACCURACY):
        middle = sqrt(low) * sqrt(high)
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _confidence(value: object) -> Fraction:
    level = probability(value, "confidence")
    if 1 - level < LARGEST_MISS:
        raise out_of_range("confidence", "0", "1 - 1e-12", shown(level))
    return level


def _normal(level: Fraction) -> Fraction:
    """z with P(|N(0, 1)| <= z) = level."""
    miss = float(1 - level)
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        if erfc(middle / sqrt(2)) > miss:
            low = middle
        else:
            high = middle
    return Fraction(high)
