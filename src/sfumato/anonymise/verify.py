"""k, l and t of a finished table, measured from its cells alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Coded, Codes, code, combined
from sfumato.anonymise.counts import counted
from sfumato.anonymise.criteria import Sensitive, distances, sensitive_column
from sfumato.anonymise.hierarchies import hierarchy, levels
from sfumato.anonymise.roles import checked_roles
from sfumato.anonymise.tables import read_table


@dataclass(frozen=True, slots=True)
class Verified:
    """What a table has, whatever was done to it.

    k: the smallest group. l: the fewest distinct sensitive values in a group. entropy_l: exp of the smallest entropy.
    recursive_c: the table is recursively (c, l)-diverse for this l and every c above this. t: the largest distance of a
    group from the whole. Over several sensitive columns the worst counts; without one these are None.
    """

    k: int
    groups: int
    l: int | None
    entropy_l: float | None
    recursive_c: float | None
    t: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "k": self.k,
            "groups": self.groups,
            "l": self.l,
            "entropy_l": self.entropy_l,
            "recursive_c": None if self.recursive_c == np.inf else self.recursive_c,
            "t": self.t,
        }


def verify(
    table: object,
    quasi: Sequence[str],
    *,
    sensitive: str | Sequence[str] = (),
    distance: str = "auto",
    hierarchies: Mapping[str, object] | None = None,
) -> Verified:
    """Measure k, l and t of any table.

    distance: "equal", "ordered" or "hierarchical" (with `hierarchies` for the sensitive columns); "auto" is ordered for
    numbers and dates, equal for texts. NULL is a value like any other, and look-alikes are one value.
    """
    source = read_table(table).table
    names, secrets = checked_roles(source, quasi, sensitive)
    rules = dict(hierarchies or {})
    columns = []
    for name in secrets:
        column = code(source, name)
        ladder = levels(column, hierarchy(rules[name], name)) if name in rules else None
        columns.append((column, sensitive_column(column, distance, ladder)))
    return measured(source, names, columns)


def measured(table: pa.Table, quasi: Sequence[str], sensitive: Sequence[tuple[Coded, Sensitive]]) -> Verified:
    """The same for columns that are coded already; the quasi-identifiers are always read from the table."""
    return measured_groups(*groups_of(table, quasi), sensitive)


def groups_of(table: pa.Table, quasi: Sequence[str]) -> tuple[Codes, int]:
    """The group of each row: rows that agree in all quasi-identifiers."""
    coded = [code(table, name) for name in quasi]
    return combined([column.codes for column in coded], [column.size for column in coded])


def measured_groups(groups: Codes, count: int, sensitive: Sequence[tuple[Coded, Sensitive]]) -> Verified:
    sizes = np.bincount(groups, minlength=count)
    found = [
        (counted(groups, column.codes, np.ones(len(groups)), (count, about.size)), column, about)
        for column, about in sensitive
    ]
    l = min((int(each.distinct().min()) for each, _, _ in found), default=None)
    worst = None if l is None else max(float(each.recursive(l).max()) for each, _, _ in found) if l > 1 else np.inf
    far = [
        distances(each, np.bincount(column.codes, minlength=about.size).astype(np.float64), about)
        for each, column, about in found
    ]
    return Verified(
        k=int(sizes.min()),
        groups=count,
        l=l,
        entropy_l=min((float(each.entropy().min()) for each, _, _ in found), default=None),
        recursive_c=worst,
        t=max((float(each.max()) for each in far), default=None),
    )
