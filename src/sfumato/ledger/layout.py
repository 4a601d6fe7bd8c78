"""What a ledger's file may hold besides entries: one of the known layouts, to the letter.

Triggers, views, changed indexes and columns of a file would act inside the ledger's own statements. So everything that
SQLite will execute of a file is compared with texts of this package before anything else is done with it.
"""

import sqlite3
from contextlib import closing
from functools import cache

from sfumato.ledger.wordings import layout_unknown, ledger_unreadable

# A file keeps the layout it was made with. A new layout is added at the end; none is ever changed.
LAYOUTS: tuple[tuple[str, ...], ...] = (
    (  # 0.1.0
        """CREATE TABLE IF NOT EXISTS entry (
       seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, analyst TEXT, question TEXT, request TEXT, charge INTEGER,
       body TEXT NOT NULL, hash TEXT NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS by_kind ON entry (kind, seq)",
        "CREATE INDEX IF NOT EXISTS by_analyst ON entry (analyst, kind, seq)",
        "CREATE INDEX IF NOT EXISTS by_question ON entry (analyst, question, seq) WHERE kind = 'charge'",
        "CREATE UNIQUE INDEX IF NOT EXISTS one_charge_a_request ON entry (analyst, request) WHERE kind = 'charge'",
        "CREATE UNIQUE INDEX IF NOT EXISTS one_release_a_charge ON entry (charge) WHERE kind = 'release'",
        "CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'append only'); END",
        "CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append only'); END",
    ),
)
# Since: draws of an envelope, each once a round. All else is as before, so that nothing of it is missing to 0.1.0.
LAYOUTS += (
    (
        *LAYOUTS[0],
        "CREATE UNIQUE INDEX IF NOT EXISTS one_draw_a_name ON entry (charge, question) WHERE kind = 'draw'",
    ),
)
NEWEST = LAYOUTS[-1]
WRITE_AHEAD = b"\x02\x02"  # in the header of a file: which formats may write and read it

Object = tuple[object, ...]


def is_laid_out(connection: sqlite3.Connection, path: str) -> bool:
    """Whether the file has a known layout; False for a file with nothing in it.

    Claim: raises when the file holds anything else, more, less or otherwise: each object's kind, name, table and text
    are those of one layout. What SQLite keeps beside these texts, where each tree begins, may still lie: so nothing is
    ever looked up by an index, and what the table's tree shows is chained by its hashes.
    """
    try:
        found = _objects(connection)
    except UnicodeDecodeError:  # SQLite's own complaint cannot be read
        raise layout_unknown(path, ["a name that is no text"]) from None
    if not found or found in _known():
        return bool(found)
    strange = [_named(each) for each in found if each not in _known()[-1]]
    missing = [f"no {_named(each)}" for each in _known()[-1] if each not in found]
    raise layout_unknown(path, strange or missing or ["something twice"])


def lay_out(connection: sqlite3.Connection, path: str) -> None:
    """Give an empty file the newest layout, whole or not at all, unless somebody else just did."""
    connection.execute("BEGIN IMMEDIATE")
    if not is_laid_out(connection, path):
        for statement in NEWEST:
            connection.execute(statement)
    connection.execute("COMMIT")


def compare_content(content: bytes, path: str) -> None:
    """The same of a file's content, in memory, where SQLite has nothing to obey and nothing to change."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        try:
            connection.deserialize(content)
            is_laid_out(connection, path)
        except (sqlite3.Error, OverflowError) as error:
            raise ledger_unreadable(path) from error


def image() -> bytes:
    """An empty ledger as SQLite would write it, set to keep a log instead of a journal."""
    return _image(NEWEST)


def blank() -> bytes:
    """The same without anything in it, for SQLite to lay it out: one page, which is written whole or not at all."""
    return _image(())


def _image(statements: tuple[str, ...]) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 0")  # else there is no page at all
        for statement in statements:
            connection.execute(statement)
        content = connection.serialize()
    return content[:18] + WRITE_AHEAD + content[20:]


@cache
def _known() -> tuple[list[Object], ...]:
    """What SQLite makes of the statements of each layout."""
    layouts = []
    for statements in LAYOUTS:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        layouts.append(_objects(connection))
        connection.close()
    return tuple(layouts)


def _named(found: Object) -> str:
    """Whoever wrote the file chose the name."""
    return f"{found[0]!r:.20} {found[1]!r:.60}".replace("'", "")


def _objects(connection: sqlite3.Connection) -> list[Object]:
    found = connection.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master").fetchall()
    return sorted(found, key=repr)
