"""Error bars of the counts that select keys: the law of the noise, given that a key was shown. Post-processing only."""

from bisect import bisect_left
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sfumato.kernel.mechanisms.additive import DiscreteGaussian
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.widths import deviation, error

FAR = 14  # deviations: beyond, nothing is left of a tail
SURELY = 9
ROUNDINGS = 1e-9  # of sums of doubles, far more than they are


def given_shown(noisy: int, selection: KeySelection, confidence: float) -> tuple[int, int]:
    """All numbers of units for which so small and so large a noisy number is not too rare among those that are shown.

    Near the threshold only noise that is large enough lets a key through, so the bar reaches far down.
    """
    law, threshold, half = selection.law, selection.threshold, error(selection.law, confidence)
    if noisy > threshold + half + SURELY * deviation(law):  # every key that may have made it is shown
        return noisy - half, noisy + half
    rare = (1 - confidence) / 2 - ROUNDINGS

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
    tails = _tails(law)
    reach = len(tails) // 2
    return float(tails[min(max(least, -reach), reach) + reach])


@lru_cache(maxsize=4)
def _tails(law: DiscreteGaussian) -> npt.NDArray[np.float64]:
    """P(noise >= k) for k from -reach to reach, added up from the smallest."""
    reach = int(FAR * deviation(law)) + 2
    above = np.exp(np.arange(reach, -reach - 1, -1, dtype=np.float64) ** 2 / (-2 * float(law.variance))).cumsum()
    return np.ascontiguousarray(above[::-1] / above[-1])
