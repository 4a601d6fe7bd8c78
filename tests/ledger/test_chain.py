"""The file under a ledger: chained hashes, one writer at a time, forks and threads, damage."""

import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger import chain as chain_module
from sfumato.ledger.chain import Chain, _write_ahead
from sfumato.ledger.entry import GENESIS, Entry
from tests.ledger.chains import append, last
from tests.ledger.payments import in_child, open_ledger, payment
from tests.ledger.tampering import edit


@pytest.fixture
def chain(tmp_path: Path) -> Any:
    opened = Chain(tmp_path / "a.ledger")
    yield opened
    opened.close()


def fill(chain: Chain, count: int = 4) -> None:
    for number in range(count):
        with chain.transaction():
            append(
                chain,
                "charge",
                {"number": number},
                analyst="ann",
                question=f"q{number}",
                request=f"r{number}",
                charge=number,
            )


def test_each_hash_covers_the_entry_and_the_hash_before(chain: Chain) -> None:
    fill(chain)
    previous = GENESIS
    for number, entry in enumerate(chain.entries()):
        assert entry.seq == number + 1
        fields = [entry.seq, "charge", "ann", f"q{number}", f"r{number}", number, entry.body]
        text = previous + json.dumps(fields, separators=(",", ":"))
        assert entry.hash == hashlib.sha256(text.encode()).hexdigest()
        assert entry.content == {"number": number}
        previous = entry.hash
    assert chain.verify() == 4


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("no_umask")
def test_a_new_ledger_is_its_owners_alone(tmp_path: Path) -> None:
    """At every moment: nothing but the creation of the file decides, whatever the umask is."""
    with closing(open_ledger(tmp_path / "a.ledger")) as ledger:
        assert ledger.charge(payment()) is not None
        modes = {place.name: stat.S_IMODE(place.stat().st_mode) for place in tmp_path.iterdir()}
    assert modes == dict.fromkeys(
        ["a.ledger", "a.ledger-wal", "a.ledger-shm", "a.ledger.anchor", "a.ledger.anchor.key"], 0o600
    )


@pytest.mark.usefixtures("no_umask")
def test_a_ledger_behind_a_link_is_its_owners_too(tmp_path: Path) -> None:
    (tmp_path / "a.ledger").symlink_to(tmp_path / "b.ledger")
    with closing(Chain(tmp_path / "a.ledger")) as chain:
        fill(chain)
    assert stat.S_IMODE((tmp_path / "b.ledger").stat().st_mode) == 0o600


def test_the_mode_of_an_old_ledger_is_left_alone(chain: Chain) -> None:
    fill(chain, 1)
    chain.close()
    chain.path.chmod(0o660)
    assert chain.verify() == 1
    assert stat.S_IMODE(chain.path.stat().st_mode) == 0o660


def test_a_ledger_that_cannot_be_created_says_so(tmp_path: Path) -> None:
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        Chain(tmp_path / "missing" / "a.ledger").verify()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_may_start_a_ledger(tmp_path: Path) -> None:
    def child() -> None:
        with closing(Chain(tmp_path / "child.ledger")) as chain:
            fill(chain)

    assert in_child(child) == 0
    assert Chain(tmp_path / "child.ledger").verify() == 4


def test_an_empty_chain_is_sound(chain: Chain) -> None:
    assert chain.verify() == 0
    assert last(chain) is None
    assert list(chain.entries()) == []


CHANGES = [
    "UPDATE entry SET seq = 9 WHERE seq = 4",
    "UPDATE entry SET kind = 'limit' WHERE seq = 2",
    "UPDATE entry SET analyst = 'bob' WHERE seq = 2",
    "UPDATE entry SET analyst = NULL WHERE seq = 2",
    "UPDATE entry SET analyst = x'616e6e' WHERE seq = 2",
    "UPDATE entry SET question = 'q9' WHERE seq = 2",
    "UPDATE entry SET request = NULL WHERE seq = 2",
    "UPDATE entry SET charge = 7 WHERE seq = 2",
    "UPDATE entry SET charge = NULL WHERE seq = 2",
    "UPDATE entry SET charge = '1.5' WHERE seq = 2",
    """UPDATE entry SET body = '{"number":0}' WHERE seq = 2""",
    """UPDATE entry SET body = '{"number": 1}' WHERE seq = 2""",
    "UPDATE entry SET body = 'rubbish' WHERE seq = 2",
    "UPDATE entry SET body = x'ff00' WHERE seq = 2",
    "UPDATE entry SET hash = upper(hash) WHERE seq = 2",
    "UPDATE entry SET hash = (SELECT hash FROM entry WHERE seq = 1) WHERE seq = 2",
    "UPDATE entry SET body = 'rubbish' WHERE seq = 4",
    "UPDATE entry SET hash = '' WHERE seq = 4",
    "DELETE FROM entry WHERE seq = 1",
    "DELETE FROM entry WHERE seq = 2",
    "INSERT OR REPLACE INTO entry SELECT 2, kind, analyst, question, 'x', charge, body, hash FROM entry WHERE seq = 1",
    "INSERT INTO entry SELECT 6, kind, analyst, question, 'x', charge, body, hash FROM entry WHERE seq = 4",
    "INSERT INTO entry SELECT 5, kind, analyst, question, 'x', charge, body, hash FROM entry WHERE seq = 4",
    "INSERT INTO entry SELECT 0, kind, analyst, question, 'x', charge, body, hash FROM entry WHERE seq = 1",
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_one_field_is_found(chain: Chain, change: str) -> None:
    fill(chain)
    edit(chain.path, change)
    with pytest.raises(LedgerDamaged, match=r"entry \d+ of the ledger does not match its hash"):
        chain.verify()


def test_bytes_are_not_the_text_that_looks_like_them(chain: Chain) -> None:
    with chain.transaction():
        append(chain, "charge", {}, analyst="b'ann'")
    edit(chain.path, "UPDATE entry SET analyst = x'616e6e'")
    with pytest.raises(LedgerDamaged):
        chain.verify()


def test_entries_that_changed_places_are_found(chain: Chain) -> None:
    fill(chain)
    steps = ("SET seq = 99 WHERE seq = 2", "SET seq = 2 WHERE seq = 3", "SET seq = 3 WHERE seq = 99")
    edit(chain.path, *(f"UPDATE entry {step}" for step in steps))
    with pytest.raises(LedgerDamaged):
        chain.verify()


def test_a_chain_that_does_not_begin_at_one_is_found(chain: Chain) -> None:
    fill(chain, 1)
    orphan = Entry(2, "limit", None, None, None, None, "{}", "")
    changed = f"UPDATE entry SET seq = 2, kind = 'limit', body = '{{}}', hash = '{orphan.expected_hash(GENESIS)}'"
    edit(chain.path, changed + ", analyst = NULL, question = NULL, request = NULL, charge = NULL")
    with pytest.raises(LedgerDamaged, match="entry 1 of the ledger"):
        chain.verify()


@pytest.mark.parametrize(
    "statement", ["UPDATE entry SET body = '{}'", "DELETE FROM entry", "DELETE FROM entry WHERE seq = 4"]
)
def test_entries_are_never_changed_or_removed(chain: Chain, statement: str) -> None:
    fill(chain)
    connection = sqlite3.connect(chain.path)
    with pytest.raises(sqlite3.IntegrityError, match="append only"):
        connection.execute(statement)
    connection.close()
    assert chain.verify() == 4


def test_a_transaction_happens_whole_or_not_at_all(chain: Chain) -> None:
    def half() -> None:
        with chain.transaction():
            append(chain, "limit", {})
            raise KeyError

    fill(chain, 1)
    with pytest.raises(KeyError):
        half()
    assert chain.verify() == 1
    with chain.transaction():
        append(chain, "limit", {})
        append(chain, "limit", {})
    assert chain.verify() == 3


def test_a_refused_insert_undoes_the_transaction(chain: Chain) -> None:
    """One charge a request id, one release a charge: the file itself says so."""

    def twice(kind: str, **fields: Any) -> None:
        with chain.transaction():
            append(chain, kind, {}, **fields)
            append(chain, kind, {}, **fields)

    fill(chain)
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        twice("charge", analyst="ann", request="r9")
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        twice("release", charge=1)
    assert chain.verify() == 4


def test_an_entry_that_is_not_in_the_file_after_the_commit_is_missed(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a trigger takes it out; the layout would refuse that first."""
    fill(chain, 1)
    for statement in (
        "DROP TRIGGER no_delete",
        "CREATE TRIGGER f AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE seq = new.seq; END",
    ):
        chain._connect().execute(statement)
    monkeypatch.setattr(chain_module, "is_laid_out", lambda connection, path: True)
    with pytest.raises(LedgerDamaged, match="entry 2 of the ledger is no longer the one"):
        append_one(chain)


def test_every_commit_is_forced_to_the_disk(chain: Chain) -> None:
    connection = chain._connect()
    pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert pragmas == {"journal_mode": "wal", "synchronous": 2}


def test_a_closed_chain_opens_again(chain: Chain) -> None:
    fill(chain)
    chain.close()
    chain.close()
    assert chain.verify() == 4


def test_threads_take_turns(chain: Chain) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: [append_one(chain) for _ in range(20)], range(8)))
    assert chain.verify() == 160


def append_one(chain: Chain) -> None:
    with chain.transaction():
        append(chain, "limit", {})


def test_a_file_of_another_kind_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    path.write_bytes(b"This is not a database at all. " * 100)
    with pytest.raises(LedgerDamaged, match="not a readable ledger"):
        last(Chain(path))
    assert path.read_bytes().startswith(b"This is not")


def test_a_damaged_page_is_unreadable(chain: Chain) -> None:
    fill(chain, 200)
    chain.close()
    content = bytearray(chain.path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    chain.path.write_bytes(content)
    with pytest.raises(LedgerDamaged):
        chain.verify()


@pytest.mark.parametrize("path", ["missing/a.ledger", "."])
def test_a_place_that_holds_no_file_is_unwritable(tmp_path: Path, path: str) -> None:
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        last(Chain(tmp_path / path))


def test_a_lock_held_too_long_is_reported(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_module, "WAIT_SECONDS", 0.05)
    fill(chain, 1)
    other = sqlite3.connect(chain.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerDamaged, match="cannot be written"), chain.transaction():
        pytest.fail("the lock was not respected")
    with closing(Chain(chain.path)) as reading:
        assert reading.verify() == 1, "who only reads waits for nobody"
    other.execute("ROLLBACK")
    other.close()
    append_one(chain)
    assert chain.verify() == 2


def test_the_journal_is_switched_as_soon_as_nobody_else_holds_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        freed = Timer(0.1, other.execute, ["ROLLBACK"])
        freed.start()
        with closing(sqlite3.connect(path, timeout=0)) as connection:
            _write_ahead(connection)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        freed.join()


def test_nobody_waits_forever_for_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ledger"
    monkeypatch.setattr("sfumato.ledger.chain.WAIT_SECONDS", 0.05)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        closing(sqlite3.connect(path, timeout=0)) as mine,
    ):
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError):
            _write_ahead(mine)
