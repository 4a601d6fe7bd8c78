"""A journal of SQLite's beside a ledger: SQLite itself, run by whoever opens the ledger, would remove the anchor.

The attacker may write in the ledger's folder and not in that of the anchor.
"""

import os
import struct
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import LedgerDamaged
from sfumato.ledger import starting
from sfumato.ledger.anchor import Anchor
from tests.ledger.asking import question, write_table
from tests.ledger.tampering import edit

MAGIC = bytes.fromhex("d9d505f920a163d7")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All is spent; then the ledger is cut back to its first entry, and a journal names the anchor."""
    write_table(tmp_path)
    (tmp_path / "safe").mkdir()
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=1)
    edit(tmp_path / "people.ledger", "DELETE FROM entry WHERE seq > 1")
    return tmp_path


def session_on(folder: Path) -> sf.Session:
    return sf.protect(
        folder / "people.parquet",
        unit=sf.Person("user_id", max_rows=1),
        columns={"age": sf.Int(17, 90)},
        budget=sf.Budget(1),
        anchor=anchor_of(folder),
    )


def anchor_of(folder: Path) -> Path:
    return folder / "safe" / "people.anchor"


def plant(folder: Path) -> Path:
    """A journal that a transaction over several files would leave, to be finished by whoever comes next."""
    ledger = folder / "people.ledger"
    content, name = ledger.read_bytes(), os.fsencode(anchor_of(folder))
    (page,) = struct.unpack(">H", content[16:18])
    header = (MAGIC + struct.pack(">IIIII", 0, 1, len(content) // page, 512, page)).ljust(512, b"\0")
    check = sum(byte if byte < 128 else byte - 256 for byte in name) & 0xFFFFFFFF
    tail = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), check) + MAGIC
    journal = ledger.with_name("people.ledger-journal")
    journal.write_bytes(header + tail)
    return journal


def test_a_planted_journal_is_refused_and_the_anchor_stays(folder: Path) -> None:
    before, journal = anchor_of(folder).read_bytes(), plant(folder)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match=r"people\.ledger-journal lies beside the ledger"):
            session_on(folder)
    assert anchor_of(folder).read_bytes() == before
    journal.unlink()
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 3"):
        session_on(folder)


def test_one_planted_after_it_was_looked_for_does_not_help_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite removes the anchor; this process has read it before, writes it back, and refuses."""
    before, prepare = anchor_of(folder).read_bytes(), starting.prepare_place

    def late(file: Path, path: Path) -> None:
        prepare(file, path)
        plant(folder)

    monkeypatch.setattr("sfumato.ledger.chain.prepare_place", late)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="no longer knew the entry that was read in it before"):
            session_on(folder)
        assert anchor_of(folder).read_bytes() == before
    monkeypatch.undo()
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 3"):
        session_on(folder)


def test_the_twin_spends_everything_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(folder)
    monkeypatch.setattr("sfumato.ledger.chain.prepare_place", lambda file, path: None)
    monkeypatch.setattr(Anchor, "_trusted", Anchor._read)
    with session_on(folder) as session:
        session.ask(question(2), spend=1)
        assert session._ledger.verify() == 3
