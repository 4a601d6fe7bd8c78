"""No row decides whether a question fails: what might fail on single rows is refused before anybody pays."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused

ROWS = pa.table(
    {
        "x": pa.array([4, -4, 0, None, -(2**62)], pa.int64()),
        "real": [4.0, -4.0, float("nan"), float("-inf"), 1e308],
        "note": ["2024-01-31", "no date", "", None, "1.5"],
        "flag": [True, False, None, True, False],
        "seen": ["2024-01-31", "no date", "9999-12-31", None, "0001-01-01"],
    }
)
COLUMNS = {
    "x": sf.Int(-10, 10),
    "real": sf.Float(-10, 10),
    "note": sf.Text(),
    "flag": sf.Category([True, False]),
    "seen": sf.Date(),
}
REFUSED = [
    *(f"{part}(note) = 1" for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DAYOFYEAR")),
    "flag = 1",
    "flag > 0.5",
    "note = 1",
    "ABS(note) = 1",
    "SQRT(note) = 1",
    "note + 1 = 2",
    "DATE_DIFF('day', note, seen) = 1",
    "DATE_TRUNC('month', note) = '2024-01-01'",
]
ANSWERED = [
    "SQRT(x) > 0",
    "SQRT(real) > 0",
    "LN(x) > 0",
    "LOG10(real) > 0",
    "EXP(real) > 0",
    "POWER(real, 0.5) > 0",
    "POWER(x, -3) > 0",
    "1 / x > 0",
    "MOD(real, 3) > 0",
    "ABS(x) > 0",
    "YEAR(seen) = 2024",
    "DATE_TRUNC('month', seen) = '2024-01-01'",
    "flag = true",
    "SUBSTRING(note, 1, 4) = '2024'",
    "ROUND(real, 2) > 0",
]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[sf.Session]:
    with sf.protect(
        ROWS, unit=sf.Row(), columns=COLUMNS, budget=sf.Budget(epsilon=10**6), ledger=tmp_path / "rows.ledger"
    ) as session:
        yield session


@pytest.mark.parametrize("condition", REFUSED)
def test_what_might_fail_on_a_row_is_refused_and_costs_nothing(session: sf.Session, condition: str) -> None:
    with pytest.raises(Refused):
        session.ask(f"SELECT COUNT(*) AS n FROM data WHERE {condition}", spend=1)
    assert session.history() == []


def test_everything_else_is_answered_whatever_a_row_holds(session: sf.Session) -> None:
    for condition in ANSWERED:
        session.ask(f"SELECT COUNT(*) AS n FROM data WHERE {condition}", spend=1)
