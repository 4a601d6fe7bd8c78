"""From a release to an answer people can read: columns, error bars, what it cost. Post-processing only."""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sfumato.errors import missing_extra, not_measured, out_of_range
from sfumato.kernel.certify import Certified, Mechanism
from sfumato.kernel.gate import Release, Table
from sfumato.ledger.ledger import Balance
from sfumato.ledger.terms import Amount
from sfumato.plan.nodes import ListedKey, RangeKey
from sfumato.plots.bars import bars
from sfumato.query.after import After
from sfumato.query.found import found_bounds
from sfumato.query.outputs import Intervals, Noises, interval_of, value_of
from sfumato.query.rewrite import KeyColumn, OutputColumn

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Answer:
    """Noisy rows, sorted by key, with what they cost and what is left. `notes` say which bounds were found."""

    question: str
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    cost: Amount
    spent: Amount
    left: Amount
    unit: str
    cached: bool
    when: str
    receipt: int
    notes: tuple[str, ...]
    _numbers: "tuple[Table, tuple[OutputColumn, ...], tuple[Mechanism, ...]]" = field(repr=False)

    def interval(self, confidence: float = CONFIDENCE) -> list[dict[str, Any]]:
        """For every row and every aggregate (low, high): the noise stays inside with this probability.

        For a histogram or running shares one pair each; None for a most frequent value.

        It speaks of the noise; what clipping to declared bounds may hide is not in it.
        """
        check_confidence(confidence)
        values, columns, mechanisms = self._numbers
        noises = Noises(mechanisms, confidence)
        measured = [column for column in columns if not isinstance(column, KeyColumn)]
        return [{column.name: interval_of(column, row, noises) for column in measured} for row in values]

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "intervals": [{name: _plain(pair) for name, pair in row.items()} for row in self.interval(confidence)],
            "confidence": confidence,
            "cost": {"epsilon": self.cost.epsilon, "delta": self.cost.delta},
            "spent": {"epsilon": self.spent.epsilon, "delta": self.spent.delta},
            "left": {"epsilon": self.left.epsilon, "delta": self.left.delta},
            "unit": self.unit,
            "cached": self.cached,
            "when": self.when,
            "receipt": self.receipt,
            "notes": list(self.notes),
        }

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _module("pyarrow", "Arrow", "all").Table.from_pylist(self.rows)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _module("pandas", "to_pandas", "pandas").DataFrame(self.rows, columns=list(self.columns))

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _module("polars", "to_polars", "polars").DataFrame(self.rows, schema=list(self.columns))

    def plot(self, column: str | None = None) -> Any:
        """A Plotly figure of one aggregate (the first by default): a bar a group, with 95 % error bars."""
        keys = [c.name for c in self._numbers[1] if isinstance(c, KeyColumn)]
        measured = [name for name in self.columns if name not in keys]
        chosen = measured[0] if column is None else column
        if chosen not in measured:
            raise not_measured(chosen, measured)
        intervals = [row[chosen] for row in self.interval()]
        labels = [", ".join(str(row[key]) for key in keys) or chosen for row in self.rows]
        return bars(labels, [row[chosen] for row in self.rows], intervals, title=chosen)


def _plain(pair: Intervals) -> Any:
    return [list(one) for one in pair] if isinstance(pair, list) else None if pair is None else list(pair)


def check_confidence(confidence: float) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise out_of_range("confidence", "0", "1", repr(confidence))


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
    after: After | None = None,
) -> Answer:
    mechanisms = tuple(item.mechanism for item in certified.releases)
    keys = list(product(*(key.values for key in certified.plan.keys if isinstance(key, ListedKey | RangeKey))))
    order = sorted(range(len(keys)), key=lambda group: keys[group])
    rows = [
        {column.name: value_of(column, keys[group], release.values[group], mechanisms) for column in columns}
        for group in order
    ]
    if after is not None:
        shown = after.chosen(rows)
        order, rows = [order[place] for place in shown], [rows[place] for place in shown]
    return Answer(
        question=question,
        columns=tuple(column.name for column in columns),
        rows=rows,
        cost=cost,
        spent=balance.spent,
        left=balance.left,
        unit=str(certified.plan.unit),
        cached=cached,
        when=when,
        receipt=release.entry,
        notes=found_bounds(certified, columns, rows, [release.values[group] for group in order]),
        _numbers=(tuple(release.values[group] for group in order), columns, mechanisms),
    )


def _module(name: str, part: str, extra: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise missing_extra(part, name, extra) from None
