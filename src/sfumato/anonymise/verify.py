"""k, l and t of a finished table, measured from its cells alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Coded, Codes, code, combined
from sfumato.anonymise.criteria import Sensitive, blocks, distances, distinct, entropy, recursive, sensitive_column
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
    least, entropies, far = [], [], []
    for column, about in sensitive:
        ones = np.ones(len(groups))
        overall = np.bincount(column.codes, minlength=about.size).astype(np.float64)
        for _, table in blocks(groups, column.codes, ones, (count, about.size)):
            least.append(float(distinct(table).min()))
            entropies.append(float(entropy(table).min()))
            far.append(float(distances(table, overall, about).max()))
    l = int(min(least)) if least else None
    worst = None
    if l is not None and l > 1:
        worst = max(
            float(recursive(table, l).max())
            for column, about in sensitive
            for _, table in blocks(groups, column.codes, np.ones(len(groups)), (count, about.size))
        )
    elif l is not None:
        worst = np.inf
    return Verified(
        k=int(sizes.min()),
        groups=count,
        l=l,
        entropy_l=min(entropies) if entropies else None,
        recursive_c=worst,
        t=max(far) if far else None,
    )
