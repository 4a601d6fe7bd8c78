"""The key under which a ledger names the state of the data: beside the anchor, never in the ledger."""

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import LedgerDamaged
from sfumato.kernel.gate import Receipt
from sfumato.ledger import data_key
from sfumato.ledger.alone import alone
from sfumato.ledger.data_key import KEY_BYTES, key_beside, key_place, keyed
from sfumato.ledger.payment import Stored
from sfumato.ledger.places import default_anchor
from sfumato.ledger.starting import write_new
from tests.ledger.payments import newest, open_ledger, payment, store
from tests.ledger.test_envelopes import sealing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def key_of(path: Path) -> Path:
    return key_place(default_anchor(path))


def test_it_is_made_with_the_ledger_for_its_owner_alone(path: Path) -> None:
    open_ledger(path).close()
    assert stat.S_IMODE(key_of(path).stat().st_mode) == 0o600
    first = key_beside(default_anchor(path))
    assert len(first) == KEY_BYTES
    open_ledger(path).close()
    assert key_beside(default_anchor(path)) == first
    other = path.with_name("b.ledger")
    open_ledger(other).close()
    assert key_beside(default_anchor(other)) != first


def test_it_lies_beside_the_anchor_wherever_that_is(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    anchor = tmp_path / "elsewhere" / "people.anchor"
    open_ledger(path, anchor=anchor).close()
    assert (tmp_path / "elsewhere" / "people.anchor.key").is_file()
    assert not key_of(path).exists()


def test_it_is_in_no_entry_and_no_other_file(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.seal(sealing())
    store(ledger, ledger.charge(payment()).entry)
    ledger.record_limit()
    key = key_beside(default_anchor(path))
    for place in path.parent.iterdir():
        content = place.read_bytes()
        assert place == key_of(path) or (key not in content and key.hex().encode() not in content), place
    ledger.close()


def test_nobody_without_it_can_try_out_what_the_data_was(path: Path) -> None:
    """Two ledgers name one question of one table otherwise, and neither as a hash that anybody can compute."""
    names = set()
    for place in (path, path.with_name("b.ledger")):
        ledger, paid = open_ledger(place), payment()
        ledger.charge(paid)
        ledger.seal(sealing())
        names |= {str(newest(ledger, "charge").question), newest(ledger, "charge").content["data"]}
        guesses = [json.dumps(guess) for guess in guesses_of(paid)]
        assert not names & {hashlib.sha256(guess.encode()).hexdigest() for guess in guesses}
        assert "v1" not in "".join(entry.body for entry in ledger.records.chain.entries())
        ledger.close()
    assert len(names) == 4


def guesses_of(paid: Any) -> list[list[str]]:
    said = [paid.digest, str(paid.spend), paid.version]
    return [said, ["question", *said], ["data", paid.version], [paid.version]]


def test_lost_it_means_that_answers_are_not_found_and_nothing_else(path: Path) -> None:
    ledger = open_ledger(path)
    store(ledger, ledger.charge(payment(0.25)).entry, 7)
    assert isinstance(ledger.charge(payment(0.25)), Stored)
    ledger.close()
    key_of(path).unlink()
    ledger = open_ledger(path)
    assert ledger.balance("research").spent.epsilon == 0.25
    assert isinstance(ledger.charge(payment(0.25)), Receipt)
    assert ledger.balance("research").spent.epsilon == 0.5
    assert ledger.verify() == 4
    ledger.close()


def test_copied_to_another_machine_it_finds_the_answers(path: Path, tmp_path: Path) -> None:
    ledger = open_ledger(path)
    store(ledger, ledger.charge(payment()).entry)
    ledger.close()
    there = tmp_path / "there" / "a.ledger"
    there.parent.mkdir()
    for name in ("a.ledger", "a.ledger.anchor", "a.ledger.anchor.key"):
        (there.parent / name).write_bytes((tmp_path / name).read_bytes())
    (there.parent / "a.ledger.anchor.key").chmod(0o600)
    moved = open_ledger(there)
    assert isinstance(moved.charge(payment()), Stored)
    moved.close()


@pytest.mark.parametrize("content", [b"", b"00", b"\xff" * 64, b"x" * 64, b"0" * 66])
def test_what_is_no_key_is_neither_used_nor_replaced(path: Path, content: bytes) -> None:
    open_ledger(path).close()
    key_of(path).write_bytes(content)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="holds no key of a ledger"):
            open_ledger(path)
    assert key_of(path).read_bytes() == content


@pytest.mark.parametrize("links", [True, False])
def test_whoever_comes_later_gets_the_key_of_the_first(
    path: Path, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = data_key._put

    def overtaken(unfinished: Path, place: Path) -> None:
        if not place.exists():
            write_new(place, b"ab" * KEY_BYTES)
        made(unfinished, place)

    def none(*_: object) -> None:
        raise OSError

    if not links:
        monkeypatch.setattr("os.link", none)
        assert len(key_beside(path.with_name("first"))) == KEY_BYTES
    monkeypatch.setattr(data_key, "_put", overtaken)
    assert key_beside(path) == bytes([0xAB]) * KEY_BYTES
    left = sorted(place.name for place in path.parent.iterdir())
    assert left == sorted([path.name, f"{path.name}.key"] + ([] if links else ["first", "first.key"]))


def test_a_disk_without_room_for_it_lets_nothing_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(data_key, "write_new", full)
    with pytest.raises(LedgerDamaged, match="cannot be written"):
        open_ledger(path)


def test_words_under_a_key_are_told_apart() -> None:
    said = [("a", "b"), ("ab",), ("a", "b", ""), ("a b",), ("a", 1), ("a", "1")]
    assert len({keyed(b"key", *each) for each in said}) == len(said)
    assert keyed(b"key", "a") != keyed(b"other", "a")


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_of_its_own_is_no_key(path: Path, kind: str) -> None:
    """A pipe would let whoever opens it wait for ever."""
    open_ledger(path).close()
    place = key_of(path)
    content = place.read_bytes()
    place.unlink()
    match kind:
        case "link":
            place.with_name("elsewhere").write_bytes(content)
            place.symlink_to(place.with_name("elsewhere"))
        case "pipe":
            os.mkfifo(place)
        case _:
            place.mkdir()
    with pytest.raises(LedgerDamaged, match="key"):
        open_ledger(path)


def test_it_is_written_whole_however_little_a_disk_takes_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:10]))
    assert len(key_beside(path)) == KEY_BYTES


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o666, 0o644])
def test_a_key_for_everybody_is_refused_with_the_cure(path: Path, mode: int) -> None:
    open_ledger(path).close()
    key_of(path).chmod(mode)
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="everybody on this machine may read or write the key") as refused:
            open_ledger(path)
        assert f"chmod 600 {key_of(path)}" in refused.value.hint
    for allowed in (0o660, 0o640, 0o400, 0o601):
        key_of(path).chmod(allowed)
        open_ledger(path).close()


def test_it_is_made_while_the_anchor_is_locked_and_looked_for_inside(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without links, two that both found none would each put their own; the later would take the earlier's place."""

    def link(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", link)
    locked = []

    def overtaken(anchor: Path, work: Any) -> Any:
        locked.append(anchor)
        if len(locked) == 1:
            first.append(key_beside(anchor))
        return alone(anchor, work)

    first: list[bytes] = []
    monkeypatch.setattr(data_key, "alone", overtaken)
    assert [key_beside(path)] == first
    assert locked == [path, path]
    assert [key_beside(path)] == first
