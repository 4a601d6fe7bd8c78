"""Which unknown keys may be shown: each with a probability that rises with the number of units that hold it.

With every further unit the probability rises by as much as (ε, δ) allows, so no other rule for one key shows more.
"""

from bisect import bisect_left
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, rho_of_pure
from sfumato.kernel.entropy import Entropy, Words
from sfumato.kernel.mechanisms.protocol import Event, Numbers
from sfumato.schema.allow import Family

WORD = 64
BITS_BEYOND_DELTA = 128  # every probability is rounded down by less than 2^-128 of δ
LARGEST_EPSILON = Fraction(1024)  # a larger one is treated as this, which is safe
MOST_UNITS = 1 << 20


@dataclass(frozen=True, slots=True)
class KeySelection:
    """Shows a key held by n units with probability π_n, independently of all other keys.

    Claim: (ε, δ)-DP for the set of keys shown, when a unit that holds at most `max_groups` keys is added or removed.
    Not of a measure: it is drawn from the units of all groups, before what is measured in those that are shown.
    Exactly so: every π_n is a whole multiple of a power of two, and these very numbers meet the inequalities.
    Needs: counts of units, not of rows; a key that no unit holds is never shown.
    Proof: docs/proofs/key-selection.md (Desfontaines, Voss, Gipson, Mandayam 2022).
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int = 1

    def __post_init__(self) -> None:
        if not (self.epsilon > 0 and 0 < self.delta < 1 and self.max_groups >= 1):
            raise ValueError("key selection has a positive epsilon, a delta between 0 and 1, and at least one group")

    @property
    def family(self) -> Family:
        return "keys"

    def cost(self, currency: Currency) -> Fraction:
        """(ε, δ)-DP is ε²/2-zCDP apart from δ, which is paid beside it; it is never pure."""
        if currency != "rho":
            raise plan_refused("finding keys is not paid in epsilon")
        return rho_of_pure(self.epsilon)

    def event(self) -> Event:
        return {
            "mechanism": "key_selection",
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "max_groups": str(self.max_groups),
        }

    def probability(self, units: int) -> Fraction:
        """π_n, exactly as it is drawn."""
        return self._chances().probability(units)

    def units_for(self, probability: Fraction) -> int:
        """The smallest number of units whose key is shown with at least this probability."""
        chances = self._chances()
        return bisect_left(chances.numerators, probability * 2**chances.bits)

    def draw(self, units: Numbers, entropy: Entropy) -> npt.NDArray[np.bool_]:
        """For each key, by the number of its units, whether to show it.

        Claim: exact; reads one word per key, whatever the counts are, and more bits with probability 2^-64.
        """
        chances = self._chances()
        places = np.clip(units, 0, chances.certain)
        words, heads = entropy.words(len(places)), chances.heads[places]
        sure = places == chances.certain
        shown: npt.NDArray[np.bool_] = sure | (words < heads)
        tail = chances.bits - WORD
        for index in np.flatnonzero(~sure & (words == heads)):
            shown[index] = entropy.below(1 << tail) < chances.numerators[places[index]] & ((1 << tail) - 1)
        return shown

    def _chances(self) -> "Chances":
        return _chances(self.epsilon, self.delta, self.max_groups)


@dataclass(frozen=True, slots=True)
class Chances:
    """π_n = numerators[n] / 2^bits for n up to `certain`, the first that is 1; `heads` are their first 64 bits."""

    bits: int
    numerators: tuple[int, ...]
    heads: Words

    @property
    def certain(self) -> int:
        return len(self.numerators) - 1

    def probability(self, units: int) -> Fraction:
        return Fraction(self.numerators[min(units, self.certain)], 1 << self.bits)


@lru_cache(maxsize=64)
def _chances(epsilon: Fraction, delta: Fraction, max_groups: int) -> Chances:
    """π_0 = 0, π_n = min(E π + δ', 1 - (1 - π - δ') / E, 1) with π = π_(n-1), E <= e^(ε/L), every step rounded down.

    Claim: π_n <= e^(ε/L) π_(n-1) + δ', 1 - π_(n-1) <= e^(ε/L) (1 - π_n) + δ', and π never falls; all three exactly.
    Proof: docs/proofs/key-selection.md, "Rounding".
    """
    bits = BITS_BEYOND_DELTA + (max_groups * delta.denominator // delta.numerator).bit_length()
    one, chance = 1 << bits, chance_below(delta, max_groups, bits)
    growth = growth_below(epsilon / max_groups, bits)
    numerators = [0]
    while numerators[-1] < one:
        if len(numerators) > MOST_UNITS:
            raise ValueError("with so small an epsilon and delta a million units would not make a key sure")
        shown, hidden = numerators[-1], one - numerators[-1] - chance
        numerators.append(min((shown * growth >> bits) + chance, one + (-hidden << bits) // growth, one))
    heads = np.array([min(numerator >> (bits - WORD), 2**WORD - 1) for numerator in numerators], dtype=np.uint64)
    heads.flags.writeable = False
    return Chances(bits, tuple(numerators), heads)


def growth_below(epsilon: Fraction, bits: int) -> int:
    """A whole number E · 2^bits with 1 <= E <= e^ε, just below e^ε unless ε is huge."""
    capped = min(epsilon, LARGEST_EPSILON)
    with localcontext(_context(bits + 2 * int(capped))) as context:
        growth = _decimal(capped).exp() * 2**bits
        # The rounding of ε enters exp multiplied by ε, which is at most 1024.
        return max(1 << bits, _floor(growth * (1 - Decimal(10) ** (5 - context.prec))))


def chance_below(delta: Fraction, max_groups: int, bits: int) -> int:
    """A whole number δ' · 2^bits with 1 - (1 - δ')^max_groups <= δ, as large as `bits` allow."""
    if max_groups == 1:
        return (delta.numerator << bits) // delta.denominator
    with localcontext(_context(bits)) as context:
        chance = 1 - (_decimal(1 - delta).ln() / max_groups).exp()
        # ln(1 - δ) is at most the number of digits of δ in size, times ln 10; what follows errs no more than that.
        margin = (1 - _decimal(1 - delta).ln()) * Decimal(10) ** (3 - context.prec)
        return _floor((chance - margin) * 2**bits)


def _context(bits: int) -> Context:
    return Context(prec=60 + bits * 302 // 1000, Emax=10**17, Emin=-(10**17), traps=[])


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_FLOOR))
