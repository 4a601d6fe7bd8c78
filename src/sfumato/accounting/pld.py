"""The privacy loss distribution of a plan: the tightest accounting for mechanisms fixed in advance.

Losses meet on one grid, under a tilt that puts the wanted ε into the centre; `spectrum` adds them up. This is not a
filter: where parameters depend on earlier answers, use `filters`. Proofs: docs/proofs/pld.md
"""

from fractions import Fraction
from math import ceil, exp, expm1, floor, inf, isfinite, log, log1p, sqrt

import numpy as np

from sfumato.accounting.composed import Composed, Window
from sfumato.accounting.lattices import GridLaw
from sfumato.accounting.losses import Losses
from sfumato.accounting.renyi import order_for_delta, order_for_epsilon
from sfumato.accounting.spectrum import summed

ACCURACY = 2e-8  # of ε, where the longest grid allows it
LONGEST = 1 << 19
WIDEST_STEP = Fraction(1, 2)
TAIL = 1e-13
WRAPPED = 1e-11
LARGEST_EXPONENT = 1e6  # of tilt · loss, so that e^exponent keeps ten digits
SMALLEST_DELTA = 1e-280
UNIT = 2.0**-48  # more than the rounding error of a term of the scale
HALF_UNIT = 2.0**-53  # of one addition
SHARES = np.exp(np.linspace(-4.0, 6.0, 48))


def epsilon_of(laws: Losses, delta: float, *, optimistic: bool = False) -> float:
    """An ε with δ(ε) <= delta for the sum of these losses; optimistic: an ε that no smaller bound can beat.

    Needs: delta above the chance of an infinite loss.
    """
    target = delta - laws.infinite
    if target <= 0:
        return inf
    tilt, near = order_for_delta(laws.moments, target, highest=_highest(laws))
    composed = _composed(laws, tilt, near=near, delta=target, optimistic=optimistic)
    return composed.epsilon_below(delta) if optimistic else composed.epsilon(delta)


def delta_of(laws: Losses, epsilon: float, *, optimistic: bool = False) -> float:
    """At least δ(ε) of the sum of these losses (optimistic: at most). Needs: epsilon >= 0."""
    if epsilon >= laws.largest:
        return laws.infinite
    tilt, logarithm = order_for_epsilon(laws.moments, epsilon, highest=_highest(laws))
    delta = max(SMALLEST_DELTA, exp(min(logarithm, 0.0)))
    composed = _composed(laws, tilt, near=epsilon, delta=delta, optimistic=optimistic)
    return composed.delta_below(epsilon) if optimistic else composed.delta(epsilon)


def _highest(laws: Losses) -> float:
    return LARGEST_EXPONENT / laws.largest if isfinite(laws.largest) else LARGEST_EXPONENT


def _composed(laws: Losses, tilt: float, *, near: float, delta: float, optimistic: bool) -> Composed:
    low, high = _range(laws, tilt, near=near, delta=delta)
    step = _step(laws, tilt, near=near, width=high - low)
    h = float(step)
    first = floor(low / h) - 2
    length = 1 << ceil(log(max(4, (high - low) / h + 6)) / log(2))
    window = Window(first, length, tilt, h)
    reach = sqrt(2 * log(1 / (TAIL * delta)))
    grid = [(law.on_grid(step, tilt, optimistic=optimistic), count) for law, count in laws.atoms]
    if laws.normal is not None:
        grid.append((laws.normal.on_grid(step, tilt, reach=reach, optimistic=optimistic), 1))
    bands = None if laws.bands is None else laws.bands.on_grid(step, optimistic=optimistic)
    highest = sum(count * law.highest() for law, count in grid)
    highest += 0 if bands is None else int(bands.counts @ bands.highest())
    masses, scale, noise = summed(bands, grid, window)
    return Composed(
        window,
        masses,
        window.falling(),
        scale + log1p(-laws.infinite),
        1e-12 + UNIT * (laws.count + abs(scale) + tilt * max(abs(low), abs(high))) + HALF_UNIT * length,
        noise,
        above=_beyond(laws, tilt, first + length, step) if highest >= first + length else 0.0,
        wrapped=WRAPPED,
        infinite=_together(laws.infinite, grid),
        largest=laws.largest,
    )


def _range(laws: Losses, tilt: float, *, near: float, delta: float) -> tuple[float, float]:
    """Where the tilted sum lies, apart from a tail that does not matter, by Chernoff's bound."""
    centre = float(laws.moments(np.array([tilt]))[0])
    steps = SHARES * max(tilt, 0.5) / 50
    up = tilt + steps
    high = float(((laws.moments(up) - log(TAIL * delta)) / up).min())
    # The law of a pair read the other way round is its mirror image, so ln E e^(v L) is even around v = -1/2.
    down = tilt - steps
    mirrored = np.where(down >= 0, down, -1 - down)
    usable = mirrored >= 0
    low = float(((log(TAIL) - laws.moments(mirrored[usable]) + centre) / steps[usable]).max())
    largest = laws.largest * (1 + 1e-12)
    return max(min(low, near), -largest), min(max(high, near), largest)


def _step(laws: Losses, tilt: float, *, near: float, width: float) -> Fraction:
    """A step that costs less than ACCURACY of ε, and if possible one that moves no atom.

    Moving n losses within cells of width h adds at most n h²/4 to the variance of the sum, hence about
    (tilt + 1) n h²/8 to ε.
    """
    allowed = 2 * ACCURACY * max(near, 1e-6) / (tilt + 1)
    finest = max(width / LONGEST, 1e-300)
    loose = max(finest, sqrt(allowed / (laws.count / 4)))
    tight = max(finest, sqrt(allowed / max(laws.spread(), 1e-300)))
    if laws.common is not None and float(laws.common) >= min(loose, 2 * finest):
        pieces = max(ceil(float(laws.common) / min(tight, float(WIDEST_STEP))), 1)
        return laws.common / pieces
    return min(Fraction(loose), WIDEST_STEP)


def _beyond(laws: Losses, tilt: float, border: int, step: Fraction) -> float:
    """P(the sum on the grid lies at the border or beyond), from above.

    Moving a loss within a cell adds at most v (v+1) h²/8 to ln E e^(v L) (docs/proofs/pld.md, "The grid").
    """
    h = float(step)
    orders = tilt + SHARES * max(tilt, 0.5) / 50
    exponents = laws.moments(orders) + laws.moved(step) * orders * (orders + 1) * h**2 / 8 - orders * border * h
    return exp(min(float(exponents.min()), 0.0))


def _together(infinite: float, grid: list[tuple[GridLaw, int]]) -> float:
    """The probability that at least one loss is infinite, from above."""
    return -expm1(log1p(-infinite) + sum(count * log1p(-law.infinite) for law, count in grid)) * (1 + 8 * UNIT)
