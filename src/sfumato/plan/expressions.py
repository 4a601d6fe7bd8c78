"""The closed language of row expressions. All are total: a row gives a value or NULL, never an error.

Arithmetic and functions are in double precision; division by zero and NaN give NULL. A node that exists has operators,
constants and as many arguments as engines can write; that its parts are of the kinds it takes is `plan.totality`'s.
"""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import prod
from typing import Literal, get_args

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
from sfumato.schema.columns import LONGEST_TEXT, CategoryValue

LONGEST_PATTERN, MOST_WILDCARDS, LONGEST_TRIED = 200, 16, 16
LARGEST_GRID = 1 << 18
LARGEST_END = 1 << 63  # of a range of whole numbers, as engines count them
LARGEST_PICKED, MOST_PICKED = 1 << 53, 1 << 12
MOST_UNIT_PARTS = 1 << 16
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


@dataclass(frozen=True, slots=True)
class ListedKey:
    """What rows are grouped by, with the public list of its values."""

    expression: "Expression"
    values: tuple[CategoryValue, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(value, int) or writable(value) for value in self.values):
            raise ValueError("the values of a key are whole numbers, or texts that can be written")

    @property
    def size(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class RangeKey:
    """What rows are grouped by: the numbers offset + k · unit for k from lower to upper."""

    expression: "Expression"
    lower: int
    upper: int
    unit: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not all(type(end) is int and -LARGEST_END <= end < LARGEST_END for end in (self.lower, self.upper)):
            raise ValueError("the ends of a range are whole numbers of 64 bits")
        if not (self.unit > 0 and all(fits_double(number) for number in (self.unit, self.offset))):
            raise ValueError("the steps of a range are of a size that doubles have")

    @property
    def values(self) -> tuple[int | float, ...]:
        places = range(self.lower, self.upper + 1)
        if self.unit.denominator == self.offset.denominator == 1:
            return tuple(int(self.offset) + place * int(self.unit) for place in places)
        return tuple(float(self.offset + place * self.unit) for place in places)

    @property
    def size(self) -> int:
        return max(0, self.upper - self.lower + 1)


Key = ListedKey | RangeKey


@dataclass(frozen=True, slots=True)
class Grid:
    """Equal cells from lower to upper; a value beyond an end falls into the cell at that end, NULL into none."""

    value: "Expression"
    lower: Fraction
    upper: Fraction
    size: int

    def __post_init__(self) -> None:
        if type(self.size) is not int or not (self.lower < self.upper and 1 <= self.size <= LARGEST_GRID):
            raise ValueError("a grid has cells and runs from its lower to its upper bound")
        if not all(fits_double(number) for number in (self.lower, self.upper, self.width)):
            raise ValueError("the cells of a grid are of a size that doubles have")

    @property
    def width(self) -> Fraction:
        return (self.upper - self.lower) / self.size


LineOfCells = ListedKey | RangeKey | Grid


@dataclass(frozen=True, slots=True)
class Cross:
    """A product of lines of cells; the cells of the last line come one after the other.

    A row that is in no cell of one of the lines is in none.
    """

    lines: tuple[LineOfCells, ...]

    def __post_init__(self) -> None:
        if not self.lines or not all(isinstance(line, ListedKey | RangeKey | Grid) for line in self.lines):
            raise ValueError("cells are crossed that lie on lines")
        if not 1 <= self.size <= LARGEST_GRID:
            raise ValueError("a product of lines has cells, and not too many")

    @property
    def size(self) -> int:
        return prod(line.size for line in self.lines)


Cells = LineOfCells | Cross


def lines_of(cells: Cells) -> tuple[LineOfCells, ...]:
    return cells.lines if isinstance(cells, Cross) else (cells,)


@dataclass(frozen=True, slots=True)
class Pick:
    """The public whole number that stands at the place of a row's cell; `missing`, or NULL, for a row in none."""

    cells: Cells
    numbers: tuple[int, ...]
    missing: int | None = None

    def __post_init__(self) -> None:
        if len(self.numbers) != self.cells.size or not 1 <= len(self.numbers) <= MOST_PICKED:
            raise ValueError("there is a number for every cell, and not too many")
        known = self.numbers if self.missing is None else (*self.numbers, self.missing)
        if not all(type(number) is int and abs(number) <= LARGEST_PICKED for number in known):
            raise ValueError("what is picked are whole numbers that doubles have")


@dataclass(frozen=True, slots=True)
class UnitPart:
    """A whole number from 0 to parts - 1 that is the unit's own: the same on all its rows, and in every engine.

    Of its id and a public salt; where rows are protected, of all columns that the row has there.
    """

    salt: int
    parts: int

    def __post_init__(self) -> None:
        if type(self.salt) is not int or not 0 <= self.salt < LARGEST_END:
            raise ValueError("a salt is a whole number from 0 on, of 64 bits")
        if type(self.parts) is not int or not 1 <= self.parts <= MOST_UNIT_PARTS:
            raise ValueError(f"there are 1 to {MOST_UNIT_PARTS} parts")


Expression = Column | Number | String | Day | Arithmetic | Negative | Call | Case | Pick | UnitPart
Condition = Comparison | OneOf | Matches | IsNull | Not | AllOf | AnyOf
