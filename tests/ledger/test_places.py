"""Names that SQLite reads as something else than a file are refused before anything is made."""

import os
import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import LedgerDamaged, UsageError
from sfumato.ledger.chain import Chain
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.places import checked_anchor
from sfumato.ledger.vouching import re_anchor
from tests.ledger.chains import append
from tests.ledger.payments import open_ledger, payment

SPECIAL = [
    ":memory:",
    "file:x?mode=memory",
    "file:x.ledger?nolock=1",
    "file:x.ledger?vfs=unix-none",
    "file:x.ledger",
    "FILE:x.ledger",
    "file:///tmp/x.ledger",
    "file::memory:",
    "folder/:memory:",
    "folder/file:x?mode=memory",
]


def protected(**given: str) -> sf.Session:
    table = pa.table({"age": [20, 30, 40]})
    return sf.protect(table, unit=sf.Row(), columns={"age": sf.Int(0, 99)}, budget=sf.Budget(1), **given)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", SPECIAL)
def test_what_is_no_file_is_no_ledger_and_no_anchor(here: Path, name: str) -> None:
    with pytest.raises(UsageError, match="ledger must be the path of a file"):
        protected(ledger=name)
    with pytest.raises(UsageError, match="anchor must be the path of a file"):
        protected(ledger="a.ledger", anchor=name)
    with pytest.raises(UsageError, match="ledger must be the path of a file"):
        re_anchor(Path(name))
    assert [path.name for path in here.rglob("*")] == ["folder"]


@pytest.mark.parametrize("name", SPECIAL)
def test_sqlite_gets_a_path_and_never_an_address(here: Path, name: str) -> None:
    """Below the refusal: each is a file with that very name. The twin is SQLite with the name as it was given."""
    chain = Chain(Path(name))
    assert chain.file.is_absolute()
    if chain.file.parent.is_dir():
        with chain.transaction():
            append(chain, "limit", {})
        chain.close()
        assert chain.file.read_bytes().startswith(b"SQLite format 3\0")
        assert chain.verify() == 1
        chain.close()


@pytest.mark.parametrize("name", ["a?mode=memory", "a?nolock=1", "%61.ledger", "memory", "a#b", "my file:x"])
def test_other_names_are_names(here: Path, name: str) -> None:
    with protected(ledger=name) as session:
        session.ask("SELECT COUNT(*) AS n FROM data", spend=0.5)
    assert (here / name).is_file()
    with protected(ledger=name) as session:
        assert len(session.history()) == 1


def test_the_twin_forgets_what_was_spent(here: Path) -> None:
    for name in (":memory:", "file:x?mode=memory"):
        for _ in range(2):
            connection = sqlite3.connect(name, uri=True)
            connection.execute("CREATE TABLE entry (x)")
            connection.close()
    assert not list(here.glob("*x*"))


def test_a_working_directory_that_changes_moves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(Path("a.ledger"))
    ledger.charge(payment(1))
    ledger.records.chain.close()
    monkeypatch.chdir(here / "folder")
    assert ledger.balance("research").left.epsilon == 0
    assert ledger.verify() == 2
    ledger.close()
    assert os.listdir(here / "folder") == []


def test_the_default_anchor_is_where_the_ledger_is(here: Path) -> None:
    assert checked_anchor(Path("a.ledger"), None) == here / "a.ledger.anchor"
    assert checked_anchor(Path("a.ledger"), Path("folder/b")) == here / "folder" / "b"


def test_vouching_for_a_ledger_that_is_not_there(here: Path) -> None:
    with pytest.raises(LedgerDamaged, match="not a readable ledger"):
        re_anchor(Path("a.ledger"))
    assert isinstance(open_ledger(Path("a.ledger")), Ledger)


@pytest.mark.parametrize("anchor", ["b", "folder/../b"])
def test_a_ledger_is_not_its_own_key(here: Path, anchor: str) -> None:
    for act in (
        lambda: open_ledger(Path("b.key"), anchor=Path(anchor)),
        lambda: re_anchor(Path("b.key"), Path(anchor)),
    ):
        with pytest.raises(UsageError, match="the ledger has the name of the key"):
            act()
    assert sorted(os.listdir(here)) == ["folder"]
    open_ledger(Path("c.key"), anchor=Path(anchor)).close()
