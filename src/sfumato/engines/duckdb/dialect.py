"""DuckDB's words for the leaves of `engines.sql.dialect`."""

import re
from collections.abc import Sequence
from fractions import Fraction

from sfumato.engines.sql.dialect import DatePart
from sfumato.engines.sql.phrases import quoted, text
from sfumato.plan.expressions import ArithmeticOperator

COLUMN = re.compile(r't\."(?:[^"]|"")*"|k[0-9]+')
FEW = 8  # texts that are compared one after the other; of more, a table of them is faster
PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?")  # no sign, no infinity, no NaN


class DuckDBDialect:
    """Claim: as `Dialect` asks, in every supported version: TRY_CAST gives NULL, arithmetic of doubles never fails,
    NaN is above infinity.

    Proof: docs/decisions/0011-one-emitter-many-engines.md says what was looked at, tests/contract what is compared.
    """

    BIG = "BIGINT"
    HUGE = "HUGEINT"
    DOUBLE = "DOUBLE"
    TEXT = "VARCHAR"
    NAN = "CAST('NaN' AS DOUBLE)"
    INFINITY = "CAST('Infinity' AS DOUBLE)"
    MATERIALIZED = " MATERIALIZED"

    def quoted(self, name: str) -> str:
        return quoted(name)

    def text(self, string: str) -> str:
        return text(string)

    def double(self, value: float) -> str:
        # With an exponent a number is read as the nearest DOUBLE; a CAST is worked out anew for each question.
        digits = repr(value)
        if PLAIN.fullmatch(digits):
            return digits if "e" in digits else f"{digits}e0"
        return f"CAST('{digits}' AS DOUBLE)"

    def huge(self, value: int) -> str:
        return f"CAST({value} AS HUGEINT)"

    def day(self, iso: str) -> str:
        return f"CAST({text(iso)} AS DATE)"

    # ---- casts

    def to_double(self, number: str) -> str:
        return f"TRY_CAST({number} AS DOUBLE)"

    def to_big(self, real: str) -> str:
        return f"TRY_CAST({real} AS BIGINT)"

    def whole(self, number: str) -> str:
        return f"TRY_CAST({number} AS BIGINT)"

    def small(self, number: str) -> str:
        return f"TRY_CAST({number} AS INTEGER)"

    def to_huge(self, real: str) -> str:
        return f"TRY_CAST({real} AS HUGEINT)"

    def as_text(self, value: str) -> str:
        return f"CAST({value} AS VARCHAR)"

    # ---- reals

    def arithmetic(self, operator: ArithmeticOperator, left: str, right: str) -> str:
        if operator == "/":
            # The divisor stands here once: written twice it would double the text with every level of nesting.
            return f"({left} / nullif({right}, {self.double(0.0)}))"
        return f"({left} {operator} {right})"

    def negative(self, real: str) -> str:
        return f"(-{real})"

    def distance(self, real: str, other: str) -> str:
        return f"abs({real} - {other})"

    def scaled(self, real: str, factor: float) -> str:
        return f"({real} * {self.double(factor)})"

    def floor(self, real: str) -> str:
        return f"floor({real})"

    def ceil(self, real: str) -> str:
        return f"ceil({real})"

    def half_away(self, real: str) -> str:
        return f"round({real})"

    def exp(self, real: str) -> str:
        return f"exp({real})"

    def power(self, real: str, exponent: Fraction) -> str:
        base = f"nullif({real}, {self.double(0.0)})" if exponent < 0 else real
        return f"pow({base}, {self.double(float(exponent))})"

    def modulo(self, real: str, divisor: float) -> str:
        return f"({real} % {self.double(divisor)})"

    def sqrt(self, real: str) -> str:
        return f"sqrt(CASE WHEN {real} >= 0 THEN {real} END)"

    def ln(self, real: str) -> str:
        return f"ln(CASE WHEN {real} > 0 THEN {real} END)"

    def log10(self, real: str) -> str:
        return f"log10(CASE WHEN {real} > 0 THEN {real} END)"

    def sign(self, real: str) -> str:
        return f"CAST(sign({real}) AS DOUBLE)"

    # ---- whole numbers

    def quotient(self, number: str, divisor: str) -> str:
        return f"({number} // {divisor})"

    def total(self, values: str) -> str:
        return f"sum_no_overflow({values})"

    def sum_big(self, values: str) -> str:
        return f"SUM({values})"

    def sum_huge(self, values: str) -> str:
        return f"SUM({values})"

    def edge(self, edges: Sequence[int], place: str) -> str:
        return f"list_extract([0, {', '.join(map(str, edges))}], {place} + 1)"

    def element(self, numbers: Sequence[int], place: str) -> str:
        # A place may be of 8 bits, or the last that 32 hold: the one after it fits 64.
        return f"list_extract([{', '.join(map(str, numbers))}], TRY_CAST({place} AS BIGINT) + 1)"

    def quarters(self, steps: str, edges: Sequence[int]) -> str:  # noqa: ARG002 - the logarithm is exact enough
        return f"CAST(ceil(4 * log2(CAST(greatest(abs({steps}), 1) AS DOUBLE))) AS INTEGER)"

    def position(self, value: str, listed: Sequence[str]) -> str:
        if len(listed) <= FEW and COLUMN.fullmatch(value):
            whens = " ".join(f"WHEN {text(one)} THEN {place}" for place, one in enumerate(listed))
            return f"CASE CAST({value} AS VARCHAR) {whens} END"
        # A sign more than any that is listed: what is longer is none of them, and is not looked at to its end.
        short = self.beginning(f"CAST({value} AS VARCHAR)", max(map(len, listed)) + 1)
        return f"CAST(enum_code(TRY_CAST({short} AS ENUM({', '.join(map(text, listed))}))) AS INTEGER)"

    # ---- texts

    def beginning(self, value: str, signs: int) -> str:
        return f"substring({value}, 1, {signs})"

    def like(self, value: str, pattern: str) -> str:
        return f"({value} LIKE {text(pattern)})"

    def starts(self, value: str, beginning: str) -> str:
        return f"starts_with({value}, {text(beginning)})"

    def ends(self, value: str, end: str) -> str:
        return f"suffix({value}, {text(end)})"

    def contains(self, value: str, part: str) -> str:
        return f"contains({value}, {text(part)})"

    def length(self, value: str) -> str:
        return f"CAST(length({value}) AS DOUBLE)"

    # ---- days

    def part(self, name: DatePart, day: str) -> str:
        return f"CAST({name.lower()}({day}) AS DOUBLE)"

    def trunc(self, unit: str, day: str) -> str:
        return f"CAST(date_trunc({text(unit)}, {day}) AS DATE)"

    def days_between(self, first: str, second: str) -> str:
        return f"CAST(date_diff('day', {first}, {second}) AS DOUBLE)"

    # ---- rows

    def order(self, values: Sequence[str]) -> str:
        return f"hash({', '.join(values)})"

    def one_of(self, values: Sequence[str], many: str) -> str:
        return f"(CAST(hash({', '.join(values)}) >> 1 AS BIGINT) % {many})"

    def part_of(self, names: Sequence[str], parts: int) -> str:
        named = " || '|' || ".join(names)
        return f"(CAST('0x' || substring(md5({named}), 1, 8) AS BIGINT) % {parts})"

    def filter(self, condition: str) -> str:
        return condition  # the engine's settings keep filters out of the scan


DUCKDB = DuckDBDialect()
