"""Marks: what somebody without the key adds to a ledger is counted, and never shown for a question."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import EngineFailed, LedgerDamaged, RequestConflict
from sfumato.kernel.gate import Receipt
from sfumato.ledger.entry import GENESIS, following
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.marks import is_marked, marked
from sfumato.ledger.payment import Stored
from tests.ledger.attacked import without_marks
from tests.ledger.payments import newest, open_ledger, payment, store
from tests.ledger.tampering import forge, rows
from tests.ledger.test_envelopes import draw, keep, sealing

WITHOUT = "was written by somebody who does not have the key"
RELEASE: dict[str, Any] = {"when": "1999", "releases": [{"values": [["123"]]}]}
FAILURE: dict[str, Any] = {"when": "1999", "told": ["it failed.", ""]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def copied(path: Path, charge: int = 2, **fields: Any) -> None:
    """A second charge like an earlier one, with its mark."""
    old = rows(path)[charge - 1]
    forge(
        path,
        "charge",
        old.content | {"total": "1/5", "analyst_total": "1/5"},
        analyst=old.analyst,
        question=old.question,
        **fields,
    )


def shown(bought: object) -> object:
    assert isinstance(bought, Stored)
    return bought.releases[0].values[0][0]


# ---- the mark itself


def test_a_mark_is_of_everything_an_entry_says_and_of_its_place() -> None:
    plain = following((0, GENESIS), "charge", {"when": "", "total": "1"}, analyst="a", question="q", request="r")
    entry = marked(plain, GENESIS, b"key")
    assert entry.content == {"mark": entry.content["mark"], **plain.content}
    assert entry.hash == entry.expected_hash(GENESIS)
    assert is_marked(entry, GENESIS, b"key")
    changes: list[dict[str, Any]] = [{"seq": 2}, {"kind": "draw"}, {"analyst": "b"}, {"question": "p"}]
    changes += [{"request": None}, {"charge": 1}, {"body": entry.body.replace('"1"', '"2"')}]
    changes += [{"body": plain.body}, {"body": entry.body.replace('"mark":"', '"mark":"0')}, {"body": b"x"}]
    for change in changes:
        assert not is_marked(replace(entry, **change), GENESIS, b"key"), change
    assert not is_marked(entry, "1" * 64, b"key")
    assert not is_marked(entry, GENESIS, b"other")


def test_everything_but_the_first_entry_has_one(path: Path) -> None:
    ledger = open_ledger(path)
    keep(ledger, draw(ledger.seal(sealing())))
    for _ in range(2):
        ledger.charge(payment())
    ledger.fail(5, EngineFailed("it failed."))
    ledger.record_limit()
    entries = list(ledger.records.chain.entries())
    hashes = [GENESIS, *(entry.hash for entry in entries)]
    found = [is_marked(entry, before, ledger.records.key) for entry, before in zip(entries, hashes, strict=False)]
    assert found == [False] + [True] * 7
    assert ledger.verify() == 8
    ledger.close()


# ---- charges


def test_a_made_up_charge_hides_no_answer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the name that the true one has, with all it says; the twin shows what somebody made up."""
    ledger = open_ledger(path)
    store(ledger, ledger.charge(payment()).entry, 7)
    copied(path)
    forge(path, "release", RELEASE, charge=4)
    for act in (ledger.found, ledger.charge):
        assert shown(act(payment())) == 7
    assert ledger.balance("research").spent.epsilon == 0.2, "it counts"
    assert ledger.verify() == 5
    with monkeypatch.context() as twin:
        without_marks(twin)
        assert shown(ledger.found(payment())) == 123
    ledger.close()


def test_a_made_up_charge_is_neither_resumed_nor_in_the_way(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment(fresh=True))
    copied(path)
    receipt = ledger.charge(payment())
    assert isinstance(receipt, Receipt)
    assert receipt.entry == 2, "the newest that somebody with the key wrote"
    assert newest(ledger, "charge").seq == 3
    ledger.close()


def test_a_made_up_request_id_is_nobodys(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment())
    copied(path, request="id-9")
    forge(path, "release", RELEASE, charge=3)
    for act in (ledger.found, ledger.charge):
        with pytest.raises(RequestConflict):
            act(payment(request="id-9"))
    ledger.close()


def test_a_made_up_envelope_is_not_found(path: Path) -> None:
    """Its seed would be chosen by whoever made it up."""
    ledger = open_ledger(path)
    sealed = ledger.seal(sealing(payment().spend))
    old = rows(path)[1]
    said = old.content | {"seed": "0" * 32, "total": "1/5", "analyst_total": "1/5"}
    forge(path, "charge", said, analyst=old.analyst, question=old.question)
    assert ledger.seal(sealing(payment().spend)) == sealed
    ledger.close()


def test_an_envelope_under_the_name_of_a_question_is_no_charge_for_it(path: Path) -> None:
    """Also from somebody with the key: nothing is kept for an envelope, so it could be looked at without end."""
    ledger = open_ledger(path)
    ledger.charge(payment())
    copied_said = rows(path)[1].content | {"total": "1/5", "analyst_total": "1/5"}
    copied_said |= {"envelope": "p", "seed": "", "data": ""}
    forge(path, "charge", copied_said, key=ledger.records.key, analyst="research", question=rows(path)[1].question)
    for act in (ledger.found, ledger.charge):
        with pytest.raises(LedgerDamaged, match="entry 3 of the ledger was paid for something else"):
            act(payment())
    ledger.close()


# ---- what is kept for them


@pytest.mark.parametrize(("kind", "said"), [("release", RELEASE), ("failure", FAILURE)])
def test_a_made_up_answer_or_failure_is_never_shown(path: Path, kind: str, said: dict[str, Any]) -> None:
    """Of a charge that was begun and not answered yet. The budget stands; asked afresh, it is another charge."""
    ledger = open_ledger(path)
    receipt = ledger.charge(payment())
    forge(path, kind, said | {"mark": rows(path)[1].content["mark"]}, charge=receipt.entry)
    acts = (
        lambda: ledger.found(payment()),
        lambda: ledger.charge(payment()),
        lambda: ledger.recall(receipt.entry, "research"),
        lambda: store(ledger, receipt.entry),
    )
    for act in acts:
        with pytest.raises(LedgerDamaged, match=f"entry 3 of the ledger {WITHOUT}"):
            act()
    assert isinstance(ledger.charge(payment(fresh=True)), Receipt)
    assert ledger.verify() == 4
    ledger.close()


def test_a_made_up_draw_has_no_answer_that_somebody_made_up(path: Path) -> None:
    ledger = open_ledger(path)
    drawn = draw(ledger.seal(sealing()))
    said = {**drawn.said(), "when": "", "used": "1/4", "delta_used": "0"}
    forge(path, "draw", said, analyst="research", question=drawn.name, charge=2)
    assert isinstance(ledger.draw(drawn), Receipt), "it has taken its price"
    forge(path, "release", RELEASE, charge=3)
    for act in (ledger.found, ledger.draw):
        with pytest.raises(LedgerDamaged, match=f"entry 5 of the ledger {WITHOUT}"):
            act(drawn)
    ledger.close()


def recalled(ledger: Ledger) -> Stored:
    return ledger.recall(2, "research")[1]
