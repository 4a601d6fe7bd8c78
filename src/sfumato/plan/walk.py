"""Walks over expressions: what they are made of, how large they are, whether two are the same."""

from collections.abc import Iterator
from typing import assert_never

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
    Grid,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    Pick,
    String,
    UnitPart,
    lines_of,
)


def parts(node: Expression | Condition) -> tuple[Expression | Condition, ...]:
    """What a node is made of, one level down."""
    match node:
        case Arithmetic(left=left, right=right) | Comparison(left=left, right=right):
            return left, right
        case Negative(operand=operand) | Matches(operand=operand) | IsNull(operand=operand):
            return (operand,)
        case Not(operand=condition):
            return (condition,)
        case OneOf(operand=operand, choices=choices):
            return (operand, *choices)
        case Call(arguments=arguments):
            return arguments
        case Case(branches=branches, otherwise=otherwise):
            inner = tuple(part for branch in branches for part in branch)
            return inner if otherwise is None else (*inner, otherwise)
        case AllOf(operands=operands) | AnyOf(operands=operands):
            return operands
        case Pick(cells=cells):
            return tuple(line.value if isinstance(line, Grid) else line.expression for line in lines_of(cells))
        case Column() | Number() | String() | Day() | UnitPart():
            return ()
        case _:
            assert_never(node)


def inside(node: Expression | Condition) -> Iterator[Expression | Condition]:
    """A node and all that it is made of."""
    yield node
    for part in parts(node):
        yield from inside(part)


def columns_in(node: Expression | Condition) -> list[str]:
    return [each.name for each in inside(node) if isinstance(each, Column)]


def size(node: Expression | Condition) -> int:
    """The number of nodes written out in full.

    Nodes are shared in a plan, so it may be far larger than the memory it takes; each is looked at once.
    """
    known: dict[int, int] = {}

    def count(inner: Expression | Condition) -> int:
        if id(inner) not in known:
            known[id(inner)] = 1 + sum(count(part) for part in parts(inner))
        return known[id(inner)]

    return count(node)


def same(one: Expression | Condition, other: Expression | Condition) -> bool:
    """Whether two mean the same as typed: names of columns may differ in capitals."""
    if isinstance(one, Column) and isinstance(other, Column):
        return one.name.casefold() == other.name.casefold()
    if type(one) is not type(other):
        return False
    ours, theirs = parts(one), parts(other)
    if not ours or isinstance(one, Pick):
        return one == other
    signs = [[getattr(node, sign, None) for sign in ("operator", "name", "kind", "pattern")] for node in (one, other)]
    if signs[0] != signs[1] or len(ours) != len(theirs):
        return False
    return all(same(our, their) for our, their in zip(ours, theirs, strict=True))
