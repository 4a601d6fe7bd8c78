"""What released labels stand for, and what the parts of Mondrian are called."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.anonymise.columns import Coded, Codes, Reals, summed
from sfumato.anonymise.hierarchies import HIDDEN, Levels

JOINED = " | "


@dataclass(frozen=True, slots=True)
class Cover:
    """A released column: the label of each row, and the values of the original under each label.

    Values are places in the order of the original column.
    """

    labels: Codes
    count: int
    members: "Members | Ranges"

    def shares(self, inside: Reals) -> Reals:
        """For each label the share of its values that lie inside; `inside` is 1 or 0 for each value."""
        match self.members:
            case Ranges(low, high):
                sums = np.append(0, np.cumsum(inside))
                return np.asarray((sums[high + 1] - sums[low]) / (high - low + 1), dtype=np.float64)
            case Members(owner, value):
                total = np.bincount(owner, minlength=self.count)
                return np.asarray(summed(owner, inside[value], self.count) / np.maximum(total, 1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Members:
    """Label `owner[i]` holds the value `value[i]`."""

    owner: Codes
    value: Codes


@dataclass(frozen=True, slots=True)
class Ranges:
    """Each label holds all values from its low to its high end."""

    low: Codes
    high: Codes


@dataclass(frozen=True, slots=True)
class Labelled:
    """Names for the parts of a table in one column: the label of each part, its text, its values and its loss."""

    of_part: Codes
    texts: tuple[str | None, ...]
    members: Members | Ranges
    loss: Reals


def labelled(levels: Levels, parts: Codes, row: Codes, count: int, *, given: bool) -> Labelled:
    """Numbers and dates by their range, others by their lowest common group or, without a hierarchy, by a list."""
    column = levels.column
    pairs = np.sort(parts * column.size + row)
    starts = np.searchsorted(pairs, np.arange(count) * column.size)
    if column.ordered:
        ends = np.append(starts[1:], len(pairs)) - 1
        return _ranges(column, pairs[starts] % column.size, pairs[ends] % column.size)
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    value, starts = pairs % column.size, np.searchsorted(pairs, np.arange(count) * column.size)
    return _common(levels, value, starts) if given else _lists(column, value, starts)


def _ranges(column: Coded, low: Codes, high: Codes) -> Labelled:
    # Blanks come last: a range that ends in one and is longer says nothing.
    open_ended = column.blank[high] & (low < high)
    low, high = np.where(open_ended, 0, low), np.where(open_ended, column.size - 1, high)
    keys, of_part = np.unique(low * column.size + high, return_inverse=True)
    low, high = keys // column.size, keys % column.size
    texts: list[str | None] = []
    for first, last in zip(low.tolist(), high.tolist(), strict=True):
        if first == last:
            texts.append(column.texts[first])
        elif last - first == column.size - 1:
            texts.append(HIDDEN)
        else:
            texts.append(f"[{column.texts[first]}, {column.texts[last]}]")
    if column.numbers is not None and np.isfinite(column.numbers).all():
        span = column.numbers.max() - column.numbers.min()
        loss = (column.numbers[high] - column.numbers[low]) / (span or 1.0)
    else:
        loss = (high - low) / max(column.size - 1, 1)
    return Labelled(of_part.astype(np.int64), tuple(texts), Ranges(low, high), np.asarray(loss, dtype=np.float64))


def _common(levels: Levels, value: Codes, starts: Codes) -> Labelled:
    size = max(len(names) for names in levels.labels)
    chosen = np.full(len(starts), -1, dtype=np.int64)
    for level, table in enumerate(levels.tables):
        labels = table[value]
        low, high = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
        chosen = np.where((chosen < 0) & (low == high), level * size + low, chosen)
    keys, of_part = np.unique(chosen, return_inverse=True)
    owners, values = [], []
    for number, key in enumerate(keys.tolist()):
        under = np.flatnonzero(levels.tables[key // size] == key % size)
        values.append(under)
        owners.append(np.full(len(under), number, dtype=np.int64))
    return Labelled(
        of_part.astype(np.int64),
        tuple(levels.labels[key // size][key % size] for key in keys.tolist()),
        Members(np.concatenate(owners), np.concatenate(values)),
        np.array([levels.loss[key // size][key % size] for key in keys.tolist()], dtype=np.float64),
    )


def _lists(column: Coded, value: Codes, starts: Codes) -> Labelled:
    everything = np.arange(column.size)
    found: dict[bytes, int] = {}
    lists: list[Codes] = []
    of_part = np.zeros(len(starts), dtype=np.int64)
    for part, (start, end) in enumerate(zip(starts, np.append(starts[1:], len(value)), strict=True)):
        mine = value[start:end]
        if len(mine) > 1 and column.blank[mine].any():
            mine = everything
        key = mine.tobytes()
        if key not in found:
            found[key] = len(lists)
            lists.append(mine)
        of_part[part] = found[key]
    return Labelled(
        of_part,
        tuple(_listed(column, values) for values in lists),
        Members(np.repeat(np.arange(len(lists)), [len(values) for values in lists]), np.concatenate(lists)),
        np.array([(len(values) - 1) / max(column.size - 1, 1) for values in lists], dtype=np.float64),
    )


def _listed(column: Coded, values: Sequence[int] | Codes) -> str | None:
    if len(values) == 1:
        return column.texts[values[0]]
    return HIDDEN if len(values) == column.size else JOINED.join(str(column.texts[value]) for value in values)
