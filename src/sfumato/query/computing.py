"""Arithmetic on noisy answers: what may be computed, and how. It sees noise only and costs nothing.

A formula is an expression whose columns are columns of the answer. One table of operators serves the number that is
shown; error bars bring one of their own, of many numbers at a time. Whole numbers beyond 2⁵³ are doubles, and what a
double cannot hold is missing, at every step: whatever is written, a number is found in no time, or none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, isfinite, log, log10
from operator import add, mul, sub, truediv
from typing import Any

from sfumato.errors import Refused
from sfumato.plan.expressions import Arithmetic, Call, Column, Day, Expression, Negative, Number, String
from sfumato.plan.functions import FunctionName
from sfumato.query.wordings import not_computed

Operators = Mapping[str, Callable[..., Any]]
MOST_EXACT = 1 << 53  # doubles hold whole numbers exactly up to here
# What has a meaning for one number of an answer; texts and dates are keys, and stay as they are.
OF_ANSWERS: tuple[FunctionName, ...] = (
    *("ABS", "ROUND", "FLOOR", "CEIL", "SIGN", "LEAST", "GREATEST", "SQRT", "LN", "LOG10", "EXP", "POWER"),
    *("COALESCE", "NULLIF"),
)


@dataclass(frozen=True, slots=True)
class Operand:
    """A column of the answer, or what it adds up to over all groups."""

    column: str
    total: bool = False


@dataclass(frozen=True, slots=True)
class Computed:
    """A column that is computed from others: in its formula "0", "1" … stand for the operands, in this order."""

    name: str
    formula: Expression
    operands: tuple[Operand, ...]

    @property
    def totals(self) -> bool:
        return any(operand.total for operand in self.operands)


def check_formula(node: Expression) -> None:
    """Refuse what cannot be computed from numbers."""
    match node:
        case Column() | Number():
            return
        case Negative(operand=inner):
            check_formula(inner)
        case Arithmetic(left=left, right=right):
            check_formula(left)
            check_formula(right)
        case Call(name=name, arguments=arguments) if name in OF_ANSWERS:
            for argument in arguments:
                check_formula(argument)
        case _:
            raise _unknown(node)


def _unknown(node: Expression) -> Refused:
    match node:
        case Call(name=name):
            return not_computed(name, OF_ANSWERS)
        case String() | Day():
            return not_computed("a text", OF_ANSWERS)
        case _:
            return not_computed("CASE", OF_ANSWERS)


def held(value: Any) -> Any:
    """As people would see it: a whole number up to 2⁵³ or a double; None where it is neither, or missing."""
    if value is None or (isinstance(value, int) and abs(value) <= MOST_EXACT):
        return value
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def constant(value: Fraction) -> Any:
    return held(int(value) if value.denominator == 1 else value)


def computed(
    node: Expression, of: Callable[[str], Any], by: Operators, number: Callable[[Fraction], Any] = constant
) -> Any:
    """A formula, with what each column and each number is and what each operator does."""
    match node:
        case Column(name=name):
            return of(name)
        case Number(value=value):
            return number(value)
        case Negative(operand=inner):
            return by["-"](0, computed(inner, of, by, number))
        case Arithmetic(operator=name, left=left, right=right):
            return by[name](computed(left, of, by, number), computed(right, of, by, number))
        case Call(name=name, arguments=arguments):
            return by[name](*(computed(argument, of, by, number) for argument in arguments))
        case _:
            raise _unknown(node)


def shown(node: Expression, of: Callable[[str], Any]) -> Any:
    """The number of one row; None where something is missing, or has no value."""
    return computed(node, lambda name: held(of(name)), ONE_NUMBER)


def linear(node: Expression) -> dict[str, float] | None:
    """How often each column counts, where a formula is a weighted sum and a constant (under ""); else None."""
    match node:
        case Column(name=name):
            return {name: 1.0}
        case Number(value=value):
            return {"": float(value)}
        case Negative(operand=inner):
            return _times(linear(inner), -1.0)
        case Arithmetic(operator=operator, left=left, right=right):
            one, two = linear(left), linear(right)
            if one is None or two is None:
                return None
            if operator in ("+", "-"):
                return _sum(one, two, 1.0 if operator == "+" else -1.0)
            factor = two.get("", 0.0) if set(two) <= {""} else None
            if operator == "/":
                return None if not factor else _times(one, 1 / factor)
            if factor is not None:
                return _times(one, factor)
            return _times(two, one.get("", 0.0)) if set(one) <= {""} else None
        case _:
            return None


def _times(weights: dict[str, float] | None, factor: float) -> dict[str, float] | None:
    return None if weights is None else {name: weight * factor for name, weight in weights.items()}


def _sum(one: dict[str, float], two: dict[str, float], sign: float) -> dict[str, float]:
    return {name: one.get(name, 0.0) + sign * two.get(name, 0.0) for name in [*one, *two]}


def _total(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Of what is missing, and where it has no value, there is none: divided by 0, a logarithm of too little."""

    def applied(*given: Any) -> Any:
        if any(one is None for one in given):
            return None
        try:
            return held(operator(*given))
        except (ArithmeticError, ValueError):
            return None

    return applied


def _rounded(value: float, digits: int) -> float:
    """Halves away from 0."""
    scale = Fraction(10) ** digits
    found = floor(abs(Fraction(repr(value))) * scale + Fraction(1, 2)) / scale
    return _sign(value) * (int(found) if digits <= 0 else float(found))


def _root(value: float) -> float:
    if value < 0:
        raise ValueError("no root")
    return float(value**0.5)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _power(value: float, exponent: float) -> Any:
    if value < 0 and exponent != int(exponent):
        raise ValueError("no power")
    return value**exponent


OF_NUMBERS: Operators = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
    "ABS": abs,
    "ROUND": _rounded,
    "FLOOR": floor,
    "CEIL": ceil,
    "SIGN": _sign,
    "LEAST": min,
    "GREATEST": max,
    "SQRT": _root,
    "LN": log,
    "LOG10": log10,
    "EXP": exp,
    "POWER": _power,
}
ONE_NUMBER: Operators = {
    **{name: _total(operator) for name, operator in OF_NUMBERS.items()},
    "COALESCE": lambda *given: next((one for one in given if one is not None), None),
    "NULLIF": lambda value, other: None if value == other else value,
}
