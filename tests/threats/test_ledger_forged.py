"""Charges made up by somebody who may write the ledger, not its anchor, and has read its key, for the next question.

Each entry is well formed and its hash is right. Before anything is drawn for a charge that is found, it must have taken
what the question costs, and all charges must be within the limits of now. The twin resumes what it finds.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import BudgetExceeded, EngineFailed, LedgerDamaged, SfumatoError
from sfumato.ledger.book import MOST_RESUMED, Book
from sfumato.ledger.chain import Chain
from sfumato.ledger.data_key import key_beside
from sfumato.ledger.entry import Entry
from sfumato.ledger.payment import Payment
from sfumato.ledger.places import default_anchor
from tests.ledger.asking import question, write_table
from tests.ledger.attacked import ledger_of, rows_of, session_on, spent, without_finding_it_in_the_book
from tests.ledger.tampering import edit, forge

WANTED, SPEND, EVE = "SELECT COUNT(*) AS n FROM people", 1000, "eve"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Nothing is left of the limit of 1."""
    return spent(tmp_path)


def payment(folder: Path, spend: Any = SPEND) -> Payment:
    """Anybody can compute it from the schema; what it is known by only with the key."""
    with session_on(folder, EVE) as session:
        prepared = session._prepare(WANTED, spend)
        plans = tuple(one.certified for one in prepared.different)
        return Payment(plans, EVE, prepared.spend, session._engine.version(), prepared.asking)


def forge_charge(folder: Path, paid: Payment, **changes: Any) -> None:
    before = sum((Fraction(entry.content["amount"]) for entry in rows_of(folder, "charge")), Fraction(0))
    amount = Fraction(changes.get("amount", paid.cost.amount))
    said = rows_of(folder, "charge")[-1].content
    said |= {"amount": str(amount), "spend": str(paid.spend), "digest": paid.digest, "total": str(before + amount)}
    said |= {"analyst_total": str(amount), **changes}
    key = key_of(folder)
    forge(ledger_of(folder), "charge", said, key=key, analyst=EVE, question=paid.name(key))


def key_of(folder: Path) -> bytes:
    return key_beside(default_anchor(ledger_of(folder)))


def asked(folder: Path, spend: Any = SPEND) -> Any:
    with session_on(folder, EVE) as session:
        return session.ask(WANTED, spend=spend).rows[0]["n"]


def nothing_but_the_name(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Payment, "was_paid_by", lambda payment, charge: True)


def no_limits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Book, "keeps_to", lambda book, limit, analyst: True)
    patch.setattr("sfumato.ledger.ledger.is_within", lambda book, analyst, terms: True)


def pay_next_to_nothing(folder: Path) -> None:
    forge_charge(folder, payment(folder), amount=str(Fraction(1, 2**300)))


def pay_above_the_limit(folder: Path) -> None:
    forge_charge(folder, payment(folder))


def pay_between_two_limits(folder: Path) -> None:
    forge(ledger_of(folder), "limit", {"when": "", "epsilon": "2000", "delta": "0"})
    forge_charge(folder, payment(folder))
    forge(ledger_of(folder), "limit", {"when": "", "epsilon": "1", "delta": "0"})


Removed = Callable[[pytest.MonkeyPatch], None]
ABOVE = "entry 9 of the ledger charges more than was left"
FORGED: dict[str, tuple[Callable[[Path], None], type[SfumatoError], str, tuple[Removed, ...]]] = {
    "next-to-nothing": (
        pay_next_to_nothing,
        LedgerDamaged,
        "entry 9 of the ledger was paid for something else",
        (nothing_but_the_name,),
    ),
    "above-the-limit": (pay_above_the_limit, LedgerDamaged, ABOVE, (no_limits,)),
    "between-two-limits": (pay_between_two_limits, BudgetExceeded, "the table has 0 left of 1", (no_limits,)),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_charge_buys_no_answer(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tamper, refusal, words, removed = FORGED[name]
    tamper(folder)
    for _ in range(2):
        with pytest.raises(refusal, match=words):
            asked(folder)
    assert rows_of(folder, "release")[-1].seq == 8, "nothing was drawn"
    with monkeypatch.context() as twin:
        for remove in removed:
            remove(twin)
        assert asked(folder) == 200, "at epsilon 1000, under a limit of 1, almost without noise"


CHANGED = {"spend": "1/9", "digest": "d", "amount": "1/9", "delta": "1/9"}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("kept", [None, "release", "failure"])
def test_a_charge_must_have_paid_for_what_is_asked(
    tmp_path: Path, name: str, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part for itself, with room in every limit; also before an answer or a failure that is kept is told."""
    write_table(tmp_path)
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=0.1)
    if name == "delta":  # of which a limit without δ has none to take
        monkeypatch.setattr("sfumato.ledger.book.least_above_pot", lambda delta: Fraction(1))
    changes = {name: CHANGED[name]} | ({"delta_total": CHANGED[name]} if name == "delta" else {})
    forge_charge(tmp_path, payment(tmp_path, 0.1), **changes)
    if kept == "release":
        forge(ledger_of(tmp_path), "release", {"when": "", "values": [["7"]]}, key=key_of(tmp_path), charge=4)
    if kept == "failure":
        forge(ledger_of(tmp_path), "failure", {"when": "", "told": ["it failed.", ""]}, key=key_of(tmp_path), charge=4)
    with pytest.raises(LedgerDamaged, match="entry 4 of the ledger was paid for something else"):
        asked(tmp_path, 0.1)


def test_what_a_forged_entry_can_still_do(tmp_path: Path) -> None:
    """Use the budget up, and tell a lie to whoever asks what it was written for. Nothing is drawn without its price."""
    write_table(tmp_path)
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=0.1)
    forge_charge(tmp_path, payment(tmp_path, 0.1))
    assert isinstance(asked(tmp_path, 0.1), int), "resumed, for what it has paid"
    forge_charge(tmp_path, payment(tmp_path, 0.2), analyst_total="3/10")
    forge(ledger_of(tmp_path), "release", {"when": "", "values": [["7"]]}, key=key_of(tmp_path), charge=7)
    assert asked(tmp_path, 0.2) == 7
    forge_charge(tmp_path, payment(tmp_path, 0.3), analyst_total="3/5")
    forge(ledger_of(tmp_path), "failure", {"when": "", "told": ["it failed.", ""]}, key=key_of(tmp_path), charge=9)
    with pytest.raises(EngineFailed, match="it failed"):
        asked(tmp_path, 0.3)
    with session_on(tmp_path) as session:
        assert session.budget.left.epsilon == pytest.approx(0.3)
        assert session._ledger.verify() == 10


def test_an_owner_who_lowers_the_limit_ends_what_was_begun(tmp_path: Path) -> None:
    """And nothing of what was shown before."""
    write_table(tmp_path)
    with session_on(tmp_path, EVE) as session:
        shown = session.ask(question(1), spend=0.5).rows
        session._ledger.limit_analyst(EVE, Fraction(9, 10))
    forge_charge(tmp_path, payment(tmp_path, 0.2), analyst_total="7/10")
    with session_on(tmp_path, EVE) as session:
        session._ledger.limit_analyst(EVE, Fraction(6, 10))
        with pytest.raises(BudgetExceeded, match=r'analyst "eve" has 0 left of 0\.6'):
            session.ask(WANTED, spend=0.2)
        assert session.ask(question(1), spend=0.5).rows == shown
        session._ledger.limit_analyst(EVE, Fraction(7, 10))
        assert not session.ask(WANTED, spend=0.2).cached


# ---- a moment between reading back and showing


def test_an_entry_taken_out_after_it_was_read_back_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is in the file when it is read back, and gone when the book is read: it is not shown."""
    write_table(tmp_path)
    path, at = ledger_of(tmp_path), Chain.at

    def racing(chain: Chain, seq: int) -> Entry | None:
        entry = at(chain, seq)
        if entry is not None and entry.kind == "release" and not chain._connection.in_transaction:
            edit(path, f"DELETE FROM entry WHERE seq >= {seq}")
        return entry

    told = set()
    with session_on(tmp_path) as session:
        with monkeypatch.context() as attacker:
            attacker.setattr(Chain, "at", racing)
            with pytest.raises(LedgerDamaged, match=r"entry \d of the ledger is no longer the one"):
                session.ask(question(1), spend=0.01)
        with monkeypatch.context() as twin:
            twin.setattr(Chain, "at", racing)
            without_finding_it_in_the_book(twin)
            told.update(session.ask(question(1), spend=0.01).rows[0]["n"] for _ in range(MOST_RESUMED))
    assert len(told) > 1, "one charge, several draws"


def test_an_entry_follows_what_was_read_and_not_what_the_file_says_now(tmp_path: Path) -> None:
    """The number and the hash before are those of the book that granted the charge."""
    write_table(tmp_path)
    with session_on(tmp_path) as session:
        session.ask(question(1), spend=0.5)
        seen: list[str] = []
        session._ledger.records.chain._connect().set_trace_callback(seen.append)
        session.ask(question(2), spend=0.1)
    assert not [statement for statement in seen if "ORDER BY seq DESC" in statement]
    assert [entry.seq for entry in rows_of(tmp_path, "charge")] == [2, 4]
