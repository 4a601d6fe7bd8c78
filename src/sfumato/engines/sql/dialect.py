"""What an engine's SQL is made of: the leaves that `engines.sql` puts together, and the only words that differ.

Claim asked of every leaf: it is a total function of one row, or an aggregate that no rows can make fail; NULL goes in
and comes out. Arguments are operands already written, and so is what a leaf gives: it may stand wherever an operand
may. A leaf repeats an argument only if its text stays short (`plan.functions.Function.twice`).

A guard around an aggregate does not keep an engine from working it out, so each aggregate has to be total by itself.
`check_engine` (tests/contract) compares every leaf with the reference interpreter, and knows a wrong twin of most.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, Protocol

from sfumato.plan.expressions import ArithmeticOperator

DatePart = Literal["YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "ISODOW", "DAYOFYEAR"]


class Dialect(Protocol):
    """NaN is one value above infinity, in every comparison, DISTINCT and GROUP BY; texts are compared as bytes."""

    # ---- types of 64 and 128 bits, of reals and of texts; literals
    BIG: str
    HUGE: str
    DOUBLE: str
    TEXT: str
    NAN: str
    INFINITY: str
    MATERIALIZED: str  # between AS and (: what is named there is worked out once; empty where an engine has no word

    def quoted(self, name: str) -> str:
        """An identifier; it may hold any printable character."""

    def text(self, string: str) -> str:
        """A text that nothing in it can end."""

    def double(self, value: float) -> str: ...

    def huge(self, value: int) -> str:
        """Of 128 bits: multiplied with counts, it must not overflow at any number of rows."""

    def day(self, iso: str) -> str: ...

    # ---- casts: what does not fit is NULL
    def to_double(self, number: str) -> str: ...

    def to_big(self, real: str) -> str:
        """A real as a whole number of 64 bits, halves to the even one."""

    def whole(self, number: str) -> str:
        """A whole number of any width in 64 bits."""

    def small(self, number: str) -> str:
        """A whole number in 32 bits; a real rounded to one, halves to even, NULL where it does not fit."""

    def to_huge(self, real: str) -> str:
        """A real that is whole, exactly, in 128 bits."""

    def as_text(self, value: str) -> str:
        """The same text for the same number, whatever type its column has."""

    # ---- reals: IEEE, infinite where a result is too large and 0 where it is too small, never an error
    def arithmetic(self, operator: ArithmeticOperator, left: str, right: str) -> str:
        """x / 0 is NULL."""

    def negative(self, real: str) -> str: ...

    def distance(self, real: str, other: str) -> str: ...

    def scaled(self, real: str, factor: float) -> str: ...

    def floor(self, real: str) -> str: ...

    def ceil(self, real: str) -> str: ...

    def half_away(self, real: str) -> str:
        """Rounded to a whole real, halves away from 0."""

    def exp(self, real: str) -> str: ...

    def power(self, real: str, exponent: Fraction) -> str:
        """NULL for 0 to a negative power; NaN for a negative number to a power that is not whole."""

    def modulo(self, real: str, divisor: float) -> str:
        """What is left, with the sign of the first."""

    def sqrt(self, real: str) -> str:
        """NULL below 0."""

    def ln(self, real: str) -> str:
        """NULL at 0 and below."""

    def log10(self, real: str) -> str:
        """NULL at 0 and below."""

    def sign(self, real: str) -> str: ...

    # ---- whole numbers
    def quotient(self, number: str, divisor: str) -> str:
        """Towards 0, of 64 or 128 bits; the divisor is never 0."""

    def total(self, values: str) -> str:
        """The sum of numbers on a lattice, in 64 bits; of more of them than fit, any number."""

    def sum_big(self, values: str) -> str:
        """The sum of whole numbers of which no more than 64 bits come together."""

    def sum_huge(self, values: str) -> str:
        """The sum of numbers of 128 bits."""

    def edge(self, edges: Sequence[int], place: str) -> str:
        """0 at place 0, the first edge at place 1, and so on."""

    def element(self, numbers: Sequence[int], place: str) -> str:
        """The whole number at a place of 32 bits, the first is 0; NULL where the place is, or is beyond the last."""

    def quarters(self, steps: str, edges: Sequence[int]) -> str:
        """How many quarters of an octave a size is above one step, rounded up: the first edge that is no smaller."""

    def position(self, value: str, listed: Sequence[str]) -> str:
        """The place of a value among texts, from 0; NULL for one that is not there."""

    # ---- texts
    def beginning(self, value: str, signs: int) -> str:
        """Its first so many characters; all of it if it has no more."""

    def like(self, value: str, pattern: str) -> str:
        """% is anything and _ one character; no character takes that from them. In time that follows the length."""

    def starts(self, value: str, beginning: str) -> str: ...

    def ends(self, value: str, end: str) -> str: ...

    def contains(self, value: str, part: str) -> str: ...

    def length(self, value: str) -> str:
        """In characters, as a real."""

    # ---- days
    def part(self, name: DatePart, day: str) -> str:
        """As a real. Weeks are ISO's, DAYOFWEEK is 0 on Sundays, ISODOW 1 on Mondays."""

    def trunc(self, unit: str, day: str) -> str:
        """The first day of the year, quarter, month or week, as a day."""

    def days_between(self, first: str, second: str) -> str:
        """As a real; negative where the second comes first."""

    # ---- rows
    def order(self, values: Sequence[str]) -> str:
        """What a person's groups, values or rows are chosen by: the smallest come first.

        Any function of the values will do, as long as it is of them alone: no other row, no place of a row, no draw.
        """

    def one_of(self, values: Sequence[str], many: str) -> str:
        """A whole number from 0 up to `many`, which is above 0, without it: as `order`, of the values alone."""
        ...

    def part_of(self, names: Sequence[str], parts: int) -> str:
        """A whole number below `parts`, the same in every engine; NULL where one of the texts is.

        The first 32 bits of MD5 of the texts, one after the other with | between them, modulo `parts`.
        """

    def filter(self, condition: str) -> str:
        """A condition that does not choose which parts of a table are read."""


def column(name: str, dialect: Dialect) -> str:
    """A column of the private table, qualified so that no alias of ours can be taken for it."""
    return f"t.{dialect.quoted(name)}"


def integer(value: int) -> str:
    return f"({value})" if value < 0 else str(value)
