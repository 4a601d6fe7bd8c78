"""What a demonstration is given, and what it gives back: one attack before and after protection, side by side.

Everything an attack needs is checked here, before any of its work: columns, their values, enough rows. Rows are in
random order, so that the first so many of them are a fair sample whatever the table was sorted by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymise.roles import apart
from sfumato.attacks.baseline import outsiders
from sfumato.attacks.drawn import drawn, numeric_columns
from sfumato.attacks.staging import Case, townspeople
from sfumato.attacks.tabular import need_column
from sfumato.attacks.wordings import columns_left_aside, needs_columns, too_few_of_a_kind
from sfumato.schema.numbers import exact_positive

BARE = "the table as it stands"
QUASI = ("age", "sex", "zip", "education")
COLUMNS = ("age", "education_num", "hours_per_week", "income")
FEWEST = 30
Bits = NDArray[np.int64]
# Of so many people with the rarer secret, and as many others, an attack that is always right is told from luck.
FEWEST_OF_A_KIND = 9
# One person in so many is held out where outsiders are attacked too, and of members and outsiders so many are tried.
HELD_OUT, MOST_TRIED = 4, 6_000
VISITS, VISITS_HELD_OUT, VISITS_PAIRED = 4_000, 12_000, 5_000


class Role(StrEnum):
    """What an attack needs to know of a table. bit: a sensitive column of which one half can be told from the other."""

    quasi = "quasi"
    sensitive = "sensitive"
    columns = "columns"
    bit = "bit"


Needs = frozenset[Role]


@dataclass(frozen=True, slots=True)
class Scene:
    """The table attacked, one row per person, the roles of its columns, and what a session promises.

    held_out: so many of the first rows are left out of a second release, to see what is learnt about people who are not
    in one; 0 where the attack knows no such people.
    """

    table: pa.Table
    held_out: int
    quasi: tuple[str, ...]
    sensitive: str | None
    columns: tuple[str, ...]
    epsilon: float
    k: int
    seed: int
    made_up: bool
    notes: tuple[str, ...] = ()

    @property
    def promised(self) -> str:
        return f"a session, epsilon {self.epsilon:g} in all"

    def share(self, questions: int) -> Fraction:
        """What each of so many questions may spend."""
        return exact_positive(self.epsilon, "epsilon") / questions

    @property
    def secret(self) -> str:
        if self.sensitive is None:
            raise needs_columns("this attack", "the sensitive column", "--sensitive diagnosis")
        return self.sensitive

    def bits(self, people: int) -> Bits:
        """One bit per person, as many of one as of the other."""
        bits = halved(self.table, self.secret)
        each = min(people // 2, *np.bincount(bits, minlength=2))
        return np.asarray(bits[np.sort(np.concatenate([np.flatnonzero(bits == bit)[:each] for bit in (0, 1)]))])


def halved(table: pa.Table, column: str) -> Bits:
    """Whether each person's value is among the most common ones, which half of the people have."""
    values, place, counts = np.unique(
        np.array([str(value) for value in table[column].to_pylist()]), return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")
    taken = min(np.searchsorted(np.cumsum(counts[order]), len(place) / 2) + 1, max(1, len(values) - 1))
    return np.isin(place, order[:taken]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """An attack, what it does, and how it fares against each protection."""

    name: str
    says: str
    cases: Sequence[Case] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a case, fit for a table, JSON or CSV; no recovered value is in it."""
        return [
            {
                "protection": case.protection,
                "success": case.result.success,
                "outsiders": outsiders(case.result),
                "chance": case.result.chance,
                "bound": case.result.bound,
                "attempts": case.result.attempts,
                "works": case.works,
                "measures": dict(case.result.measures),
            }
            for case in self.cases
        ]


def scene(
    attack: str,
    needs: Needs,
    table: pa.Table | None,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    columns: Sequence[str] = (),
    in_town: str = "diagnosis",
    epsilon: float = 1.0,
    k: int = 5,
    seed: int = 0,
) -> Scene:
    """A scene on the given table, one row per person, or on the people of the made-up town.

    in_town: the sensitive column of the town that shows this attack best.
    """
    made_up, holds_out = table is None, {Role.quasi, Role.sensitive} <= needs
    aside: tuple[str, ...] = ()
    if table is None:
        table = townspeople(_visits(attack) if holds_out else VISITS, seed)
        quasi, sensitive, columns = tuple(quasi) or QUASI, sensitive or in_town, tuple(columns) or COLUMNS
    elif Role.columns in needs and not columns:
        columns, gaps = numeric_columns(table)
        if gaps and len(columns) < _columns_needed(attack):
            columns, gaps = [*columns, *gaps], []
        aside = (columns_left_aside(gaps),) if gaps else ()
    _check(attack, needs, table, quasi, sensitive, columns)
    if named := list(dict.fromkeys([*quasi, *([sensitive] if sensitive else []), *columns])):
        table = table.select(named)
    roles: dict[str, Sequence[str]] = {
        "quasi": quasi if Role.quasi in needs else (),
        "sensitive": [sensitive] if sensitive and needs & {Role.sensitive, Role.bit} else (),
        "columns": columns if Role.columns in needs else (),
    }
    rows = drawn(table, "attacked", FEWEST, roles, numeric=roles["columns"], seed=seed)
    if Role.bit in needs and sensitive is not None:
        rarer = int(np.bincount(halved(rows.table, sensitive), minlength=2).min())
        if rarer < FEWEST_OF_A_KIND:
            raise too_few_of_a_kind(sensitive, rarer, FEWEST_OF_A_KIND)
    held_out = min(rows.table.num_rows // HELD_OUT, MOST_TRIED) if holds_out else 0
    return Scene(
        rows.table,
        held_out,
        tuple(quasi),
        sensitive,
        tuple(columns),
        epsilon,
        k,
        seed,
        made_up,
        (*aside, *rows.notes),
    )


def _columns_needed(attack: str) -> int:
    """A rotation turns two columns at least."""
    return 2 if attack in ("known_sample", "known_distribution") else 1


def _visits(attack: str) -> int:
    """Enough people to tell members from outsiders; two releases at once are a table of people by secrets."""
    return VISITS_PAIRED if attack == "intersection" else VISITS_HELD_OUT


def _check(
    attack: str, needs: Needs, table: pa.Table, quasi: Sequence[str], sensitive: str | None, columns: Sequence[str]
) -> None:
    """Refuse a column that is not there, or is there twice, and roles that nobody named."""
    secrets = [sensitive] if sensitive else []
    apart({"quasi": quasi, "sensitive": secrets})
    for name in (*quasi, *secrets, *columns):
        need_column(table, "attacked", name)
    if Role.quasi in needs and not quasi:
        raise needs_columns(attack, "the quasi-identifiers", "--quasi age,sex,zip")
    if needs & {Role.sensitive, Role.bit} and sensitive is None:
        raise needs_columns(attack, "the sensitive column", "--sensitive diagnosis")
    if Role.columns in needs and len(columns) < _columns_needed(attack):
        raise needs_columns(attack, "numeric columns", "--columns age,income")
