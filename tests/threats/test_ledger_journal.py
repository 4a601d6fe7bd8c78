"""A journal of SQLite's beside a ledger: SQLite itself, run by whoever opens the ledger, would remove the anchor.

The attacker may write in the ledger's folder and not in that of the anchor, and may lay the journal there at any
moment: whoever holds SQLite's locks on the file keeps whoever opens it waiting, between looking for a journal and
SQLite's own look. Where the system has locks that belong to a descriptor, SQLite never takes one for its own.
"""

import fcntl
import os
import sqlite3
import struct
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import LedgerDamaged
from sfumato.ledger import chain as chain_module
from sfumato.ledger import guard, starting
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.places import default_anchor
from sfumato.ledger.vouching import re_anchor
from tests.ledger.asking import question, write_table
from tests.ledger.attacked import without_guard
from tests.ledger.payments import in_child, open_ledger, payment
from tests.ledger.tampering import edit, opened

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
GUARDED = pytest.mark.skipif(guard.SET_LOCK is None, reason="no locks that belong to a descriptor")
PENDING, SHARED = 0x40000000, 0x40000002

MAGIC = bytes.fromhex("d9d505f920a163d7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All is spent; then the ledger is cut back to its first entry, and a journal names the anchor."""
    write_table(tmp_path)
    (tmp_path / "safe").mkdir()
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=1)
    edit(tmp_path / "people.ledger", "DELETE FROM entry WHERE seq > 1")
    return tmp_path


def session_on(folder: Path) -> sf.Session:
    return sf.protect(
        folder / "people.parquet",
        unit=sf.Person("user_id", max_rows=1),
        columns={"age": sf.Int(17, 90)},
        budget=sf.Budget(1),
        anchor=anchor_of(folder),
    )


def anchor_of(folder: Path) -> Path:
    return folder / "safe" / "people.anchor"


def plant(folder: Path, name: str = "people.ledger") -> Path:
    """A journal that a transaction over several files would leave, to be finished by whoever comes next."""
    ledger = folder / name
    return plant_beside(ledger, anchor_of(folder))


def plant_beside(ledger: Path, anchor: Path) -> Path:
    content, name = ledger.read_bytes(), os.fsencode(anchor)
    (page,) = struct.unpack(">H", content[16:18])
    header = (MAGIC + struct.pack(">IIIII", 0, 1, len(content) // page, 512, page)).ljust(512, b"\0")
    check = sum(byte if byte < 128 else byte - 256 for byte in name) & 0xFFFFFFFF
    tail = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), check) + MAGIC
    journal = ledger.with_name(f"{ledger.name}-journal")
    journal.write_bytes(header + tail)
    return journal


def test_a_planted_journal_is_refused_and_the_anchor_stays(folder: Path) -> None:
    before, journal = anchor_of(folder).read_bytes(), plant(folder)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match=r"people\.ledger-journal lies beside the ledger"):
            session_on(folder)
    assert anchor_of(folder).read_bytes() == before
    journal.unlink()
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 3"):
        session_on(folder)


def test_one_planted_after_it_was_looked_for_does_not_help_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a guard SQLite removes the anchor; this process has read it before, writes it back, and refuses."""
    without_guard(monkeypatch)
    before, prepare = anchor_of(folder).read_bytes(), starting.prepare_place

    def late(file: Path, path: Path) -> None:
        prepare(file, path)
        plant(folder)

    monkeypatch.setattr("sfumato.ledger.chain.prepare_place", late)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="no longer knew the entry that was read in it before"):
            session_on(folder)
        assert anchor_of(folder).read_bytes() == before
    monkeypatch.undo()
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 3"):
        session_on(folder)


def test_the_twin_spends_everything_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(folder)
    without_guard(monkeypatch)
    monkeypatch.setattr("sfumato.ledger.chain.prepare_place", lambda file, path: None)
    monkeypatch.setattr(Anchor, "_trusted", Anchor._read)
    with session_on(folder) as session:
        session.ask(question(2), spend=1)
        assert session._ledger.verify() == 3


# ---- laid there later, at any moment


def before_the_first_statement(do: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lock somebody holds on the file, SQLite waits for it there."""
    prepare = chain_module._prepare

    def late(connection: sqlite3.Connection, path: str) -> None:
        do()
        prepare(connection, path)

    monkeypatch.setattr(chain_module, "_prepare", late)


def ended_in_the_middle(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody opens the ledger; a journal is laid there at the right moment; the process ends before it can see."""

    def child() -> None:
        before_the_first_statement(lambda: plant(folder), monkeypatch)
        prepare = chain_module._prepare
        monkeypatch.setattr(chain_module, "_prepare", lambda *given: (prepare(*given), os._exit(9)))
        session_on(folder)

    assert in_child(child) == 9
    for name in ("people.ledger", "people.ledger-wal", "people.ledger-shm", "people.ledger-journal"):
        (folder / name).unlink(missing_ok=True)


@GUARDED
def test_whoever_ends_the_process_at_the_right_moment_gets_nothing_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = anchor_of(folder).read_bytes()
    ended_in_the_middle(folder, monkeypatch)
    assert anchor_of(folder).read_bytes() == before
    with pytest.raises(LedgerDamaged, match="is gone, but its anchor remembers it"):
        session_on(folder)


def test_the_twin_without_a_guard_gets_everything_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_guard(monkeypatch)
    ended_in_the_middle(folder, monkeypatch)
    assert not anchor_of(folder).exists()
    with session_on(folder) as session:
        session.ask(question(2), spend=1)
        assert session._ledger.verify() == 3


def hold_and_plant(folder: Path, told: int) -> None:
    """Another process: it holds those of SQLite's locks that a reader needs until somebody has opened the file."""
    ledger = folder / "people.ledger"
    descriptor, reader = os.open(ledger, os.O_RDWR), os.getppid()
    fcntl.lockf(descriptor, fcntl.LOCK_EX, 1, PENDING)
    fcntl.lockf(descriptor, fcntl.LOCK_EX, 510, SHARED)
    os.write(told, b".")
    for _ in range(1000):
        time.sleep(0.01)
        names = [os.readlink(each) for each in Path(f"/proc/{reader}/fd").iterdir() if each.is_symlink()]
        if names.count(str(ledger)) == 2:  # the guard, and SQLite
            break
    plant(folder)


@GUARDED
def test_a_journal_laid_while_sqlite_waits_for_a_lock_is_not_obeyed(tmp_path: Path) -> None:
    """Another layout, so that whoever opens it gives up right after SQLite has looked for a journal."""
    write_table(tmp_path)
    (tmp_path / "safe").mkdir()
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=1)
    with opened(tmp_path / "people.ledger") as connection:
        connection.execute("CREATE TABLE x (y)")
    before = anchor_of(tmp_path).read_bytes()
    ready, told = os.pipe()
    attacker = os.fork()
    if attacker == 0:
        try:
            hold_and_plant(tmp_path, told)
        finally:
            os._exit(0)
    os.read(ready, 1)
    with pytest.raises(LedgerDamaged, match="is not laid out like a ledger: table x"):
        session_on(tmp_path)
    os.waitpid(attacker, 0)
    os.close(ready)
    os.close(told)
    assert (tmp_path / "people.ledger-journal").exists(), "the attacker was too late"
    assert anchor_of(tmp_path).read_bytes() == before


@GUARDED
@pytest.mark.parametrize("way", ["renamed", "linked"])
def test_a_file_put_there_while_it_is_opened_is_refused(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its journal is guarded by nobody; SQLite has opened it and is not asked anything."""
    before, connect, ledger = anchor_of(folder).read_bytes(), sqlite3.connect, folder / "people.ledger"

    def swapping(place: object, **named: object) -> sqlite3.Connection:
        if place == ledger:
            (folder / "copy").write_bytes(ledger.read_bytes())
            plant(folder, "copy")
            if way == "renamed":
                plant(folder)
                (folder / "copy").rename(ledger)
            else:
                (folder / "link").symlink_to("copy")
                (folder / "link").rename(ledger)
        return connect(place, **named)

    monkeypatch.setattr(sqlite3, "connect", swapping)
    with pytest.raises(LedgerDamaged, match="was replaced by another file while it was being opened"):
        session_on(folder)
    assert anchor_of(folder).read_bytes() == before


def test_after_a_fork_a_link_in_the_ledgers_place_leads_nowhere(tmp_path: Path) -> None:
    """A sound copy under another name, with a journal beside that; the ledger is opened anew after any fork."""
    write_table(tmp_path)
    (tmp_path / "safe").mkdir()
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=1)
        before = anchor_of(tmp_path).read_bytes()
        with closing(sqlite3.connect(tmp_path / "people.ledger")) as connection:
            connection.execute("VACUUM INTO ?", (str(tmp_path / "copy"),))
        plant(tmp_path, "copy")
        (tmp_path / "link").symlink_to("copy")
        (tmp_path / "link").rename(tmp_path / "people.ledger")
        assert in_child(lambda: None) == 0
        for act in (lambda: session.budget, session._ledger.verify, session.history):
            with pytest.raises(LedgerDamaged, match="has become a symbolic link"):
                act()
    assert (tmp_path / "copy-journal").exists()
    assert anchor_of(tmp_path).read_bytes() == before


# ---- whatever comes of opening a ledger, what its anchor said is in it afterwards


@pytest.mark.parametrize("error", [KeyboardInterrupt, LedgerDamaged("no.", "No."), sqlite3.OperationalError, None])
@pytest.mark.parametrize("act", ["open", "re-anchor", "read"])
def test_an_anchor_that_vanished_is_written_back_on_every_way_out(
    tmp_path: Path, error: type[BaseException] | None, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, anchor = tmp_path / "a.ledger", default_anchor(tmp_path / "a.ledger")
    ledger = open_ledger(path)
    ledger.charge(payment())
    ledger.records.chain.close()
    before = anchor.read_bytes()

    def vanish() -> None:
        anchor.unlink()
        if error is not None:
            monkeypatch.undo()
            raise error

    before_the_first_statement(vanish, monkeypatch)
    acts = {"open": lambda: open_ledger(path), "re-anchor": lambda: re_anchor(path), "read": ledger.history}
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else LedgerDamaged) as raised:
        acts[act]()
    assert anchor.read_bytes() == before
    assert ("no longer knew" in str(raised.value)) == (error is None)
    ledger.close()


def test_an_anchor_that_vanishes_while_the_ledger_is_read_is_written_back(tmp_path: Path) -> None:
    path, anchor = tmp_path / "a.ledger", default_anchor(tmp_path / "a.ledger")
    with closing(open_ledger(path)) as ledger:
        before = anchor.read_bytes()
        with pytest.raises(LedgerDamaged, match="no longer knew"):
            ledger.records.anchor.check(
                lambda: (anchor.unlink(), ledger.records.reader.read())[1], ledger.path, "a.ledger"
            )
        assert anchor.read_bytes() == before
