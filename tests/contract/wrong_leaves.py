"""Dialects with one wrong leaf each, as engines have them: `check_engine` must tell each from the right one."""

from collections.abc import Sequence
from typing import Any

from sfumato.engines.sql.dialect import Dialect
from tests.contract.check_engine import changed


def wrong(right: Dialect) -> dict[str, Dialect]:
    """Written with the leaves of the right dialect and words that all engines know."""

    def truncated(real: str) -> str:
        return f"CASE WHEN {real} < 0 THEN {right.ceil(real)} ELSE {right.floor(real)} END"

    def rounded_down(number: str, divisor: str) -> str:
        real = right.arithmetic("/", right.to_double(number), right.to_double(divisor))
        return right.to_big(right.floor(real))

    def unguarded(operator: str, left: str, other: str) -> str:
        return f"({left} {operator} {other})"

    def of_week(name: Any, day: str) -> str:
        return right.part("ISODOW" if name == "DAYOFWEEK" else name, day)

    def kept(value: str, listed: Sequence[str]) -> str:
        return f"COALESCE({right.position(value, listed)}, 0)"

    def unsalted(names: Sequence[str], parts: int) -> str:
        return right.part_of(names[1:], parts)

    return {
        "a list that begins with 1": changed(
            right, element=lambda numbers, place: right.element((*numbers, 0), f"({place} + 1)")
        ),
        "a list from its end": changed(
            right, element=lambda numbers, place: right.element(numbers, f"({len(numbers) - 1} - {place})")
        ),
        "parts of units without a salt": changed(right, part_of=unsalted),
        "parts of units that begin with 1": changed(
            right, part_of=lambda names, parts: f"({right.part_of(names, parts)} + 1)"
        ),
        "a cast that truncates": changed(right, small=lambda real: right.small(truncated(real))),
        "a cast with halves away from 0": changed(right, small=lambda real: right.small(right.half_away(real))),
        "ROUND with halves to even": changed(right, half_away=lambda real: right.to_double(right.to_big(real))),
        "ROUND that cuts off": changed(right, half_away=truncated),
        "NaN is infinite": changed(right, INFINITY=right.NAN),
        "NaN is a value": changed(right, NAN=right.INFINITY),
        "a sum that wraps": changed(right, total=lambda values: f"({right.total(values)} % 8)"),
        "a person's sum that wraps": changed(right, sum_big=lambda values: f"({right.sum_big(values)} % 8)"),
        "LIKE with an escape": changed(
            right, like=lambda value, pattern: f"({value} LIKE {right.text(pattern)} ESCAPE {right.text(chr(92))})"
        ),
        "beginnings without their last sign": changed(
            right, beginning=lambda value, signs: right.beginning(value, signs - 1)
        ),
        "a pattern at the beginning is anywhere": changed(right, starts=right.contains),
        "a pattern at the end is anywhere": changed(right, ends=right.contains),
        "texts that end too early": changed(right, text=lambda string: f"'{string}'"),
        "x / 0 is not NULL": changed(right, arithmetic=unguarded),
        "a quotient rounded down": changed(right, quotient=rounded_down),
        "0 to a negative power": changed(right, power=lambda real, exponent: right.power(f"({real} + 1)", exponent)),
        "a remainder with the divisor's sign": changed(
            right, modulo=lambda real, divisor: right.modulo(f"({right.modulo(real, divisor)} + {divisor})", divisor)
        ),
        "Sunday is 7": changed(right, part=of_week),
        "days counted backwards": changed(right, days_between=lambda first, second: right.days_between(second, first)),
        "weeks as months": changed(
            right, trunc=lambda unit, day: right.trunc("month" if unit == "week" else unit, day)
        ),
        "undeclared keys are the first": changed(right, position=kept),
        "a sign that is never 0": changed(right, sign=lambda real: right.sign(f"({real} - {right.double(0.1)})")),
        "distances with a sign": changed(right, distance=lambda real, other: f"({real} - {other})"),
        "steps of twice the size": changed(right, scaled=lambda real, factor: right.scaled(real, factor / 2)),
        "small numbers wrap": changed(right, small=lambda number: right.small(f"({number}) % 8")),
    }
