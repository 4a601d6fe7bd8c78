"""The closed language of row expressions. All are total: a row gives a value or NULL, never an error.

Arithmetic and functions are in double precision; division by zero and NaN give NULL.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal, assert_never

from sfumato.schema.columns import LONGEST_TEXT

LONGEST_PATTERN, MOST_WILDCARDS = 200, 16

ArithmeticOperator = Literal["+", "-", "*", "/"]
ComparisonOperator = Literal["=", "<>", "<", "<=", ">", ">="]
MatchKind = Literal["like", "starts", "ends", "contains"]
FunctionName = Literal[
    "ABS", "ROUND", "FLOOR", "CEIL", "SIGN", "LEAST", "GREATEST", "SQRT", "LN", "LOG10", "EXP", "POWER", "MOD",
    "UPPER", "LOWER", "TRIM", "LENGTH", "SUBSTRING", "LEFT", "RIGHT", "CONCAT", "REPLACE",
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "ISODOW", "DAYOFYEAR", "DATE_TRUNC", "DATE_DIFF",
    "COALESCE", "NULLIF",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    value: Fraction


@dataclass(frozen=True, slots=True)
class String:
    """A text, no longer than those of a table are."""

    value: str

    def __post_init__(self) -> None:
        if len(self.value) > LONGEST_TEXT:
            raise ValueError("a text is short: one row must not take a thousand times as long as another")


@dataclass(frozen=True, slots=True)
class Day:
    """A date, as in 2024-01-31."""

    value: str

    def __post_init__(self) -> None:
        if date.fromisoformat(self.value).isoformat() != self.value:
            raise ValueError("a date is written YYYY-MM-DD")


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Negative:
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `plan.functions`: what it takes and gives stands there."""

    name: FunctionName
    arguments: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition holds; else `otherwise`, or NULL."""

    branches: tuple[tuple["Condition", "Expression"], ...]
    otherwise: "Expression | None"


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class OneOf:
    operand: "Expression"
    choices: tuple[Number | String | Day, ...]


def fits(pattern: str) -> bool:
    """Whether to look for a pattern takes a time that grows with the length of a text and no faster.

    With _ behind a second % an engine would go back and forth over the text, or build thousands of states for it.
    """
    short = len(pattern) <= LONGEST_PATTERN and pattern.count("%") + pattern.count("_") <= MOST_WILDCARDS
    return short and ("_" not in pattern or pattern.rstrip("%").count("%") <= 1)


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether a text is like a constant pattern (% any signs, _ one sign), or starts, ends with or contains it."""

    kind: MatchKind
    operand: "Expression"
    pattern: str

    def __post_init__(self) -> None:
        if not fits(self.pattern):
            raise ValueError("a pattern is short: one row must not take a thousand times as long as another")


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Condition"


@dataclass(frozen=True, slots=True)
class AllOf:
    operands: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    operands: tuple["Condition", ...]


Expression = Column | Number | String | Day | Arithmetic | Negative | Call | Case
Condition = Comparison | OneOf | Matches | IsNull | Not | AllOf | AnyOf


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
        case Column() | Number() | String() | Day():
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


def size(node: Expression | Condition, twice: AbstractSet[str]) -> int:
    """The number of nodes written out in full, where the arguments of some functions are written twice.

    Nodes are shared in a plan, so it may be far larger than the memory it takes; each is looked at once.
    """
    known: dict[int, int] = {}

    def count(inner: Expression | Condition) -> int:
        if id(inner) not in known:
            factor = 2 if isinstance(inner, Call) and inner.name in twice else 1
            known[id(inner)] = 1 + factor * sum(count(part) for part in parts(inner))
        return known[id(inner)]

    return count(node)


def same(one: Expression | Condition, other: Expression | Condition) -> bool:
    """Whether two mean the same as typed: names of columns may differ in capitals."""
    if isinstance(one, Column) and isinstance(other, Column):
        return one.name.casefold() == other.name.casefold()
    if type(one) is not type(other):
        return False
    ours, theirs = parts(one), parts(other)
    if not ours:
        return one == other
    signs = [[getattr(node, sign, None) for sign in ("operator", "name", "kind", "pattern")] for node in (one, other)]
    if signs[0] != signs[1] or len(ours) != len(theirs):
        return False
    return all(same(our, their) for our, their in zip(ours, theirs, strict=True))
