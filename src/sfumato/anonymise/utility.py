"""What an anonymised table is still good for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Coded, Reals, code
from sfumato.anonymise.covers import Cover, Members
from sfumato.anonymise.result import AnonymisedTable
from sfumato.anonymise.tables import named, read_table
from sfumato.anonymise.verify import groups_of
from sfumato.anonymise.wordings import nothing_to_compare, rows_differ
from sfumato.errors import out_of_range
from sfumato.schema.numbers import exact, whole
from sfumato.simulate import Simulator

# Errors are relative to the true count, but never to less than this share of the rows.
FLOOR = 0.001


def discernibility(table: object, quasi: Sequence[str], *, suppressed: int = 0) -> float:
    """The sum of the squared group sizes: how many rows each row cannot be told from, suppressed rows from any."""
    source = read_table(table).table
    sizes = np.bincount(groups_of(source, named(source, quasi, "quasi"))[0]).astype(np.float64)
    return float((sizes**2).sum() + suppressed * (source.num_rows + suppressed))


def class_size(table: object, quasi: Sequence[str], *, k: int = 1) -> float:
    """The mean group size over k: 1 is the best that k-anonymity allows."""
    source = read_table(table).table
    return source.num_rows / groups_of(source, named(source, quasi, "quasi"))[1] / whole(k, "k", least=1)


@dataclass(frozen=True, slots=True)
class QueryError:
    """Relative errors of counts over ranges: how far a question to the release is from the truth."""

    median: float
    mean: float
    worst: float
    queries: int

    def to_dict(self) -> dict[str, Any]:
        return {"median": self.median, "mean": self.mean, "worst": self.worst, "queries": self.queries}


def query_error(
    original: object,
    result: AnonymisedTable,
    *,
    columns: Sequence[str] | None = None,
    queries: int = 200,
    dimensions: int = 2,
    selectivity: float = 0.1,
    seed: int = 0,
) -> QueryError:
    """Ask random counts of the original and of the release, and compare.

    Each question takes ranges of `dimensions` columns (the quasi-identifiers, or else all that both tables have) that
    together hold about the share `selectivity` of all values. A released group counts with the share of its values that
    lies in the range, as if they were equally frequent. The error is relative to the true count, or to a thousandth of
    the rows where that is more.
    """
    share = exact(selectivity, "selectivity")
    if not 0 < share <= 1:
        raise out_of_range("selectivity", "0", "1", str(selectivity))
    source, released = read_table(original).table, result.to_arrow()
    if len(result.kept) and int(result.kept.max()) >= source.num_rows:
        raise rows_differ(source.num_rows, int(result.kept.max()) + 1)
    shared = [name for name in source.column_names if name in released.column_names]
    names = list(columns or result.quasi_identifiers or shared)
    named(source, names, "columns")
    if not names or not set(names) <= set(shared):
        raise nothing_to_compare()
    many = min(whole(dimensions, "dimensions", least=1), len(names))
    coded = {name: code(source, name) for name in names}
    covers = {name: _cover(result, released, coded[name]) for name in names}
    stream = Simulator(seed).stream("queries")
    width = float(share) ** (1 / many)
    errors = np.zeros(whole(queries, "queries", least=1))
    for query in range(len(errors)):
        chosen = [names[place] for place in stream.permutation(len(names))[:many]]
        truth, estimate = np.ones(source.num_rows), np.ones(released.num_rows)
        for name, start in zip(chosen, stream.uniform(many), strict=True):
            size = coded[name].size
            length = max(1, round(size * width))
            low = int(start * (size - length + 1))
            inside = np.zeros(size)
            inside[low : low + length] = 1
            truth *= inside[coded[name].codes]
            estimate *= covers[name].shares(inside)[covers[name].labels]
        count = float(truth.sum())
        errors[query] = abs(float(estimate.sum()) - count) / max(count, FLOOR * source.num_rows)
    return QueryError(float(np.median(errors)), float(errors.mean()), float(errors.max()), len(errors))


def _cover(result: AnonymisedTable, released: pa.Table, column: Coded) -> Cover:
    """What the method knows of its labels; else released numbers count at the nearest value, others as themselves."""
    if column.name in result.covers:
        return result.covers[column.name]
    new = code(released, column.name)
    labels = np.arange(new.size, dtype=np.int64)
    if column.numbers is not None and new.numbers is not None:
        filled = np.flatnonzero(~np.isnan(column.numbers))
        numbered = labels[~np.isnan(new.numbers)]
        places = filled[_nearest(column.numbers[filled], new.numbers[numbered])]
        return Cover(new.codes, new.size, Members(numbered, places))
    where = {text: place for place, text in enumerate(column.texts)}
    owners, values = [], []
    for label, text in enumerate(new.texts):
        # What is no value of the original is hidden, and may be any.
        under = np.array([where[text]]) if text in where else np.arange(column.size)
        owners.append(np.full(len(under), label, dtype=np.int64))
        values.append(under)
    return Cover(new.codes, new.size, Members(np.concatenate(owners), np.concatenate(values)))


def _nearest(sorted_numbers: Reals, numbers: Reals) -> Any:
    right = np.clip(np.searchsorted(sorted_numbers, numbers), 1, max(len(sorted_numbers) - 1, 1))
    right = np.minimum(right, len(sorted_numbers) - 1)
    left = np.maximum(right - 1, 0)
    nearer = np.abs(numbers - sorted_numbers[left]) <= np.abs(sorted_numbers[right] - numbers)
    return np.where(nearer, left, right)
