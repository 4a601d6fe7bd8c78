"""Corners of the ledger's book that are met by broken disks, other systems and children of a fork alone."""

import fcntl
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger import disk, forks, guard, starting
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.chain import Chain
from sfumato.ledger.listing import History
from tests.ledger.payments import open_ledger, payment, store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def test_a_disk_that_cannot_be_forced_lets_nothing_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(path)
    charge = ledger.charge(payment()).entry

    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fails)
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            store(ledger, charge)
    ledger.close()


def test_an_anchor_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LedgerDamaged):
        Anchor(tmp_path / "a.anchor")._read(-1)


def test_a_ledger_that_is_gone_while_its_anchor_is_there_is_not_read(path: Path) -> None:
    ledger = open_ledger(path)
    store(ledger, ledger.charge(payment()).entry)
    anchor = ledger.records.anchor
    ledger.close()
    with pytest.raises(LedgerDamaged):
        anchor.check(lambda: pytest.fail("it was read"), path.with_name("gone.ledger"), "gone.ledger")


def test_where_a_disk_has_a_memory_of_its_own_that_is_emptied_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda descriptor, what: asked.append((descriptor, what)))
    disk.force(7)
    assert asked == [(7, 51)]


def test_in_a_child_locks_that_were_a_threads_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs in children is not seen by whoever measures: here the same by itself."""
    monkeypatch.setattr(forks, "_KNOWN", forks._Known())
    told: list[bool] = []
    forks._KNOWN.told.append(SimpleNamespace(after_fork=told.append))  # type: ignore[arg-type]
    before = forks._KNOWN.growing
    forks._in_child()
    assert told == [True]
    assert forks._KNOWN.growing is not before
    registry = guard._Registry()
    before = registry.changing
    registry.unlock()
    assert registry.changing is not before


def test_a_connection_that_a_fork_has_brought_is_left_to_the_parent(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain, closed = Chain(path), []
    with monkeypatch.context() as child:
        child.setattr(Chain, "_inherited", lambda _: True)
        child.setattr(Chain, "_disconnect", lambda _: closed.append(1))
        chain.__del__()
    assert closed == []
    chain.close()


def test_a_ledger_that_cannot_be_looked_at_is_reported(path: Path) -> None:
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        starting._look(path, path)


@pytest.mark.parametrize(("entries", "refused"), [([1, 2, 3], False), ([1], True)])
def test_a_history_is_that_of_the_book_and_no_longer(entries: list[int], refused: bool) -> None:
    """Entries that came after the book was read are not listed yet; one that is missing is noticed."""
    book: Any = SimpleNamespace(seq=2, proves=lambda _: True)
    found = [SimpleNamespace(seq=seq, kind="open", content={}) for seq in entries]
    listing = History()
    if refused:
        with pytest.raises(LedgerDamaged):
            listing.lines(book, lambda _: found)  # type: ignore[arg-type,return-value]
    else:
        assert listing.lines(book, lambda _: found) == []  # type: ignore[arg-type,return-value]
        assert listing._read == 2
