"""Columns in SQL: in which cell a value lies, by comparisons that every engine knows. What is missing has the last."""

from collections.abc import Sequence
from math import ceil

from sfumato.learn.bins import Feature, Line, Listed, Span
from sfumato.schema.columns import CategoryValue, plain_text

HALVES = 1 << 51  # from here on, doubles have no halves beside which others fit
LARGEST = "1.7976931348623157e308"


def name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def literal(value: CategoryValue) -> str:
    return str(value) if type(value) is int else "'" + plain_text(value).replace("'", "''") + "'"


def read_of(feature: Feature) -> str:
    """A column as its cells name it: of true and false, which engines write otherwise, the text."""
    cells = feature.cells
    texts = isinstance(cells, Listed) and type(cells.values[0]) is bool
    return f"CAST({name(feature.name)} AS VARCHAR)" if texts else name(feature.name)


def _below(feature: Feature, line: Line, cut: float) -> str:
    """True for what lies below a cut: of whole numbers up to half before it, where halves go to the even one."""
    read = read_of(feature)
    if line.kind == "day":
        return f"{read} < DATE '{line.shown(cut)}'"
    if line.kind == "whole" and abs(cut) < HALVES:
        end = ceil(cut)
        return f"{read} {'<=' if end % 2 else '<'} {_half(end, -1)}"
    return f"{read} < {int(cut) if cut.is_integer() and abs(cut) < 2**53 else repr(cut)}"


def _half(number: int, side: int) -> str:
    return f"{number + side / 2!r}e0"


def _is_one(feature: Feature, value: CategoryValue) -> str:
    """True for a listed value, and for what is rounded to it."""
    read = read_of(feature)
    if type(value) is not int or abs(value) >= HALVES:
        return f"{read} = {literal(value)}"
    low, high = _half(value, -1), _half(value, 1)
    return f"{read} > {low} AND {read} < {high}" if value % 2 else f"{read} >= {low} AND {read} <= {high}"


def rounded(read: str, cells: Span) -> str:
    """A whole number of a number between two bounds, of halves the even one."""
    if cells.kind != "whole" or max(-cells.lower, cells.upper) >= HALVES:
        return read
    low, high = f"CEIL({read} - 0.5e0)", f"FLOOR({read} + 0.5e0)"
    return f"CASE WHEN {low} = {high} THEN {low} ELSE 2 * FLOOR({high} / 2e0) END"


def _known(feature: Feature, line: Line) -> str:
    """Neither NULL nor NaN. Engines put NaN above all numbers or beside them, and so they do with less it; of infinity
    it is below.
    """
    read = read_of(feature)
    return f"{read} IS NOT NULL" if line.kind == "day" else f"({read} <= {LARGEST} OR {less(read)} < 0)"


def less(read: str) -> str:
    return f"0e0 - {read}"


def picked(feature: Feature, numbers: Sequence[int | str]) -> str:
    """The number of a row's cell, as one flat CASE."""
    read = read_of(feature)
    match feature.cells:
        case Listed(values=values):
            if type(values[0]) is int:
                ones = zip(values, numbers, strict=False)
                whens = [f"WHEN {_is_one(feature, value)} THEN {number}" for value, number in ones]
                return f"CASE {' '.join(whens)} ELSE {numbers[-1]} END"
            whens = [f"WHEN {literal(value)} THEN {number}" for value, number in zip(values, numbers, strict=False)]
            return f"CASE {read} {' '.join(whens)} ELSE {numbers[-1]} END"
        case Line(cuts=cuts) as line:
            below = [_below(feature, line, cut) for cut in cuts]
            whens = [f"WHEN {each} THEN {number}" for each, number in zip(below, numbers, strict=False)]
            return (
                f"CASE {' '.join([*whens, f'WHEN {_known(feature, line)} THEN {numbers[-2]}'])} ELSE {numbers[-1]} END"
            )
        case Span():
            raise TypeError("a number between two bounds is not in cells")


def left_of(feature: Feature, right: tuple[int, ...]) -> str:
    """True for rows whose cell is not in `right`; false or NULL for all others."""
    read, size = read_of(feature), feature.size
    match feature.cells:
        case Line(cuts=cuts) as line if right == tuple(range(right[0], size)) and right[0] > 0:
            return _below(feature, line, cuts[right[0] - 1]) if right[0] <= len(cuts) else _known(feature, line)
        case Listed(values=values) if type(values[0]) is not int and size - 1 in right:
            left = [literal(value) for cell, value in enumerate(values) if cell not in right]
            return f"{read} IN ({', '.join(left)})" if left else "FALSE"
        case Listed(values=values) if type(values[0]) is not int:
            gone = ", ".join(literal(value) for cell, value in enumerate(values) if cell in right)
            return f"({read} IS NULL OR {read} NOT IN ({gone}))"
        case _:
            return f"{picked(feature, [int(cell in right) for cell in range(size)])} = 0"
