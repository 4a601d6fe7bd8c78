"""Which unknown keys may be shown: those that enough units hold, when noise was added to how many there are.

The noisy number is what selects, and may be shown beside its key: it is paid for once. Or units have weights, by how
many keys they hold, and the noisy sum of these selects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.additive import DiscreteGaussian
from sfumato.kernel.mechanisms.protocol import Added, Event, Numbers, Released
from sfumato.kernel.mechanisms.weighted_keys import EIGHTY_DIGITS, ROUNDINGS, weighted_threshold
from sfumato.kernel.widths import error
from sfumato.plan.counting import WHOLE_WEIGHT, weights
from sfumato.schema.allow import Family

BITS_BEYOND_DELTA = 128
LEAST_DELTA = Fraction(1, 10**30)  # with less, a key would need as many people as with none
LARGEST_VARIANCE = 1 << 32  # the sum below has a dozen terms for every step of the deviation
UNSEEN = Decimal(10) ** -30  # of δ: where the sum ends, and a bound takes over


@dataclass(frozen=True, slots=True)
class KeySelection:
    """Adds discrete Gaussian noise to the number of units that hold a key, and shows it from a threshold on.

    Claim: δ-approximate ρ-zCDP for the keys shown and their noisy numbers, when a unit that holds at most `max_groups`
    keys is added or removed. Exactly so: the threshold is the least whole number that a key of one unit reaches with a
    chance whose sum over all keys of a unit is at most δ.
    Not of a measure, unless the measure counts units: it is drawn from the units of all groups, before what is measured
    in those that are shown.
    `weighted`: of units each with the weight that `plan.counting.weights` gives it for the number of its keys; then the
    noisy sums are no counts and are never shown.
    Needs: counts of units, not of rows; a key that no unit holds is never shown.
    Proof: docs/proofs/key-selection.md (after Korolova, Kenthapadi, Mishra, Ntoulas 2009).
    """

    rho: Fraction
    delta: Fraction
    max_groups: int = 1
    weighted: bool = False

    def __post_init__(self) -> None:
        if not (self.rho > 0 and LEAST_DELTA <= self.delta < 1 and self.max_groups >= 1):
            raise ValueError("key selection has a positive rho, a delta from 1e-30 to 1, and at least one group")
        if self.law.variance > LARGEST_VARIANCE * (WHOLE_WEIGHT**2 if self.weighted else 1):
            raise ValueError("key selection has a larger rho: with this one noise would hide every key")

    @property
    def family(self) -> Family:
        return "keys"

    @property
    def law(self) -> DiscreteGaussian:
        return DiscreteGaussian.for_rho(self.rho, l2_squared=WHOLE_WEIGHT**2 if self.weighted else self.max_groups)

    @property
    def threshold(self) -> int:
        least = weighted_threshold if self.weighted else _threshold
        return least(self.law.variance, self.delta, self.max_groups)

    def cost(self, currency: Currency) -> Fraction:
        """ρ apart from δ, which is paid beside it; it is never pure."""
        if currency != "rho":
            raise plan_refused("finding keys is not paid in epsilon")
        return self.rho

    def event(self) -> Event:
        return {
            "mechanism": "key_threshold",
            "rho": str(self.rho),
            "delta": str(self.delta),
            "max_groups": str(self.max_groups),
            "threshold": str(self.threshold),
            **({"weight": str(WHOLE_WEIGHT)} if self.weighted else {}),
        }

    def check(self, entry: Added) -> None:
        if type(entry) is not int:
            raise plan_refused("the engine answered with something else than whole numbers")

    def select(self, units: Numbers, entropy: Entropy) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """For each key, by the number of its units or their weight: this with noise, and whether to show the key.

        Claim: as many draws as keys, whatever their numbers are.
        """
        noisy: Numbers = units + self.law.draw(len(units), entropy)
        return noisy, (noisy >= self.threshold) & (units > 0)

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        del entries, entropy
        raise plan_refused("keys are selected before anything is measured in them")

    def units_for(self, probability: Fraction, held: int = 1) -> int:
        """So many units are enough for a key to be shown with at least this probability. Needs: a half or more.

        `held`: how many keys each of them holds, which tells with weights alone.
        """
        enough = self.threshold + error(self.law, float(2 * probability - 1))
        each = weights(self.max_groups) if self.weighted else (1,)
        return -(-enough // each[min(held, len(each)) - 1])


@lru_cache(maxsize=64)
def _threshold(variance: Fraction, delta: Fraction, max_groups: int) -> int:
    """The least T with P(1 + noise >= T) <= δ', where 1 - (1 - δ')^max_groups <= δ; never below 2.

    Claim: the inequality holds exactly: all but what lies far out is added up, and roundings are taken off.
    Proof: docs/proofs/key-selection.md, "The threshold".
    """
    bits = BITS_BEYOND_DELTA + (max_groups * delta.denominator // delta.numerator).bit_length()
    chance = Fraction(chance_below(delta, max_groups, bits), 1 << bits)
    with localcontext(EIGHTY_DIGITS):
        allowed, half = _decimal(chance), -_decimal(1 / (2 * variance))
        weights, ratio, falling = [Decimal(1)], half.exp(), (2 * half).exp()
        while weights[-1] > allowed * UNSEEN:  # exp(-k²/(2 variance)), each from the one before
            weights.append(weights[-1] * ratio)
            ratio *= falling
        everything = (2 * sum(weights[1:]) + 1) * (1 - ROUNDINGS)
        beyond, least = weights[-1] * ratio / (1 - ratio), len(weights)
        while least > 1 and (beyond + weights[least - 1]) * (1 + ROUNDINGS) <= allowed * everything:
            least -= 1
            beyond += weights[least]
        return least + 1


def chance_below(delta: Fraction, max_groups: int, bits: int) -> int:
    """A whole number δ' · 2^bits with 1 - (1 - δ')^max_groups <= δ, as large as `bits` allow."""
    if max_groups == 1:
        return (delta.numerator << bits) // delta.denominator
    with localcontext(Context(prec=60 + bits * 302 // 1000, Emax=10**17, Emin=-(10**17), traps=[])) as context:
        chance = 1 - (_decimal(1 - delta).ln() / max_groups).exp()
        # ln(1 - δ) is at most the number of digits of δ in size, times ln 10; what follows errs no more than that.
        margin = (1 - _decimal(1 - delta).ln()) * Decimal(10) ** (3 - context.prec)
        return int(((chance - margin) * 2**bits).to_integral_value(rounding=ROUND_FLOOR))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
