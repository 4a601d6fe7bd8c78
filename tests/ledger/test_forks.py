"""Forks with a ledger open: no connection crosses them, whoever forks, and whatever other threads do."""

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from weakref import WeakSet

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger import chain as chain_module
from sfumato.ledger import forks
from sfumato.ledger.chain import Chain
from tests.ledger.chains import append
from tests.ledger.payments import in_child, open_ledger, payment, store

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


@pytest.fixture
def chain(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chain]:
    # A fork waits for every ledger of its process, also for one that an interrupted test has left in a kept error.
    monkeypatch.setattr(forks._KNOWN, "all", WeakSet())
    with closing(Chain(path)) as opened:
        write(opened)
        yield opened


def write(chain: Chain) -> None:
    with chain.transaction():
        append(chain, "limit", {})


class Child:
    """A forked process that goes on step by step, as it is told."""

    def __init__(self, *steps: object) -> None:
        told, self._tell = os.pipe()
        self._done, done = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(self._tell)
            try:
                for step in steps:
                    os.read(told, 1)
                    step()
                    os.write(done, b".")
            finally:
                os._exit(0)
        os.close(told)
        os.close(done)

    def step(self) -> None:
        os.write(self._tell, b".")
        assert os.read(self._done, 1) == b".", "the child failed"

    def end(self) -> None:
        os.close(self._tell)
        os.close(self._done)
        os.waitpid(self._process, 0)


def test_parent_and_child_both_go_on_with_connections_of_their_own(chain: Chain) -> None:
    def child() -> None:
        assert chain._connection is None
        write(chain)

    assert in_child(child) == 0
    assert chain._connection is None
    write(chain)
    assert chain.verify() == 3


@pytest.mark.parametrize("own", [True, False], ids=["its-own", "the-inherited"])
def test_what_a_child_charged_stays_when_its_parent_closes(path: Path, own: bool) -> None:
    """The parent's connection was the last that it knew of, and it would remove the log that the child writes."""
    parent = open_ledger(path)
    parent.charge(payment(0.1))
    used = []

    def ask(number: int) -> None:
        used.append(used[0] if used else open_ledger(path) if own else parent)
        store(used[0], used[0].charge(payment(0.1, question=number)).entry)

    child = Child(lambda: ask(1), lambda: ask(2))
    child.step()
    parent.close()
    child.step()
    child.end()
    with closing(open_ledger(path)) as ledger:
        assert ledger.verify() == 6
        assert len(ledger.history()) == 3


def test_the_twin_loses_what_the_child_wrote(tmp_path: Path) -> None:
    """SQLite alone, across a fork, in the same order; so the check above would notice."""
    path = tmp_path / "twin"
    parent = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (0)"):
        parent.execute(statement)
    own: list[sqlite3.Connection] = []

    def insert(number: int) -> None:
        own.append(own[0] if own else sqlite3.connect(path, isolation_level=None))
        own[0].execute("INSERT INTO t VALUES (?)", (number,))

    child = Child(lambda: insert(1), lambda: insert(2))
    child.step()
    parent.close()
    child.step()
    child.end()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] < 3


def charge_in_child(path: Path, number: int) -> int:
    with closing(open_ledger(path)) as ledger:
        return ledger.charge(payment(0.1, question=number)).entry


def test_a_pool_of_forked_processes_shares_the_ledger_that_is_open(path: Path) -> None:
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment(0.1))
        with get_context("fork").Pool(2) as pool:
            entries = pool.starmap(charge_in_child, [(path, number) for number in range(1, 7)], chunksize=1)
            pool.close()  # a pool that is ended kills its processes, which now and then leaves one waiting for a lock
            pool.join()
        ledger.charge(payment(0.1, question=9))
        assert sorted(entries) == [3, 4, 5, 6, 7, 8]
        assert ledger.verify() == 9


def test_a_fork_waits_for_a_transaction_of_another_thread(chain: Chain) -> None:
    inside, go_on = Event(), Event()

    def slowly() -> None:
        with chain.transaction():
            append(chain, "limit", {})
            inside.set()
            assert go_on.wait(10)

    def child() -> None:
        assert chain.verify() == 2
        write(chain)

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(slowly)
        assert inside.wait(10)
        forking = pool.submit(in_child, child)
        assert not forking.done()
        go_on.set()
        assert forking.result(20) == 0
        writing.result(20)
    assert chain.verify() == 3


def test_a_fork_does_not_wait_for_ever(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a thread holds a ledger for as long as nobody has forked: the child is refused, the parent goes on."""
    monkeypatch.setattr(chain_module, "WAIT_SECONDS", 0.1)

    def child() -> None:
        for act in (chain.verify, Chain(chain.path).verify, lambda: write(chain)):
            with pytest.raises(LedgerDamaged, match=r"was forked while .* was in use"):
                act()
        chain.close()
        assert in_child(lambda: None) == 0

    with ThreadPoolExecutor(1) as pool, chain.transaction():
        assert pool.submit(in_child, child).result(20) == 0
        append(chain, "limit", {})
    assert chain.verify() == 2


def test_a_fork_in_the_middle_of_a_transaction_writes_nothing(chain: Chain) -> None:
    """By the thread itself, such as in a handler of a signal: neither parent nor child writes what it had begun."""

    def half() -> None:
        with chain.transaction():
            append(chain, "limit", {})
            assert in_child(lambda: append(chain, "limit", {})) == 1
            assert [entry.seq for entry in chain.entries()] == [1]
            append(chain, "limit", {})

    def unwritten() -> None:
        with chain.transaction():
            assert in_child(lambda: None) == 0

    for act in (half, unwritten):
        with pytest.raises(LedgerDamaged, match="was forked while it wrote to the ledger"):
            act()
    assert chain.verify() == 1
    write(chain)
    assert chain.verify() == 2


@pytest.mark.parametrize("connected", [True, False])
def test_a_fork_that_nobody_told_of(path: Path, connected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a server written in C may do: with a connection that came along, nothing is safe in the child."""
    chain, process = Chain(path), os.getpid()
    if connected:
        write(chain)
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    if connected:
        for act in (chain.verify, Chain(path).verify):
            with pytest.raises(LedgerDamaged, match=r"was forked while .* was in use"):
                act()
        chain.close()
        assert Chain(path.with_name("b.ledger")).verify() == 0
        monkeypatch.undo()
    else:
        write(chain)
    assert chain.verify() == 1
    chain.close()


def test_a_chain_that_nobody_uses_any_more_is_forgotten(tmp_path: Path) -> None:
    for number in range(3):
        with closing(Chain(tmp_path / f"{number}.ledger")) as chain:
            write(chain)
    del chain
    assert in_child(lambda: None) == 0
