"""Whether a sum keeps to a limit, with the little that exact sums of converted amounts may be above it."""

from fractions import Fraction
from functools import lru_cache

from sfumato.ledger.terms import Terms
from sfumato.ledger.totals import ROUNDED_TO
from sfumato.schema.budget import Budget

# The best conversion of ε to ρ is searched with doubles: another machine's may be better by less than this.
CONVERSIONS_DIFFER_BY = Fraction(1, 10**9)
ROUNDING = Fraction(1, ROUNDED_TO)  # a total may have been rounded up after it was compared


@lru_cache(maxsize=4096)
def least_above(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Charges that were granted under this limit have a smaller sum."""
    terms = Terms(Budget(epsilon, delta))
    slack = terms.limit * CONVERSIONS_DIFFER_BY if terms.currency == "rho" else Fraction(0)
    return terms.limit + slack + ROUNDING


@lru_cache(maxsize=4096)
def least_above_pot(delta: Fraction) -> Fraction:
    """The same for what discovering keys may have taken of δ."""
    return Terms(Budget(1, delta)).pot + ROUNDING
