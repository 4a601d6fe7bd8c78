"""Copies of the ledger, to show what its owner notices. The ledger itself is never touched."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sfumato.errors import LedgerDamaged
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.places import default_anchor
from sfumato.schema.policy import load_policy


def copy_ledger(source: Path, target: Path) -> None:
    """The entries written so far, as one file, and the anchor beside it."""
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)
    shutil.copyfile(default_anchor(source), default_anchor(target))


def forget_a_charge(ledger: Path, analyst: str) -> None:
    """What somebody with the file in hand would try: the newest charge of an analyst becomes free, unseen."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        (guard,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'no_update'").fetchone()
        connection.execute("DROP TRIGGER no_update")
        connection.execute(
            """UPDATE entry SET body = json_set(body, '$.amount', '0')
               WHERE seq = (SELECT MAX(seq) FROM entry WHERE kind = 'charge' AND analyst = ?)""",
            (analyst,),
        )
        connection.execute(guard)


def complaint(ledger: Path, policy: Path) -> str:
    """What opening and verifying this copy says; nothing if all is well."""
    loaded = load_policy(policy)
    try:
        with closing(Ledger(ledger, schema=loaded.schema, budget=loaded.budget)) as opened:
            opened.verify()
    except LedgerDamaged as error:
        return f"{type(error).__name__}: {error}"
    return ""
