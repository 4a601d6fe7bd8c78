"""Groups that a condition on their key leaves out are no groups of the answer: the condition is public, as they are.

Only what stands beside AND and compares a key with constants counts: =, <, >, BETWEEN, IN. The rows are filtered all
the same, so that a slip here leaves groups out, or shows empty ones, and reveals nothing.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from operator import eq, ge, gt, le, lt
from typing import Any

from sfumato.plan.expressions import (
    AllOf,
    Column,
    Comparison,
    Condition,
    Day,
    ListedKey,
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
Constant = Number | String | Day
Meets = Callable[[Any], bool]


def shrunk(key: Key | OpenKey, where: Condition | None) -> Key | OpenKey:
    """The key with the values that a condition leaves. Needs: both bound, so that a column's range has steps of 1."""
    if isinstance(key, OpenKey) or not isinstance(key.expression, Column) or where is None:
        return key
    tests = list(_tests(where, key.expression))
    if not tests:
        return key
    left = [place for place, value in enumerate(key.values) if all(meets(value) for meets in tests)]
    if not left:
        raise no_key_left(key.expression.name, key.values)
    if isinstance(key, ListedKey):
        return ListedKey(key.expression, tuple(key.values[place] for place in left))
    first, last = key.lower + left[0], key.lower + left[-1]
    if last - first == len(left) - 1:
        return RangeKey(key.expression, first, last)
    return ListedKey(key.expression, tuple(key.lower + place for place in left))


def _tests(where: Condition, column: Column) -> Iterator[Meets]:
    match where:
        case AllOf(operands=operands):
            for operand in operands:
                yield from _tests(operand, column)
        case Comparison(operator=operator, left=left, right=right) if operator in COMPARED:
            if left == column and isinstance(right, Constant):
                yield _compared(operator, right)
            elif right == column and isinstance(left, Constant):
                yield _compared(TURNED[operator], left)
        case OneOf(operand=operand, choices=choices) if operand == column:
            tests = [_compared("=", choice) for choice in choices]
            yield lambda value: any(meets(value) for meets in tests)


def _compared(operator: str, constant: Constant) -> Meets:
    """Days are texts of which the earlier is the smaller; a number of a category may be compared with its text."""
    compare, given = COMPARED[operator], constant.value

    def meets(value: Any) -> bool:
        return compare(Fraction(value), given) if isinstance(given, Fraction) else compare(plain_text(value), given)

    return meets
