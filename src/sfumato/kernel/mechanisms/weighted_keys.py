"""From which sum of weights on a key is shown, where a unit of k keys adds 2^16/√k to each of them."""

from bisect import bisect_left
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from sfumato.plan.counting import weights

EIGHTY_DIGITS = Context(prec=80, Emax=10**17, Emin=-(10**17), traps=[])
ROUNDINGS = Decimal(10) ** -40  # far more than all roundings of a sum or a bound together
ROOT_OF_TWO_PI = Decimal("2.506628274631000502415765284811")  # rounded down
LEVELS = 60  # of the continued fraction; even, so that it errs to the safe side
MOST_DEVIATIONS = 20  # so far no noise reaches once in 10^80 draws


@lru_cache(maxsize=64)
def weighted_threshold(variance: Fraction, delta: Fraction, max_groups: int) -> int:
    """A whole number T with k · P(weight + noise >= T) <= δ for the weight of every unit of k <= max_groups keys.

    Claim: exactly so, because `beyond` is never below the chance; it may be one step above the least.
    Needs: δ of at least 10^-30 and at most 10^9 groups.
    Proof: docs/proofs/key-selection.md, "The threshold of weights".
    """
    each, least, sigma = weights(max_groups), 0, isqrt(int(variance)) + 1
    # The last weight is of all units that hold no fewer keys: most of them for who holds all that count.
    for keys, weight in zip((max_groups, *range(len(each) - 1, 0, -1)), reversed(each), strict=True):

        def safe(threshold: int, keys: int = keys, weight: int = weight) -> bool:
            return beyond(threshold - weight, variance, keys) <= delta

        if not safe(least):
            possible = range(weight + sigma, weight + MOST_DEVIATIONS * sigma)
            least = weight + sigma + bisect_left(possible, True, key=safe)
    return least


def beyond(least: int, variance: Fraction, keys: int = 1) -> Decimal:
    """No less than keys · P(noise >= least); all of them where the noise is not yet rare.

    Proof: docs/proofs/key-selection.md, "The threshold of weights".
    """
    squared = Fraction(2 * least - 1) ** 2 / (4 * variance)  # of the deviations up to least - 1/2
    if least < 1 or squared < 1:
        return Decimal(keys)
    with localcontext(EIGHTY_DIGITS):
        far = Decimal(squared.numerator) / Decimal(squared.denominator)
        root = ratio = far.sqrt()
        for level in range(LEVELS, 0, -1):
            ratio = root + level / ratio
        return keys * (-far / 2).exp() / (ROOT_OF_TWO_PI * ratio) * (1 + ROUNDINGS)
