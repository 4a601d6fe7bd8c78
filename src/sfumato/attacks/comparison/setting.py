"""One table, one set of questions, and an attacker with a register: the same for every method."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.matrices import matrix
from sfumato.attacks.staging import check_columns, townspeople
from sfumato.attacks.wordings import needs_columns
from sfumato.simulate import Simulator

Floats = NDArray[np.float64]

QUESTIONS = 60
FEWEST = 100
TOWN = {"quasi": ("age", "education_num", "hours_per_week"), "sensitive": "marital_status", "value": "income"}
VISITS = 3_000


@dataclass(frozen=True, slots=True)
class Question:
    """How many people lie in a box of the quasi-identifiers."""

    low: Floats
    high: Floats

    def count(self, values: Floats) -> float:
        return float(np.sum(((values >= self.low) & (values <= self.high)).all(axis=1)))

    def widened(self, unit: Floats) -> "Question":
        """Up to the end of the last whole number."""
        return Question(self.low, self.high + unit)

    def spread(self, low: Floats, high: Floats) -> Floats:
        """For each interval a row, the share of it inside the box, as if people stood evenly in it."""
        width = np.maximum(high - low, 1e-9)
        inside = np.minimum(high, self.high) - np.maximum(low, self.low)
        point = (high - low) < 1e-9
        held = np.where(point, (low >= self.low) & (low <= self.high), np.clip(inside, 0, None) / width)
        return np.asarray(np.clip(held, 0, 1).prod(axis=1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Setting:
    """Persons with numeric quasi-identifiers, a sensitive column, and a value that is nobody's business."""

    table: pa.Table
    quasi: list[str]
    sensitive: str
    value: str
    questions: list[Question]
    unit: Floats  # 1 where a column holds whole numbers: 40 then stands for everything from 40 to 41
    k: int
    seed: int

    @property
    def known(self) -> Floats:
        """What the register knows about everybody."""
        return matrix(self.table, self.quasi, "compared")

    @property
    def values(self) -> Floats:
        return matrix(self.table, [self.value], "compared")[:, 0]

    @property
    def secrets(self) -> NDArray[np.str_]:
        return np.array([str(secret) for secret in self.table[self.sensitive].to_pylist()])


def setting(
    table: pa.Table | None,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    value: str | None = None,
    k: int = 5,
    seed: int = 0,
) -> Setting:
    """The setting on the given table, one row per person, or on the people of the made-up town."""
    if table is None:
        table = townspeople(VISITS, seed)
        quasi, sensitive, value = (
            quasi or TOWN["quasi"],
            sensitive or str(TOWN["sensitive"]),
            value or str(TOWN["value"]),
        )
    if not quasi or sensitive is None or value is None:
        raise needs_columns("a comparison", "the columns", "--quasi age,hours --sensitive diagnosis --value income")
    check_columns(table, "compared", FEWEST, {"quasi": quasi, "sensitive": [sensitive], "value": [value]})
    known = matrix(table, list(quasi), "compared")
    return Setting(table, list(quasi), sensitive, value, _questions(known, seed), _unit(known), k, seed)


def _unit(known: Floats) -> Floats:
    return np.asarray((known == np.rint(known)).all(axis=0), dtype=np.float64)


def _questions(known: Floats, seed: int) -> list[Question]:
    """Boxes between two random people, in the first two columns: some large, some small."""
    draw = Simulator(seed).stream("questions")
    corners = known[draw.integers(0, len(known) - 1, 2 * QUESTIONS)]
    low, high = np.minimum(corners[::2], corners[1::2]), np.maximum(corners[::2], corners[1::2])
    low[:, 2:], high[:, 2:] = known.min(axis=0)[2:], known.max(axis=0)[2:]
    return [Question(first, last) for first, last in zip(low, high, strict=True)]
