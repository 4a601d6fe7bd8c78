"""An answer in the file of a ledger is nothing to whoever has no key: else it is read, taken out, and drawn again."""

import json
import secrets
from pathlib import Path

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.ledger.data_key import key_place
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.places import default_anchor
from sfumato.ledger.veil import LEAST_BYTES, NONCE_BYTES, unveiled, veiled
from tests.ledger.payments import open_ledger, payment, store
from tests.ledger.test_shown import killed_before_the_anchor_moves

KEY = secrets.token_bytes(32)
ANSWER = 271828182845904523
PAID = payment()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def in_files(path: Path, sought: str) -> bool:
    """Whether it stands anywhere in the folder of the ledger, the journals of SQLite too."""
    return any(sought.encode() in file.read_bytes() for file in path.parent.iterdir())


def test_whoever_reads_the_folder_before_the_anchor_moves_sees_nothing_of_an_answer(path: Path) -> None:
    open_ledger(path).charge(PAID)
    killed_before_the_anchor_moves(path, lambda ledger: store(ledger, 2, ANSWER))
    assert not in_files(path, str(ANSWER))
    assert open_ledger(path).recall(2, "research")[1].releases[0].values == ((ANSWER,),)


def test_the_twin_leaves_it_to_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.ledger.releases.veiled", lambda body, key: json.dumps(body))
    open_ledger(path).charge(PAID)
    killed_before_the_anchor_moves(path, lambda ledger: store(ledger, 2, ANSWER))
    assert in_files(path, str(ANSWER))


@pytest.mark.parametrize("length", [0, 1, 490, 498, 499, 500, 1000, 100_000])
def test_what_is_veiled_is_found_again_and_its_length_is_a_power_of_two(length: int) -> None:
    body = {"said": "é" * (length // 6) + "x" * (length % 6)}
    text = veiled(body, KEY)
    assert unveiled(text, KEY) == body
    hidden = len(text) * 3 // 4 - text.count("=") - NONCE_BYTES
    assert hidden >= LEAST_BYTES
    assert hidden & (hidden - 1) == 0
    assert hidden < 2 * max(LEAST_BYTES, len(json.dumps(body)))


def test_two_answers_of_the_same_length_cannot_be_told_apart() -> None:
    texts = [veiled({"values": [[str(value)]]}, KEY) for value in (7, 7, 10**40)]
    assert len({len(text) for text in texts}) == 1
    assert len({text[:40] for text in texts}) == len({text[40:80] for text in texts}) == 3


@pytest.mark.parametrize("flip", range(8))
def test_every_byte_of_the_key_counts(flip: int) -> None:
    other = bytearray(KEY)
    other[flip * 4] ^= 1
    with pytest.raises(ValueError, match=r".*"):
        unveiled(veiled({"values": []}, KEY), bytes(other))


def reopened_with_another_key(path: Path) -> Ledger:
    ledger = open_ledger(path)
    ledger.charge(PAID)
    store(ledger, 2, ANSWER)
    ledger.close()
    key_place(default_anchor(path)).unlink()
    return open_ledger(path)


def test_with_the_key_lost_it_is_said_what_to_restore_and_the_ledger_is_sound(path: Path) -> None:
    ledger = reopened_with_another_key(path)
    with pytest.raises(LedgerDamaged, match="kept under another key"):
        ledger.recall(2, "research")
    assert ledger.verify() == 3
    assert ledger.found(PAID) is None


def test_with_the_key_restored_it_is_shown_again(path: Path) -> None:
    ledger = open_ledger(path)
    kept = key_place(default_anchor(path)).read_bytes()
    ledger.close()
    reopened_with_another_key(path).close()
    key_place(default_anchor(path)).write_bytes(kept)
    assert open_ledger(path).recall(2, "research")[1].releases[0].values == ((ANSWER,),)
