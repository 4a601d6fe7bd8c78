"""How exposed the people in a table are, as it stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.anonymise.columns import Coded, Codes, code, combined
from sfumato.anonymise.criteria import sensitive_column
from sfumato.anonymise.roles import checked_roles
from sfumato.anonymise.search import Progress
from sfumato.anonymise.tables import read_table
from sfumato.anonymise.verify import Verified, measured_groups
from sfumato.errors import out_of_range
from sfumato.plots.page import write_page
from sfumato.plots.risk import risk_page
from sfumato.schema.numbers import exact, whole

SMALL = 5
# With more quasi-identifiers, only small subsets and the growing prefix are measured.
MOST_SUBSETS = 512
SMALLEST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """How many rows a few columns single out."""

    columns: tuple[str, ...]
    unique: float
    below_small: float
    k: int
    groups: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "unique": self.unique,
            f"in_groups_below_{SMALL}": self.below_small,
            "k": self.k,
            "groups": self.groups,
        }


@dataclass(frozen=True, slots=True)
class Risk:
    """What somebody who knows the quasi-identifiers of a person can do with a table. Risks are probabilities.

    prosecutor: the attacker knows that the person is in the table: 1 / (size of the person's group). The highest, the
    average over rows, and the share of rows above 1 / SMALL.
    journalist: the attacker only knows that the person is in the population; with a population table the groups are
    counted there, else it equals the prosecutor's.
    marketer: the share of all rows that linking everybody at random within groups gets right.
    smallest: sizes of the smallest groups. sizes: how many groups there are of each size.
    """

    rows: int
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    verified: Verified
    unique: float
    below_small: float
    prosecutor: float
    prosecutor_average: float
    prosecutor_at_risk: float
    journalist: float
    journalist_average: float
    marketer: float
    subsets: tuple[Uniqueness, ...]
    growing: tuple[Uniqueness, ...]
    smallest: tuple[int, ...]
    sizes: tuple[tuple[int, int], ...]
    population: int | None

    @property
    def k(self) -> int:
        return self.verified.k

    @property
    def l(self) -> int | None:
        return self.verified.l

    @property
    def t(self) -> float | None:
        return self.verified.t

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "rows": self.rows,
            "quasi_identifiers": list(self.quasi),
            "sensitive": list(self.sensitive),
            **self.verified.to_dict(),
            "unique": self.unique,
            f"in_groups_below_{SMALL}": self.below_small,
            "prosecutor": {
                "highest": self.prosecutor,
                "average": self.prosecutor_average,
                "at_risk": self.prosecutor_at_risk,
            },
            "journalist": {"highest": self.journalist, "average": self.journalist_average},
            "marketer": self.marketer,
            "population": self.population,
            "smallest_groups": list(self.smallest),
            "group_sizes": [{"size": size, "groups": groups} for size, groups in self.sizes],
            "uniqueness": [found.to_dict() for found in self.subsets],
            "growing": [found.to_dict() for found in self.growing],
        }

    def page(self, title: str = "How exposed are the people in this table?", *, static: bool = False) -> str:
        """One HTML page with plots that works offline; `static` ones stand still, and make it small."""
        return risk_page(title, self.to_dict(), static=static)

    def save(self, path: str | Path, *, static: bool = False) -> None:
        """Write the page."""
        write_page(Path(path), self.page(static=static))


def risk(
    table: object,
    quasi: Sequence[str],
    *,
    sensitive: str | Sequence[str] = (),
    population: object = None,
    subset: int = 3,
    threshold: float = 0.2,
    progress: Progress | None = None,
) -> Risk:
    """Measure who stands out in a table, by what others may know of them.

    quasi: what an attacker may know. sensitive: what must not come out. population: a table with the same
    quasi-identifiers from which the rows were drawn, e.g. a census. subset: measure the uniqueness of all subsets of up
    to so many quasi-identifiers. threshold: a row is at risk when its prosecutor risk is above this.
    """
    source = read_table(table).table
    names, secrets = checked_roles(source, quasi, sensitive)
    most = exact(threshold, "threshold")
    if not 0 < most <= 1:
        raise out_of_range("threshold", "0", "1", str(threshold))
    coded = [code(source, name) for name in names]
    groups, count = _groups(coded)
    columns = [code(source, name) for name in secrets]
    found = measured_groups(groups, count, [(column, sensitive_column(column, "auto", None)) for column in columns])
    sizes = np.bincount(groups, minlength=count)
    risks = 1 / sizes[groups]
    outside = sizes[groups] if population is None else _outside(source, population, names)
    weights = np.maximum(outside, sizes[groups])
    number, many = np.unique(sizes, return_counts=True)
    return Risk(
        rows=source.num_rows,
        quasi=tuple(names),
        sensitive=tuple(secrets),
        verified=found,
        unique=float((sizes[groups] == 1).mean()),
        below_small=float((sizes[groups] < SMALL).mean()),
        prosecutor=float(risks.max()),
        prosecutor_average=count / source.num_rows,
        prosecutor_at_risk=float((risks > float(most)).mean()),
        journalist=float((1 / weights).max()),
        journalist_average=float((1 / weights).mean()),
        marketer=float((1 / weights).mean()),
        subsets=_subsets(coded, whole(subset, "subset", least=1), progress),
        growing=tuple(_unique(coded[: place + 1]) for place in range(len(coded))),
        smallest=tuple(int(size) for size in np.sort(sizes)[:SMALLEST_SHOWN]),
        sizes=tuple((int(size), int(groups)) for size, groups in zip(number, many, strict=True)),
        population=None if population is None else read_table(population).table.num_rows,
    )


def _groups(coded: Sequence[Coded]) -> tuple[Codes, int]:
    return combined([column.codes for column in coded], [column.size for column in coded])


def _unique(coded: Sequence[Coded]) -> Uniqueness:
    groups, count = _groups(coded)
    sizes = np.bincount(groups, minlength=count)
    return Uniqueness(
        columns=tuple(column.name for column in coded),
        unique=float((sizes == 1).sum() / len(groups)),
        below_small=float(sizes[sizes < SMALL].sum() / len(groups)),
        k=int(sizes.min()),
        groups=count,
    )


def _subsets(coded: Sequence[Coded], largest: int, progress: Progress | None) -> tuple[Uniqueness, ...]:
    """All subsets up to a size, the most revealing first; fewer sizes where there would be too many."""
    largest = min(largest, len(coded))
    while largest > 1 and sum(comb(len(coded), size) for size in range(1, largest + 1)) > MOST_SUBSETS:
        largest -= 1
    chosen = [some for size in range(1, largest + 1) for some in combinations(coded, size)]
    found = []
    for number, some in enumerate(chosen):
        found.append(_unique(some))
        if progress is not None:
            progress((number + 1) / len(chosen))
    return tuple(sorted(found, key=lambda one: (-one.unique, -one.below_small, len(one.columns), one.columns)))


def _outside(source: Any, population: object, names: Sequence[str]) -> Codes:
    """For each row, how many people of the population share its quasi-identifiers."""
    other = read_table(population).table
    checked_roles(other, names, ())
    here, there = [], []
    for name in names:
        first, second = code(source, name), code(other, name)
        known = {text: place for place, text in enumerate(first.texts)}
        for text in second.texts:
            known.setdefault(text, len(known))
        here.append(first.codes)
        there.append(np.array([known[text] for text in second.texts], dtype=np.int64)[second.codes])
    columns = [np.concatenate(pair) for pair in zip(here, there, strict=True)]
    groups, count = combined(columns, [int(column.max()) + 1 for column in columns])
    counted = np.bincount(groups[source.num_rows :], minlength=count)
    return np.asarray(counted[groups[: source.num_rows]], dtype=np.int64)
