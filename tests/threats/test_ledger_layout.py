"""Things that act or could, planted in the file of a ledger by somebody who may write it and not its anchor.

Each is done to a real file; then a real session asks. It must be refused, or give neither budget nor fresh noise; and
verifying must notice. The twin is the same file with the checks taken out that stop it.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger.anchor import Anchor
from tests.ledger.asking import question
from tests.ledger.attacked import (
    SPEND,
    assert_noticed,
    gained,
    ledger_of,
    session_on,
    spent,
    without_finding_it_in_the_book,
    without_layout,
    without_reading_back,
    without_rules,
)
from tests.ledger.tampering import edit, opened, rechain


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return spent(tmp_path)


@dataclass(frozen=True)
class Planted:
    """Statements of somebody with a SQLite shell."""

    name: str
    statements: tuple[str, ...]


DELETING = (
    "CREATE TRIGGER f AFTER INSERT ON entry WHEN new.kind = 'charge' BEGIN DELETE FROM entry WHERE seq = new.seq; END"
)
IDLE = "CREATE TRIGGER no_delete BEFORE DELETE ON entry BEGIN SELECT 1; END"
LESS = """CREATE TRIGGER f AFTER INSERT ON entry WHEN new.kind = 'charge' BEGIN
          UPDATE entry SET body = json_set(body, '$.total', '0') WHERE seq = new.seq; END"""
PLANTED = (
    Planted("charges-deleted", ("DROP TRIGGER no_delete", IDLE, DELETING)),
    Planted("charges-deleted-openly", ("DROP TRIGGER no_delete", DELETING)),
    Planted("a-guard-that-does-nothing", ("DROP TRIGGER no_delete", IDLE)),
    Planted("a-guard-is-missing", ("DROP TRIGGER no_update",)),
    Planted("charges-made-smaller", ("DROP TRIGGER no_update", LESS)),
    Planted("an-index-is-missing", ("DROP INDEX one_release_a_charge",)),
    Planted(
        "an-index-is-not-unique",
        (
            "DROP INDEX one_release_a_charge",
            "CREATE INDEX one_release_a_charge ON entry (charge) WHERE kind = 'release'",
        ),
    ),
    Planted(
        "an-index-of-less",
        ("DROP INDEX by_kind", "CREATE INDEX by_kind ON entry (kind, seq) WHERE seq < 3"),
    ),
    Planted("an-index-of-expressions", ("CREATE INDEX more ON entry (upper(kind))",)),
    Planted("a-view-more", ("CREATE VIEW more AS SELECT * FROM entry WHERE seq < 3",)),
    Planted("a-table-more", ("CREATE TABLE more (x)",)),
    Planted("a-sequence", ("CREATE TABLE more (x INTEGER PRIMARY KEY AUTOINCREMENT)", "DROP TABLE more")),
    Planted("statistics", ("ANALYZE",)),
    Planted("a-column-more", ("ALTER TABLE entry ADD COLUMN more TEXT DEFAULT 'x'",)),
    Planted("a-column-that-is-computed", ("ALTER TABLE entry ADD COLUMN more AS (lower(kind))",)),
    Planted(
        "a-view-in-place-of-the-table",
        (
            *(f"DROP TRIGGER {name}" for name in ("no_update", "no_delete")),
            "ALTER TABLE entry RENAME TO hidden",
            "CREATE VIEW entry AS SELECT * FROM hidden WHERE seq < 3",
            "CREATE TRIGGER f INSTEAD OF INSERT ON entry BEGIN SELECT 1; END",
        ),
    ),
)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_what_was_planted_in_the_file_is_refused_and_the_file_left_as_it_is(folder: Path, planted: Planted) -> None:
    with opened(ledger_of(folder)) as connection:
        for statement in planted.statements:
            connection.execute(statement)
    before = ledger_of(folder).read_bytes()
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="is not laid out like a ledger: ") as refused:
            gained(folder)
    assert "Restore a backup" in refused.value.hint
    assert_noticed(folder)
    assert ledger_of(folder).read_bytes() == before


REWRITTEN = {
    "collated": ("entry", "analyst TEXT,", "analyst TEXT COLLATE NOCASE,"),
    "checked": ("entry", "body TEXT NOT NULL,", "body TEXT NOT NULL CHECK (length(body) > 0),"),
    "without-rowid": ("entry", "hash TEXT NOT NULL)", "hash TEXT NOT NULL) WITHOUT ROWID"),
    "spaced": ("entry", "kind TEXT", "kind  TEXT"),
    "another-case": ("by_kind", "CREATE INDEX by_kind", "CREATE INDEX BY_KIND"),
    "another-condition": ("by_question", "kind = 'charge'", "kind = 'CHARGE'"),
    "backwards": ("by_kind", "(kind, seq)", "(kind, seq DESC)"),
    "raises-nothing": ("no_delete", "SELECT RAISE(ABORT, 'append only')", "SELECT RAISE(IGNORE)"),
    "a-comment": ("no_update", "END", "END -- harmless"),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_text_rewritten_in_the_schema_is_refused(folder: Path, name: str) -> None:
    """Nothing else of the file changes, so each tree is still what the old text made."""
    of, old, new = REWRITTEN[name]
    with opened(ledger_of(folder)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        done = connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ? AND instr(sql, ?)", (old, new, of, old)
        )
        assert done.rowcount == 1
    with pytest.raises(LedgerDamaged, match=r"is not laid out like a ledger|not a readable ledger"):
        gained(folder)
    assert_noticed(folder)


INSERT = "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES "
STRANGE = {
    "no-text": INSERT + "('index', 'sqlite_autoindex_entry_1', 'entry', 3, NULL)",
    "a-virtual-table": INSERT + "('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING fts5(x)')",
    "a-view-of-the-schema": INSERT
    + "('view', 'sqlite_master', 'sqlite_master', 0, 'CREATE VIEW sqlite_master AS SELECT 1')",
    "bytes": "UPDATE sqlite_master SET sql = CAST(sql AS BLOB) WHERE name = 'no_delete'",
    "no-utf-8": "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'no_delete'",
    "no-utf-8-in-a-comment": "UPDATE sqlite_master SET sql = sql || CAST(x'2d2dff' AS TEXT) WHERE name = 'no_delete'",
    "twice": "INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'no_delete'",
    "another-table": "UPDATE sqlite_master SET tbl_name = 'other' WHERE name = 'by_kind'",
    "another-kind": "UPDATE sqlite_master SET type = 'view' WHERE name = 'no_delete'",
    "two-at-one-place": """UPDATE sqlite_master SET rootpage =
        (SELECT rootpage FROM sqlite_master WHERE name = 'by_kind') WHERE name = 'by_analyst'""",
    "nothing": "DELETE FROM sqlite_master WHERE type <> 'table'",
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_schema_that_sqlite_never_writes_is_refused(folder: Path, name: str) -> None:
    with opened(ledger_of(folder)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(STRANGE[name])
    for act in (gained, assert_not_opened):
        with pytest.raises(LedgerDamaged, match=r"not laid out like a ledger|not a readable ledger"):
            act(folder)


@pytest.mark.parametrize("name", STRANGE)
def test_a_schema_that_is_changed_under_an_open_session_is_noticed(folder: Path, name: str) -> None:
    """By whoever charges, and by whoever verifies; and in words, whatever SQLite finds to quote."""
    with session_on(folder) as session:
        with opened(ledger_of(folder)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(STRANGE[name])
            (version,) = connection.execute("PRAGMA schema_version").fetchone()
            connection.execute(f"PRAGMA schema_version = {version + 1}")
        for act in (session._ledger.verify, lambda: session.ask(question(1), spend=SPEND)):
            with pytest.raises(LedgerDamaged):
                act()
        with suppress(LedgerDamaged):  # who only reads entries need not notice
            session.history()


def test_verifying_an_open_ledger_compares_the_layout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with session_on(folder) as session:
        planted_deleting(ledger_of(folder))
        with pytest.raises(LedgerDamaged, match="is not laid out like a ledger: trigger f"):
            session._ledger.verify()
        with monkeypatch.context() as twin:
            without_layout(twin)
            assert session._ledger.verify() == 8


def assert_not_opened(folder: Path) -> None:
    session_on(folder).close()


def planted_deleting(path: Path) -> None:
    with opened(path) as connection:
        for statement in PLANTED[0].statements:
            connection.execute(statement)


def test_a_trigger_that_deletes_charges_would_give_answers_without_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layout stops it first, then reading back, then the book, then that nothing is kept without its charge."""
    path = ledger_of(folder)
    edit(path, "DELETE FROM entry WHERE seq > 2")
    (folder / "people.ledger.anchor").unlink()
    rechain(path)
    planted_deleting(path)
    monkeypatch.setattr(Anchor, "check", lambda anchor, read, ledger, path: read())
    without_layout(monkeypatch)
    with pytest.raises(LedgerDamaged, match="entry 3 of the ledger is no longer the one that was read or written"):
        answers(folder, 40)
    without_reading_back(monkeypatch)
    with pytest.raises(LedgerDamaged, match="entry 3 of the ledger is no longer the one that was read or written"):
        answers(folder, 40)
    without_finding_it_in_the_book(monkeypatch)
    with pytest.raises(LedgerDamaged, match="entry 3 of the ledger is no charge"):
        answers(folder, 40)
    without_rules(monkeypatch)
    monkeypatch.setattr(Anchor, "advance", lambda anchor, newest, holds, forced: None)
    assert answers(folder, 40) == 40, "at 0.5 each, under a limit of 1"


def answers(folder: Path, many: int) -> int:
    with session_on(folder) as session:
        return sum(session.ask(question(100 + number), spend=SPEND) is not None for number in range(many))


def test_a_trigger_planted_while_a_session_is_open_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with session_on(folder) as session:
        planted_deleting(ledger_of(folder))
        with pytest.raises(LedgerDamaged, match="is not laid out like a ledger"):
            session.ask(question(1), spend=SPEND)
        with monkeypatch.context() as twin:
            without_layout(twin)
            assert session.ask(question(1), spend=SPEND).cached


def test_a_trigger_planted_after_the_first_look_is_refused_inside_the_transaction(folder: Path) -> None:
    """The last look is taken with the write lock held: nobody can plant anything behind it."""
    with session_on(folder) as session:
        planted_deleting(ledger_of(folder))
        with (
            pytest.raises(LedgerDamaged, match="is not laid out like a ledger"),
            session._ledger.records.chain.transaction(),
        ):
            pytest.fail("nothing may be written")
