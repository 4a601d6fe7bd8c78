"""What is worked out once: of the same objects, and of no others."""

import pytest

from sfumato.plan.expressions import Column, ListedKey
from sfumato.plan.once import once


def test_of_the_same_objects_it_is_worked_out_once() -> None:
    asked: list[tuple[object, ...]] = []

    @once(8)
    def both(one: object, other: object) -> tuple[object, object]:
        """What it says of itself."""
        asked.append((one, other))
        return one, other

    first, second = (1, 2), (3, 4)
    assert both(first, second) is both(first, second)
    assert both(second, first) == (second, first)
    assert both(first, first) == (first, first)
    assert asked == [(first, second), (second, first), (first, first)]
    assert (both.__name__, both.__doc__) == ("both", "What it says of itself.")


def test_equal_objects_are_told_apart() -> None:
    """In Python these are equal, and have one hash: whoever is asked second would get what the first is."""

    @once(8)
    def kind(one: ListedKey) -> str:
        return type(one.values[0]).__name__

    whole, truth = ListedKey(Column("age"), (1,)), ListedKey(Column("age"), (True,))
    assert whole == truth
    assert hash(whole) == hash(truth)
    for _ in range(2):
        assert (kind(whole), kind(truth)) == ("int", "bool")


def test_what_is_gone_is_not_taken_for_what_comes_in_its_place() -> None:
    """An object may get the place in memory of one before, once nothing holds that any more."""

    @once(4)
    def first(one: list[int]) -> int:
        return one[0]

    assert [first([number]) for number in range(1000)] == list(range(1000))


def test_of_so_many_objects_and_no_more() -> None:
    asked = []

    @once(2)
    def same(one: str) -> str:
        asked.append(one)
        return one

    for name in ("a", "b", "a", "b", "c", "b", "a"):
        assert same(name) == name
    assert asked == ["a", "b", "c", "a"]


def test_a_refusal_is_not_kept() -> None:
    asked = []

    @once(2)
    def refused(one: str) -> str:
        asked.append(one)
        raise ValueError(one)

    for _ in range(2):
        with pytest.raises(ValueError, match="it"):
            refused("it")
    assert asked == ["it", "it"]
