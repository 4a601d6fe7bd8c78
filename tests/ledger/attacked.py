"""A ledger whose limit is spent, what an attacker still gets from it, and its checks, to be taken out one by one."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, LedgerDamaged
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import Entry
from sfumato.ledger.pen import Pen
from tests.ledger.asking import question, write_table
from tests.ledger.tampering import rows

SPEND = 0.5


def session_on(folder: Path, analyst: str = "mallory") -> sf.Session:
    return sf.protect(
        folder / "people.parquet",
        unit=sf.Person("user_id", max_rows=1),
        columns={"age": sf.Int(17, 90)},
        budget=sf.Budget(1),
        analyst=analyst,
    )


def spent(folder: Path) -> Path:
    """Entries: open, analyst, then three charges, each with its release. All of the limit of 1 is spent."""
    write_table(folder)
    with session_on(folder) as session, session_on(folder, "press") as other:
        session._ledger.limit_analyst("mallory", Fraction(9, 10))
        first = session.ask(question(1), spend=SPEND, request="id-1")
        (folder / "first.txt").write_text(str(first.rows))
        session.ask(question(2), spend=0.4)
        other.ask(question(2), spend=0.1)
    return folder


def ledger_of(folder: Path) -> Path:
    return folder / "people.ledger"


def gained(folder: Path, found: set[str] | None = None) -> set[str]:
    """What an analyst who has spent everything still gets: budget, or other noise for what was paid once."""
    found = set() if found is None else found
    with session_on(folder) as session:
        for asked, spend in ((question(3), 0.05), (question(4), SPEND)):
            try:
                session.ask(asked, spend=spend)
                found.add("budget")
            except BudgetExceeded:
                pass
        charges = len(rows_of(folder, "charge"))
        answers = {str(session.ask(question(1), spend=SPEND).rows) for _ in range(3)}
        if len(rows_of(folder, "charge")) == charges and answers != {(folder / "first.txt").read_text()}:
            found.add("noise")
    return found


def rows_of(folder: Path, kind: str) -> list[Entry]:
    return [entry for entry in rows(ledger_of(folder)) if entry.kind == kind]


def assert_noticed(folder: Path) -> None:
    with pytest.raises(LedgerDamaged), session_on(folder) as session:
        session._ledger.verify()


def without_layout(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("sfumato.ledger.chain.is_laid_out", lambda connection, path: True)


def without_guard(patch: pytest.MonkeyPatch) -> None:
    """As on a system that has no locks that belong to a descriptor."""
    patch.setattr("sfumato.ledger.guard.SET_LOCK", None)


def without_reading_back(patch: pytest.MonkeyPatch) -> None:
    append = Chain.append

    def forgetful(chain: Chain, entry: Entry) -> None:
        append(chain, entry)
        chain._appended.clear()

    patch.setattr(Chain, "append", forgetful)


def without_finding_it_in_the_book(patch: pytest.MonkeyPatch) -> None:
    append = Pen.append

    def forgetful(pen: Pen, *given: Any, **named: Any) -> Entry:
        entry = append(pen, *given, **named)
        pen.written.clear()
        return entry

    patch.setattr(Pen, "append", forgetful)


def without_rules(patch: pytest.MonkeyPatch) -> None:
    for module in ("book", "bought", "ledger"):
        patch.setattr(f"sfumato.ledger.{module}.demand", lambda met, entry, otherwise: None)


def without_hashes(patch: pytest.MonkeyPatch) -> None:
    expected = Entry.expected_hash
    patch.setattr(Entry, "expected_hash", lambda entry, previous: entry.hash or expected(entry, previous))


def without_anchor(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Anchor, "check", lambda anchor, read, ledger, path: read())
    patch.setattr(Anchor, "advance", lambda anchor, newest, holds, forced=True: None)


def without_marks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("sfumato.ledger.records.is_marked", lambda entry, before, key: True)
