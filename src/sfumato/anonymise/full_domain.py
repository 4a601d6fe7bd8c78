"""k-anonymity by full-domain generalisation: each column at one level of its hierarchy, the best combination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Coded, Codes, Flags, code, summed, taken
from sfumato.anonymise.covers import Cover, Members
from sfumato.anonymise.criteria import SLACK, Sensitive, Wanted, sensitive_column, wanted
from sfumato.anonymise.hierarchies import Hierarchy, Levels, hierarchy, levels
from sfumato.anonymise.lattice import METRICS, Node, Problem, problem
from sfumato.anonymise.result import AnonymisedTable, Lost
from sfumato.anonymise.roles import apart, checked_roles
from sfumato.anonymise.search import Progress, exhaustive, flash
from sfumato.anonymise.tables import Source, named, read_table
from sfumato.anonymise.verify import Verified, measured
from sfumato.anonymise.wordings import choice_unknown, hierarchy_unused, k_above_rows, lattice_too_large, unreachable
from sfumato.errors import out_of_range
from sfumato.schema.numbers import exact

SEARCHES = {"flash": flash, "exhaustive": exhaustive}
MOST_NODES = 2_000_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked request: the table, its columns in their roles, and what every group must have."""

    source: Source
    table: pa.Table
    quasi: tuple[str, ...]
    secret: tuple[tuple[Coded, Sensitive], ...]
    identifiers: tuple[str, ...]
    rules: Mapping[str, object]
    want: Wanted
    notes: tuple[str, ...]

    @property
    def method(self) -> str:
        return "t-closeness" if self.want.t is not None else "l-diversity" if self.want.l is not None else "k-anonymity"


def prepare(
    table: object,
    quasi: Sequence[str],
    want: tuple[int, float | None, str, float | None, float | None],
    *,
    sensitive: str | Sequence[str],
    identifiers: Sequence[str],
    hierarchies: Mapping[str, object] | None,
    distance: str,
) -> Prepared:
    source = read_table(table)
    names, secrets = checked_roles(source.table, quasi, sensitive)
    gone = named(source.table, identifiers, "identifiers")
    apart({"quasi": names, "sensitive": secrets, "identifiers": gone})
    asked = wanted(*want, secrets)
    if asked.k > source.table.num_rows:
        raise k_above_rows(asked.k, source.table.num_rows)
    rules = dict(hierarchies or {})
    for name in rules:
        if name not in (*names, *secrets):
            raise hierarchy_unused(name, (*names, *secrets))
    columns = []
    for name in secrets:
        column = code(source.table, name)
        ladder = levels(column, hierarchy(rules[name], name)) if name in rules else None
        columns.append((column, sensitive_column(column, distance, ladder)))
    others = [name for name in source.table.column_names if name not in (*names, *secrets, *gone)]
    notes = (f"not looked at, released as they are: {', '.join(others)}",) if others else ()
    return Prepared(source, source.table, tuple(names), tuple(columns), tuple(gone), rules, asked, notes)


def k_anonymity(
    table: object,
    quasi: Sequence[str],
    *,
    k: int,
    hierarchies: Mapping[str, object] | None = None,
    sensitive: str | Sequence[str] = (),
    l: float | None = None,
    diversity: str = "distinct",
    c: float | None = None,
    t: float | None = None,
    distance: str = "auto",
    suppression: float = 0,
    metric: str = "loss",
    search: str = "flash",
    identifiers: Sequence[str] = (),
    progress: Progress | None = None,
) -> AnonymisedTable:
    """Generalise the quasi-identifiers as little as possible so that at least k rows share every combination.

    table: the path of a file, a pandas, Polars or Arrow table, or a list of dicts. hierarchies: for each
    quasi-identifier a CSV path, a table, a dict of child: parent or a Hierarchy; the others get an automatic one.
    l, diversity, c: every group has l well-represented sensitive values: "distinct", "entropy" or "recursive" (with c).
    t, distance: every group's sensitive values are distributed within t of the whole table's.
    suppression: the share of rows that may be left out instead. metric: what is kept low, "loss", "discernibility" or
    "class_size". search: "flash" or "exhaustive". identifiers: columns to remove. progress: told the share done.

    Claim: no combination of levels within the suppression limit has a lower metric; among equals the lowest levels win.
    The result's k, l and t are measured on the released table.
    """
    if metric not in METRICS:
        raise choice_unknown("metric", metric, METRICS)
    if search not in SEARCHES:
        raise choice_unknown("search", search, SEARCHES)
    request = prepare(
        table,
        quasi,
        (k, l, diversity, c, t),
        sensitive=sensitive,
        identifiers=identifiers,
        hierarchies=hierarchies,
        distance=distance,
    )
    limit = share_of_rows(suppression)
    ladders = {name: ladder(request, name, Hierarchy.automatic()) for name in request.quasi}
    # Columns of few values first: the long ones are then counted in the innermost and smallest tables.
    ordered = sorted(ladders.values(), key=lambda found: found.column.size)
    allowed = int(limit * request.table.num_rows)
    asked, place = problem(ordered, request.secret, request.want, allowed=allowed, metric=metric)
    if asked.nodes > MOST_NODES:
        raise lattice_too_large(asked.nodes, MOST_NODES)
    best = SEARCHES[search](asked, progress)
    if best.node is None:
        raise unreachable(str(request.want))
    return _released(request, asked, best.node, place, best.checks)


def share_of_rows(value: float) -> Fraction:
    share = exact(value, "suppression")
    if not 0 <= share < 1:
        raise out_of_range("suppression", "0", "1 (a share of the rows)", str(value))
    return share


def ladder(request: Prepared, name: str, otherwise: Hierarchy) -> Levels:
    """The column of a quasi-identifier, climbed by its own hierarchy or another one."""
    column = code(request.table, name)
    return levels(column, hierarchy(request.rules[name], name) if name in request.rules else otherwise)


def _released(request: Prepared, asked: Problem, node: Node, place: Codes, checks: int) -> AnonymisedTable:
    bad = _suppressed(asked, node)
    kept = np.flatnonzero(~bad[place])
    chosen = {found.column.name: (found, level) for found, level in zip(asked.levels, node, strict=True)}
    columns: dict[str, Any] = {}
    covers: dict[str, Cover] = {}
    for name in request.quasi:
        found, level = chosen[name]
        labels = found.tables[level][found.column.codes[kept]]
        covers[name] = _cover(found, level, labels)
        if level == 0:
            columns[name] = taken(found.column.decoded(), kept)
        else:
            columns[name] = taken(pa.array(found.labels[level], type=pa.string()), labels)
    of_row, count = asked.group(node)
    sizes = summed(of_row, asked.counts * ~bad, count)
    sizes = sizes[sizes > 0]
    gone = request.table.num_rows - len(kept)
    total = float(request.table.num_rows)
    lost = {
        "levels": {name: chosen[name][1] for name in request.quasi},
        "loss": _loss(asked, node, bad),
        "discernibility": float((sizes**2).sum() + gone * total),
        "class_size": len(kept) / len(sizes) / request.want.k,
        "rewritten": sum(found.column.rewritten for found in asked.levels),
    }
    notes = [f'"{name}" has an automatic hierarchy' for name in request.quasi if name not in request.rules]
    return finished(request, columns, kept, covers, lost, notes=notes, checks=checks)


def finished(
    request: Prepared,
    columns: Mapping[str, Any],
    kept: Codes,
    covers: Mapping[str, Cover],
    lost: Mapping[str, Any],
    *,
    notes: Sequence[str] = (),
    checks: int | None = None,
) -> AnonymisedTable:
    """Put the table together, and measure it anew."""
    released = request.table.drop_columns(list(request.identifiers))
    if len(kept) < request.table.num_rows:
        released = taken(released, kept)
    secret = {column.name: column for column, _ in request.secret}
    for name, column in secret.items():
        if column.rewritten:
            columns = {**columns, name: taken(column.decoded(), kept)}
    for name, values in columns.items():
        released = released.set_column(released.column_names.index(name), name, values)
    found = verified(released, request)
    gone = request.table.num_rows - len(kept)
    rewritten = int(lost.get("rewritten", 0)) + sum(column.rewritten for column in secret.values())
    spelling = [f"{rewritten:,} cells were spelt like others that look the same"] if rewritten else []
    return AnonymisedTable(
        method=request.method,
        k=found.k,
        l=found.l,
        t=found.t,
        lost=Lost(
            **{
                **lost,
                "rewritten": rewritten,
                "rows": gone,
                "share": gone / request.table.num_rows,
                "columns": request.identifiers,
                "groups": found.groups,
            }
        ),
        quasi_identifiers=request.quasi,
        sensitive=tuple(secret),
        kept=kept,
        notes=(*request.notes, *notes, *spelling),
        checks=checks,
        _arrow=released,
        _source=request.source,
        covers=covers,
    )


def verified(released: pa.Table, request: Prepared) -> Verified:
    """k, l and t of the finished table, its cells read anew; distances between values stay those of the request."""
    columns = []
    for column, about in request.secret:
        found = code(released, column.name)
        if about.metric != "hierarchical":
            about = Sensitive(found.name, found.size, about.metric)
        else:
            where = {text: place for place, text in enumerate(column.texts)}
            rows = np.array([where[text] for text in found.texts], dtype=np.int64)
            about = Sensitive(found.name, found.size, about.metric, tuple(table[rows] for table in about.ladder))
        columns.append((found, about))
    return measured(released, request.quasi, columns)


def _suppressed(asked: Problem, node: Node) -> Flags:
    """Which distinct rows lie in groups that fail."""
    of_row, count = asked.group(node)
    return asked.failing_groups(of_row, count)[of_row]


def _loss(asked: Problem, node: Node, bad: Flags) -> float:
    total = 0.0
    for found, row, level in zip(asked.levels, asked.rows, node, strict=True):
        cells = np.where(bad, 1.0, found.loss[level][found.tables[level][row]])
        total += float((cells * asked.counts).sum())
    loss = total / (asked.total * len(asked.levels))
    return 0.0 if loss < SLACK else loss


def _cover(found: Levels, level: int, labels: Codes) -> Cover:
    places = np.arange(found.column.size, dtype=np.int64)
    return Cover(labels, len(found.labels[level]), Members(found.tables[level], places))
