"""The history is read on from where it was read to; a changed earlier entry is still found by whoever verifies."""

from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import Entry
from tests.ledger.payments import open_ledger, payment, store
from tests.ledger.tampering import edit, opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def test_only_what_was_added_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, read = open_ledger(path), []
    entries = Chain.entries

    def counted(chain: Chain, *first: int) -> Any:
        for entry in entries(chain, *first):
            read.append(entry.seq)
            yield entry

    for question in range(5):
        store(ledger, ledger.charge(payment(0.1, question=question)).entry)
    assert len(ledger.history()) == 5
    monkeypatch.setattr(Chain, "entries", counted)
    for _ in range(3):
        assert [line.entry for line in ledger.history("research")] == [2, 4, 6, 8, 10]
    assert read == [11, 11, 11], "the newest alone, which proves that it is the same ledger"
    ledger.charge(payment(0.1, question=5))
    read.clear()
    assert ledger.history()[-1].entry == 12
    assert ledger.history("press") == []
    assert set(read) == {12}
    ledger.close()


def test_hashes_are_computed_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, hashed = open_ledger(path), []
    expected = Entry.expected_hash
    for question in range(8):
        ledger.charge(payment(0.1, question=question))
    ledger.history()
    monkeypatch.setattr(
        Entry, "expected_hash", lambda entry, before: hashed.append(entry.seq) or expected(entry, before)
    )
    ledger.history()
    assert hashed == [9]
    ledger.close()


def test_what_was_changed_before_is_noticed_by_verify(path: Path) -> None:
    ledger = open_ledger(path)
    for question in range(3):
        ledger.charge(payment(0.1, question=question))
    listed = ledger.history()
    edit(path, "UPDATE entry SET body = replace(body, '1/10', '1/11') WHERE seq = 2")
    assert ledger.history() == listed, "as it was when it was read and checked"
    with pytest.raises(LedgerDamaged, match="entry 2 of the ledger does not match its hash"):
        ledger.verify()
    ledger.close()


def test_what_was_changed_before_it_was_listed_is_noticed_at_once(path: Path) -> None:
    ledger = open_ledger(path)
    for question in range(3):
        ledger.charge(payment(0.1, question=question))
    edit(path, "UPDATE entry SET body = replace(body, '1/10', '1/11') WHERE seq = 2")
    with pytest.raises(LedgerDamaged, match="entry 2 of the ledger does not match its hash"):
        ledger.history()
    ledger.close()


@pytest.mark.parametrize("gone", [3, 4])
def test_a_charge_that_was_taken_out_before_it_was_listed_is_missed(path: Path, gone: int) -> None:
    ledger = open_ledger(path)
    for question in range(3):
        ledger.charge(payment(0.1, question=question))
    removed = "DROP TRIGGER no_delete", f"DELETE FROM entry WHERE seq = {gone}"
    with opened(path) as connection:
        trigger = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'no_delete'").fetchone()[0]
        for statement in (*removed, trigger):
            connection.execute(statement)
    with pytest.raises(LedgerDamaged):
        ledger.history()
    ledger.close()
