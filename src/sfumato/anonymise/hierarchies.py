"""Generalisation hierarchies: what a value is called at each level, from itself to *."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise import steps
from sfumato.anonymise.columns import Coded, Codes, Flags, Reals
from sfumato.anonymise.hierarchy_files import lines
from sfumato.anonymise.spelling import skeleton, skeletons
from sfumato.anonymise.tables import read_table
from sfumato.anonymise.wordings import (
    hierarchy_cycle,
    hierarchy_empty,
    hierarchy_misses,
    hierarchy_not_nested,
    hierarchy_ragged,
    hierarchy_repeats,
    hierarchy_unknown,
)

HIDDEN = "*"
Ladder = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """How values of a column are generalised. Level 0 is the value itself; the last level hides everything.

    Values are compared as texts, look-alikes being one value. NULL and blank keep themselves at level 0 and become *
    above. A last level * is added where it is missing.
    """

    climb: steps.Climb
    leaves: int | None = None

    @classmethod
    def from_csv(cls, path: str | PathLike[str]) -> "Hierarchy":
        """A file without a header: value, group, larger group, …, * in each line; commas or semicolons."""
        return cls.from_rows(lines(path), name=Path(path).stem)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[object]], *, name: str = "column") -> "Hierarchy":
        """One sequence for each value: itself and its groups, from small to large."""
        ladders: dict[str, Ladder] = {}
        for row in rows:
            value, *above = (str(cell) for cell in row)
            if ladders.setdefault(skeleton(value), tuple(above)) != tuple(above):
                raise hierarchy_repeats(name)
        if not ladders or not any(ladders.values()):
            raise hierarchy_empty(name)
        if len({len(ladder) for ladder in ladders.values()}) > 1:
            raise hierarchy_ragged(name)
        _check_circles(name, ladders)

        def climb(column: Coded) -> list[steps.Step]:
            keys = skeletons(pa.array(column.texts, type=pa.string())).to_pylist()
            found = [None if key is None else ladders.get(key) for key in keys]
            height = len(next(iter(ladders.values())))
            return [steps.Step.of([None if each is None else each[level] for each in found]) for level in range(height)]

        return cls(climb, leaves=sum(1 for value in ladders if value))

    @classmethod
    def from_parents(cls, parents: Mapping[str, str], *, name: str = "column") -> "Hierarchy":
        """A tree as child: parent. Shorter branches repeat their last label."""
        chains = {value: _ancestors(value, parents, name) for value in parents}
        height = max((len(chain) for chain in chains.values()), default=0)
        rows = [(value, *chain, *(chain[-1:] * (height - len(chain)))) for value, chain in chains.items()]
        return cls.from_rows(rows, name=name)

    @classmethod
    def intervals(cls, *widths: float, origin: float = 0) -> "Hierarchy":
        """Numbers in intervals [low, high[ of these widths, counted from the origin."""
        return cls(steps.intervals(widths, origin))

    @classmethod
    def dates(cls, *units: str) -> "Hierarchy":
        """Dates as month, quarter, year, decade and century, or those of them that are named, from fine to coarse."""
        return cls(steps.dates(units))

    @classmethod
    def prefixes(cls, *lengths: int) -> "Hierarchy":
        """Codes by their first characters: 12345, 1234*, 123**, … or only those of the given lengths."""
        return cls(steps.prefixes(lengths))

    @classmethod
    def hidden(cls) -> "Hierarchy":
        """The value, or nothing: *."""
        return cls(lambda _: [])

    @classmethod
    def automatic(cls) -> "Hierarchy":
        """Chosen by what the column holds: intervals that double, dates, prefixes of codes, otherwise only *."""
        return cls(steps.automatic)


@dataclass(frozen=True, slots=True)
class Levels:
    """A hierarchy applied to a column: for each level, the label number of every value, the labels, and their loss.

    loss: (values under the label - 1) / (values - 1), between 0 and 1 (Iyengar 2002).
    """

    column: Coded
    tables: tuple[Codes, ...]
    labels: tuple[tuple[str | None, ...], ...]
    loss: tuple[Reals, ...]

    @property
    def height(self) -> int:
        return len(self.tables)


def hierarchy(source: object, column: str = "column") -> Hierarchy:
    """A hierarchy from a CSV path, a table, rows, a dict of child: parent, or a text such as "intervals:5,10"."""
    if isinstance(source, Hierarchy):
        return source
    if isinstance(source, str):
        return _spelt(source, column)
    if isinstance(source, PathLike):
        return Hierarchy.from_rows(lines(source), name=column)
    if isinstance(source, Mapping):
        return Hierarchy.from_parents({str(child): str(parent) for child, parent in source.items()}, name=column)
    if isinstance(source, list | tuple) and all(isinstance(row, list | tuple) for row in source):
        return Hierarchy.from_rows(source, name=column)
    if hasattr(source, "columns") or hasattr(source, "column_names"):
        table = read_table(source).table
        return Hierarchy.from_rows([list(row.values()) for row in table.to_pylist()], name=column)
    raise hierarchy_unknown(column, type(source).__name__)


def levels(column: Coded, rule: Hierarchy) -> Levels:
    """Climb every value of the column, and check that the groups are nested."""
    found = rule.climb(column)
    if found and (missing := int(np.sum((found[0].of_value < 0) & ~column.blank))):
        raise hierarchy_misses(column.name, missing)
    tables, labels = [np.arange(column.size)], [column.texts]
    for step in found:
        table, names = _shown(step, column.blank)
        tables.append(table)
        labels.append(names)
    if labels[-1] != (HIDDEN,) or len(labels) == 1:
        tables.append(np.zeros(column.size, dtype=np.int64))
        labels.append((HIDDEN,))
    for level in range(1, len(tables) - 1):
        _check_nested(column.name, level, tables[level], tables[level + 1])
    leaves = max(column.size, rule.leaves or 0)
    return Levels(column, tuple(tables), tuple(labels), tuple(_loss(table, leaves) for table in tables))


def _shown(step: steps.Step, blank: Flags) -> tuple[Codes, Ladder]:
    """The labels that occur, numbered; blanks are hidden."""
    names = step.labels if HIDDEN in step.labels else (*step.labels, HIDDEN)
    numbers, table = np.unique(np.where(blank, names.index(HIDDEN), step.of_value), return_inverse=True)
    return table.reshape(-1).astype(np.int64), tuple(names[number] for number in numbers.tolist())


def _loss(table: Codes, leaves: int) -> Reals:
    """Values of the hierarchy that the table lacks belong to no label here, but count among all values."""
    under = np.bincount(table)
    if len(under) == 1 and leaves > 1:
        return np.ones(1)
    return np.asarray((under - 1) / max(leaves - 1, 1), dtype=np.float64)


def _check_nested(name: str, level: int, below: Codes, above: Codes) -> None:
    parent = np.zeros(below.max() + 1, dtype=np.int64)
    parent[below] = above
    if not np.array_equal(parent[below], above):
        raise hierarchy_not_nested(name, level)


def _check_circles(name: str, ladders: Mapping[str, Ladder]) -> None:
    """A label may stay itself from one level to the next, but never come back later."""
    parents: dict[str, set[str]] = {}
    for value, ladder in ladders.items():
        chain = [value, *map(skeleton, ladder)]
        for child, parent in pairwise(chain):
            if child != parent:
                parents.setdefault(child, set()).add(parent)
    waiting = {label: len(above) for label, above in parents.items()}
    children: dict[str, list[str]] = {}
    for child, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(child)
    free = [label for label in children if label not in waiting]
    while free:
        for child in children.get(free.pop(), ()):
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    if any(waiting.values()):
        raise hierarchy_cycle(name)


def _ancestors(value: str, parents: Mapping[str, str], name: str) -> tuple[str, ...]:
    chain: list[str] = []
    seen, at = {value}, value
    while at in parents and parents[at] != at:
        at = parents[at]
        if at in seen:
            raise hierarchy_cycle(name)
        seen.add(at)
        chain.append(at)
    return tuple(chain)


def _spelt(text: str, column: str) -> Hierarchy:
    """A rule and its numbers, as typed in the shell, or else a path."""
    rule, _, numbers = text.partition(":")
    parts: list[Any] = [part.strip() for part in numbers.split(",") if part.strip()]
    match rule:
        case "intervals":
            return Hierarchy.intervals(*map(float, steps.numbers(parts)))
        case "prefixes":
            return Hierarchy.prefixes(*(int(part) for part in steps.numbers(parts)))
        case "dates":
            return Hierarchy.dates(*parts)
        case "automatic" if not parts:
            return Hierarchy.automatic()
        case "hidden" if not parts:
            return Hierarchy.hidden()
        case _:
            return Hierarchy.from_rows(lines(text), name=column)
