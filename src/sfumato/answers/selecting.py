"""Error bars of the counts that select keys: the law of the noise, given that a key was shown. Post-processing only."""

from bisect import bisect_left
from functools import lru_cache
from math import erfc, exp, sqrt

from sfumato.kernel.mechanisms.additive import DiscreteGaussian
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.widths import deviation, error

FAR = 14  # deviations: beyond, nothing is left of a tail
SURELY = 9
WIDE = 100.0  # from this deviation on, the noise is as good as continuous


def given_shown(noisy: int, selection: KeySelection, confidence: float) -> tuple[int, int]:
    """All numbers of units for which so small and so large a noisy number is not too rare among those that are shown.

    Near the threshold only noise that is large enough lets a key through, so the bar reaches far down.
    """
    law, threshold, half = selection.law, selection.threshold, error(selection.law, confidence)
    if noisy > threshold + half + SURELY * deviation(law):  # every key that may have made it is shown
        return noisy - half, noisy + half
    rare = (1 - confidence) / 2

    def at_least(units: int, least: int = noisy) -> float:
        """Among those that are shown. Where nobody would be, next to nobody goes further."""
        shown = _tail(law, threshold - units)
        return _tail(law, least - units) / shown if shown else float(least == threshold)

    def less(units: int) -> float:
        return 1 - at_least(units, noisy + 1)

    # The first rises with the units, the second falls.
    last = noisy + half + SURELY * int(deviation(law)) + 2
    low = 1 + bisect_left(range(1, last), rare, key=at_least)
    high = bisect_left(range(1, last), -rare, key=lambda units: -less(units))
    while high < last and less(high + 1) >= rare:
        high += 1
    return low, max(low, high, noisy)


def _tail(law: DiscreteGaussian, least: int) -> float:
    """P(noise >= least)."""
    sigma = deviation(law)
    if sigma > WIDE:
        return erfc((least - 0.5) / (sigma * sqrt(2))) / 2
    reach, tails = _tails(law)
    return tails[min(max(least, -reach), reach) + reach]


@lru_cache(maxsize=16)
def _tails(law: DiscreteGaussian) -> tuple[int, tuple[float, ...]]:
    """P(noise >= k) for k from -reach to reach."""
    variance = float(law.variance)
    reach = int(FAR * sqrt(variance)) + 2
    weights = [exp(-(k**2) / (2 * variance)) for k in range(-reach, reach + 1)]
    whole, above, tails = sum(weights), 0.0, list[float]()
    for weight in reversed(weights):
        above += weight
        tails.append(above / whole)
    return reach, tuple(reversed(tails))
