"""What attacks are shown on and judged by: people, one row each, a session with a ledger of its own, and a verdict."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.roles import apart
from sfumato.attacks.result import AttackResult
from sfumato.attacks.tabular import need_column
from sfumato.attacks.wordings import too_few_rows
from sfumato.datasets import population
from sfumato.plots.attacks import Success
from sfumato.protected import protect
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Declared
from sfumato.schema.unit import Row
from sfumato.session import Session


def townspeople(visits: int, seed: int) -> pa.Table:
    """People of the made-up town, by their first of so many visits."""
    found = population(visits, seed=seed)
    firsts = np.sort(np.unique(found["person_id"].to_numpy(), return_index=True)[1]).astype(np.int64)
    return found.take(firsts)


def check_columns(
    table: pa.Table, verb: str, fewest: int, roles: Mapping[str, Sequence[str]], others: Sequence[str] = ()
) -> None:
    """Refuse a table with too few rows, one column in two roles, or a column that is not there."""
    if table.num_rows < fewest:
        raise too_few_rows(table.num_rows, fewest)
    apart(roles)
    for name in (*(name for names in roles.values() for name in names), *others):
        need_column(table, verb, name)


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

    def bar(self, label: str) -> Success:
        """For a chart of several."""
        return Success(label, self.result.success, self.result.chance, self.result.bound, self.works)


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
