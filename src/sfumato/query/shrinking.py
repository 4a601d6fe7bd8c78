"""Groups that a condition on their key leaves out are no groups of the answer: the condition is public, as they are.

Only what stands beside AND and compares a key with constants counts: =, <, >, BETWEEN, IN. The rows are filtered all
the same, so that a slip here leaves groups out, or shows empty ones, and reveals nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import eq, ge, gt, le, lt
from typing import Any

from sfumato.plan.expressions import (
    LARGEST_END,
    AllOf,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    ListedKey,
    Negative,
    Number,
    OneOf,
    RangeKey,
    String,
)
from sfumato.plan.nodes import Key, OpenKey
from sfumato.query.wordings import no_key_left
from sfumato.schema.columns import plain_text

COMPARED: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
Constant = int | float | str
Test = tuple[str, tuple[Constant, ...]]  # a comparison, and constants with one of which it has to hold


def shrunk(key: Key | OpenKey, where: Condition | None) -> Key | OpenKey:
    """The key with the values that a condition leaves. Needs: both bound, so that a column's range has steps of 1."""
    if isinstance(key, OpenKey) or not isinstance(key.expression, Column) or where is None:
        return key
    tests = list(_tests(where, key.expression))
    if not tests:
        return key
    left = _of_list(key, tests) if isinstance(key, ListedKey) else _of_range(key, tests)
    if not left.size:
        ends = (key.values[0], key.values[-1]) if isinstance(key, ListedKey) else (key.lower, key.upper)
        raise no_key_left(key.expression.name, *ends, key.size)
    return left


def _of_list(key: ListedKey, tests: Sequence[Test]) -> ListedKey:
    left = [
        value
        for value in key.values
        if all(any(_meets(value, operator, given) for given in constants) for operator, constants in tests)
    ]
    return ListedKey(key.expression, tuple(left))


def _of_range(key: RangeKey, tests: Sequence[Test]) -> Key:
    """By the ends alone: a range may have more values than there is memory, and a condition leave a few."""
    first, last = key.lower, key.upper
    for operator, constants in tests:
        if len(constants) == 1:
            first, last = _between(first, last, operator, constants[0])
    lists = [_among(first, last, constants) for _, constants in tests if len(constants) > 1]
    if lists:
        left = sorted(set.intersection(*lists))
        if not left or left[-1] - left[0] > len(left) - 1:
            return ListedKey(key.expression, tuple(left))
        first, last = left[0], left[-1]
    return RangeKey(key.expression, first, last) if first <= last else ListedKey(key.expression, ())


def _among(first: int, last: int, constants: Sequence[Constant]) -> set[int]:
    """Those of the whole numbers from first to last that are one of the constants."""
    ends = (_between(first, last, "=", constant) for constant in constants)
    return {value for low, high in ends for value in range(low, high + 1)}


def _between(first: int, last: int, operator: str, constant: Constant) -> tuple[int, int]:
    """The ends of those whole numbers from first to last that meet a comparison; the last is below if there are none.

    What is compared never falls from one number to the next, also where doubles stand for several.
    """
    begin = _first(first, last, lambda value: _meets(value, ">=", constant))
    end = _first(first, last, lambda value: _meets(value, ">", constant))
    match operator:
        case "=":
            return begin, end - 1
        case "<":
            return first, begin - 1
        case "<=":
            return first, end - 1
        case ">":
            return end, last
        case _:
            return begin, last


def _first(first: int, last: int, reached: Callable[[int], bool]) -> int:
    """The first number from which on it is reached, by halving; the one after the last if it never is."""
    low, high = first, last + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return low


def _tests(where: Condition, column: Column) -> Iterator[Test]:
    match where:
        case AllOf(operands=operands):
            for operand in operands:
                yield from _tests(operand, column)
        case Comparison(operator=operator, left=left, right=right) if operator in COMPARED:
            if left == column and (constant := _constant(right)) is not None:
                yield operator, (constant,)
            elif right == column and (constant := _constant(left)) is not None:
                yield TURNED[operator], (constant,)
        case OneOf(operand=operand, choices=choices) if operand == column:
            constants = [constant for choice in choices if (constant := _constant(choice)) is not None]
            doubles = any(isinstance(constant, float) for constant in constants)  # one makes all of a list doubles
            yield "=", tuple(float(one) if doubles else one for one in constants)


def _constant(node: Expression) -> Constant | None:
    """As engines write it: whole numbers of 64 bits as they are, others, and those behind a minus, as doubles."""
    match node:
        case Number(value=value) if value.denominator == 1 and abs(value) < LARGEST_END:
            return int(value)
        case Number(value=value):
            return float(value)
        case Negative(operand=operand):
            found = _constant(operand)
            return None if found is None or isinstance(found, str) else -float(found)
        case String(value=text) | Day(value=text):
            return text
        case _:
            return None


def _meets(value: Any, operator: str, constant: Constant) -> bool:
    """Days are texts of which the earlier is the smaller; a number meets a double as a double."""
    match constant:
        case str():
            return COMPARED[operator](plain_text(value), constant)
        case float():
            return COMPARED[operator](float(value), constant)
        case _:
            return COMPARED[operator](value, constant)
