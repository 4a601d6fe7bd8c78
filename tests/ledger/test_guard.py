"""The guard on a ledger's file: SQLite obeys no journal, nobody loses a lock, and nothing stays open."""

import fcntl
import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger import chain as chain_module
from sfumato.ledger import guard, switching
from sfumato.ledger.chain import Chain
from tests.ledger.attacked import without_guard
from tests.ledger.chains import append
from tests.ledger.payments import in_child, open_ledger, payment
from tests.threats.test_ledger_journal import plant_beside

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.skipif(guard.SET_LOCK is None, reason="no locks that belong to a descriptor"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def write(chain: Chain) -> None:
    with chain.transaction():
        append(chain, "limit", {})


def descriptors(path: Path) -> list[int]:
    """Those of this process that are of this file."""
    found, wanted = [], path.stat()
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.path.samestat(os.fstat(int(name)), wanted):
                found.append(int(name))
        except OSError:
            continue
    return found


LOCKED = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR)
for start, length in ((0x40000001, 1), (0x40000002, 510)):
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        print("free")
    except OSError:
        print("held")
"""


def seen_by_others(path: Path) -> list[str]:
    """Whether RESERVED and SHARED are held, as another process sees it."""
    done = subprocess.run([sys.executable, "-c", LOCKED, str(path)], capture_output=True, text=True, timeout=60)
    return done.stdout.split()


@contextmanager
def held_by_another(path: Path, start: int = guard.PENDING, length: int = 512) -> Iterator[None]:
    """Another process that holds SQLite's locks."""
    ready, told = os.pipe()
    stay, leave = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(leave)
        descriptor = os.open(path, os.O_RDWR)
        fcntl.lockf(descriptor, fcntl.LOCK_EX, length, start)
        os.write(told, b".")
        os.read(stay, 1)
        os._exit(0)
    os.close(stay)
    os.read(ready, 1)
    try:
        yield
    finally:
        os.close(leave)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(told)


# ---- what it is for


@pytest.mark.parametrize("guarded", [True, False])
def test_sqlite_obeys_no_journal_beside_a_guarded_file(path: Path, guarded: bool) -> None:
    """The second is the twin."""
    with closing(Chain(path)) as chain:
        write(chain)
    other = path.with_name("other")
    other.write_text("something of somebody's")
    held = guard.hold(path, path, 1) if guarded else None
    journal = plant_beside(path, other)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (1,)
    assert (other.exists(), journal.exists()) == (guarded, guarded)
    if held is not None:
        held.let_go()


def test_it_is_held_for_as_long_as_anybody_is_connected(path: Path) -> None:
    one, other = Chain(path), Chain(path)
    write(one)
    assert seen_by_others(path) == ["held", "held"]
    write(other)
    one.close()
    assert seen_by_others(path) == ["held", "held"]
    other.close()
    assert seen_by_others(path) == ["free", "free"]
    assert descriptors(path) == []
    assert not any(path.with_name(path.name + end).exists() for end in ("-wal", "-shm"))


def test_closing_one_of_several_gives_up_nobodys_locks(path: Path) -> None:
    """Closing a descriptor of a file gives up all locks that this process has on it."""
    staying = Chain(path)
    write(staying)
    for _ in range(3):
        with closing(Chain(path)) as passing:
            write(passing)
        assert seen_by_others(path) == ["held", "held"]
    write(staying)
    assert staying.verify() == 5
    staying.close()


def test_a_connection_of_somebody_elses_in_this_process_keeps_its_locks(path: Path) -> None:
    with closing(Chain(path)) as chain:
        write(chain)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("SELECT * FROM entry").fetchall()
    assert seen_by_others(path) == ["held", "held"]
    other.close()
    with closing(Chain(path)) as chain:
        write(chain)
    assert descriptors(path) == []


def test_one_that_nobody_closed_is_closed_when_it_is_forgotten(path: Path) -> None:
    chain = Chain(path)
    write(chain)
    assert len(descriptors(path)) == 2
    del chain
    gc.collect()
    assert descriptors(path) == []


def test_a_chain_that_was_never_made_is_forgotten_too() -> None:
    Chain.__new__(Chain).__del__()


def test_a_ledger_that_is_refused_leaves_nothing_open(path: Path) -> None:
    path.write_bytes(b"This is not a database at all. " * 100)
    for _ in range(3):
        with pytest.raises(LedgerDamaged, match="not a readable ledger"):
            Chain(path).verify()
    assert descriptors(path) == []


def test_threads_with_ledgers_of_their_own_go_on_at_once(path: Path) -> None:
    def work(_: int) -> None:
        for _ in range(5):
            with closing(Chain(path)) as chain:
                write(chain)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    with closing(Chain(path)) as chain:
        assert chain.verify() == 30
    assert descriptors(path) == []


def test_after_a_fork_parent_and_child_each_have_a_guard(path: Path) -> None:
    chain = Chain(path)
    write(chain)

    def child() -> None:
        assert descriptors(path) == []
        write(chain)
        assert seen_by_others(path) == ["held", "held"]
        chain.close()

    assert in_child(child) == 0
    write(chain)
    assert seen_by_others(path) == ["held", "held"]
    assert chain.verify() == 3
    chain.close()


def test_a_fork_while_another_thread_changes_the_guards_leaves_no_lock_behind(path: Path) -> None:
    inside, leave = Event(), Event()

    def busy() -> None:
        with guard._GUARDS.changing:
            inside.set()
            leave.wait(20)

    thread = Thread(target=busy)
    thread.start()
    assert inside.wait(20)
    try:
        assert in_child(lambda: write(Chain(path))) == 0
    finally:
        leave.set()
        thread.join()


# ---- the file that SQLite opens is the one that is guarded


def test_sqlite_may_use_a_descriptor_that_it_has_kept(path: Path) -> None:
    """Of a connection that was closed while another was open: then none is new."""
    with closing(Chain(path)) as staying:
        write(staying)
        with closing(Chain(path)) as passing:
            write(passing)
        before = descriptors(path)
        with closing(Chain(path)) as third:
            write(third)
            assert descriptors(path) == before


@pytest.mark.parametrize("times", [1, 2, guard.TRIES])
def test_what_another_thread_opens_meanwhile_does_not_count(path: Path, times: int, tmp_path: Path) -> None:
    """It could be the file that SQLite has opened: so it is tried again, and not for ever."""
    (tmp_path / "another").touch()
    tried: list[int] = []

    class Busy(Chain):
        def _unused_connection(self) -> sqlite3.Connection:
            if len(tried) < times:
                tried.append(os.open(tmp_path / "another", os.O_RDONLY))
            return super()._unused_connection()

    with closing(Chain(path)) as staying:
        write(staying)
        with closing(Chain(path)) as passing:
            write(passing)
        with closing(Busy(path)) as busy:
            if times < guard.TRIES:
                write(busy)
            else:
                with pytest.raises(LedgerDamaged, match="was replaced by another file while it was being opened"):
                    write(busy)
    for descriptor in tried:
        os.close(descriptor)
    assert descriptors(path) == []


def test_another_file_in_its_place_is_not_opened(path: Path) -> None:
    held = guard.hold(_started(path), path, 1)
    other = _started(path.with_name("b.ledger"))
    for place in (other, path):
        if place == path:
            other.rename(path)
        with pytest.raises(LedgerDamaged, match="was replaced by another file"):
            held.connect(lambda place=place: sqlite3.connect(place), place, path)
    held.let_go()


def test_a_file_replaced_between_two_looks_is_guarded_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one that has a guard: its descriptor may not be closed, which would give up locks."""
    with closing(Chain(path)) as chain:
        write(chain)
        other = _started(path.with_name("b.ledger"))
        lstat, looks = os.lstat, []

        def swapping(place: object) -> os.stat_result:
            found = lstat(place)
            if place == other:
                looks.append(place)
                other.unlink()
                os.link(path, other)
            return found

        with monkeypatch.context() as patched:
            patched.setattr(os, "lstat", swapping)
            guard.hold(other, other, 1).let_go()
        assert looks == [other]
        assert seen_by_others(path) == ["held", "held"]
        other.unlink()
        write(chain)
    assert descriptors(path) == []


def _started(path: Path) -> Path:
    Chain(path).verify()
    return path


@pytest.mark.parametrize("what", ["/proc/self/fd", "the file"])
def test_where_nothing_can_be_compared_nothing_is_opened(
    path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = guard.hold(_started(path), path, 1)
    listdir = os.listdir

    def refused(place: str) -> list[str]:
        if place == "/proc/self/fd":
            raise PermissionError
        return listdir(place)

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:")
        path.unlink()
        return connection

    with monkeypatch.context() as patched:
        if what == "/proc/self/fd":
            patched.setattr(os, "listdir", refused)
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            held.connect(connect, path, path)
        held.let_go()


# ---- others who hold the file


@pytest.mark.parametrize("start", [guard.PENDING, guard.RESERVED])
def test_whoever_keeps_the_file_locked_keeps_it_for_so_long_and_no_longer(
    path: Path, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_module, "WAIT_SECONDS", 0.1)
    _started(path)
    with held_by_another(path, start, 1), pytest.raises(LedgerDamaged, match="cannot be written"):
        Chain(path).verify()
    assert descriptors(path) == []
    with closing(Chain(path)) as chain:
        write(chain)
        assert chain.verify() == 1


def test_a_system_that_cannot_lock_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _started(path)
    monkeypatch.setattr(guard, "SET_LOCK", -1)
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        Chain(path).verify()
    assert descriptors(path) == []


def test_without_such_locks_a_ledger_works_as_well(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_guard(monkeypatch)
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment())
        assert ledger.verify() == 2
    assert not guard._lock(0, fcntl.F_RDLCK, 0, 1)


# ---- files that keep no log yet


def without_log(path: Path) -> Path:
    with closing(Chain(path)) as chain:
        write(chain)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    return path


def test_whoever_has_read_the_file_before_notices_that_it_keeps_a_log(path: Path) -> None:
    with closing(sqlite3.connect(without_log(path), isolation_level=None)) as other:
        assert other.execute("SELECT count(*) FROM entry").fetchone() == (1,)
        with closing(Chain(path)) as chain:
            write(chain)
            assert other.execute("SELECT count(*) FROM entry").fetchone() == (2,)
            other.execute("INSERT INTO entry SELECT 3, kind, 'a', '', '', 1, body, hash FROM entry WHERE seq = 2")
            assert [entry.seq for entry in chain.entries()] == [1, 2, 3]
        assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_whoever_has_read_the_file_before_reads_it_anew(path: Path) -> None:
    """Also where the log has come and gone meanwhile: what was read is compared by the counter of changes alone."""
    with closing(sqlite3.connect(without_log(path), isolation_level=None)) as other:
        assert other.execute("SELECT count(*) FROM entry").fetchone() == (1,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        held = guard.hold(path, path, 1)
        held.let_go()
        assert other.execute("SELECT count(*) FROM entry").fetchone() == (1,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_somebody_reads_is_not_switched(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_module, "WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect(without_log(path), isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM entry").fetchone()
        before = path.read_bytes()[:100]
        with held_by_another(path, 0x40000002, 510), pytest.raises(LedgerDamaged, match="cannot be written"):
            Chain(path).verify()
        assert path.read_bytes()[:100] == before
    with closing(Chain(path)) as chain:
        assert chain.verify() == 1


def test_a_journal_that_is_there_by_then_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = without_log(path).read_bytes()
    path.with_name("a.ledger-journal").touch()
    monkeypatch.setattr(chain_module, "prepare_place", lambda *_: None)
    with pytest.raises(LedgerDamaged, match=r"a\.ledger-journal lies beside the ledger"):
        Chain(path).verify()
    assert path.read_bytes() == before
    assert descriptors(path) == []
    with closing(sqlite3.connect(path, timeout=0)) as other:
        other.execute("PRAGMA schema_version").fetchone()
        with pytest.raises(LedgerDamaged, match="lies beside the ledger"):
            Chain(path).verify()
        assert seen_by_others(path) == ["free", "free"], "also where its descriptor stays open for the other's sake"


@pytest.mark.parametrize("known", [True, False])
def test_a_size_that_was_not_valid_does_not_become_so(known: bool) -> None:
    header = bytearray(100)
    header[24:28] = b"\xff" * 4
    header[92:96] = b"\xff" * 4 if known else b"\x01\0\0\0"
    switched = switching._switched(bytes(header))
    assert switched[18:20] == b"\2\2"
    assert switched[24:28] == bytes(4)
    assert switched[92:96] == (bytes(4) if known else b"\x01\0\0\0")


def test_a_disk_that_is_full_switches_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_log(path)
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", lambda *_: 7)
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            Chain(path).verify()


@pytest.mark.parametrize("content", [b"SQLite format 3\0", b"SQLite format 3\0" + bytes(84), bytes(100), b"xx"])
def test_what_is_no_file_of_sqlites_is_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(LedgerDamaged, match=r"not a readable ledger"):
        Chain(path).verify()
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"S"])
def test_what_sqlite_takes_for_empty_is_laid_out(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with closing(Chain(path)) as chain:
        write(chain)
        assert chain.verify() == 1
