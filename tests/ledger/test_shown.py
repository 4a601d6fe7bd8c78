"""What is shown of a ledger is what its anchor covers: else it is taken out, and the same charge buys another."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import EngineFailed, LedgerDamaged
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Stored
from sfumato.ledger.places import default_anchor
from sfumato.ledger.records import Records
from tests.ledger.payments import answer, in_child, open_ledger, payment, store
from tests.ledger.tampering import edit
from tests.ledger.test_envelopes import draw, sealing

Keep = Callable[[Ledger], object]
PAID = payment()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def killed_before_the_anchor_moves(path: Path, keep: Keep) -> None:
    """The entry is in the file, and its process dies before the anchor knows."""

    def work() -> None:
        ledger = open_ledger(path)
        Anchor.advance = lambda *_, **__: os._exit(9)  # type: ignore[method-assign]
        keep(ledger)

    assert in_child(work) == 9


def answered(ledger: Ledger) -> None:
    store(ledger, 2, 7)


def failed(ledger: Ledger) -> None:
    ledger.fail(2, EngineFailed("it failed."))


def told(act: Callable[[], Any]) -> object:
    try:
        return act()
    except EngineFailed as failure:
        return failure.message


SHOWN: dict[str, Callable[[Ledger], Any]] = {
    "found": lambda ledger: ledger.found(PAID),
    "charge": lambda ledger: ledger.charge(PAID),
    "recall": lambda ledger: ledger.recall(2, "research"),
}


@pytest.mark.parametrize("keep", [answered, failed])
@pytest.mark.parametrize("act", SHOWN)
def test_what_is_shown_cannot_be_taken_out_any_more(path: Path, keep: Keep, act: str) -> None:
    running = open_ledger(path)
    running.charge(PAID)
    killed_before_the_anchor_moves(path, keep)
    assert default_anchor(path).read_text().startswith(f"{2:020d} ")
    assert told(lambda: SHOWN[act](running)) not in (None, [])
    assert default_anchor(path).read_text().startswith(f"{3:020d} ")
    running.close()
    edit(path, "DELETE FROM entry WHERE seq = 3")
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 3"):
        open_ledger(path)


@pytest.mark.parametrize("keep", ["answer", "failure"])
@pytest.mark.parametrize("act", ["found", "draw"])
def test_the_same_of_a_draw(path: Path, keep: str, act: str) -> None:
    running = open_ledger(path)
    drawn = draw(running.seal(sealing()))
    running.draw(drawn)

    def work(ledger: Ledger) -> None:
        if keep == "answer":
            ledger.store(drawn, [answer(3)])
        ledger.fail(3, EngineFailed("it failed."))

    killed_before_the_anchor_moves(path, work)
    assert default_anchor(path).read_text().startswith(f"{3:020d} ")
    assert isinstance(told(lambda: getattr(running, act)(drawn)), Stored if keep == "answer" else str)
    assert default_anchor(path).read_text().startswith(f"{4:020d} ")
    running.close()


def test_the_twin_shows_many_answers_of_one_charge(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Records, "cover", lambda records: None)
    open_ledger(path).charge(PAID)
    shown = set()
    for value in range(3):
        killed_before_the_anchor_moves(path, lambda ledger, value=value: store(ledger, 2, value))
        running = open_ledger_without_writing(path)
        shown.add(running.recall(2, "research")[1].releases)
        running.close()
        edit(path, "DELETE FROM entry WHERE seq = 3")
    assert len(shown) == 3


def open_ledger_without_writing(path: Path) -> Ledger:
    """As one that was open before: whoever opens a ledger lets the anchor know of everything in it."""
    before = default_anchor(path).read_bytes()
    ledger = open_ledger(path)
    default_anchor(path).write_bytes(before)
    ledger.records.anchor = Anchor(default_anchor(path))
    return ledger


def test_nothing_is_waited_for_where_nothing_is_shown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new question, one that is not answered yet, and what follows from charges alone: lists, sums, limits."""
    ledger = open_ledger(path)
    ledger.charge(PAID)
    monkeypatch.setattr(Records, "cover", lambda records: pytest.fail("covered"))
    assert ledger.found(PAID) is None
    assert ledger.found(payment(question=1)) is None
    assert len(ledger.history()) == 1
    assert ledger.balance("research").spent.epsilon == 0.1
    ledger.close()
