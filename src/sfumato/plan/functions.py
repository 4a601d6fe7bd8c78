"""Every function of a row: what it takes and what it gives.

One table for the gate, the binder, the kernel, the engines, the reference interpreter of the tests and the
documentation. All are total: an argument that is missing, or outside of what a function is made for, gives NULL.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

FunctionName = Literal[
    "ABS", "ROUND", "FLOOR", "CEIL", "SIGN", "LEAST", "GREATEST", "SQRT", "LN", "LOG10", "EXP", "POWER", "MOD",
    "UPPER", "LOWER", "TRIM", "LENGTH", "SUBSTRING", "LEFT", "RIGHT", "CONCAT", "REPLACE",
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "ISODOW", "DAYOFYEAR", "DATE_TRUNC", "DATE_DIFF",
    "COALESCE", "NULLIF",
]  # fmt: skip
Kind = Literal["number", "text", "date"]
# "same" is any kind, the same for all. The others are constants: whole numbers, numbers, texts, parts of a date.
Takes = Literal[Kind, "same", "digits", "place", "length", "divisor", "exponent", "constant", "truncation", "unit"]

MOST_DIGITS = 15
MOST_SIGNS = 10_000
LARGEST_POWER = 10
TRUNCATIONS = ("year", "quarter", "month", "week", "day")
UNITS = ("year", "month", "day")


@dataclass(frozen=True, slots=True)
class Function:
    """`more` arguments of the last kind may follow.

    `copies` is how often its SQL holds each argument, at most, when every nullif is written as the CASE it stands for;
    once if nothing is said, and the last number is for all that follow. `nan` says that it may give NaN though no
    argument is. `price` is how many nanoseconds an engine took for a character, at most (docs/decisions/0008).
    """

    takes: tuple[Takes, ...]
    gives: Kind | Literal["same"]
    meaning: str
    more: bool = False
    copies: tuple[int, ...] = (1,)
    nan: bool = False
    price: int = 0

    def taken(self, count: int) -> tuple[Takes, ...] | None:
        """What each of so many arguments has to be; None if it does not take so many."""
        missing = count - len(self.takes)
        if missing < 0 or (missing > 0 and not self.more):
            return None
        return self.takes + self.takes[-1:] * missing

    def copied(self, count: int) -> tuple[int, ...]:
        """How often each of so many arguments stands in its SQL."""
        return (self.copies + self.copies[-1:] * count)[:count]


FUNCTIONS: Mapping[FunctionName, Function] = MappingProxyType(
    {
        "ABS": Function(("number",), "number", "x without its sign"),
        "ROUND": Function(
            ("number", "digits"),
            "number",
            "x rounded to so many digits after the point (0 if not given; negative ones before it), halves away from 0",
        ),
        "FLOOR": Function(("number",), "number", "the next whole number below"),
        "CEIL": Function(("number",), "number", "the next whole number above"),
        "SIGN": Function(("number",), "number", "−1, 0 or 1"),
        "LEAST": Function(("number",), "number", "the smallest; NULL if any is", more=True, copies=(2,)),
        "GREATEST": Function(("number",), "number", "the largest; NULL if any is", more=True, copies=(2,)),
        "SQRT": Function(("number",), "number", "the square root; NULL below 0", copies=(2,)),
        "LN": Function(
            ("number",),
            "number",
            "the natural logarithm; NULL at 0 and below",
            copies=(2,),
        ),
        "LOG10": Function(
            ("number",),
            "number",
            "the logarithm to base 10; NULL at 0 and below",
            copies=(2,),
        ),
        "EXP": Function(("number",), "number", "e to the power of x"),
        "POWER": Function(
            ("number", "exponent"),
            "number",
            f"x to a constant power from −{LARGEST_POWER} to {LARGEST_POWER}; NULL where it has no value",
            copies=(2, 1),
            nan=True,
        ),
        "MOD": Function(
            ("number", "divisor"),
            "number",
            "what is left when x is divided by a constant, with the sign of x",
            nan=True,
        ),
        "UPPER": Function(("text",), "text", "in capitals", price=24),
        "LOWER": Function(("text",), "text", "in small letters", price=24),
        "TRIM": Function(("text",), "text", "without blanks at both ends", price=9),
        "LENGTH": Function(("text",), "number", "the number of characters", price=2),
        "SUBSTRING": Function(
            ("text", "place", "length"), "text", "so many characters from a place on, the first is 1", price=6
        ),
        "LEFT": Function(("text", "length"), "text", "the first so many characters", price=6),
        "RIGHT": Function(("text", "length"), "text", "the last so many characters", price=6),
        "CONCAT": Function(("text",), "text", "texts one after the other; NULL if any is", more=True, price=3),
        "REPLACE": Function(
            ("text", "constant", "constant"),
            "text",
            "a constant text replaced by another that is no longer",
            price=26,
        ),
        "YEAR": Function(("date",), "number", "the year"),
        "QUARTER": Function(("date",), "number", "1 to 4"),
        "MONTH": Function(("date",), "number", "1 to 12"),
        "WEEK": Function(("date",), "number", "the ISO week, 1 to 53"),
        "DAY": Function(("date",), "number", "the day of the month, 1 to 31"),
        "DAYOFWEEK": Function(("date",), "number", "0 for Sunday to 6 for Saturday"),
        "ISODOW": Function(("date",), "number", "1 for Monday to 7 for Sunday"),
        "DAYOFYEAR": Function(("date",), "number", "1 to 366"),
        "DATE_TRUNC": Function(
            ("truncation", "date"), "date", f"the first day of the {', '.join(TRUNCATIONS[:-1])} (from Monday) or day"
        ),
        "DATE_DIFF": Function(
            ("unit", "date", "date"),
            "number",
            f"how many ends of a {', '.join(UNITS[:-1])} or day lie between the first date and the second",
            copies=(1, 2, 2),
        ),
        "COALESCE": Function(("same",), "same", "the first that is not NULL", more=True, price=1),
        "NULLIF": Function(("same", "same"), "same", "x, but NULL where it equals y", copies=(2, 1), price=1),
    }
)
