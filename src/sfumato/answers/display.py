"""An answer for people, in characters: rows with their error bars, sentences about price and limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.answers.notes import price_in_words
from sfumato.answers.rounding import NONE, PLAIN, Ends, beside_bars, heights, number
from sfumato.answers.totals import word_of_total
from sfumato.answers.whole_range import ALL_SHARES, says_nothing
from sfumato.visible import visible

if TYPE_CHECKING:
    from sfumato.answers.answer import Answer

MOST_LISTED = 20
MOST_BLOCKS = 24
BLOCKS = "▁▂▃▄▅▆▇█"
NO_BAR = (
    f"{NONE} stands for an error bar that would go from one end of what is possible to the other: spend more. If that "
    "does not help, there is hardly a value, or none is read as it is declared: sfumato check shows it to the owner."
)
Rows = tuple[list[str], list[dict[str, Any]]]


class KeyNumber(int):
    """A whole number that names a group, like a year or a code: shown as it is written, 1984 and not 1,984."""

    def __format__(self, how: str) -> str:
        return str(int(self))


@dataclass(frozen=True, slots=True)
class Listed:
    """The bins or points of a column as rows, and how many more there are."""

    column: str
    columns: list[str]
    rows: list[dict[str, Any]]
    more: int

    @property
    def rest(self) -> list[str]:
        return [f"… {self.more:,} more: --format json, or answer.rows"] if self.more else []


def beside(answer: "Answer", parts: Mapping[str, Callable[[Any, Any], Any]], confidence: float) -> Rows:
    """The rows with parts of each interval and number at their end, under names that hide no other column."""
    names: dict[tuple[str, str], str] = {}
    columns = list(answer.columns)
    for column in answer.measured:
        for part in parts:
            names[column, part] = _unused(f"{column}_{part}", columns)
            columns.append(names[column, part])
    rows = [
        {**row, **{name: parts[part](interval[column], row[column]) for (column, part), name in names.items()}}
        for row, interval in zip(answer.rows, answer.interval(confidence), strict=True)
    ]
    return columns, rows


def readable(answer: "Answer", confidence: float) -> Rows:
    """The rows with `±`, or both ends, beside each number, lists drawn as small bars, and a dash for nothing."""
    columns, intervals = list(answer.columns), answer.interval(confidence)
    cells: dict[str, list[Any]] = {name: [row[name] for row in answer.rows] for name in columns}
    hidden = _hidden(answer, intervals)
    for column in answer.measured:
        told, bars, ends = beside_bars(cells[column], [row[column] for row in intervals], hidden[column])
        name = _unused(f"{column} at {100 * confidence:g} %" if ends else f"{column} ±", columns)
        columns.insert(columns.index(column) + 1, name)
        cells[column], cells[name] = told, bars
    for key in keys_of(answer):
        cells[key] = keys_as_read(cells[key])
    rows = zip(*([_drawn(cell) for cell in cells[name]] for name in columns), strict=True)
    return columns, [dict(zip(columns, row, strict=True)) for row in rows]


def _hidden(answer: "Answer", intervals: Sequence[Mapping[str, Any]]) -> dict[str, list[bool]]:
    """Of every aggregate and row, whether its error bar says nothing."""
    known = {column.name: column for column in answer._numbers[1]}
    return {name: [says_nothing(known.get(name), row[name]) for row in intervals] for name in answer.measured}


def keys_of(answer: "Answer") -> list[str]:
    """The columns that name groups."""
    return [name for name in answer.columns if name not in answer.measured]


def keys_as_read(keys: Sequence[Any]) -> list[Any]:
    """A column of keys; where a total has all of them, a word says so."""
    word = word_of_total(keys)
    return [word if key is None else _key(key) for key in keys]


def _key(value: Any) -> Any:
    return KeyNumber(value) if type(value) is int else value


def _drawn(cell: Any) -> Any:
    return NONE if cell is None or cell == [] else blocks(cell) if isinstance(cell, list) else cell


def listed(answer: "Answer", confidence: float, most: int) -> list[Listed]:
    """Under each column of lists its bins or points as rows of their own, with ±; and how many are left out."""
    lists = [name for name in answer.measured if any(isinstance(row[name], list) and row[name] for row in answer.rows)]
    return [_listed(answer, name, confidence, most) for name in lists]


def _listed(answer: "Answer", column: str, confidence: float, most: int) -> Listed:
    keys = keys_of(answer)
    parts: list[tuple[list[Any], dict[str, Any]]] = []
    bars: list[Any] = []
    for row, intervals in zip(answer.rows, answer.interval(confidence), strict=True):
        groups = [_key(row[key]) for key in keys]
        parts += [(groups, part) for part in row[column]]
        bars += intervals[column] or [None] * len(row[column])
    what = "count" if any("count" in part for _, part in parts) else "share"
    hidden = [what == "share" and bar == ALL_SHARES for bar in bars]
    told, shown, ends = beside_bars(heights([part for _, part in parts]), bars, hidden)
    columns = list(keys)
    for name in ("range" if what == "count" else "up to", what, f"at {100 * confidence:g} %" if ends else "±"):
        columns.append(_unused(name, columns))
    rows = [
        dict(zip(columns, [*groups, _place(part), height, bar], strict=True))
        for (groups, part), height, bar in zip(parts, told, shown, strict=True)
    ]
    return Listed(column, columns, rows[:most], max(0, len(rows) - most))


def _place(part: Mapping[str, Any]) -> str:
    """Where a bin or a point lies."""
    if "at" in part:
        return _end(part["at"])
    return _end(part["low"]) if part["low"] == part["high"] else f"{_end(part['low'])} to {_end(part['high'])}"


def _end(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= PLAIN else f"{value:,.8g}"


def _unused(name: str, columns: Sequence[str]) -> str:
    while name in columns:
        name += "_"
    return name


def long(answer: "Answer", columns: list[str], rows: list[dict[str, Any]]) -> Rows:
    """Rows with one column of lists told bin by bin or point by point; as they are if there is none, or several."""
    lists = [name for name in answer.measured if any(isinstance(row[name], list) for row in rows)]
    if len(lists) != 1:
        return columns, rows
    (name,) = lists
    drawn = any("low" in part for row in rows for part in row[name])
    words = {"from": "low", "to": "high"} if drawn else {"at": "at"}
    places = {_unused(f"{name}_{word}", columns): part for word, part in words.items()}
    first = columns.index(name)
    spread = []
    for row in rows:
        for place, part in enumerate(row[name]):
            told = {column: cell[place] if isinstance(cell, list) else cell for column, cell in row.items()}
            at = {column: part[key] for column, key in places.items()}
            spread.append({**told, **at, name: heights([part])[0]})
        if not row[name]:  # no bounds were found for it
            told = {column: None if isinstance(cell, list) else cell for column, cell in row.items()}
            spread.append({**told, **dict.fromkeys(places)})
    return [*columns[:first], *places, *columns[first:]], spread


def ends(place: int) -> Callable[[Any, Any], Any]:
    """The low (0) or the high (1) end of an interval; of a list of intervals, the list of these ends."""

    def end(interval: Any, _: Any) -> Any:
        if interval is None:
            return None
        return [pair[place] for pair in interval] if isinstance(interval, list) else interval[place]

    return end


def blocks(cell: list[dict[str, Any]]) -> str:
    """A list of bins or points as a row of small bars; a long one is thinned out."""
    values = [max(0.0, float(height)) for height in heights(cell)]
    if len(values) > MOST_BLOCKS:
        values = [
            max(values[place * len(values) // MOST_BLOCKS : (place + 1) * len(values) // MOST_BLOCKS])
            for place in range(MOST_BLOCKS)
        ]
    highest = max(values, default=0.0)
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * value / highest)] if highest else BLOCKS[0] for value in values)


def sentences(answer: "Answer", confidence: float) -> list[str]:
    """Under every table: what the error bars mean, the price in numbers and words, what is left, what is hidden."""
    paid = f"Asked before on {answer.when}: free. " if answer.cached else f"Cost {answer.cost}. "
    dashed = any(any(dashes) for dashes in _hidden(answer, answer.interval(confidence)).values())
    lines = [
        f"± at {100 * confidence:g} %. Protects one {answer.unit}.{f' {NO_BAR}' if dashed else ''}",
        f"{paid}Spent in all {answer.spent}; left {answer.left}.",
        price_in_words(answer.cost),
    ]
    if answer.more is not None:
        lines.append(more_in_words(answer.more))
    return [visible(line) for line in (*lines, *answer.notes)]


def more_in_words(more: int) -> str:
    if more == 0:
        return "No other question at this price fits; asking this one again is free."
    return f"About {more:,} more question{'' if more == 1 else 's'} like this fit{'s' if more == 1 else ''}."


def as_text(answer: "Answer", confidence: float) -> str:
    """A table in plain characters and the sentences under it."""
    lines = _lines(*readable(answer, confidence))
    for part in listed(answer, confidence, MOST_LISTED):
        lines += ["", f"{visible(part.column)}:", *_lines(part.columns, part.rows), *part.rest]
    return "\n".join([*lines, *sentences(answer, confidence)])


def _lines(columns: list[str], rows: list[dict[str, Any]]) -> list[str]:
    cells = [[visible(_shown(row[name])) for name in columns] for row in rows]
    head = [visible(name) for name in columns]
    right = [all(isinstance(row[name], int | float | Ends) or row[name] == NONE for row in rows) for name in columns]
    widths = [max(len(line[place]) for line in [head, *cells]) for place in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width, numeric in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in [head, ["─" * width for width in widths], *cells]
    ]


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, bool) or not isinstance(value, int | float) else number(value)
