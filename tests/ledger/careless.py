"""How a ledger looks things up that trusts the indexes of its file: the twin that lying indexes deceive."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from sfumato.ledger.chain import COLUMNS
from sfumato.ledger.entry import GENESIS, Entry


def last(path: Path, condition: str, *values: object) -> Entry | None:
    statement = f"SELECT {COLUMNS} FROM entry WHERE {condition} ORDER BY seq DESC LIMIT 1"
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute(statement, values).fetchone()
    return None if row is None else Entry(*row)


def total(path: Path) -> Fraction:
    newest = last(path, "kind = 'charge'")
    return Fraction(json.loads(newest.body)["total"]) if newest else Fraction(0)


def analyst_total(path: Path, analyst: str) -> Fraction:
    newest = last(path, "kind = 'charge' AND analyst = ?", analyst)
    return Fraction(json.loads(newest.body)["analyst_total"]) if newest else Fraction(0)


def verify(path: Path) -> int:
    """Every hash, and nothing else."""
    previous, count = GENESIS, 0
    with closing(sqlite3.connect(path)) as connection:
        for row in connection.execute(f"SELECT {COLUMNS} FROM entry ORDER BY seq"):
            entry, count = Entry(*row), count + 1
            assert (entry.seq, entry.hash) == (count, entry.expected_hash(previous))
            previous = entry.hash
    return count
