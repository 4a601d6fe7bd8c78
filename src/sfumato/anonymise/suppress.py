"""Leaving things out: cells and rows of small groups, and tables of totals without small groups."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Coded, Codes, Flags, code, combined, summed, taken
from sfumato.anonymise.criteria import sensitive_column
from sfumato.anonymise.full_domain import share_of_rows
from sfumato.anonymise.hierarchies import HIDDEN
from sfumato.anonymise.result import AnonymisedTable, Lost, everything
from sfumato.anonymise.roles import checked_roles
from sfumato.anonymise.tables import named, read_table
from sfumato.anonymise.verify import measured
from sfumato.anonymise.wordings import column_taken, k_above_rows, measure_unknown, not_numeric, suppression_above
from sfumato.schema.numbers import whole

MEASURES = ("sum", "mean", "min", "max")


def suppress(
    table: object,
    quasi: Sequence[str],
    *,
    k: int,
    limit: float = 0.05,
    cells: bool = True,
    sensitive: str | Sequence[str] = (),
) -> AnonymisedTable:
    """Make small groups vanish without generalising: first single cells become *, then whole rows are left out.

    cells: hide as few quasi-identifiers of a row as possible, the most telling first; otherwise rows only.
    limit: the largest share of the rows that may be left out; more is refused.
    """
    least, most = whole(k, "k", least=1), share_of_rows(limit)
    source = read_table(table)
    names, secrets = checked_roles(source.table, quasi, sensitive)
    rows = source.table.num_rows
    if least > rows:
        raise k_above_rows(least, rows)
    coded = [code(source.table, name) for name in names]
    hidden, lone = _hidden(coded, least) if cells else (np.zeros((len(names), rows), dtype=np.bool_), None)
    lone = _small(coded, hidden, least) if lone is None else lone
    if lone.sum() > most * rows:
        raise suppression_above(float(lone.mean()), float(most))
    kept = np.flatnonzero(~lone)
    released = taken(source.table, kept) if lone.any() else source.table
    for column, gone in zip(coded, hidden, strict=True):
        if gone.any() or column.rewritten:
            released = released.set_column(
                names_of(released).index(column.name), column.name, _masked(column, gone, kept)
            )
    columns = [code(released, name) for name in secrets]
    found = measured(released, names, [(column, sensitive_column(column, "auto", None)) for column in columns])
    starred = int(hidden[:, kept].sum())
    return AnonymisedTable(
        method="suppression",
        k=found.k,
        l=found.l,
        t=found.t,
        lost=Lost(
            rows=int(lone.sum()),
            share=float(lone.mean()),
            cells=starred,
            loss=(starred + int(lone.sum()) * len(names)) / (rows * len(names)),
            groups=found.groups,
            rewritten=sum(column.rewritten for column in coded),
        ),
        quasi_identifiers=tuple(names),
        sensitive=tuple(secrets),
        kept=kept,
        _arrow=released,
        _source=source,
    )


def names_of(table: pa.Table) -> list[str]:
    return list(table.column_names)


def _small(coded: Sequence[Coded], hidden: Flags, k: int) -> Flags:
    """Rows in groups of fewer than k."""
    codes = [np.where(gone, column.size, column.codes) for column, gone in zip(coded, hidden, strict=True)]
    groups, count = combined(codes, [column.size + 1 for column in coded])
    return np.asarray(np.bincount(groups, minlength=count)[groups] < k)


def _hidden(coded: Sequence[Coded], k: int) -> tuple[Flags, Flags]:
    """Cells to hide, and the rows that no hiding helps: those that stay in small groups with everything hidden."""
    rows = len(coded[0].codes)
    hidden = np.zeros((len(coded), rows), dtype=np.bool_)
    # The column with the most values tells the most.
    telling = sorted(range(len(coded)), key=lambda place: -coded[place].size)
    small = _small(coded, hidden, k)
    for many in range(1, len(coded) + 1):
        for chosen in combinations(telling, many):
            if not small.any():
                return hidden, small
            trial = hidden.copy()
            trial[:, small] = False
            for place in chosen:
                trial[place, small] = True
            # Rows that leave a pattern together; whoever is still in a small group tries the next one.
            still = _small(coded, trial, k)
            helped = small & ~still
            if helped.any():
                hidden = np.where(helped, trial, hidden)
                # Hiding helps only while the others of the new group stay: measure again with the rest as they were.
                small = _small(coded, np.where(small & ~helped, False, hidden), k)
    return hidden, small


def _masked(column: Coded, gone: Flags, kept: Codes) -> Any:
    if not gone.any():
        return taken(column.decoded(), kept)
    texts = pa.array([*column.texts, HIDDEN], type=pa.string())
    return taken(texts, np.where(gone, column.size, column.codes)[kept])


def aggregate(
    table: object,
    by: Sequence[str],
    *,
    measures: Mapping[str, str] | None = None,
    least: int = 5,
) -> AnonymisedTable:
    """A table of totals: one row per group, with the number of its rows and sums, means, minima or maxima.

    measures: e.g. {"income": "mean"}; the result's columns are called income_mean. least: groups of fewer rows are left
    out. A total never shows who is in it, but two totals may: groups left out can come back by subtraction.
    """
    small = whole(least, "least", least=1)
    source = read_table(table)
    names, _ = checked_roles(source.table, by, ())
    asked = dict(measures or {})
    named(source.table, list(asked), "measures")
    coded = [code(source.table, name) for name in names]
    groups, count = combined([column.codes for column in coded], [column.size for column in coded])
    sizes = np.bincount(groups, minlength=count)
    first = np.zeros(count, dtype=np.int64)
    first[groups] = np.arange(len(groups))
    order = np.lexsort([column.codes[first] for column in reversed(coded)])
    shown = order[sizes[order] >= small]
    made: dict[str, Any] = {column.name: taken(column.values, column.codes[first[shown]]) for column in coded}
    if "rows" in made:
        raise column_taken("rows")
    made["rows"] = pa.array(sizes[shown])
    for name, measure in asked.items():
        if measure not in MEASURES:
            raise measure_unknown(measure, MEASURES)
        title = f"{name}_{measure}"
        if title in made:
            raise column_taken(title)
        made[title] = pa.array(_measure(code(source.table, name), measure, groups, count)[shown], from_pandas=True)
    released = pa.table(made)
    gone = int(sizes[sizes < small].sum())
    kept_groups = len(shown)
    return AnonymisedTable(
        method="aggregation",
        k=int(sizes[shown].min()) if kept_groups else None,
        l=None,
        t=None,
        lost=Lost(rows=gone, share=gone / source.table.num_rows, groups=kept_groups),
        quasi_identifiers=tuple(names),
        sensitive=(),
        kept=everything(kept_groups),
        notes=(f"{count - kept_groups} groups of fewer than {small} rows were left out",),
        _arrow=released,
        _source=source,
    )


def _measure(column: Coded, measure: str, groups: Codes, count: int) -> Any:
    if column.numbers is None:
        raise not_numeric(column.name, f"a {measure}")
    values = column.numbers[column.codes]
    filled = ~np.isnan(values)
    number = np.bincount(groups[filled], minlength=count)
    if measure in ("sum", "mean"):
        total = summed(groups[filled], values[filled], count)
        total[number == 0] = np.nan
        return total if measure == "sum" else total / np.maximum(number, 1)
    found = np.full(count, np.inf if measure == "min" else -np.inf)
    (np.minimum if measure == "min" else np.maximum).at(found, groups[filled], values[filled])
    found[number == 0] = np.nan
    return found
