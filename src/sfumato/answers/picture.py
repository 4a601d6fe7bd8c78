"""Which picture an answer gets: bars or dots, steps along an ordered key, a histogram or a cumulative share."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.answers.display import keys_as_read
from sfumato.answers.notes import named
from sfumato.answers.rounding import heights, is_number
from sfumato.answers.whole_range import says_nothing
from sfumato.answers.wordings import keys_not_drawable, not_drawable, not_measured
from sfumato.plots.bars import bars, dots
from sfumato.plots.steps import cumulative, histogram, steps
from sfumato.query.rewrite import (
    CdfColumn,
    CountColumn,
    FoundBinsColumn,
    FoundSumColumn,
    HistogramColumn,
    OutputColumn,
    SumColumn,
)

if TYPE_CHECKING:
    from sfumato.answers.answer import Answer

MOST_BARS = 31  # with more whole numbers or dates an answer is a line of steps
NOTHING: tuple[object, ...] = (None, [])  # where no bounds were found
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_drawable(answer: "Answer", column: str) -> bool:
    """Whether there is something in a row, and a number or a list wherever there is something."""
    rows = [answer.rows[place] for place in _groups(answer)]
    cells = [row[column] for row in rows if row[column] not in NOTHING]
    return bool(cells) and (all(_is_list(cell) for cell in cells) or all(is_number(cell) for cell in cells))


def picture(answer: "Answer", column: str | None, confidence: float) -> Any:
    """A Plotly figure of one aggregate, the first by default."""
    if not answer.measured:
        raise keys_not_drawable()
    chosen = answer.measured[0] if column is None else column
    if chosen not in answer.measured:
        raise not_measured(chosen, answer.measured)
    if not is_drawable(answer, chosen):
        raise not_drawable(chosen)
    keys = [name for name in answer.columns if name not in answer.measured]
    bars_of = answer.interval(confidence)
    known_at = _drawn(answer, chosen, bars_of)
    rows = [answer.rows[place] for place in known_at]
    cells = [row[chosen] for row in rows]
    intervals: list[Any] = [bars_of[place][chosen] for place in known_at]
    told = zip(*(keys_as_read([row[key] for row in rows]) for key in keys), strict=True)
    labels = [", ".join(map(str, parts)) for parts in told] or [chosen] * len(rows)
    if _is_list(cells[0]):
        pairs = [
            [_known(part, pair) for part, pair in zip(heights(cell), interval or [None] * len(cell), strict=True)]
            for cell, interval in zip(cells, intervals, strict=True)
        ]
        draw = histogram if "low" in cells[0][0] else cumulative
        return draw(labels, cells, pairs, title=chosen, along=along(answer, chosen))
    known = [_known(cell, interval) for cell, interval in zip(cells, intervals, strict=True)]
    # A line of steps would run on over a key without a number.
    if len(keys) == 1 and len(rows) == len(_groups(answer)) and _is_ordered([row[keys[0]] for row in rows]):
        order = sorted(range(len(cells)), key=lambda place: rows[place][keys[0]])
        return steps(
            [rows[place][keys[0]] for place in order],
            [cells[place] for place in order],
            [known[place] for place in order],
            title=chosen,
            along=keys[0],
        )
    # A bar is as long as what it counts; where nothing is counted, a line from 0 would say nothing.
    draw_groups = bars if isinstance(column_of(answer, chosen), CountColumn | SumColumn | FoundSumColumn) else dots
    return draw_groups(labels, cells, known, title=chosen)


def left_out(answer: "Answer", column: str, confidence: float) -> int:
    """Of how many groups the plot of a column shows nothing, though they have a number."""
    there = sum(answer.rows[place][column] not in NOTHING for place in _groups(answer))
    return there - len(_drawn(answer, column, answer.interval(confidence)))


def _drawn(answer: "Answer", name: str, bars_of: Sequence[Mapping[str, Any]]) -> list[int]:
    """Groups with a number; those whose bar says nothing would hide all others, unless there are no others."""
    column = column_of(answer, name)
    known = [place for place in _groups(answer) if answer.rows[place][name] not in NOTHING]
    return [place for place in known if not says_nothing(column, bars_of[place][name])] or known


def _groups(answer: "Answer") -> list[int]:
    """Which rows are drawn: totals would dwarf what they add up, unless there is nothing else."""
    places = range(len(answer.rows))
    return [place for place in places if place not in answer._totals] or list(places)


def _is_list(cell: Any) -> bool:
    return isinstance(cell, list) and bool(cell)


def _is_ordered(keys: list[Any]) -> bool:
    """Whole numbers or dates, too many for bars; the keys of an answer hold a date as 2024-01-31."""
    return len(keys) > MOST_BARS and ({type(key) for key in keys} == {int} or all(_is_date(key) for key in keys))


def _is_date(key: Any) -> bool:
    if not isinstance(key, str) or DATE.fullmatch(key) is None:
        return False
    try:
        date.fromisoformat(key)
    except ValueError:
        return False
    return True


def column_of(answer: "Answer", name: str) -> OutputColumn | None:
    """What a column of an answer is made of; None of one that is computed from others."""
    return next((column for column in answer._numbers[1] if column.name == name), None)


def along(answer: "Answer", name: str) -> str:
    """What the bins or points of a column are of."""
    column = column_of(answer, name)
    if isinstance(column, FoundBinsColumn):
        return named(column.ends.cells.value)
    return named(column.cells.value) if isinstance(column, HistogramColumn | CdfColumn) else ""


def _known(value: float, interval: Any) -> tuple[float, float]:
    """The ends of an interval; the value itself where an end is unknown."""
    low, high = interval if interval is not None else (None, None)
    return (
        low if low is not None and isfinite(low) else value,
        high if high is not None and isfinite(high) else value,
    )
