"""The closed language of row expressions. All are total: a row gives a value or NULL, never an error.

Arithmetic and functions are in double precision; division by zero and NaN give NULL. A node that exists has operators,
constants and as many arguments as engines can write; that its parts are of the kinds it takes is `plan.totality`'s.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal, assert_never, get_args

from sfumato.plan.functions import (
    FUNCTIONS,
    LARGEST_POWER,
    MOST_DIGITS,
    MOST_SIGNS,
    TRUNCATIONS,
    UNITS,
    FunctionName,
    Takes,
)
from sfumato.schema.columns import LONGEST_TEXT

LONGEST_PATTERN, MOST_WILDCARDS, LONGEST_TRIED = 200, 16, 16
LARGEST_NUMBER, SMALLEST_NUMBER = Fraction(10) ** 300, Fraction(10) ** -300  # between them a double holds a number

ArithmeticOperator = Literal["+", "-", "*", "/"]
ComparisonOperator = Literal["=", "<>", "<", "<=", ">", ">="]
MatchKind = Literal["like", "starts", "ends", "contains"]


@dataclass(frozen=True, slots=True)
class Column:
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError("the name of a column is a text")


@dataclass(frozen=True, slots=True)
class Number:
    """A number that a double can stand for: larger ones would be infinite, smaller ones 0."""

    value: Fraction

    def __post_init__(self) -> None:
        if type(self.value) is not Fraction or not fits_double(self.value):
            raise ValueError("a number is a fraction of a size that doubles have")


def fits_double(number: Fraction) -> bool:
    return number == 0 or SMALLEST_NUMBER <= abs(number) <= LARGEST_NUMBER


@dataclass(frozen=True, slots=True)
class String:
    """A text, no longer than those of a table are."""

    value: str

    def __post_init__(self) -> None:
        if not writable(self.value):
            raise ValueError("a text has characters that can be written")
        if len(self.value) > LONGEST_TEXT:
            raise ValueError("a text is short: one row must not take a thousand times as long as another")


def writable(text: object) -> bool:
    """Whether a text can stand in a question to an engine: halves of characters have no bytes, and NUL ends a text."""
    return isinstance(text, str) and "\0" not in text and text.encode(errors="ignore").decode() == text


@dataclass(frozen=True, slots=True)
class Day:
    """A date, as in 2024-01-31."""

    value: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, str) or date.fromisoformat(self.value).isoformat() != self.value:
            raise ValueError("a date is written YYYY-MM-DD")


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"

    def __post_init__(self) -> None:
        if self.operator not in get_args(ArithmeticOperator):
            raise ValueError("an unknown operator")


@dataclass(frozen=True, slots=True)
class Negative:
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `plan.functions`: what it takes and gives stands there.

    Claim: it has as many arguments as it takes, and constants where it takes constants, each within its limits.
    """

    name: FunctionName
    arguments: tuple["Expression", ...]

    def __post_init__(self) -> None:
        function = FUNCTIONS.get(self.name)
        takes = None if function is None else function.taken(len(self.arguments))
        if takes is None:
            raise ValueError("an unknown function, or one of another number of arguments")
        if not all(constant_fits(*pair) for pair in zip(self.arguments, takes, strict=True)):
            raise ValueError(f"a constant of {self.name} is missing or out of range")
        if self.name == "REPLACE" and not replaces_shorter(*self.arguments[1:]):
            raise ValueError("what is put in the place of a text is no longer than that")


def constant_fits(argument: "Expression", takes: Takes) -> bool:
    """Whether an argument is a constant within its limits, where it has to be one."""
    match takes, argument:
        case (("number" | "text" | "date" | "same"), _):
            return True
        case "digits", Number(value=number):
            return number.denominator == 1 and abs(number) <= MOST_DIGITS
        case "place", Number(value=number):
            return number.denominator == 1 and 1 <= number <= MOST_SIGNS
        case "length", Number(value=number):
            return number.denominator == 1 and 0 <= number <= MOST_SIGNS
        case "divisor", Number(value=number):
            return number != 0
        case "exponent", Number(value=number):
            return abs(number) <= LARGEST_POWER
        case "constant", String():
            return True
        case "truncation", String(value=text):
            return text in TRUNCATIONS
        case "unit", String(value=text):
            return text in UNITS
        case _:
            return False


def replaces_shorter(old: "Expression", new: "Expression") -> bool:
    """Whether a text is there to replace, and what is put there is no longer in bytes."""
    if not isinstance(old, String) or not isinstance(new, String):
        return False
    return 0 < len(old.value.encode()) >= len(new.value.encode())


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition holds; else `otherwise`, or NULL."""

    branches: tuple[tuple["Condition", "Expression"], ...]
    otherwise: "Expression | None"

    def __post_init__(self) -> None:
        if not self.branches or any(len(branch) != 2 for branch in self.branches):
            raise ValueError("a case has branches, each a condition and a value")


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"

    def __post_init__(self) -> None:
        if self.operator not in get_args(ComparisonOperator):
            raise ValueError("an unknown operator")


@dataclass(frozen=True, slots=True)
class OneOf:
    operand: "Expression"
    choices: tuple[Number | String | Day, ...]

    def __post_init__(self) -> None:
        if not self.choices or not all(isinstance(choice, Number | String | Day) for choice in self.choices):
            raise ValueError("there are choices, and all are constants")


def fits(pattern: str) -> bool:
    """Whether to look for a pattern takes a time that grows with the length of a text, and little with its own.

    With _ anywhere an engine tries what follows a % at every place of the text, so that is to be short; with a second %
    it would go back and forth, or build thousands of states.
    """
    short = len(pattern) <= LONGEST_PATTERN and pattern.count("%") + pattern.count("_") <= MOST_WILDCARDS
    _, moving, rest = pattern.rstrip("%").partition("%")
    return (
        short
        and ("_" not in pattern or "%" not in rest)
        and (not moving or "_" not in pattern or len(rest) <= LONGEST_TRIED)
    )


@dataclass(frozen=True, slots=True)
class Matches:
    """Whether a text is like a constant pattern (% any signs, _ one sign), or starts, ends with or contains it."""

    kind: MatchKind
    operand: "Expression"
    pattern: str

    def __post_init__(self) -> None:
        if self.kind not in get_args(MatchKind) or not writable(self.pattern):
            raise ValueError("a text is matched in a known way, with a pattern that can be written")
        if not fits(self.pattern):
            raise ValueError("a pattern is short: one row must not take a thousand times as long as another")


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Condition"


def _check_some(operands: tuple["Condition", ...]) -> None:
    if not operands:
        raise ValueError("no condition at all is neither true nor false")


@dataclass(frozen=True, slots=True)
class AllOf:
    operands: tuple["Condition", ...]

    def __post_init__(self) -> None:
        _check_some(self.operands)


@dataclass(frozen=True, slots=True)
class AnyOf:
    operands: tuple["Condition", ...]

    def __post_init__(self) -> None:
        _check_some(self.operands)


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
    if not ours:
        return one == other
    signs = [[getattr(node, sign, None) for sign in ("operator", "name", "kind", "pattern")] for node in (one, other)]
    if signs[0] != signs[1] or len(ours) != len(theirs):
        return False
    return all(same(our, their) for our, their in zip(ours, theirs, strict=True))
