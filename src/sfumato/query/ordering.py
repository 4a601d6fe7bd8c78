"""What happens to noisy rows before they are shown: HAVING, ORDER BY, LIMIT. It sees noise only and costs nothing."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import add, eq, ge, gt, le, lt, mul, ne, sub, truediv
from typing import Any, assert_never

from sfumato.errors import Refused, not_supported
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    String,
    UnitPart,
)
from sfumato.query.wordings import wrong_type

Row = Mapping[str, Any]
COMPARED: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
COMPUTED: dict[str, Callable[[Any, Any], float]] = {"+": add, "-": sub, "*": mul, "/": truediv}


@dataclass(frozen=True, slots=True)
class Order:
    name: str
    descending: bool
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class After:
    """Columns in `having` and `order` are columns of the answer."""

    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def check(self, texts: Mapping[str, bool], lists: Collection[str] = ()) -> None:
        """Refuse what cannot be compared, before anything is paid. `texts`: which columns are texts."""
        for order in self.order:
            if order.name in lists:
                raise wrong_type(f'"{order.name}" is a list', "lists have no order", "Sort by another column.")
        if self.having is not None:
            _check(self.having, texts)

    def chosen(self, rows: Sequence[Row]) -> list[int]:
        """The places of the rows to show, in order."""
        kept = [place for place, row in enumerate(rows) if self.having is None or _holds(self.having, row) is True]
        for order in reversed(self.order):
            missing = [place for place in kept if rows[place][order.name] is None]
            known = [place for place in kept if rows[place][order.name] is not None]
            known.sort(key=lambda place: rows[place][order.name], reverse=order.descending)
            kept = [*missing, *known] if order.nulls_first else [*known, *missing]
        end = None if self.limit is None else self.offset + self.limit
        return kept[self.offset : end]


def _check(node: Condition, texts: Mapping[str, bool]) -> None:
    match node:
        case Comparison(operator=operator, left=left, right=right):
            sides = [_is_text(side, texts) for side in (left, right)]
            if sides[0] != sides[1] or (sides[0] and operator not in ("=", "<>")):
                raise _mixed()
        case OneOf(operand=operand, choices=choices):
            if any(_is_text(choice, texts) != _is_text(operand, texts) for choice in choices):
                raise _mixed()
        case Matches():
            raise _function()
        case IsNull(operand=operand):
            _is_text(operand, texts)
        case Not(operand=inner):
            _check(inner, texts)
        case AllOf(operands=inners) | AnyOf(operands=inners):
            for inner in inners:
                _check(inner, texts)
        case _:
            assert_never(node)


def _is_text(node: Expression, texts: Mapping[str, bool]) -> bool:
    match node:
        case Column(name=name):
            if name not in texts:
                raise wrong_type(f'"{name}" is a list', "HAVING compares numbers and texts", "Compare another column.")
            return texts[name]
        case String():
            return True
        case Number():
            return False
        case Negative(operand=operand):
            parts = [operand]
        case Arithmetic(left=left, right=right):
            parts = [left, right]
        case Day() | Call() | Case() | Pick() | UnitPart():
            raise _function()
        case _:
            assert_never(node)
    if any(_is_text(part, texts) for part in parts):
        raise _mixed()
    return False


def _function() -> Refused:
    return not_supported("a function or a pattern in HAVING", "Compare columns of the answer with numbers or texts.")


def _mixed() -> Refused:
    return wrong_type("HAVING compares a text", "this needs a number")


def _holds(node: Condition, row: Row) -> bool | None:
    """True, False, or None where a value is missing, as in SQL."""
    match node:
        case Comparison(operator=operator, left=left, right=right):
            one, two = _value(left, row), _value(right, row)
            return None if one is None or two is None else COMPARED[operator](one, two)
        case OneOf(operand=operand, choices=choices):
            value = _value(operand, row)
            return None if value is None else value in [_value(choice, row) for choice in choices]
        case Matches():
            raise _function()
        case IsNull(operand=operand):
            return _value(operand, row) is None
        case Not(operand=inner):
            held = _holds(inner, row)
            return None if held is None else not held
        case AllOf(operands=inners):
            found = [_holds(inner, row) for inner in inners]
            return False if False in found else None if None in found else True
        case AnyOf(operands=inners):
            found = [_holds(inner, row) for inner in inners]
            return True if True in found else None if None in found else False
        case _:
            assert_never(node)


def _value(node: Expression, row: Row) -> Any:
    match node:
        case Column(name=name):
            value = row[name]
            return str(value).lower() if isinstance(value, bool) else value
        case String(value=text):
            return text
        case Number(value=number):
            return float(number)
        case Negative(operand=operand):
            value = _value(operand, row)
            return None if value is None else -value
        case Arithmetic(operator=operator, left=left, right=right):
            one, two = _value(left, row), _value(right, row)
            if one is None or two is None or (operator == "/" and two == 0):
                return None
            return COMPUTED[operator](one, two)
        case Day() | Call() | Case() | Pick() | UnitPart():
            raise _function()
        case _:
            assert_never(node)
