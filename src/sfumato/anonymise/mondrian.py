"""Mondrian: halve the table at medians for as long as both halves are good enough (LeFevre et al. 2006).

All parts of one depth are halved together, so that the work is a few passes over the table for each depth.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Codes, Flags, Reals, summed, taken
from sfumato.anonymise.covers import Cover, labelled
from sfumato.anonymise.full_domain import Prepared, finished, ladder, prepare
from sfumato.anonymise.hierarchies import Hierarchy, Levels
from sfumato.anonymise.lattice import Groups, Problem, problem
from sfumato.anonymise.result import AnonymisedTable
from sfumato.anonymise.search import Progress
from sfumato.anonymise.wordings import unreachable


def mondrian(
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
    identifiers: Sequence[str] = (),
    progress: Progress | None = None,
) -> AnonymisedTable:
    """Cut the table into small parts of at least k rows, and release the range of each part instead of its values.

    A part is cut at the median of its widest column if both halves have k rows, l-diversity and t-closeness; otherwise
    at that of the next widest. Numbers and dates become ranges [low, high]; other values their lowest common group in
    the hierarchy, or without one the list of values. Nothing is suppressed. NULL and blank sort last, and a range that
    meets them is *. The options are those of k_anonymity.
    """
    request = prepare(
        table,
        quasi,
        (k, l, diversity, c, t),
        sensitive=sensitive,
        identifiers=identifiers,
        hierarchies=hierarchies,
        distance=distance,
    )
    ladders = [ladder(request, name, Hierarchy.hidden()) for name in request.quasi]
    asked, place = problem(ladders, request.secret, request.want, allowed=0, metric="loss")
    if not _good(asked, np.zeros(len(asked.counts), dtype=np.int64), 1)[0]:
        raise unreachable(str(request.want))
    parts, count = _parts(asked, progress)
    return _released(request, asked, ladders, parts, count, place)


def _good(asked: Problem, parts: Codes, count: int) -> Flags:
    """Which parts have all that is wanted."""
    return ~asked.failing_groups(parts, count)


def _parts(asked: Problem, progress: Progress | None) -> tuple[Codes, int]:
    """The part of each distinct row, and how many parts there are."""
    places = [_positions(levels) for levels in asked.levels]
    scale = np.array([max(float(place.max() - place.min()), 1e-300) for place in places])
    columns = np.stack([place[row] for place, row in zip(places, asked.rows, strict=True)])
    ranks = np.stack(
        [np.unique(place, return_inverse=True)[1][row] for place, row in zip(places, asked.rows, strict=True)]
    )
    parts, count = np.zeros(len(asked.counts), dtype=np.int64), 1
    active = np.ones(1, dtype=np.bool_)
    while active.any():
        rows = np.flatnonzero(active[parts])
        order, mine = _ordered(parts[rows], count)
        rows = rows[order]
        starts = np.flatnonzero(np.append(True, mine[1:] != mine[:-1]))
        widths = np.stack([_widths(column[rows], starts) / size for column, size in zip(columns, scale, strict=True)])
        halves = _halved(asked, ranks, rows, starts, widths)
        upper = rows[halves]
        cut = np.flatnonzero(np.bincount(parts[upper], minlength=count))
        renamed = np.zeros(count, dtype=np.int64)
        renamed[cut] = count + np.arange(len(cut))
        touched = np.append(cut, np.arange(count, count + len(cut)))
        parts[upper] = renamed[parts[upper]]
        count += len(cut)
        # Only halves that can be halved again are looked at again.
        sizes = summed(parts, asked.counts, count)
        active = np.zeros(count, dtype=np.bool_)
        active[touched] = sizes[touched] >= 2 * asked.want.k
        if progress is not None:
            progress(min(0.99, count * asked.want.k / asked.total))
    return parts, count


def _ordered(keys: Codes, most: int) -> tuple[Codes, Codes]:
    """The places of the keys in their order, and the keys so; all are below `most`.

    Sorting numbers is several times quicker than sorting places by them, so each place travels behind its key.
    """
    bits = len(keys).bit_length()
    if most << bits >= 1 << 63:
        order = np.argsort(keys)
        return order, keys[order]
    packed = np.sort(keys << bits | np.arange(len(keys)))
    return packed & ((1 << bits) - 1), packed >> bits


def _widths(places: Reals, starts: Codes) -> Reals:
    return np.maximum.reduceat(places, starts) - np.minimum.reduceat(places, starts)


def _positions(levels: Levels) -> Reals:
    """Where a value stands on its axis: numbers by their size, others by their rank."""
    numbers = levels.column.numbers
    if numbers is None or not np.isfinite(numbers[~np.isnan(numbers)]).all():
        return np.arange(levels.column.size, dtype=np.float64)
    filled = numbers[~np.isnan(numbers)]
    beyond = (filled.max() if len(filled) else 0.0) + 1
    return np.where(np.isnan(numbers), beyond, numbers)


def _halved(asked: Problem, ranks: Codes, rows: Codes, starts: Codes, widths: Reals) -> Flags:
    """For each of these rows, sorted by part, whether it moves to the upper half of its part."""
    count = len(starts)
    lengths = np.diff(np.append(starts, len(rows)))
    part = np.repeat(np.arange(count), lengths)
    weights = asked.counts[rows]
    sizes = summed(part, weights, count)
    ranked = np.argsort(-widths, axis=0, kind="stable")
    waiting = sizes >= 2 * asked.want.k
    moves = np.zeros(len(rows), dtype=np.bool_)
    most, flat = int(ranks.max()) + 1, ranks.ravel()
    for axis in ranked:
        waiting &= widths[axis, np.arange(count)] > 0
        if not waiting.any():
            break
        mine = np.flatnonzero(waiting[part])
        own = part[mine]
        # Rows of one part and value go together, so their order does not matter.
        order, values = _ordered(own * most + flat[axis[own] * len(ranks[0]) + rows[mine]], count * most)
        mine = mine[order]  # parts come in order, so sorting within them leaves `own` as it is
        tried = _cut(own, values, weights[mine], sizes, asked.want.k)
        if not asked.want.plain and tried.any():
            tried = _allowed(asked, rows[mine], own, tried, count)
        moves[mine] = tried
        done = np.bincount(own[tried], minlength=count) > 0
        waiting &= ~done
    return moves


def _cut(part: Codes, values: Codes, weights: Reals, sizes: Reals, k: int) -> Flags:
    """Rows above the cut nearest to the median that leaves k rows on both sides; rows come sorted by part and value."""
    first = np.append(True, part[1:] != part[:-1])
    total = np.cumsum(weights)
    base = np.maximum.accumulate(np.where(first, total - weights, 0))
    before = total - weights - base
    # A cut can only stand where a new value begins.
    new = ~first & np.append(False, values[1:] != values[:-1])
    usable = new & (before >= k) & (sizes[part] - before >= k)
    if not usable.any():
        return np.zeros(len(part), dtype=np.bool_)
    spots = np.flatnonzero(usable)
    far = np.abs(2 * before[spots] - sizes[part[spots]])
    begins = np.flatnonzero(np.append(True, part[spots[1:]] != part[spots[:-1]]))
    nearest = np.repeat(np.minimum.reduceat(far, begins), np.diff(np.append(begins, len(spots))))
    spots = spots[far == nearest]
    spots = spots[np.append(True, part[spots[1:]] != part[spots[:-1]])]
    cut = np.full(len(sizes), len(part), dtype=np.int64)
    cut[part[spots]] = spots
    return np.arange(len(part)) >= cut[part]


def _allowed(asked: Problem, rows: Codes, part: Codes, tried: Flags, count: int) -> Flags:
    """The same rows, without those of parts of which one half would fail."""
    half = np.full(len(asked.counts), -1, dtype=np.int64)
    half[rows] = 2 * part + tried
    inside = np.flatnonzero(half[asked.pair_row] >= 0)
    sizes = summed(half[rows], asked.counts[rows], 2 * count)
    groups = Groups(sizes, half[asked.pair_row[inside]], asked.pair_code[inside], asked.pair_count[inside])
    bad = asked.undiverse(groups, asked.wholes)
    failed = bad[0::2] | bad[1::2]
    return tried & ~failed[part]


def _released(
    request: Prepared, asked: Problem, ladders: Sequence[Levels], parts: Codes, count: int, place: Codes
) -> AnonymisedTable:
    columns: dict[str, Any] = {}
    covers: dict[str, Cover] = {}
    losses = 0.0
    weights = summed(parts, asked.counts, count)
    for levels, row in zip(ladders, asked.rows, strict=True):
        name = levels.column.name
        found = labelled(levels, parts, row, count, given=name in request.rules)
        labels = found.of_part[parts[place]]
        columns[name] = taken(pa.array(found.texts, type=pa.string()), labels)
        covers[name] = Cover(labels, len(found.texts), found.members)
        losses += float((found.loss[found.of_part] * weights).sum())
    lost = {
        "loss": losses / (asked.total * len(ladders)),
        "discernibility": float((weights**2).sum()),
        "class_size": asked.total / count / request.want.k,
        "rewritten": sum(levels.column.rewritten for levels in ladders),
    }
    kept = np.arange(request.table.num_rows, dtype=np.int64)
    return finished(request, columns, kept, covers, lost)
