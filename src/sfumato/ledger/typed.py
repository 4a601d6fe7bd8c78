"""What a body says, read with the kinds a ledger writes: an entry may have been written by anybody."""

import re
from fractions import Fraction
from functools import lru_cache

from sfumato.schema.numbers import LARGEST_EXPONENT

# As `str` of a fraction is; Python itself writes no longer number. Exponents could name numbers too large to be built.
WRITTEN = re.compile(r"-?[0-9]{1,4300}(/[0-9]{1,4300})?")
LARGEST_AMOUNT = 10**LARGEST_EXPONENT


def said_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


@lru_cache(maxsize=4096)
def fraction(value: object) -> Fraction:
    """An amount: a fraction that no ledger writes otherwise, of a size that a limit may have."""
    if not WRITTEN.fullmatch(said_text(value)):
        raise ValueError
    result = Fraction(said_text(value))
    if abs(result) > LARGEST_AMOUNT:
        raise ValueError
    return result


def texts(value: object) -> dict[str, str]:
    """An object whose names and values are texts."""
    if not isinstance(value, dict):
        raise TypeError
    return {said_text(name): said_text(said) for name, said in value.items()}
