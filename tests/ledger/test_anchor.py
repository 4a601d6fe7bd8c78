"""The anchor: an older, another or a missing ledger is noticed, before opening and while it is open."""

import fcntl
import os
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from threading import Event
from unittest.mock import Mock

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger.alone import alone
from sfumato.ledger.anchor import LENGTH, Anchor
from sfumato.ledger.book import Book
from sfumato.ledger.chain import Chain
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.places import default_anchor
from sfumato.ledger.reader import Reader
from sfumato.ledger.verifying import verified
from sfumato.ledger.vouching import re_anchor
from sfumato.schema.budget import Budget
from tests.ledger.chains import last
from tests.ledger.payments import open_ledger, payment, store
from tests.ledger.tampering import edit, rechain
from tests.ledger.workers import at_once


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


def spend(ledger: Ledger, questions: range) -> None:
    for question in questions:
        ledger.charge(payment(0.1, question=question))


def remove(path: Path) -> None:
    for part in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        part.unlink(missing_ok=True)


def copy_of(path: Path) -> bytes:
    """The ledger as a backup would keep it, with everything that is in its WAL."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.read_bytes()


def restore_in_place(path: Path, content: bytes) -> None:
    """What `cp backup people.ledger` does: the file stays the same file."""
    copy_of(path)
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()


def test_it_remembers_the_newest_entry(path: Path) -> None:
    ledger = open_ledger(path)
    receipt = ledger.charge(payment())
    store(ledger, receipt.entry)
    assert default_anchor(path).read_text() == f"{3:020d} {last(ledger.records.chain).hash}\n"
    assert default_anchor(path).stat().st_mode & 0o777 == 0o600
    ledger.close()


def test_it_never_goes_back(path: Path) -> None:
    """Two processes commit one after the other and reach the anchor in the other order."""
    slow, quick = open_ledger(path), open_ledger(path)
    anchor, late = slow.records.anchor, Mock()
    late.outlived.return_value = False
    late.check = anchor.check
    slow.records.anchor = late
    spend(slow, range(1))
    spend(quick, range(1, 3))
    before = default_anchor(path).read_text()
    anchor.advance(*late.advance.call_args.args)
    assert default_anchor(path).read_text() == before
    assert before.startswith(f"{4:020d} ")
    slow.close()
    quick.close()


def test_it_does_not_go_back_when_two_write_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(path)
    first = default_anchor(path).read_text()
    spend(ledger, range(2))
    _, early, late = ledger.records.chain.entries()
    default_anchor(path).write_text(first)
    anchor = Anchor(default_anchor(path))
    write, begun = os.pwrite, Event()

    def slowly(descriptor: int, text: bytes, offset: int) -> int:
        if text.startswith(f"{early.seq:020d}".encode()):
            begun.set()
            time.sleep(0.2)
        return write(descriptor, text, offset)

    monkeypatch.setattr(os, "pwrite", slowly)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(anchor.advance, (early.seq, early.hash), ledger.records.reader.holds)
        assert begun.wait(10)
        quick = pool.submit(anchor.advance, (late.seq, late.hash), ledger.records.reader.holds)
    assert (slow.result(), quick.result()) == (None, None)
    assert default_anchor(path).read_text() == f"{late.seq:020d} {late.hash}\n"
    ledger.close()


def test_it_may_lie_elsewhere(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "other disk"
    elsewhere.mkdir()
    open_ledger(path, anchor=elsewhere / "anchor").close()
    assert (elsewhere / "anchor").exists()
    assert not default_anchor(path).exists()
    remove(path)
    with pytest.raises(LedgerDamaged, match="is gone, but its anchor remembers it"):
        open_ledger(path, anchor=elsewhere / "anchor")


def test_an_older_copy_is_refused(path: Path) -> None:
    ledger = open_ledger(path)
    spend(ledger, range(2))
    ledger.close()
    older = path.read_bytes()
    ledger = open_ledger(path)
    spend(ledger, range(2, 5))
    ledger.close()
    remove(path)
    path.write_bytes(older)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="ends at entry 3, its anchor remembers entry 6"):
            open_ledger(path)


@pytest.mark.parametrize("questions", [1, 3, 9])
def test_an_older_copy_is_refused_while_the_ledger_is_open(path: Path, questions: int) -> None:
    """Spending on from the older copy, past the anchored entry, must not make it the true one."""
    ledger = open_ledger(path)
    spend(ledger, range(1))
    older = copy_of(path)
    spend(ledger, range(1, 4))
    restore_in_place(path, older)
    for question in range(4, 4 + questions):
        for _ in ("asked", "asked again"):
            with pytest.raises(LedgerDamaged, match="entry 5 of the ledger is no longer the one"):
                ledger.charge(payment(0.1, question=question))
    ledger.close()
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 5"):
        open_ledger(path)


def test_another_ledger_of_the_same_length_is_refused(path: Path, tmp_path: Path) -> None:
    for name in ("people.ledger", "other.ledger"):
        ledger = open_ledger(tmp_path / name)
        spend(ledger, range(2))
        ledger.close()
    shutil.copy(tmp_path / "other.ledger", path)
    with pytest.raises(LedgerDamaged, match="An older copy was put in its place"):
        open_ledger(path)


def test_a_rewritten_chain_with_matching_hashes_is_refused(path: Path) -> None:
    ledger = open_ledger(path)
    spend(ledger, range(3))
    ledger.close()
    edit(path, "UPDATE entry SET body = json_set(body, '$.digest', 'another') WHERE kind = 'charge'")
    rechain(path)
    chain = Chain(path)
    assert chain.verify() == 4
    chain.close()
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 4"):
        open_ledger(path)


@pytest.mark.parametrize("emptied", [False, True])
def test_a_deleted_ledger_does_not_refill_the_budget(path: Path, emptied: bool) -> None:
    ledger = open_ledger(path)
    spend(ledger, range(2))
    ledger.close()
    remove(path)
    if emptied:
        path.touch()
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="is gone, but its anchor remembers it"):
            open_ledger(path)


DAMAGED = pytest.mark.parametrize(
    "rest",
    [None, b"", b"rubbish", b"x" * LENGTH, b"0" * (LENGTH + 5), b"\xff" * LENGTH],
    ids=["missing", "empty", "rubbish", "letters", "long", "bytes"],
)


def damage(path: Path, rest: bytes | None) -> None:
    if rest is None:
        default_anchor(path).unlink()
    else:
        default_anchor(path).write_bytes(rest)


@DAMAGED
def test_a_missing_or_damaged_anchor_is_refused(path: Path, rest: bytes | None) -> None:
    ledger = open_ledger(path)
    spend(ledger, range(2))
    ledger.close()
    damage(path, rest)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="missing or unreadable") as refused:
            open_ledger(path)
        assert "--re-anchor" in refused.value.hint


@DAMAGED
@pytest.mark.parametrize("act", ["charge", "verify", "history", "advance"])
def test_what_was_read_in_an_anchor_is_written_back(path: Path, rest: bytes | None, act: str) -> None:
    """Whoever has a ledger open knows better than what is left of its anchor; it is told, and then goes on."""
    ledger = open_ledger(path)
    spend(ledger, range(2))
    before = default_anchor(path).read_bytes()
    acts = {
        "charge": lambda: ledger.charge(payment(0.1, question=7)),
        "verify": ledger.verify,
        "history": ledger.history,
        "advance": lambda: ledger.records.anchor.advance((3, "0" * 64), ledger.records.reader.holds),
    }
    damage(path, rest)
    with pytest.raises(LedgerDamaged, match="no longer knew the entry that was read in it before"):
        acts[act]()
    assert default_anchor(path).read_bytes() == before
    acts[act]()
    ledger.close()


def test_an_older_anchor_is_not_believed_by_whoever_read_the_newer(path: Path) -> None:
    ledger = open_ledger(path)
    older = default_anchor(path).read_bytes()
    spend(ledger, range(2))
    before = default_anchor(path).read_bytes()
    default_anchor(path).write_bytes(older)
    with pytest.raises(LedgerDamaged, match="no longer knew"):
        ledger.charge(payment(0.1, question=7))
    assert default_anchor(path).read_bytes() == before
    ledger.close()


def test_an_anchor_is_forced_to_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is shown: after a power cut it knows of every answer. Of a charge alone, nothing was shown."""
    ledger, synced = open_ledger(path), []
    force = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.pread(descriptor, 20, 0))
        force(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    charge = ledger.charge(payment()).entry
    assert synced == []
    store(ledger, charge)
    assert synced == [f"{3:020d}".encode()]
    ledger.charge(payment())
    assert synced == [f"{3:020d}".encode()] * 2, "who repeats it may be quicker than whoever stored it"
    ledger.limit_analyst("press", Fraction(1, 2))
    assert synced[-1] == f"{4:020d}".encode()
    ledger.close()


def test_a_newer_anchor_of_somebody_elses_is_forced_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have charged after this release was kept, and moved the anchor past it without waiting for the disk."""
    ledger, other, synced = open_ledger(path), open_ledger(path), []
    charge = ledger.charge(payment()).entry
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.pread(descriptor, 20, 0)))
    advance = ledger.records.anchor.advance

    class Late(Anchor):
        def advance(self, *given, **named):
            spend(other, range(1, 2))
            advance(*given, **named)

    ledger.records.anchor = Late(default_anchor(path))
    store(ledger, charge)
    assert synced == [f"{4:020d}".encode()]
    ledger.close()
    other.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_the_anchor_is_held_does_not_keep_its_lock(path: Path) -> None:
    """The child has a copy of the descriptor, lives on, and never touches it."""
    anchor = Anchor(path)
    ready, stay = os.pipe()

    def fork(_: int) -> int:
        child = os.fork()
        if child == 0:
            os.close(stay)
            os.read(ready, 1)
            os._exit(0)
        return child

    child = alone(path, fork)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(anchor.remembered)
        try:
            assert waiting.result(10) is None
        finally:
            os.close(stay)
            os.waitpid(child, 0)
            os.close(ready)


@pytest.mark.parametrize("rest", [None, b"", b"rubbish", b"0" * (LENGTH + 5)])
def test_the_owner_may_vouch_for_a_ledger_whose_anchor_is_lost_or_damaged(path: Path, rest: bytes | None) -> None:
    """That is what the message about such an anchor advises."""
    ledger = open_ledger(path)
    spend(ledger, range(2))
    ledger.close()
    before = default_anchor(path).read_text()
    default_anchor(path).unlink()
    if rest is not None:
        default_anchor(path).write_bytes(rest)
    re_anchor(path)
    assert default_anchor(path).read_text() == before
    ledger = open_ledger(path)
    assert ledger.verify() == 3
    ledger.close()


def test_vouching_never_overrules_an_anchor(path: Path) -> None:
    ledger = open_ledger(path)
    spend(ledger, range(1))
    ledger.close()
    older = path.read_bytes()
    ledger = open_ledger(path)
    spend(ledger, range(1, 3))
    ledger.close()
    remove(path)
    path.write_bytes(older)
    before = default_anchor(path).read_text()
    re_anchor(path)
    assert default_anchor(path).read_text() == before
    with pytest.raises(LedgerDamaged):
        open_ledger(path)


def test_vouching_needs_a_sound_ledger(path: Path) -> None:
    with pytest.raises(LedgerDamaged, match="not a readable ledger"):
        re_anchor(path)
    assert not path.exists()
    ledger = open_ledger(path)
    spend(ledger, range(2))
    ledger.close()
    default_anchor(path).unlink()
    edit(path, "UPDATE entry SET analyst = 'bob' WHERE seq = 2")
    with pytest.raises(LedgerDamaged, match="does not match its hash"):
        re_anchor(path)
    assert not default_anchor(path).exists()


def test_an_empty_ledger_has_nothing_to_vouch_for(path: Path) -> None:
    path.touch()
    re_anchor(path)
    assert not default_anchor(path).exists()
    open_ledger(path).close()


def test_an_anchor_that_cannot_be_opened_is_reported(path: Path, tmp_path: Path) -> None:
    for place in (tmp_path / "missing" / "anchor", tmp_path):
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            open_ledger(path, anchor=place)
    assert not path.exists()


@pytest.mark.parametrize("written", [OSError(28, "No space left on device"), 20])
def test_an_anchor_that_cannot_be_written_lets_nothing_out(path: Path, written: object, monkeypatch) -> None:
    """The charge stands and the question can be asked again; no receipt exists meanwhile."""
    ledger = open_ledger(path)

    def pwrite(*_: object) -> int:
        if isinstance(written, OSError):
            raise written
        return written

    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "pwrite", pwrite)
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            ledger.charge(payment())
    receipt = ledger.charge(payment())
    assert receipt.entry == 2
    assert len(ledger.history()) == 1
    ledger.close()


def test_whoever_may_only_read_an_anchor_does_not_hold_everybody_for_ever(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.ledger.alone.LONGEST_WAIT", 0.1)
    ledger = open_ledger(path)
    descriptor = os.open(default_anchor(path), os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    for act in (lambda: ledger.charge(payment()), lambda: open_ledger(path)):
        with pytest.raises(LedgerDamaged, match=r"another program keeps the anchor .* locked"):
            act()
    os.close(descriptor)
    assert ledger.charge(payment()).entry == 2
    ledger.close()


@pytest.mark.parametrize("wait", range(1, 7))
@pytest.mark.parametrize("way", ["replaced", "removed"])
def test_an_anchor_replaced_while_somebody_waits_for_it_is_not_written_into_the_void(
    path: Path, wait: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be locked and written has no name any more. A charge locks it six times, and any may be the one."""
    ledger, anchor, locks = open_ledger(path), default_anchor(path), []
    flock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        if how & fcntl.LOCK_EX:
            locks.append(how)
            if len(locks) == wait:
                content = anchor.read_bytes()
                anchor.unlink()
                if way == "replaced":
                    anchor.write_bytes(content)
        flock(descriptor, how)

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", late)
        if way == "replaced":
            ledger.charge(payment())
        else:
            with pytest.raises(LedgerDamaged, match="no longer knew"):
                ledger.charge(payment())
    if way == "removed":
        ledger.charge(payment())
    assert len(locks) > wait
    newest = ledger.verify()
    assert newest == 2 + (way == "removed" and wait > 3)  # what was written before it was gone is resumed
    assert anchor.read_text().startswith(f"{newest:020d} ")
    ledger.close()


# ---- two copies of one ledger, one anchor


def copies(path: Path) -> tuple[Path, Path]:
    """Two files, byte for byte the same."""
    ledger = open_ledger(path)
    spend(ledger, range(1))
    ledger.close()
    other = path.with_name("copy.ledger")
    shutil.copy(path, other)
    return path, other


def write_while_another_does(ledger: Ledger, other: Ledger, entries: int) -> None:
    with ledger.records.writing() as (chain, _):
        for _ in range(entries):
            chain.append("analyst", {"when": "", "epsilon": "1"}, analyst="press")
        spend(other, range(1, 2))


def test_of_two_copies_that_write_at_once_one_is_told_that_it_is_not_the_anchored(path: Path) -> None:
    """Both found the anchored entry before they wrote their own; the anchor comes to know one of them."""
    one, other = (open_ledger(each, anchor=default_anchor(path)) for each in copies(path))
    with pytest.raises(LedgerDamaged, match="the anchor remembers an entry 3 that is not in this ledger"):
        write_while_another_does(other, one, 1)
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 3"):
        spend(other, range(2, 3))
    spend(one, range(3, 4))
    assert one.verify() == 4
    one.close()
    other.close()


def test_a_copy_that_is_longer_does_not_take_the_anchor_over(path: Path) -> None:
    one, other = (open_ledger(each, anchor=default_anchor(path)) for each in copies(path))
    with pytest.raises(LedgerDamaged, match="the anchor remembers an entry 3 that is not in this ledger"):
        write_while_another_does(other, one, 2)
    assert default_anchor(path).read_text().startswith(f"{3:020d} {last(one.records.chain).hash}")
    one.close()
    other.close()


@pytest.mark.slow
def test_two_processes_on_two_copies_share_one_budget(path: Path) -> None:
    """Ten tries each at 1/10, of which 9/10 are left: the copies together are granted no more than one ledger."""
    first, other = copies(path)
    granted = [int(line) for line in at_once("charge-copies", 2, first, other, default_anchor(path))]
    assert sum(granted) <= 9
    assert max(granted) >= 1


def test_a_process_that_comes_late_to_the_anchor_is_not_refused(path: Path) -> None:
    """It knows of no newer entry yet; the file has it."""
    slow, quick = open_ledger(path), open_ledger(path)
    with slow.records.writing() as (chain, _):
        chain.append("analyst", {"when": "", "epsilon": "1"}, analyst="press")
    with slow.records.reading() as book:
        newest = book.seq, book.hash
    spend(quick, range(2))
    slow.records.anchor.advance(newest, slow.records.reader.holds)
    assert default_anchor(path).read_text().startswith(f"{4:020d} {last(quick.records.chain).hash}")
    slow.close()
    quick.close()


def test_an_anchor_that_moves_while_it_is_compared_is_compared_again(path: Path) -> None:
    ledger, other = open_ledger(path), open_ledger(path)
    asked: list[int] = []

    def holds(seq: int, digest: str) -> bool:
        if not asked:
            spend(other, range(1))
        asked.append(seq)
        return ledger.records.reader.holds(seq, digest)

    ledger.records.anchor.advance((1, last(ledger.records.chain).hash), holds)
    assert asked == [1, 2]
    assert default_anchor(path).read_text().startswith(f"{2:020d} ")
    ledger.close()
    other.close()


def test_verifying_while_others_write_is_no_alarm(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they add after the last entry was read is unknown to this verification, and so is their anchor."""
    ledger, other = open_ledger(path), open_ledger(path)

    def slowly(reader: Reader) -> Book:
        book = verified(reader)
        spend(other, range(1))
        return book

    monkeypatch.setattr("sfumato.ledger.records.verified", slowly)
    assert ledger.verify() == 1
    ledger.close()
    other.close()


def test_threads_do_not_wait_for_each_other_in_a_circle(path: Path) -> None:
    """One holds the ledger and wants the anchor; another must not hold the anchor and want the ledger."""
    ledger = open_ledger(path, budget=Budget(100))
    with ThreadPoolExecutor(8) as pool:
        paid = [payment(0.1, budget=Budget(100), question=number) for number in range(80)]
        assert len(list(pool.map(ledger.charge, paid, timeout=60))) == 80
    assert ledger.verify() == 81
    ledger.close()


def test_eight_processes_that_start_a_ledger_start_one(path: Path) -> None:
    identities = at_once("open", 8, path)
    assert len(identities) == 8
    assert len(set(identities)) == 1
    ledger = open_ledger(path)
    assert ledger.verify() == 1
    ledger.close()


def test_a_process_that_died_before_its_first_anchor_leaves_a_usable_ledger(path: Path) -> None:
    open_ledger(path).close()
    default_anchor(path).write_bytes(b"")
    ledger = open_ledger(path)
    spend(ledger, range(1))
    assert ledger.verify() == 2
    ledger.close()
