"""What is worked out once of an object, however often it is asked for."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, TypeVarTuple

Objects = TypeVarTuple("Objects")
WorkedOut = TypeVar("WorkedOut")


def once(most: int) -> Callable[[Callable[[*Objects], WorkedOut]], Callable[[*Objects], WorkedOut]]:
    """A function that keeps what it has found of the last `most` objects, or pairs of them; of refusals nothing.

    Claim: what is found of some objects is never taken for what is found of others, however equal.
    Proof: objects are told apart by their identity, which no other has while the key of what was found holds them.
    Needs: objects that do not change, as all of a plan and of a schema are.
    """

    def keeping(function: Callable[[*Objects], WorkedOut]) -> Callable[[*Objects], WorkedOut]:
        @lru_cache(maxsize=most)
        def kept(*same: _Same) -> WorkedOut:
            return function(*(each.one for each in same))

        @wraps(function)
        def asked(*given: *Objects) -> WorkedOut:
            return kept(*map(_Same, given))

        return asked

    return keeping


class _Same:
    """One object and no other, equal ones neither: `1 == True`, though plans tell them apart."""

    __slots__ = ("one",)

    def __init__(self, one: Any) -> None:
        self.one = one

    def __hash__(self) -> int:
        return id(self.one)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.one is other.one
