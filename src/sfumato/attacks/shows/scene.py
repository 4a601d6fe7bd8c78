"""What a demonstration is given, and what it gives back: one attack before and after protection, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.staging import Case, check_columns, townspeople
from sfumato.attacks.wordings import needs_columns
from sfumato.schema.numbers import exact_positive

BARE = "the table as it stands"
QUASI = ("age", "sex", "zip", "education")
COLUMNS = ("age", "education_num", "hours_per_week", "income")
FEWEST = 30


@dataclass(frozen=True, slots=True)
class Scene:
    """The table attacked, one row per person, the roles of its columns, and what a session promises."""

    table: pa.Table
    quasi: tuple[str, ...]
    sensitive: str | None
    columns: tuple[str, ...]
    epsilon: float
    k: int
    seed: int
    made_up: bool

    @property
    def promised(self) -> str:
        return f"a session, epsilon {self.epsilon:g} in all"

    def share(self, questions: int) -> Fraction:
        """What each of so many questions may spend."""
        return exact_positive(self.epsilon, "epsilon") / questions

    def needs_quasi(self, attack: str) -> list[str]:
        if not self.quasi:
            raise needs_columns(attack, "the quasi-identifiers", "--quasi age,sex,zip")
        return list(self.quasi)

    def needs_sensitive(self, attack: str, in_town: str = "diagnosis") -> str:
        """The sensitive column; in the town, unless told otherwise, the one that shows this attack best."""
        if self.sensitive is None and not self.made_up:
            raise needs_columns(attack, "the sensitive column", "--sensitive diagnosis")
        return self.sensitive or in_town

    def needs_columns(self, attack: str) -> list[str]:
        if not self.columns:
            raise needs_columns(attack, "numeric columns", "--columns age,income")
        return list(self.columns)

    def bits(self, attack: str, people: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """One bit per person: whether the sensitive value is among the most common ones, which half of them have."""
        column = self.table[self.needs_sensitive(attack)].to_pylist()
        values, counts = np.unique(np.array([str(value) for value in column]), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        taken = np.searchsorted(np.cumsum(counts[order]), len(column) / 2) + 1
        common = set(values[order[:taken]].tolist()) if len(values) > taken else set(values[order[:1]].tolist())
        return np.array([int(str(value) in common) for value in column[:people]], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """An attack, what it does, and how it fares against each protection."""

    name: str
    says: str
    cases: Sequence[Case] = field(default_factory=list)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a case, fit for a table, JSON or CSV; no recovered value is in it."""
        return [
            {
                "protection": case.protection,
                "success": case.result.success,
                "chance": case.result.chance,
                "bound": case.result.bound,
                "attempts": case.result.attempts,
                "works": case.works,
                "measures": dict(case.result.measures),
            }
            for case in self.cases
        ]


def scene(
    table: pa.Table | None,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    columns: Sequence[str] = (),
    epsilon: float = 1.0,
    k: int = 5,
    seed: int = 0,
) -> Scene:
    """A scene on the given table, one row per person, or on the people of the made-up town."""
    if table is None:
        return Scene(
            townspeople(4_000, seed),
            tuple(quasi) or QUASI,
            sensitive,
            tuple(columns) or COLUMNS,
            epsilon,
            k,
            seed,
            True,
        )
    check_columns(
        table, "attacked", FEWEST, {"quasi": quasi, "sensitive": [sensitive] if sensitive else []}, others=columns
    )
    return Scene(table, tuple(quasi), sensitive, tuple(columns) or _numeric(table), epsilon, k, seed, False)


def _numeric(table: pa.Table) -> tuple[str, ...]:
    return tuple(
        field.name
        for field in table.schema
        if (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)) and table[field.name].null_count == 0
    )
