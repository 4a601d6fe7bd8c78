"""How often each sensitive value occurs in each group: as a table while that is small, as a list of pairs otherwise.

Both measure the same: diversity inside groups, and the earth mover's distance between each group and the whole.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.anonymise.columns import Codes, Reals, summed

Ladder = tuple[Codes, ...]
# Cells of a table of groups by values that are worth holding.
CELLS = 1 << 22


def counted(groups: Codes, codes: Codes, counts: Reals, shape: tuple[int, int]) -> "Table | Pairs":
    """Groups and values of rows that occur `counts` times; `shape` is the number of groups and of values."""
    total, size = shape
    keys = groups * size + codes
    if total * size <= CELLS:
        return Table(summed(keys, counts, total * size).reshape(total, size))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else keys
    owner = keys[starts] // size
    return Pairs(owner, keys[starts] - owner * size, _summed_from(starts, counts[order]), total)


def _summed_from(starts: Codes, counts: Reals) -> Reals:
    return np.add.reduceat(counts, starts) if len(starts) else counts


@dataclass(frozen=True, slots=True)
class Table:
    """cells: groups x values."""

    cells: Reals

    def distinct(self) -> Reals:
        return np.asarray(np.count_nonzero(self.cells, axis=1), dtype=np.float64)

    def entropy(self) -> Reals:
        """exp of the entropy: as many equally frequent values would be as diverse."""
        totals = self.cells.sum(axis=1, keepdims=True)
        shares = np.divide(self.cells, totals, out=np.ones_like(self.cells), where=totals > 0)
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(np.exp(-(shares * logs).sum(axis=1)), dtype=np.float64)

    def recursive(self, l: int) -> Reals:
        """The most frequent value as a multiple of all from the l-th most frequent on; infinite if there are none.

        A group is (c, l)-diverse when this is below c.
        """
        falling = -np.sort(-self.cells, axis=1)
        return _multiple(falling[:, 0], falling[:, l - 1 :].sum(axis=1))

    def equal(self, whole: Reals) -> Reals:
        return np.asarray(np.abs(self._surplus(whole)).sum(axis=1) / 2, dtype=np.float64)

    def ordered(self, whole: Reals) -> Reals:
        steps = np.abs(np.cumsum(self._surplus(whole), axis=1)).sum(axis=1)
        return np.asarray(steps / max(len(whole) - 1, 1), dtype=np.float64)

    def hierarchical(self, whole: Reals, ladder: Ladder) -> Reals:
        """Mass that must cross a label of height h pays h / H (Li, Li, Venkatasubramanian 2007)."""
        height, below = len(ladder) - 1, self._surplus(whole)
        found = np.zeros(len(below))
        for level in range(1, height + 1):
            up = _up(ladder, level)
            gather = np.zeros((len(up), int(ladder[level].max()) + 1))
            gather[np.arange(len(up)), up] = 1
            positive, negative = np.maximum(below, 0) @ gather, np.maximum(-below, 0) @ gather
            found += level / height * np.minimum(positive, negative).sum(axis=1)
            below = below @ gather
        return found

    def _surplus(self, whole: Reals) -> Reals:
        totals = np.maximum(self.cells.sum(axis=1, keepdims=True), 1)
        return np.asarray(self.cells / totals - _shares(whole), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Group owner[i] has the value value[i] count[i] times; sorted by both, each pair once."""

    owner: Codes
    value: Codes
    count: Reals
    groups: int

    def distinct(self) -> Reals:
        return np.bincount(self.owner, minlength=self.groups).astype(np.float64)

    def entropy(self) -> Reals:
        shares = self._shares()
        return np.asarray(np.exp(-summed(self.owner, shares * np.log(shares), self.groups)), dtype=np.float64)

    def recursive(self, l: int) -> Reals:
        order = np.lexsort((-self.count, self.owner))
        owner, count = self.owner[order], self.count[order]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
        top, tail = rank == 0, rank >= l - 1
        return _multiple(summed(owner[top], count[top], self.groups), summed(owner[tail], count[tail], self.groups))

    def equal(self, whole: Reals) -> Reals:
        """Values that a group lacks are all missing from it."""
        usual = _shares(whole)
        beyond = np.abs(self._shares() - usual[self.value]) - usual[self.value]
        return np.asarray((summed(self.owner, beyond, self.groups) + usual.sum()) / 2, dtype=np.float64)

    def ordered(self, whole: Reals) -> Reals:
        """The area between two rising stairs: from each value of a group to its next, the group's stays level."""
        size, first = len(whole), np.append(True, self.owner[1:] != self.owner[:-1])
        # Counts are whole numbers, so that sums of them are exact.
        upto = np.cumsum(self.count)
        base = np.maximum.accumulate(np.where(first, upto - self.count, 0))
        level = (upto - base) / summed(self.owner, self.count, self.groups)[self.owner]
        stairs = np.cumsum(_shares(whole))
        area = np.append(0, np.cumsum(stairs))
        low, high = self.value, np.append(np.where(first[1:], size, self.value[1:]), size)
        cross = np.clip(np.searchsorted(stairs, level), low, high)
        between = level * (2 * cross - low - high) + area[low] + area[high] - 2 * area[cross]
        found = summed(self.owner, between + np.where(first, area[low], 0), self.groups)
        found[self.distinct() == 0] = area[size]
        return np.asarray(found / max(size - 1, 1), dtype=np.float64)

    def hierarchical(self, whole: Reals, ladder: Ladder) -> Reals:
        """Labels of which a group has no value take nothing in, so that only the others can pass mass on."""
        height, found = len(ladder) - 1, np.zeros(self.groups)
        owner, label, share, usual = self.owner, ladder[0][self.value], self._shares(), _shares(whole)
        for level in range(1, height + 1):
            up = _up(ladder, level)
            labels = int(ladder[level].max()) + 1
            above = summed(up, usual, labels)
            keys, place = np.unique(owner * labels + up[label], return_inverse=True)
            surplus = share - usual[label]
            positive = summed(place, np.maximum(surplus, 0), len(keys))
            lacking = above[keys % labels] - summed(place, usual[label], len(keys))
            negative = summed(place, np.maximum(-surplus, 0), len(keys)) + lacking
            share = summed(place, share, len(keys))
            owner, label, usual = keys // labels, keys % labels, above
            found += level / height * summed(owner, np.minimum(positive, negative), self.groups)
        return found

    def _shares(self) -> Reals:
        return np.asarray(self.count / summed(self.owner, self.count, self.groups)[self.owner], dtype=np.float64)


def _shares(whole: Reals) -> Reals:
    return np.asarray(whole / max(whole.sum(), 1), dtype=np.float64)


def _multiple(top: Reals, tail: Reals) -> Reals:
    return np.asarray(np.divide(top, tail, out=np.full(len(top), np.inf), where=tail > 0), dtype=np.float64)


def _up(ladder: Ladder, level: int) -> Codes:
    """The label of each label one level below."""
    up = np.zeros(int(ladder[level - 1].max()) + 1, dtype=np.int64)
    up[ladder[level - 1]] = ladder[level]
    return up
