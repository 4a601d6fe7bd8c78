"""One table, one set of questions, and an attacker with a register: the same for every method.

Some people are held out before anything is published. The register knows them like everybody else, so what the
attacker learns about them he learns without their records: that is the baseline of every method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.drawn import drawn
from sfumato.attacks.matrices import matrix
from sfumato.attacks.staging import townspeople
from sfumato.attacks.wordings import needs_columns, rows_drawn, too_many_values
from sfumato.simulate import Simulator

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Strings = NDArray[np.str_]

QUESTIONS = 60
FEWEST, MOST_SECRETS = 100, 100
# One person in so many is held out. Larger tables are compared on so many people, so many of whom are attacked.
HELD_OUT, MOST_PEOPLE, MOST_ATTACKED = 3, 15_000, 2_000
TOWN = {"quasi": ("age", "education_num", "hours_per_week"), "sensitive": "marital_status", "value": "income"}
VISITS = 9_000


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
class People:
    """Persons of the register: what it knows of each, and what is true. own: the published row of each, -1 for none."""

    known: Floats
    values: Floats
    secrets: Strings
    own: Integers


@dataclass(frozen=True, slots=True)
class Setting:
    """Persons with numeric quasi-identifiers, a sensitive column, and a value that is nobody's business.

    table: what is published, in some way. members, outsiders: who is attacked. low, high: the range of each
    quasi-identifier, and possible: the sensitive values, as a policy declares them.
    """

    table: pa.Table
    quasi: list[str]
    sensitive: str
    value: str
    questions: list[Question]
    unit: Floats  # 1 where a column holds whole numbers: 40 then stands for everything from 40 to 41
    k: int
    seed: int
    members: People
    outsiders: People
    low: Floats
    high: Floats
    possible: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def known(self) -> Floats:
        """What the register knows about everybody whose record is published."""
        return matrix(self.table, self.quasi, "compared")

    @property
    def values(self) -> Floats:
        return matrix(self.table, [self.value], "compared")[:, 0]

    @property
    def secrets(self) -> Strings:
        return _texts(self.table, self.sensitive)


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
    roles = {"quasi": list(quasi), "sensitive": [sensitive], "value": [value]}
    rows = drawn(table, "compared", FEWEST, roles, numeric=[*quasi, value], seed=seed)
    if (found := len(rows.table[sensitive].unique())) > MOST_SECRETS:
        raise too_many_values(sensitive, found, MOST_SECRETS)
    people = rows.table.slice(0, MOST_PEOPLE)
    held_out = people.num_rows // HELD_OUT
    outside, published = people.slice(0, held_out), people.slice(held_out)
    everybody, known = matrix(people, list(quasi), "compared"), matrix(published, list(quasi), "compared")
    drew = (rows_drawn(people.num_rows, rows.table.num_rows),) if people.num_rows < rows.table.num_rows else ()
    return Setting(
        published,
        list(quasi),
        sensitive,
        value,
        _questions(known, seed),
        _unit(known),
        k,
        seed,
        _attacked(published, quasi, sensitive, value, in_it=True),
        _attacked(outside, quasi, sensitive, value, in_it=False),
        everybody.min(axis=0),
        everybody.max(axis=0),
        tuple(sorted(set(_texts(people, sensitive).tolist()))),
        (*rows.notes, *drew),
    )


def _attacked(table: pa.Table, quasi: Sequence[str], sensitive: str, value: str, *, in_it: bool) -> People:
    """The first rows, which are in random order."""
    some = table.slice(0, MOST_ATTACKED)
    places = np.arange(some.num_rows, dtype=np.int64)
    return People(
        matrix(some, list(quasi), "compared"),
        matrix(some, [value], "compared")[:, 0],
        _texts(some, sensitive),
        places if in_it else np.full_like(places, -1),
    )


def _texts(table: pa.Table, name: str) -> Strings:
    return np.array([str(value) for value in table[name].to_pylist()])


def _unit(known: Floats) -> Floats:
    return np.asarray((known == np.rint(known)).all(axis=0), dtype=np.float64)


def _questions(known: Floats, seed: int) -> list[Question]:
    """Boxes between two random people, in the first two columns: some large, some small."""
    draw = Simulator(seed).stream("questions")
    corners = known[draw.integers(0, len(known) - 1, 2 * QUESTIONS)]
    low, high = np.minimum(corners[::2], corners[1::2]), np.maximum(corners[::2], corners[1::2])
    low[:, 2:], high[:, 2:] = known.min(axis=0)[2:], known.max(axis=0)[2:]
    return [Question(first, last) for first, last in zip(low, high, strict=True)]
