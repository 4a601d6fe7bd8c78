"""Whether a sum keeps to a limit, with the little that exact sums of converted amounts may be above it."""

from fractions import Fraction
from functools import lru_cache

from sfumato.ledger.terms import Terms
from sfumato.ledger.totals import ROUNDED_TO
from sfumato.schema.budget import Budget

# The best conversion of ε to ρ is searched with doubles: another machine's may be better by less than this.
CONVERSIONS_DIFFER_BY = Fraction(1, 10**9)
ROUNDING = Fraction(1, ROUNDED_TO)  # a total may have been rounded up after it was compared


def is_within(total: Fraction, limit: Budget) -> bool:
    """Whether charges of this sum may have been granted under this limit."""
    return total < _least_above(limit)


def is_within_pot(delta_total: Fraction, limit: Budget) -> bool:
    return delta_total < Terms(limit).pot + ROUNDING


@lru_cache(maxsize=4096)
def _least_above(limit: Budget) -> Fraction:
    terms = Terms(limit)
    slack = terms.limit * CONVERSIONS_DIFFER_BY if terms.currency == "rho" else Fraction(0)
    return terms.limit + slack + ROUNDING
