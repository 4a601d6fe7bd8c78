"""An answer for people: rows with their error bars, sentences about price and limits, a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from sfumato.answers.cells import says_nothing
from sfumato.answers.notes import price_in_words
from sfumato.answers.picture import heights, is_drawable, picture
from sfumato.plots.page import Block, Code, Facts, Figure, Section, Table, escaped, page, table
from sfumato.visible import visible

if TYPE_CHECKING:
    from sfumato.answers.answer import Answer

MOST_IN_NOTEBOOK = 100
MOST_ON_PAGE = 1000
MOST_LISTED = 20
MOST_BLOCKS = 24
BLOCKS = "▁▂▃▄▅▆▇█"
NONE = "–"
PLAIN = 1e8  # from here on numbers are shown without a fraction
SMALL = 0.1  # below it two digits are shown, wherever they begin
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
    """The rows with parts of each interval and number beside the number, under names that hide no other column."""
    names: dict[tuple[str, str], str] = {}
    columns = list(answer.columns)
    for column in answer.measured:
        for part in parts:
            name = _unused(f"{column} {part}" if part == "±" else f"{column}_{part}", columns)
            names[column, part] = name
            columns.insert(columns.index(column) + 1 if part == "±" else len(columns), name)
    rows = [
        {**row, **{name: parts[part](interval[column], row[column]) for (column, part), name in names.items()}}
        for row, interval in zip(answer.rows, answer.interval(confidence), strict=True)
    ]
    for quantile in answer._quantiles:
        shown = names.get((quantile.name, "±"))
        for row, interval in zip(rows, answer.interval(confidence), strict=True):
            if shown is not None and says_nothing(quantile, interval[quantile.name]):
                row[shown] = NONE
    return columns, rows


def readable(answer: "Answer", confidence: float) -> Rows:
    """The rows with `±` beside each number, lists drawn as small bars, and a dash for nothing."""
    columns, rows = beside(answer, {"±": margin}, confidence)
    keys = _keys(answer)
    return columns, [{name: _key(cell) if name in keys else _drawn(cell) for name, cell in row.items()} for row in rows]


def _keys(answer: "Answer") -> list[str]:
    return [name for name in answer.columns if name not in answer.measured]


def _key(value: Any) -> Any:
    return KeyNumber(value) if type(value) is int else value


def _drawn(cell: Any) -> Any:
    return NONE if cell is None or cell == [] else blocks(cell) if isinstance(cell, list) else cell


def listed(answer: "Answer", confidence: float, most: int) -> list[Listed]:
    """Under each column of lists its bins or points as rows of their own, with ±; and how many are left out."""
    found = []
    keys = _keys(answer)
    for column in answer.measured:
        cells = [row[column] for row in answer.rows]
        if not any(isinstance(cell, list) and cell for cell in cells):
            continue
        columns = list(keys)
        what = "count" if any("count" in part for cell in cells for part in cell) else "share"
        for name in ("range" if what == "count" else "up to", what, "±"):
            columns.append(_unused(name, columns))
        rows = [
            [*(_key(row[key]) for key in keys), _place(part), part[what], margin(pair, part[what])]
            for row, intervals in zip(answer.rows, answer.interval(confidence), strict=True)
            for part, pair in zip(row[column], intervals[column] or [None] * len(row[column]), strict=True)
        ]
        shown = [dict(zip(columns, row, strict=True)) for row in rows[:most]]
        found.append(Listed(column, columns, shown, len(rows) - len(shown)))
    return found


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
        for number, part in enumerate(row[name]):
            told = {column: cell[number] if isinstance(cell, list) else cell for column, cell in row.items()}
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


def margin(interval: Any, value: Any) -> Any:
    """How far the farther end of an interval lies from its number: number ± margin holds all of it.

    Of a list the widest; one end where the other is unknown.
    """
    if interval is None:
        return NONE
    if isinstance(interval, list):
        margins = [margin(pair, part) for pair, part in zip(interval, heights(value), strict=True)]
        return max((found for found in margins if not isinstance(found, str)), default=NONE)
    low, high = interval
    known = [end is not None and isfinite(end) for end in interval]
    if not all(known):
        return f"≥ {_number(low)}" if known[0] else f"≤ {_number(high)}" if known[1] else NONE
    return max(value - low, high - value)


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
    lines = [
        f"± at {100 * confidence:g} %. Protects one {answer.unit}.",
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
    right = [all(isinstance(row[name], int | float) or row[name] == NONE for row in rows) for name in columns]
    widths = [max(len(line[place]) for line in [head, *cells]) for place in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if numeric else cell.ljust(width)
            for cell, width, numeric in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in [head, ["─" * width for width in widths], *cells]
    ]


def as_fragment(answer: "Answer", confidence: float) -> str:
    """For a notebook: a table and its sentences, every text escaped, no script and nothing fetched."""
    shown, hidden = _table(answer, confidence, MOST_IN_NOTEBOOK)
    lines = [*hidden, *sentences(answer, confidence)]
    bins = "".join(table(block) for block in _bins(answer, confidence, MOST_IN_NOTEBOOK) if isinstance(block, Table))
    return f"<div>{table(shown)}{bins}<p><small>{'<br>'.join(map(escaped, lines))}</small></p></div>"


def as_page(answer: "Answer", confidence: float) -> str:
    """One file that works without a network: plots, numbers, price, what is hidden."""
    shown, hidden = _table(answer, confidence, MOST_ON_PAGE)
    drawn: list[Block] = [
        Figure(picture(answer, column, confidence), _takeaway(answer, column, confidence))
        for column in answer.measured
        if is_drawable(answer, column)
    ]
    facts = {"cost of this question": _brief(answer.cost.epsilon), "left": _brief(answer.left.epsilon)}
    if answer.more is not None:
        facts["more questions like this"] = f"{answer.more:,}"
    covers = "Error bars cover the noise and nothing else."
    return page(
        "An answer with its error bars",
        [
            Section("The answer", [*drawn, shown, *hidden, *_bins(answer, confidence, MOST_ON_PAGE)]),
            Section("What the error bars cover", [covers, *answer.notes]),
            Section("What it cost", sentences(answer, confidence)[:3]),
        ],
        lead=[Code(answer.question), Facts(facts)],
        footer="Made with Sfumato.",
    )


def _takeaway(answer: "Answer", column: str, confidence: float) -> str:
    keys = _keys(answer)
    what = f"{column} by {', '.join(keys)}" if keys else column
    return f"{what}; noise stays inside the error bars in {100 * confidence:g} of 100 cases"


def _table(answer: "Answer", confidence: float, most: int) -> tuple[Table, list[str]]:
    columns, rows = readable(answer, confidence)
    cells = [[_cell(row[name]) for name in columns] for row in rows[:most]]
    hidden = [f"The first {most:,} of {len(rows):,} rows."] if len(rows) > most else []
    return Table(columns, cells), hidden


def _bins(answer: "Answer", confidence: float, most: int) -> list[Block]:
    found: list[Block] = []
    for part in listed(answer, confidence, most):
        cells = [[_cell(row[name]) for name in part.columns] for row in part.rows]
        found += [Table(part.columns, cells, part.column), *part.rest]
    return found


def _cell(value: Any) -> str | int:
    return value if isinstance(value, int) and not isinstance(value, bool) else _shown(value)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, bool) or not isinstance(value, int | float) else _number(value)


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.2g}" if 0 < abs(value) < SMALL else f"{value:,.2f}"


def _brief(value: float) -> str:
    return f"epsilon {value:.3g}"
