"""What a demonstration is given, and what it gives back: one attack before and after protection, side by side."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.roles import apart
from sfumato.attacks.result import AttackResult
from sfumato.attacks.tabular import need_column
from sfumato.attacks.wordings import needs_columns, too_few_rows
from sfumato.datasets import population
from sfumato.protected import protect
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import exact_positive
from sfumato.schema.unit import Row
from sfumato.session import Session

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
class Case:
    """One attack on one way to answer or release."""

    protection: str
    result: AttackResult[Any]

    @property
    def works(self) -> bool:
        """Whether the attack hits more often than promised, or than chance where nothing was, by more than luck."""
        allowed = self.result.chance if self.result.bound is None else self.result.bound
        # Pairs that share a person are no tries of their own.
        tries = max(1, self.result.measures.get("tosses", self.result.attempts))
        luck = 4 * math.sqrt(max(allowed * (1 - allowed), 1 / tries) / tries)
        return not math.isnan(self.result.success) and self.result.success > allowed + max(luck, 0.02)


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
        visits = population(4_000, seed=seed)
        firsts = np.sort(np.unique(visits["person_id"].to_numpy(), return_index=True)[1]).astype(np.int64)
        return Scene(
            visits.take(firsts),
            tuple(quasi) or QUASI,
            sensitive,
            tuple(columns) or COLUMNS,
            epsilon,
            k,
            seed,
            True,
        )
    if table.num_rows < FEWEST:
        raise too_few_rows(table.num_rows, FEWEST)
    apart({"quasi": quasi, "sensitive": [sensitive] if sensitive else []})
    for name in (*quasi, *columns, *([sensitive] if sensitive else [])):
        need_column(table, "attacked", name)
    return Scene(table, tuple(quasi), sensitive, tuple(columns) or _numeric(table), epsilon, k, seed, False)


def _numeric(table: pa.Table) -> tuple[str, ...]:
    return tuple(
        field.name
        for field in table.schema
        if (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)) and table[field.name].null_count == 0
    )


@contextmanager
def session_on(table: pa.Table, columns: dict[str, Declared], epsilon: float) -> Iterator[Session]:
    """A session with this much to spend, and a ledger that lives as long as the demonstration."""
    with (
        TemporaryDirectory() as folder,
        protect(
            table, unit=Row(), columns=columns, budget=Budget(epsilon=epsilon), ledger=Path(folder) / "demo.ledger"
        ) as session,
    ):
        yield session
