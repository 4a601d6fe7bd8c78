"""l-diversity and t-closeness of groups, from how often each sensitive value occurs in each group."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.anonymise.columns import Coded, Codes, Flags, Reals
from sfumato.anonymise.counts import Pairs, Table
from sfumato.anonymise.hierarchies import Levels
from sfumato.anonymise.wordings import (
    c_without_use,
    choice_unknown,
    distance_needs_hierarchy,
    needs_c,
    needs_sensitive,
    not_ordered,
)
from sfumato.errors import out_of_range
from sfumato.schema.numbers import exact, whole

DIVERSITIES = ("distinct", "entropy", "recursive")
DISTANCES = ("auto", "equal", "ordered", "hierarchical")
Metric = Literal["equal", "ordered", "hierarchical"]
# Sums of shares in doubles are right to about 1e-15 for each value.
SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A sensitive column: how many values it has, and how far apart they are."""

    name: str
    size: int
    metric: Metric
    ladder: tuple[Codes, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What every group must have: k rows, l well-represented sensitive values, a distribution within t of the whole.

    diversity: "distinct" counts values; "entropy" wants an entropy of at least ln l; "recursive" wants the most
    frequent value rarer than c times all values from the l-th most frequent on.
    """

    k: int
    l: float | None = None
    diversity: str = "distinct"
    c: float | None = None
    t: float | None = None

    @property
    def plain(self) -> bool:
        """Only the size of a group matters."""
        return self.l is None and self.t is None

    def monotone(self, allowed: int) -> bool:
        """Whether coarser groups pass if finer ones do, when rows of failing groups may be suppressed.

        Claim: always without suppression; with it, for k and distinct values only. A passing group merged with a
        failing one may fail the other criteria, so that more rows are lost higher up.
        Proof: docs/proofs/anonymity-search.md.
        """
        return allowed == 0 or (self.t is None and (self.l is None or self.diversity == "distinct"))

    def __str__(self) -> str:
        parts = [f"k={self.k}"]
        if self.l is not None:
            c = f", c={self.c:g}" if self.c is not None else ""
            parts.append(f"{self.diversity} l={self.l:g}{c}")
        return ", ".join(parts + ([] if self.t is None else [f"t={self.t:g}"]))


def wanted(
    k: int, l: float | None, diversity: str, c: float | None, t: float | None, sensitive: Sequence[str]
) -> Wanted:
    """Check what was asked for."""
    k = whole(k, "k", least=1)
    if diversity not in DIVERSITIES:
        raise choice_unknown("diversity", diversity, DIVERSITIES)
    if (l is not None or t is not None) and not sensitive:
        raise needs_sensitive("l-diversity" if l is not None else "t-closeness")
    if l is not None and exact(l, "l") < 1:
        raise out_of_range("l", "1", "any number", str(l))
    if diversity == "distinct" and l is not None:
        l = whole(l, "l", least=1)
    if diversity == "recursive":
        if l is None or c is None or exact(c, "c") <= 0 or exact(l, "l").denominator != 1 or l < 2:
            raise needs_c()
    elif c is not None:
        raise c_without_use()
    if t is not None and not 0 <= exact(t, "t") <= 1:
        raise out_of_range("t", "0", "1", str(t))
    as_float = [None if value is None else float(value) for value in (l, c, t)]
    return Wanted(k, as_float[0], diversity, as_float[1], as_float[2])


def sensitive_column(column: Coded, distance: str, ladder: Levels | None) -> Sensitive:
    """How far apart two values are: ordered for numbers and dates, equal for texts, unless something else is said."""
    if distance not in DISTANCES:
        raise choice_unknown("distance", distance, DISTANCES)
    if distance == "hierarchical":
        if ladder is None:
            raise distance_needs_hierarchy(column.name)
        return Sensitive(column.name, column.size, "hierarchical", ladder.tables)
    if distance == "ordered" and not column.ordered:
        raise not_ordered(column.name)
    ordered = column.ordered if distance == "auto" else distance == "ordered"
    return Sensitive(column.name, column.size, "ordered" if ordered else "equal")


def distances(found: Table | Pairs, whole_table: Reals, sensitive: Sensitive) -> Reals:
    """The earth mover's distance between each group and the whole table."""
    match sensitive.metric:
        case "ordered":
            return found.ordered(whole_table)
        case "hierarchical":
            return found.hierarchical(whole_table, sensitive.ladder)
        case _:
            return found.equal(whole_table)


def failing(want: Wanted, sensitive: Sensitive, found: Table | Pairs, whole_table: Reals) -> Flags:
    """Which groups lack diversity or closeness in one sensitive column."""
    bad: list[Flags] = []
    if want.l is not None:
        match want.diversity:
            case "entropy":
                bad.append(found.entropy() < want.l * (1 - SLACK))
            case "recursive":
                bad.append(found.recursive(int(want.l)) >= (want.c or 0))
            case _:
                bad.append(found.distinct() < want.l)
    if want.t is not None:
        bad.append(distances(found, whole_table, sensitive) > want.t + SLACK)
    return np.asarray(np.logical_or.reduce(bad), dtype=np.bool_)
