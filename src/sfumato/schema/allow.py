"""Which mechanisms an owner lets answers be made with. All of them, unless a policy names some."""

from collections.abc import Iterable
from typing import Literal, get_args

from sfumato.schema.wordings import allow_unknown, allow_unusable

Family = Literal["additive", "keys", "ranks", "choice", "found_bounds", "running", "splits"]
FAMILIES: tuple[Family, ...] = get_args(Family)


def check_allowed(given: object) -> frozenset[Family]:
    """The families that were named, or a refusal: of a word that is none of them, and of no word at all.

    Claim: a family that was not named is not in it.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise allow_unusable()
    named = list(given)
    for name in named:
        if name not in FAMILIES:
            raise allow_unknown(str(name), FAMILIES)
    if not named:
        raise allow_unusable()
    return frozenset(named)
