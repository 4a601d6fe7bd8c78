"""What happens to noisy rows before they are shown: ROLLUP, HAVING, ORDER BY, LIMIT. It sees noise, and is free."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
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
from sfumato.plan.nodes import Key, OpenKey
from sfumato.plan.walk import columns_in
from sfumato.query.computing import Computed, shown
from sfumato.query.wordings import total_before_having, wrong_type

Row = Mapping[str, Any]
COMPARED: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Order:
    """By a column of the answer, or by what is computed from some."""

    by: str | Expression
    descending: bool
    nulls_first: bool = False

    def of(self, row: Row) -> Any:
        return row[self.by] if isinstance(self.by, str) else shown(self.by, row.__getitem__)


@dataclass(frozen=True, slots=True)
class After:
    """Columns in `having` and `order` are columns of the answer.

    `computed` are columns made of others, and `shown` says which are in the answer, in which order; None: all of them.
    `rolled`: how many keys the rows of totals keep, the first ones, a number for each level of them. `declared`: the
    keys with all that is declared, also where a condition leaves a part of it.
    """

    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    computed: tuple[Computed, ...] = ()
    shown: tuple[str, ...] | None = None
    rolled: tuple[int, ...] = ()
    declared: tuple[Key | OpenKey, ...] = ()

    def check(self, texts: Mapping[str, bool], lists: Collection[str] = ()) -> None:
        """Refuse what cannot be compared, before anything is paid. `texts`: which columns are texts."""
        for order in self.order:
            named = [order.by] if isinstance(order.by, str) else columns_in(order.by)
            for name in named:
                if name in lists:
                    raise wrong_type(f'"{name}" is a list', "lists have no order", "Sort by another column.")
            if not isinstance(order.by, str) and any(texts.get(name) for name in named):
                raise wrong_type("ORDER BY computes with a text", "this needs a number")
        if self.having is not None:
            _check(self.having, texts)
            for column in self.computed:
                if column.totals and column.name in columns_in(self.having):
                    raise total_before_having(column.name)

    def kept(self, rows: Sequence[dict[str, Any]]) -> list[int]:
        """The places of the rows that HAVING leaves; what is computed is put into them.

        Totals are of these, as windows are in SQL.
        """
        for column in self.computed:
            if not column.totals:
                _compute(column, rows, {})
        kept = [place for place, row in enumerate(rows) if self.having is None or _holds(self.having, row) is True]
        left = [rows[place] for place in kept]
        for column in self.computed:
            if column.totals:
                _compute(column, left, _totals(column, left))
        return kept

    def ordered(self, rows: Sequence[Row], kept: Sequence[int]) -> list[int]:
        """Of these places those of the rows to show, in order."""
        for order in reversed(self.order):
            found = {place: order.of(rows[place]) for place in kept}
            missing = [place for place in kept if found[place] is None]
            known = [place for place in kept if found[place] is not None]
            known.sort(key=found.__getitem__, reverse=order.descending)
            kept = [*missing, *known] if order.nulls_first else [*known, *missing]
        end = None if self.limit is None else self.offset + self.limit
        return list(kept[self.offset : end])


def _compute(column: Computed, rows: Sequence[dict[str, Any]], totals: Mapping[str, Any]) -> None:
    for row in rows:
        given = [totals[each.column] if each.total else row[each.column] for each in column.operands]
        row[column.name] = shown(column.formula, lambda name, given=given: given[int(name)])  # type: ignore[misc]


def _totals(column: Computed, rows: Sequence[Row]) -> dict[str, Any]:
    """A sum that was not found counts for nothing, as in SQL."""
    names = {each.column for each in column.operands if each.total}
    return {name: sum(row[name] for row in rows if row[name] is not None) for name in names}


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
        case Number() | Negative() | Arithmetic():
            return shown(node, row.__getitem__)
        case Day() | Call() | Case() | Pick() | UnitPart():
            raise _function()
        case _:
            assert_never(node)
