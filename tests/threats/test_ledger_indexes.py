"""Indexes of a ledger that lie, made by somebody who may write its file and not its anchor; all texts are as they were.

Each is done to a real file; then a real session asks. It must be refused, or give neither budget nor fresh noise; and
verifying must notice. The twin is a ledger that trusts indexes.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import BudgetExceeded, LedgerDamaged
from tests.ledger import careless
from tests.ledger.asking import question
from tests.ledger.attacked import SPEND, gained, ledger_of, rows_of, session_on, spent
from tests.ledger.chains import last
from tests.ledger.tampering import hide, misfile, rows

Tamper = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return spent(tmp_path)


def hide_the_last_charges(path: Path) -> None:
    hide(path, "seq > 4", "by_kind")


def hide_the_analysts_charges(path: Path) -> None:
    hide(path, "seq > 4", "by_analyst")


def hide_the_releases(path: Path) -> None:
    hide(path, "kind = 'release'", "by_kind", "one_release_a_charge")


def hide_everything(path: Path) -> None:
    hide(path, "seq > 1", "by_kind", "by_analyst", "by_question", "one_charge_a_request", "one_release_a_charge")


def file_a_charge_under_another_question(path: Path) -> None:
    """The charge of question 1 is found as the charge of question 3, and resumed for it."""
    asked = rows(path)[2].question
    other = "f" * 64
    misfile(
        path,
        f"UPDATE entry SET question = '{other}' WHERE seq = 3",
        f"UPDATE entry SET question = '{asked}' WHERE seq = 3",
        "by_question",
    )


def file_a_charge_under_another_request(path: Path) -> None:
    misfile(
        path,
        "UPDATE entry SET request = 'id-9' WHERE seq = 3",
        "UPDATE entry SET request = 'id-1' WHERE seq = 3",
        "one_charge_a_request",
    )


def file_a_release_under_another_charge(path: Path) -> None:
    """The release of the second charge is found as that of the first."""
    misfile(
        path,
        "UPDATE entry SET charge = CASE seq WHEN 4 THEN 95 ELSE 3 END WHERE seq IN (4, 6)",
        "UPDATE entry SET charge = CASE seq WHEN 4 THEN 3 ELSE 5 END WHERE seq IN (4, 6)",
        "one_release_a_charge",
    )


def file_the_limit_under_another_kind(path: Path) -> None:
    """Nobody finds that mallory is limited."""
    misfile(
        path,
        "UPDATE entry SET kind = 'x' WHERE seq = 2",
        "UPDATE entry SET kind = 'analyst' WHERE seq = 2",
        "by_analyst",
    )


def asks(path: Path, condition: str, *values: object) -> int | None:
    found = careless.last(path, condition, *values)
    return None if found is None else found.seq


BOUGHT = "kind = 'release' AND charge = ?"
LYING: dict[str, tuple[Tamper, Callable[[Path], bool]]] = {
    "older-charges": (hide_the_last_charges, lambda path: careless.total(path) == Fraction(1, 2)),
    "older-charges-of-an-analyst": (
        hide_the_analysts_charges,
        lambda path: careless.analyst_total(path, "mallory") == Fraction(1, 2),
    ),
    "no-releases": (hide_the_releases, lambda path: asks(path, BOUGHT, 3) is None),
    "nothing": (hide_everything, lambda path: careless.total(path) == 0),
    "another-question": (
        file_a_charge_under_another_question,
        lambda path: asks(path, "kind = 'charge' AND analyst = 'mallory' AND question = ?", "f" * 64) == 3,
    ),
    "another-request": (
        file_a_charge_under_another_request,
        lambda path: asks(path, "kind = 'charge' AND analyst = 'mallory' AND request = 'id-9'") == 3,
    ),
    "another-release": (file_a_release_under_another_charge, lambda path: asks(path, BOUGHT, 3) == 6),
    "no-limit": (
        file_the_limit_under_another_kind,
        lambda path: asks(path, "kind = 'analyst' AND analyst = 'mallory'") is None,
    ),
}


@pytest.mark.parametrize("name", LYING)
def test_an_index_that_lies_gives_nothing_and_is_noticed(folder: Path, name: str) -> None:
    tamper, deceived = LYING[name]
    path, before = ledger_of(folder), rows(ledger_of(folder))
    assert not deceived(path)
    tamper(path)
    assert rows(path) == before, "the table itself is as it was"
    assert deceived(path), "who trusts the index is deceived"
    assert careless.verify(path) == len(before), "and every hash is right"
    assert gained(folder) == set()
    with session_on(folder) as session:
        assert session.ask(question(1), spend=SPEND, request="id-1").cached
        with pytest.raises(LedgerDamaged, match="contradict each other"):
            session._ledger.verify()


def test_one_charge_has_one_release_however_often_the_indexes_forget_it(folder: Path) -> None:
    told = set()
    for _ in range(5):
        hide_the_releases(ledger_of(folder))
        assert asks(ledger_of(folder), BOUGHT, 3) is None
        with session_on(folder) as session:
            told.add(str(session.ask(question(1), spend=SPEND).rows))
    assert told == {(folder / "first.txt").read_text()}
    assert len(rows_of(folder, "release")) == 3


def test_no_statement_of_the_ledger_asks_an_index(folder: Path) -> None:
    seen: list[str] = []
    with session_on(folder) as session:
        connection = session._ledger.records.chain._connect()
        connection.set_trace_callback(seen.append)
        session.ask(question(1), spend=SPEND)
        session.history()
        with pytest.raises(BudgetExceeded):
            session.ask(question(5), spend=SPEND)
        last(session._ledger.records.chain)
        connection.set_trace_callback(None)
        reading = [statement for statement in seen if "FROM main.entry" in statement]
        assert len(reading) > 5
        for statement in reading:
            plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"))
            assert re.fullmatch(
                r"SCAN (main\.)?entry|SEARCH (main\.)?entry USING INTEGER PRIMARY KEY \(rowid[=>]\?\)", plan
            )
