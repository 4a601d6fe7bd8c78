"""The layouts of a ledger's file: made whole or not at all, by one of several, and told apart from everything else."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger import layout
from sfumato.ledger.chain import DEFENSIVE, Chain, _prepare
from sfumato.ledger.layout import LAYOUTS, is_laid_out, lay_out
from tests.ledger.chains import last
from tests.ledger.payments import in_child, open_ledger, payment
from tests.ledger.tampering import edit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_an_empty_file_is_laid_out_once(path: Path) -> None:
    with closing(connected(path)) as connection:
        assert not is_laid_out(connection, "a.ledger")
        lay_out(connection, "a.ledger")
        assert is_laid_out(connection, "a.ledger")
        (before,) = connection.execute("PRAGMA schema_version").fetchone()
        lay_out(connection, "a.ledger")
        assert connection.execute("PRAGMA schema_version").fetchone() == (before,)


@pytest.mark.parametrize("statements", LAYOUTS)
def test_every_layout_is_known(path: Path, statements: tuple[str, ...]) -> None:
    with closing(connected(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        assert is_laid_out(connection, "a.ledger")


@pytest.mark.parametrize("missing", range(len(LAYOUTS[-1])))
def test_a_layout_in_part_is_none(path: Path, missing: int) -> None:
    with closing(connected(path)) as connection:
        for number, statement in enumerate(LAYOUTS[-1]):
            if number != missing or number == 0:
                connection.execute(statement)
        if missing == 0:
            connection.execute("DROP TABLE entry")
            connection.execute("CREATE TABLE other (x)")
        if missing == len(LAYOUTS[0]):  # what was added last: without it, the layout of before
            assert is_laid_out(connection, "a.ledger")
            return
        with pytest.raises(LedgerDamaged, match=r"a\.ledger is not laid out like a ledger: .*"):
            is_laid_out(connection, "a.ledger")


def test_a_table_of_somebody_elses_is_left_alone(path: Path) -> None:
    with closing(connected(path)) as connection:
        connection.execute("CREATE TABLE people (name)")
    before = path.read_bytes()
    with pytest.raises(LedgerDamaged, match="like a ledger: table people"):
        open_ledger(path)
    assert path.read_bytes() == before


def test_names_that_are_long_or_dangerous_are_shown_short_and_escaped(path: Path) -> None:
    with closing(connected(path)) as connection:
        connection.execute('CREATE TABLE "\x1b[31m\u202e' + "x" * 200 + '" (name)')
    with pytest.raises(LedgerDamaged) as refused, closing(Chain(path)) as chain:
        last(chain)
    assert r"\x1b[31m\u202e" in refused.value.message
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 400


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", range(1, len(LAYOUTS[-1]) + 1))
def test_a_process_that_dies_while_it_lays_out_leaves_an_empty_file(
    path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(tuple):
        def __iter__(self):
            for number, statement in enumerate(tuple.__iter__(self), 1):
                yield statement
                if number == step:
                    os._exit(7)

    def child() -> None:
        monkeypatch.setattr(layout, "NEWEST", Dying(layout.NEWEST))
        open_ledger(path)

    assert in_child(child) == 7
    with closing(connected(path)) as connection:
        assert not is_laid_out(connection, "a.ledger")
    with closing(open_ledger(path)) as ledger:
        assert ledger.verify() == 1


def test_somebody_who_lays_it_out_in_between_is_no_problem(path: Path) -> None:
    """Both saw an empty file; one waits for the other."""
    with closing(connected(path)) as one, closing(connected(path)) as other:
        assert not is_laid_out(one, "")
        lay_out(other, "")
        lay_out(one, "")
        assert is_laid_out(one, "")


def test_sqlite_is_told_to_doubt_the_file(path: Path) -> None:
    with closing(Chain(path)) as chain:
        connection = chain._connect()
        for name, value in (("trusted_schema", 0), ("cell_size_check", 1), ("synchronous", 2)):
            assert connection.execute(f"PRAGMA {name}").fetchone() == (value,)


def test_where_python_can_it_tells_sqlite_to_be_on_the_defensive(path: Path) -> None:
    told = []

    class Newer(sqlite3.Connection):
        def setconfig(self, option: int, enabled: bool = True) -> None:
            told.append((option, enabled))

    class Older(sqlite3.Connection):
        setconfig = None

    for kind in (Newer, Older):
        with closing(sqlite3.connect(path, isolation_level=None, factory=kind)) as connection:
            _prepare(connection, "a.ledger")
    assert told == [(DEFENSIVE, True)]
    assert getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", DEFENSIVE) == DEFENSIVE


def test_a_ledger_that_says_another_encoding_means_the_same(tmp_path: Path, path: Path) -> None:
    """Hashes are of the texts, not of how they are stored."""
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment(analyst="Zoë"))
    other = tmp_path / "b.ledger"
    with closing(connected(other)) as connection:
        connection.execute("PRAGMA encoding = 'UTF-16le'")
        connection.execute("PRAGMA auto_vacuum = FULL")
        connection.execute("PRAGMA page_size = 512")
        connection.execute("PRAGMA user_version = 7")
        lay_out(connection, "")
        with closing(connected(path)) as original:
            kept = original.execute("SELECT * FROM entry ORDER BY seq").fetchall()
        connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)", kept)
    with closing(open_ledger(other, anchor=tmp_path / "a.ledger.anchor")) as ledger:
        assert ledger.verify() == 2
        assert [line.analyst for line in ledger.history()] == ["Zoë"]


def test_a_text_that_is_no_utf_8_is_damage(path: Path) -> None:
    with closing(open_ledger(path)) as ledger:
        ledger.charge(payment())
    edit(path, "UPDATE entry SET body = CAST(x'7bff7d' AS TEXT) WHERE seq = 2")
    with pytest.raises(LedgerDamaged, match="not a readable ledger"):
        open_ledger(path)


def test_indexes_that_contradict_the_table_are_noticed(path: Path) -> None:
    """By SQLite's own comparison; and a file that it cannot even compare, too."""
    with closing(open_ledger(path)) as ledger:
        for question in range(5):
            ledger.charge(payment(0.1, question=question))
        ledger.records.chain._connect().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert ledger.verify() == 6
        (root,) = (
            ledger.records.chain._connect()
            .execute("SELECT rootpage FROM sqlite_master WHERE name = 'by_kind'")
            .fetchone()
        )
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = bytes(4096)
    path.write_bytes(content)
    with closing(open_ledger(path)) as ledger, pytest.raises(LedgerDamaged, match="contradict each other"):
        ledger.verify()


def test_a_comparison_that_sqlite_cannot_finish_is_damage(path: Path) -> None:
    with closing(Chain(path)) as chain:
        chain._connect().set_authorizer(
            lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_OK
        )
        with pytest.raises(LedgerDamaged, match="contradict each other"):
            chain.verify()
