"""From a release to an answer people can read: columns, error bars, what it cost. Post-processing only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

from sfumato.answers.bar_ends import bars_to_ends
from sfumato.answers.clipped import Clipped
from sfumato.answers.column_kinds import FORMULA, kind_of
from sfumato.answers.columns import CONFIDENCE, Intervals, Noises, interval_of, value_of
from sfumato.answers.display import as_text, beside, ends, keys_of
from sfumato.answers.formulas import Formulas
from sfumato.answers.found_bounds import found_bounds
from sfumato.answers.found_ends import found_ends
from sfumato.answers.notes import notes, price_in_words, protects
from sfumato.answers.offers import offer_notes
from sfumato.answers.pages import as_fragment, as_page
from sfumato.answers.picture import along, picture
from sfumato.answers.repeat import Repeat
from sfumato.answers.totals import in_order, notes_on_totals, with_totals
from sfumato.answers.wordings import no_script
from sfumato.errors import missing_extra, out_of_range
from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import Release, ReleasedRows
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.ledger.balance import Balance
from sfumato.ledger.terms import Amount
from sfumato.plan.nodes import ListedKey, OpenKey, RangeKey
from sfumato.plan.sources import derive
from sfumato.plots.page import write_page
from sfumato.query.ordering import After
from sfumato.query.rewrite import Clipping, KeyColumn, OutputColumn
from sfumato.schema.columns import Int
from sfumato.visible import visible

MOST_IN_REPR = 3
UNTOUCHED = After()
ENDS = {"low": ends(0), "high": ends(1)}


@dataclass(frozen=True, slots=True)
class Told:
    """The notes of an answer that was copied or sent elsewhere: sentences, without the plan they speak of."""

    told: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Notes:
    """Of an answer, told when they are looked at: offers certify the same question with other caps.

    They are the sentences: these are compared, and these alone are pickled.
    """

    certified: Certified
    columns: tuple[OutputColumn, ...]
    hidden: tuple[str, ...]
    clipped: tuple[str, ...] | None  # where nothing about it was asked, other caps are offered
    found: tuple[str, ...]
    values: tuple[tuple[Released, ...], ...]

    @cached_property
    def told(self) -> tuple[str, ...]:
        ends = bars_to_ends(self.certified, self.columns, self.values)
        beside = offer_notes(self.certified, self.columns, self.values) if self.clipped is None else self.clipped
        return tuple(visible(note) for note in (*self.hidden, *ends, *beside, *self.found))  # it may name a group

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notes | Told) and self.told == other.told

    def __hash__(self) -> int:
        return hash(self.told)

    def __reduce__(self) -> tuple[type[Told], tuple[tuple[str, ...]]]:
        return Told, (self.told,)


@dataclass(frozen=True, slots=True)
class Answer:
    """Noisy rows, sorted by key, with what they cost, what is left, and what their error bars do not cover.

    `more`: how many questions at this price the ledger would still grant; `notes`: one sentence for each thing that
    clipping and bounding may hide, and for each bound that was found.
    """

    question: str
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    cost: Amount
    unit: str
    cached: bool
    when: str
    receipt: int
    more: int | None
    _notes: Notes | Told = field(repr=False)
    _balance: Balance = field(repr=False)
    _numbers: "tuple[ReleasedRows, tuple[OutputColumn, ...], tuple[Mechanism, ...]]" = field(repr=False)
    _repeat: Repeat | None = field(repr=False)
    _clipped: Clipped | None = field(repr=False)
    _formulas: Formulas = field(repr=False)
    _totals: Mapping[int, int] = field(repr=False)  # the rows that are totals, and of how many groups

    def __repr__(self) -> str:
        """The first rows and what they cost; all else is in `print(answer)` and its properties.

        Signs that nobody sees are spelt out: keys are whatever people wrote.
        """
        rows = ", ".join(repr(row) for row in self.rows[:MOST_IN_REPR])
        more = len(self.rows) - MOST_IN_REPR
        shown = f"[{rows}, … {more:,} more]" if more > 0 else f"[{rows}]"
        return visible(f"Answer(question={self.question!r}, rows={shown}, cost={self.cost!r}, receipt={self.receipt})")

    @property
    def notes(self) -> tuple[str, ...]:
        """What error bars do not cover, in sentences."""
        return self._notes.told

    @property
    def spent(self) -> Amount:
        """All that was spent of the limit when this was answered."""
        return self._balance.spent

    @property
    def left(self) -> Amount:
        """The largest spend that was left then."""
        return self._balance.left

    @property
    def measured(self) -> list[str]:
        """The columns that hold an aggregate; the others are keys."""
        keys = {column.name for column in self._numbers[1] if isinstance(column, KeyColumn)}
        return [name for name in self.columns if name not in keys]

    def interval(self, confidence: float = CONFIDENCE) -> list[dict[str, Any]]:
        """For every row and every aggregate (low, high): the noise stays inside with this probability.

        For a histogram or running shares one pair each; None for a most frequent value, and where no bounds were found.

        It speaks of the noise; what clipping and bounding may hide is in it only where a question was asked with
        `clipped`, see `notes`.
        """
        check_confidence(confidence)
        measured = self.measured
        found: dict[int, dict[str, Intervals]] = {}
        for groups in sorted({1, *self._totals.values()}):
            places = [place for place in range(len(self.rows)) if self._totals.get(place, 1) == groups]
            found |= zip(places, self._bars(places, confidence, groups), strict=True)
        return [
            {name: None if row[name] is None else found[place][name] for name in measured}
            for place, row in enumerate(self.rows)
        ]

    def _bars(self, places: Sequence[int], confidence: float, groups: int) -> list[dict[str, Intervals]]:
        """Of these rows, in each of which so many groups are added up."""
        values, columns, mechanisms = self._numbers
        rows, noises = [values[place] for place in places], Noises(mechanisms, confidence, groups)
        held = None if self._clipped is None else partial(self._clipped.interval, groups=groups)

        def bar(column: OutputColumn, row: tuple[Released, ...]) -> Intervals:
            return interval_of(column, row, noises) if held is None else held(column, row, confidence)

        shown = set(self.columns)
        own = [column for column in columns if not isinstance(column, KeyColumn) and column.name in shown]
        made = self._formulas.intervals(rows, confidence, held, groups)
        return [
            {column.name: bar(column, row) for column in own} | computed
            for row, computed in zip(rows, made, strict=True)
        ]

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "question": self.question,
            "columns": list(self.columns),
            "kinds": self._kinds(),
            "along": {name: along(self, name) for name in self.measured if along(self, name)},
            "measured": self.measured,
            "rows": self.rows,
            "intervals": [{name: _plain(pair) for name, pair in row.items()} for row in self.interval(confidence)],
            "confidence": confidence,
            "spend": self.cost.epsilon,
            "cost": {"epsilon": self.cost.epsilon, "delta": self.cost.delta},
            "spent": {"epsilon": self.spent.epsilon, "delta": self.spent.delta},
            "left": {"epsilon": self.left.epsilon, "delta": self.left.delta},
            "unit": self.unit,
            "cached": self.cached,
            "when": self.when,
            "receipt": self.receipt,
            "more": self.more,
            "price": price_in_words(self.cost),
            "notes": list(self.notes),
        }

    def _kinds(self) -> dict[str, str]:
        """Of the columns that are shown; what is computed of others is a formula, whatever they are."""
        known = {column.name: kind_of(column) for column in self._numbers[1]}
        return {name: known.get(name, FORMULA) for name in self.columns}

    def to_arrow(self, confidence: float | None = None) -> Any:
        """A pyarrow.Table; with a `confidence` also the ends of error bars, n_low and n_high beside n.

        A column with a whole number beyond 64 bits is one of doubles.
        """
        _, rows = self._table(confidence)
        return _module("pyarrow", "Arrow", "all").Table.from_pylist(_of_64_bits(rows))

    def to_pandas(self, confidence: float | None = None) -> Any:
        """A pandas.DataFrame; with a `confidence` also the ends of error bars, n_low and n_high beside n."""
        columns, rows = self._table(confidence)
        pandas = _module("pandas", "to_pandas", "pandas")
        frame = pandas.DataFrame(rows, columns=columns)
        for key in keys_of(self):
            if any(row[key] is None for row in rows):  # of a total; whole numbers would become doubles, None NaN
                frame[key] = pandas.Series([row[key] for row in rows], dtype=object)
        return frame

    def to_polars(self, confidence: float | None = None) -> Any:
        """A polars.DataFrame; with a `confidence` also the ends of error bars, n_low and n_high beside n.

        A column with a whole number beyond 64 bits is one of doubles.
        """
        columns, rows = self._table(confidence)
        polars = _module("polars", "to_polars", "polars")
        return polars.DataFrame(_of_64_bits(rows), schema=columns, infer_schema_length=None)

    def _table(self, confidence: float | None) -> tuple[list[str], list[dict[str, Any]]]:
        return (list(self.columns), self.rows) if confidence is None else beside(self, ENDS, confidence)

    def plot(self, column: str | None = None) -> Any:
        """A Plotly figure of one aggregate (the first by default), with 95 % error bars.

        Groups are bars, or dots where a bar from 0 would say nothing; more than 31 whole numbers or dates are steps;
        a HISTOGRAM or a CDF is drawn as what it is.
        """
        return picture(self, column, CONFIDENCE)

    def to_html(self, path: str | Path | None = None, *, confidence: float = CONFIDENCE, static: bool = False) -> str:
        """One page that works without a network: plots, numbers, price, notes; written to `path` if there is one.

        `static`: with plots that stand still, drawn by Matplotlib; the page is small and runs no script.
        """
        text = as_page(self, confidence, static=static)
        if path is not None:
            write_page(Path(path), text)
        return text

    def script(self) -> str:
        """The Python that asks this again: free, and the same numbers, while the data is unchanged.

        A question that was paid for anew since (`fresh`) brings its newest answer.
        """
        if self._repeat is None:
            raise no_script()
        return self._repeat.script(self.question)

    def __str__(self) -> str:
        return as_text(self, CONFIDENCE)

    def _repr_html_(self) -> str:
        return as_fragment(self, CONFIDENCE)


def _keys(certified: Certified, release: Release) -> list[tuple[Any, ...]]:
    """The values of the keys of every group: those of open keys as released, the others by the group's number."""
    plan = certified.plan
    declared = list(product(*(key.values for key in plan.keys if isinstance(key, ListedKey | RangeKey))))
    if release.groups is None:
        return declared
    columns = derive(plan.table, certified.schema).columns
    wholes = [isinstance(columns[key.expression.name], Int) for key in plan.keys if isinstance(key, OpenKey)]
    if len(wholes) == len(plan.keys) and not any(wholes):
        return [group[:-1] for group in release.groups]
    found = []
    for *opened, number in release.groups:
        values = [int(value) if whole else value for value, whole in zip(opened, wholes, strict=True)]
        sources = {True: iter(values), False: iter(declared[int(number)])}
        found.append(tuple(next(sources[isinstance(key, OpenKey)]) for key in plan.keys))
    return found


def _of_64_bits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    long = {name for row in rows for name, value in row.items() if type(value) is int and abs(value) >> 63}
    return [
        {name: float(one) if name in long and one is not None else one for name, one in row.items()} for row in rows
    ]


def _plain(pair: Intervals) -> Any:
    return [list(one) for one in pair] if isinstance(pair, list) else None if pair is None else list(pair)


def check_confidence(confidence: float) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        shown = repr(confidence) if isinstance(confidence, float | str | bool) else "that"
        raise out_of_range("confidence", "0", "1", shown)


def finish(
    question: str,
    certified: Certified,
    columns: tuple[OutputColumn, ...],
    release: Release,
    *,
    cost: Amount,
    balance: Balance,
    when: str,
    cached: bool,
    after: After = UNTOUCHED,
    more: int | None = None,
    repeat: Repeat | None = None,
    clipping: Clipping | None = None,
) -> Answer:
    clipped = None if clipping is None else Clipped(certified, clipping)
    mechanisms = tuple(item.mechanism for item in certified.releases)
    keys, numbers, added = with_totals(_keys(certified, release), release.values, after.rolled)
    order = sorted(range(len(keys)), key=lambda group: in_order(keys[group]))
    rows = [
        {column.name: value_of(column, keys[group], numbers[group], mechanisms) for column in columns}
        for group in order
    ]
    kept = after.kept(rows)
    chosen = after.ordered(rows, kept)
    totals = tuple(numbers[order[place]] for place in kept)
    order, rows = [order[place] for place in chosen], [rows[place] for place in chosen]
    values = tuple(numbers[group] for group in order)
    added_up = {place: added[group] for place, group in enumerate(order) if group in added}
    groups = [place for place in range(len(order)) if place not in added_up]
    names = tuple(column.name for column in columns) if after.shown is None else after.shown
    return Answer(
        question=question,
        columns=names,
        rows=[{name: row[name] for name in names} for row in rows],
        cost=cost,
        unit=protects(certified.plan),
        cached=cached,
        when=when,
        receipt=release.entry,
        more=more,
        _notes=Notes(
            certified,
            columns,
            (*notes(certified, columns, clipping, after.declared), *notes_on_totals(certified, after.rolled)),
            None
            if clipped is None
            else clipped.notes(columns, [rows[place] for place in groups], [values[place] for place in groups]),
            (*found_bounds(certified, columns, rows, values), *found_ends(certified, columns, rows, values)),
            values,
        ),
        _balance=balance,
        _numbers=(values, columns, mechanisms),
        _repeat=repeat,
        _clipped=clipped,
        _formulas=Formulas(after.computed, {column.name: column for column in columns}, mechanisms, totals),
        _totals=added_up,
    )


def _module(name: str, part: str, extra: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise missing_extra(part, name, extra) from None
