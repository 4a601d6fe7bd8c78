"""What attacks are shown on and judged by: people, one row each, a session with a ledger of its own, and a verdict."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.baseline import beyond, outsiders
from sfumato.attacks.result import AttackResult
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


@dataclass(frozen=True, slots=True)
class Case:
    """One attack on one way to answer or release."""

    protection: str
    result: AttackResult[Any]

    @property
    def works(self) -> bool:
        """Whether the attack learns more than it may, by more than luck."""
        return beyond(self.result)

    def bar(self, label: str) -> Success:
        """For a chart of several."""
        return Success(
            label, self.result.success, self.result.chance, self.result.bound, self.works, outsiders(self.result)
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
