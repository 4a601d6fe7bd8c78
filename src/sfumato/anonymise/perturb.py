"""Classic perturbation: noise, rotation, averaging, swapping. Seeded simulations to study and attack, not to trust."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Coded, Codes, Flags, Reals, code, taken
from sfumato.anonymise.criteria import sensitive_column
from sfumato.anonymise.result import AnonymisedTable, Lost, everything
from sfumato.anonymise.roles import apart
from sfumato.anonymise.tables import Source, named, one_or_more, read_table
from sfumato.anonymise.verify import measured
from sfumato.anonymise.wordings import has_blanks, k_above_rows, no_columns_to_change, not_numeric, too_few_columns
from sfumato.errors import out_of_range
from sfumato.schema.numbers import exact, exact_positive, whole
from sfumato.simulate import Simulator


def additive_noise(
    table: object, columns: Sequence[str], *, scale: float = 0.1, seed: int = 0, quasi: Sequence[str] = ()
) -> AnonymisedTable:
    """Add normal noise to numbers; its deviation is `scale` times that of the column.

    Not differential privacy: whoever knows the seed takes the noise off again, and whoever does not can estimate it.
    NULL and blank stay. quasi: measure k over these columns.
    """
    share = float(exact_positive(scale, "scale"))
    source, coded = _columns(table, columns, "additive noise")
    simulator = Simulator(seed)
    changed = {}
    for column in coded:
        values = _numbers(column)
        noise = simulator.stream(f"additive {column.name}").normal(len(values))
        changed[column.name] = values + noise * share * float(np.nanstd(values))
    return _perturbed("additive noise", source, changed, quasi=quasi)


def multiplicative_noise(
    table: object, columns: Sequence[str], *, scale: float = 0.1, seed: int = 0, quasi: Sequence[str] = ()
) -> AnonymisedTable:
    """Multiply numbers by log-normal noise: exp of a normal value of deviation `scale`.

    Not differential privacy: the logarithm turns it into additive noise. Zero stays zero.
    """
    deviation = float(exact_positive(scale, "scale"))
    source, coded = _columns(table, columns, "multiplicative noise")
    simulator = Simulator(seed)
    changed = {}
    for column in coded:
        values = _numbers(column)
        changed[column.name] = values * np.exp(
            deviation * simulator.stream(f"multiplicative {column.name}").normal(len(values))
        )
    return _perturbed("multiplicative noise", source, changed, quasi=quasi)


def rotation(table: object, columns: Sequence[str], *, seed: int = 0) -> AnonymisedTable:
    """Standardise two or more number columns and turn them together by a random orthogonal matrix.

    Distances between rows stay, and with them everything learnt from distances; a few known rows undo it.
    """
    source, coded = _columns(table, columns, "rotation")
    if len(coded) < 2:
        raise too_few_columns("rotation", 2)
    values = np.stack([_numbers(column) for column in coded], axis=1)
    for column, place in zip(coded, values.T, strict=True):
        if np.isnan(place).any():
            raise has_blanks(column.name, "rotation")
    deviations = values.std(axis=0)
    centred = (values - values.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    turned = centred @ _orthogonal(len(coded), seed)
    changed = {column.name: turned[:, place] for place, column in enumerate(coded)}
    return _perturbed("rotation", source, changed)


def microaggregation(
    table: object, columns: Sequence[str], *, k: int = 3, sensitive: str | Sequence[str] = ()
) -> AnonymisedTable:
    """Replace numbers by the mean of k rows that are near each other (MDAV, Domingo-Ferrer and Mateo-Sanz 2002).

    One column is cut in its order, several by repeatedly taking the row farthest from the middle and its neighbours.
    The means are the same for at least k rows: the table is k-anonymous in these columns.
    """
    size = whole(k, "k", least=1)
    source, coded = _columns(table, columns, "micro-aggregation")
    rows = source.table.num_rows
    if size > rows:
        raise k_above_rows(size, rows)
    values = np.stack([_numbers(column) for column in coded], axis=1)
    for column, place in zip(coded, values.T, strict=True):
        if np.isnan(place).any():
            raise has_blanks(column.name, "micro-aggregation")
    deviations = values.std(axis=0)
    centred = (values - values.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    groups = _chunks(centred[:, 0], size) if len(coded) == 1 else _mdav(centred, size)
    counts = np.bincount(groups)
    means = [np.bincount(groups, weights=column) / counts for column in values.T]
    changed = {column.name: mean[groups] for column, mean in zip(coded, means, strict=True)}
    within = sum(
        float(((column - mean[groups]) ** 2).sum())
        for column, mean in zip(centred.T, _means(centred, groups), strict=True)
    )
    total = float((centred**2).sum())
    lost = Lost(loss=within / total if total else 0.0)
    return _perturbed("micro-aggregation", source, changed, quasi=columns, sensitive=sensitive, lost=lost)


def swapping(
    table: object, columns: Sequence[str], *, share: float = 0.1, seed: int = 0, quasi: Sequence[str] = ()
) -> AnonymisedTable:
    """Exchange the values of these columns, together, between pairs of rows chosen at random.

    share: the share of the rows that take part. Every column keeps its distribution; what it says with others fades.
    """
    part = exact(share, "share")
    if not 0 < part <= 1:
        raise out_of_range("share", "0", "1", str(share))
    source = read_table(table)
    names = named(source.table, columns, "columns")
    if not names:
        raise no_columns_to_change("columns")
    apart({"columns": names})
    rows = source.table.num_rows
    chosen = Simulator(seed).stream("swapping").permutation(rows)[: int(part * rows) // 2 * 2]
    places = everything(rows)
    half = len(chosen) // 2
    places[chosen[:half]], places[chosen[half:]] = chosen[half:], chosen[:half]
    moved = taken(source.table.select(names), places)
    changed = {name: moved.column(name) for name in names}
    return _perturbed("swapping", source, changed, quasi=quasi, lost=Lost(cells=len(chosen) * len(names)))


def _columns(table: object, columns: Sequence[str], method: str) -> tuple[Source, list[Coded]]:
    source = read_table(table)
    names = named(source.table, columns, "columns")
    if not names:
        raise no_columns_to_change("columns")
    apart({"columns": names})
    coded = [code(source.table, name) for name in names]
    for column in coded:
        if column.numbers is None:
            raise not_numeric(column.name, method)
    return source, coded


def _numbers(column: Coded) -> Reals:
    numbers = column.numbers if column.numbers is not None else np.zeros(column.size)
    return numbers[column.codes]


def _orthogonal(size: int, seed: int) -> Reals:
    """Uniform over all rotations and reflections: QR of normal values, signs made definite."""
    normal = Simulator(seed).stream("rotation").normal(size * size).reshape(size, size)
    found, triangle = np.linalg.qr(normal)
    return np.asarray(found * np.sign(np.diag(triangle)), dtype=np.float64)


def _means(values: Reals, groups: Codes) -> list[Reals]:
    counts = np.bincount(groups)
    return [np.bincount(groups, weights=column) / counts for column in values.T]


def _chunks(values: Reals, k: int) -> Codes:
    """Groups of k along the order of the values; the last takes the rest."""
    order = np.argsort(values, kind="stable")
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = np.minimum(np.arange(len(values)) // k, max(len(values) // k - 1, 0))
    return groups


def _mdav(values: Reals, k: int) -> Codes:
    """Groups of k rows near each other: around the row farthest from the middle, and around the row farthest from it.

    Large tables are first cut along their longest axis into slices of at most SLICE rows, within which this is done.
    """
    groups = np.full(len(values), -1, dtype=np.int64)
    number = 0
    for members in _slices(values, k):
        left = members
        while len(left) >= 3 * k:
            middle = values[left].mean(axis=0)
            far = left[np.argmax(_squares(values[left], middle))]
            other = left[np.argmax(_squares(values[left], values[far]))]
            for centre in (far, other):
                near = np.argpartition(_squares(values[left], values[centre]), k - 1)[:k]
                groups[left[near]] = number
                number += 1
                left = np.delete(left, near)
        if len(left) >= 2 * k:
            far = left[np.argmax(_squares(values[left], values[left].mean(axis=0)))]
            near = np.argpartition(_squares(values[left], values[far]), k - 1)[:k]
            groups[left[near]] = number
            number += 1
            left = np.delete(left, near)
        groups[left] = number
        number += 1
    return groups


SLICE = 2000


def _slices(values: Reals, k: int) -> list[Codes]:
    pending, found = [np.arange(len(values), dtype=np.int64)], []
    while pending:
        members = pending.pop()
        if len(members) <= max(SLICE, 4 * k):
            found.append(members)
            continue
        axis = int(np.argmax(np.ptp(values[members], axis=0)))
        order = members[np.argsort(values[members, axis], kind="stable")]
        pending += [order[: len(order) // 2], order[len(order) // 2 :]]
    return found


def _squares(values: Reals, centre: Reals) -> Reals:
    return np.asarray(((values - centre) ** 2).sum(axis=1), dtype=np.float64)


def _perturbed(
    method: str,
    source: Source,
    changed: Mapping[str, Any],
    *,
    quasi: Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    lost: Lost | None = None,
) -> AnonymisedTable:
    released = source.table
    for name, values in changed.items():
        column: Any = values
        if isinstance(values, np.ndarray):
            gone: Flags = np.isnan(values)
            column = pa.array(values, mask=gone)
        released = released.set_column(released.column_names.index(name), name, column)
    names = named(released, quasi, "quasi")
    secrets = named(released, one_or_more(sensitive), "sensitive")
    apart({"quasi": names, "sensitive": secrets})
    coded = [code(released, name) for name in secrets]
    found = (
        measured(released, names, [(column, sensitive_column(column, "auto", None)) for column in coded])
        if names
        else None
    )
    return AnonymisedTable(
        method=method,
        k=None if found is None else found.k,
        l=None if found is None else found.l,
        t=None if found is None else found.t,
        lost=lost or Lost(cells=released.num_rows * len(changed)),
        quasi_identifiers=tuple(names),
        sensitive=tuple(secrets),
        kept=everything(released.num_rows),
        _arrow=released,
        _source=source,
    )
