"""A new ledger comes into its place whole or not at all, and no journal lies beside one."""

import errno
import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from sfumato.errors import LedgerDamaged, UsageError
from sfumato.ledger import starting
from sfumato.ledger.chain import Chain
from sfumato.ledger.layout import is_laid_out
from sfumato.ledger.places import default_anchor
from tests.ledger.attacked import without_guard
from tests.ledger.chains import append
from tests.ledger.payments import in_child, open_ledger, payment
from tests.ledger.workers import at_once


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)


def test_a_new_ledger_is_laid_out_and_keeps_a_log(path: Path) -> None:
    starting.prepare_place(path, path)
    assert [each.name for each in path.parent.iterdir()] == ["a.ledger"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert is_laid_out(connection, "a.ledger")


def journals_made(folder: Path, monkeypatch: pytest.MonkeyPatch, path: Path) -> set[str]:
    """What lay in the folder before each statement with which a ledger was started."""
    found: set[str] = set()

    class Watching(sqlite3.Connection):
        def execute(self, *given):
            found.update(each.name for each in folder.iterdir())
            done = super().execute(*given)
            found.update(each.name for each in folder.iterdir())
            return done

    connect = sqlite3.connect
    with monkeypatch.context() as watched:
        watched.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, factory=Watching, **named))
        open_ledger(path).close()
    return {name for name in found if "journal" in name}


@pytest.mark.parametrize("way", ["new", "empty", "no-links", "a-copy-of-sqlites"])
@pytest.mark.parametrize("guarded", [True, False])
def test_no_journal_is_ever_made(path: Path, way: str, guarded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not guarded:
        without_guard(monkeypatch)
    if way == "empty":
        path.touch()
    if way == "no-links":
        without_links(monkeypatch)
    if way == "a-copy-of-sqlites":
        open_ledger(path).close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    assert journals_made(path.parent, monkeypatch, path) == set()
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment())
        assert ledger.verify() == 2
    assert sorted(each.name for each in path.parent.iterdir()) == ["a.ledger", "a.ledger.anchor", "a.ledger.anchor.key"]


def test_the_twin_makes_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty file that SQLite is left alone with."""
    without_guard(monkeypatch)
    path.touch()
    made = []

    def careless(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE x (y)")
        made.extend(each.name for each in path.parent.iterdir() if "journal" in each.name)
        connection.execute("ROLLBACK")

    monkeypatch.setattr("sfumato.ledger.chain._write_ahead", careless)
    open_ledger(path).close()
    assert made == ["a.ledger-journal"]


@pytest.mark.parametrize("links", [True, False])
def test_threads_that_start_a_ledger_start_one(path: Path, links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not links:
        without_links(monkeypatch)
    with ThreadPoolExecutor(8) as pool:
        ledgers = list(pool.map(lambda _: open_ledger(path), range(8)))
    assert len({ledger.records.chain.at(1).hash for ledger in ledgers}) == 1
    for ledger in ledgers:
        ledger.close()
    assert sorted(each.name for each in path.parent.iterdir()) == ["a.ledger", "a.ledger.anchor", "a.ledger.anchor.key"]


def test_processes_that_start_a_ledger_leave_nothing_else_behind(path: Path) -> None:
    assert len(set(at_once("open", 6, path))) == 1
    names = {each.name for each in path.parent.iterdir()}
    assert (
        {"a.ledger", "a.ledger.anchor"}
        <= names
        <= {f"a.ledger{end}" for end in ("", ".anchor", ".anchor.key", "-wal", "-shm")}
    )


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("dies", ["write_new", "_link", "_sync", "after-linking"])
def test_a_process_that_dies_while_it_starts_a_ledger_leaves_none_or_a_whole_one(
    path: Path, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def child() -> None:
        if dies == "after-linking":
            monkeypatch.setattr(os, "link", lambda *given: (link(*given), os._exit(7)))
        else:
            monkeypatch.setattr(starting, dies, lambda *given: os._exit(7))
        open_ledger(path)

    link = os.link
    assert in_child(child) == 7
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment())
        assert ledger.verify() == 2
    assert sorted(each.name for each in path.parent.iterdir()) == ["a.ledger", "a.ledger.anchor", "a.ledger.anchor.key"]


def test_an_unfinished_ledger_that_somebody_tidied_away_is_no_problem(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process was quicker, and removed all unfinished ones."""
    link = os.link

    def late(unfinished: Path, file: Path) -> None:
        link(unfinished, file)
        os.unlink(unfinished)
        link(unfinished, file)

    monkeypatch.setattr(os, "link", late)
    with closing(open_ledger(path)) as ledger:
        assert ledger.verify() == 1


def test_an_unfinished_ledger_that_vanishes_alone_starts_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(os, "link", gone)
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        open_ledger(path)
    assert not path.exists()


def test_ledgers_of_one_folder_do_not_tidy_each_other_away(tmp_path: Path) -> None:
    other = tmp_path / (starting.first_name(tmp_path / "b.ledger") + "1")
    other.touch()
    open_ledger(tmp_path / "a.ledger").close()
    assert other.exists()
    open_ledger(tmp_path / "b.ledger").close()
    assert not other.exists()


def test_a_long_name_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 240)
    with closing(open_ledger(path)) as ledger:
        assert ledger.verify() == 1


# ---- what must not lie there


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_journal_beside_a_ledger_is_refused_before_sqlite_sees_it(path: Path, kind: str) -> None:
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment())
    journal = path.with_name("a.ledger-journal")
    if kind == "file":
        journal.write_bytes(b"x")
    elif kind == "link":
        journal.symlink_to("nowhere")
    else:
        journal.mkdir()
    for act in (lambda: open_ledger(path), Chain(path).verify):
        with pytest.raises(LedgerDamaged, match=r"a\.ledger-journal lies beside the ledger, and SQLite would obey it"):
            act()
    assert os.path.lexists(journal)


def test_a_ledger_with_a_second_name_is_refused(path: Path) -> None:
    """Under each name SQLite would keep a log of its own, and each would have an anchor of its own."""
    open_ledger(path).close()
    other = path.with_name("b.ledger")
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(LedgerDamaged, match="has a second name"):
            open_ledger(name)
    other.unlink()
    open_ledger(path).close()


@pytest.mark.parametrize("end", ["-wal", "-shm"])
@pytest.mark.parametrize("kind", ["second-name", "link", "folder"])
def test_a_log_that_is_another_file_is_not_written_into(path: Path, end: str, kind: str) -> None:
    """Such as the anchor: as its second name it would be emptied by SQLite."""
    open_ledger(path).close()
    anchor, beside = default_anchor(path), path.with_name(path.name + end)
    before = anchor.read_bytes()
    if kind == "second-name":
        os.link(anchor, beside)
    elif kind == "link":
        beside.symlink_to(anchor)
    else:
        beside.mkdir()
    for act in (lambda: open_ledger(path), Chain(path).verify):
        with pytest.raises(
            LedgerDamaged, match=rf"a\.ledger{end} lies beside the ledger and is no file, or has a second"
        ):
            act()
    assert anchor.read_bytes() == before


@pytest.mark.parametrize("target", ["b.ledger", "nowhere"])
def test_a_ledger_that_has_become_a_link_is_refused(path: Path, target: str) -> None:
    """Where a name leads is decided once; what is looked for beside a link does not lie beside the file."""
    chain = Chain(path)
    assert chain.verify() == 0
    chain.close()
    path.rename(path.with_name("b.ledger"))
    path.symlink_to(target)
    with pytest.raises(LedgerDamaged, match="has become a symbolic link since it was opened"):
        chain.verify()


def test_a_symbolic_link_needs_the_name_of_the_anchor(path: Path) -> None:
    """Else whoever repoints the link chooses which anchor is asked, and another ledger has a budget of its own."""
    open_ledger(path).close()
    other = path.with_name("b.ledger")
    other.symlink_to(path.name)
    with pytest.raises(UsageError, match="is a symbolic link"):
        open_ledger(other)
    anchor = default_anchor(path)
    with closing(open_ledger(path)) as ledger, closing(open_ledger(other, anchor=anchor)) as linked:
        ledger.charge(payment(0.6))
        linked.charge(payment(0.2, question=1))
        assert ledger.verify() == linked.verify() == 3
    other.unlink()
    other.symlink_to("another.ledger")
    with pytest.raises(LedgerDamaged):
        open_ledger(other, anchor=anchor)


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_an_anchor_is_no_file_of_sqlites(path: Path, end: str) -> None:
    for name in (path, path.with_name("linked.ledger")):
        if name != path:
            name.symlink_to(path.name)
        with pytest.raises(UsageError, match="a file that SQLite keeps beside the ledger"):
            open_ledger(name, anchor=path.with_name(path.name + end))
    assert not path.exists()


def test_what_is_no_file_is_no_ledger(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        Chain(path).verify()


def test_a_chain_alone_may_be_appended_to(path: Path) -> None:
    with closing(Chain(path)) as chain:
        with chain.transaction():
            append(chain, "limit", {})
        assert chain.verify() == 1
