"""The closed language of row expressions. All are total: a row gives a value or NULL, never an error.

Arithmetic is in double precision; division by zero and NaN give NULL.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

ArithmeticOperator = Literal["+", "-", "*", "/"]
ComparisonOperator = Literal["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Column:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    value: Fraction


@dataclass(frozen=True, slots=True)
class String:
    value: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: ArithmeticOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Negative:
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: ComparisonOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class OneOf:
    operand: "Expression"
    choices: tuple[Number | String, ...]


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


Expression = Column | Number | String | Arithmetic | Negative
Condition = Comparison | OneOf | IsNull | Not | AllOf | AnyOf
