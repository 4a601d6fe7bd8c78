"""Envelopes: one charge for a purpose, of which draws take their parts, never more than is in it."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import BudgetExceeded, EngineFailed, LedgerDamaged, Refused, RequestConflict, UsageError
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Receipt
from sfumato.ledger import ledger as ledger_module
from sfumato.ledger.book import Book
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Draw, Sealed, Sealing, Stored
from sfumato.ledger.totals import LARGEST_DENOMINATOR, ROUNDED_TO
from sfumato.schema.budget import Budget
from tests.ledger.payments import MIXED, answer, certified, newest, open_ledger, payment
from tests.ledger.tampering import forge

PURPOSE = '{"learner":"tree","version":1}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


@pytest.fixture
def ledger(path: Path) -> Any:
    opened = open_ledger(path)
    yield opened
    opened.close()


def sealing(spend: Any = Fraction(1, 2), **changes: Any) -> Sealing:
    given = {"purpose": PURPOSE, "analyst": "research", "spend": spend, "version": "v1"}
    return Sealing(**({"cost": Cost("epsilon", spend)} | given | changes))


def draw(sealed: Sealed, spend: Any = Fraction(1, 4), round_: int = 1, **changes: Any) -> Draw:
    given = {"analyst": "research", "version": "v1"} | {name: changes[name] for name in changes if name != "question"}
    plans = (certified(spend, question=changes.get("question", 0)),)
    return Draw(plans, envelope=sealed.entry, round=round_, **given)


def keep(ledger: Ledger, drawn: Draw, value: int = 42) -> None:
    receipt = ledger.draw(drawn)
    assert isinstance(receipt, Receipt)
    ledger.store(drawn, [answer(receipt.entry, value)])


def test_an_envelope_is_one_charge_for_a_purpose(ledger: Ledger) -> None:
    sealed = ledger.seal(sealing())
    assert sealed.cost.amount == Fraction(1, 2)
    assert len(sealed.seed) == 32
    assert ledger.seal(sealing()) == sealed, "the same purpose again is the same envelope"
    assert ledger.balance("research").spent.epsilon == 0.5
    (line,) = ledger.history()
    assert (line.purpose, line.questions, line.releases, line.spend) == (PURPOSE, (), (), 0.5)
    other = [ledger.seal(sealing(Fraction(1, 10), **changed)) for changed in ({}, {"purpose": "p"}, {"version": "v2"})]
    assert len({sealed.entry, *(one.entry for one in other)}) == 4
    assert ledger.seal(sealing(Fraction(1, 10), fresh=True)).entry == 6
    assert ledger.seal(sealing(Fraction(1, 20), request="id")) == ledger.seal(sealing(Fraction(1, 20), request="id"))
    with pytest.raises(RequestConflict):
        ledger.charge(payment(request="id"))
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 0\.5"):
        ledger.seal(sealing(purpose="too much"))


@pytest.mark.parametrize("request_id", [None, "id"])
def test_a_purpose_at_another_price_is_told_and_is_no_damage(path: Path, request_id: str | None) -> None:
    """With a larger delta the same spend buys more: what was sealed before is another amount."""
    prices = []
    for budget in (MIXED, replace(MIXED, delta=2 * MIXED.delta)):
        ledger = open_ledger(path, budget=budget)
        if prices:
            ledger.record_limit()
        asked = replace(sealing(request=request_id), cost=ledger.terms().price(Fraction(1, 2)))
        prices.append(asked.cost.amount)
        if len(prices) == 1:
            assert ledger.seal(asked) == ledger.seal(asked)
            ledger.close()
    assert prices[0] < prices[1]
    with pytest.raises(UsageError, match="entry 2 paid for this purpose while the limit had another delta") as told:
        ledger.seal(asked)
    assert "fresh=True" in told.value.hint
    assert "backup" not in str(told.value)
    new = ledger.seal(replace(asked, fresh=True, request=None if request_id is None else "another"))
    assert new.entry == 4
    if request_id is None:
        assert ledger.seal(asked) == new, "and afterwards it is the newest that counts"
    assert ledger.verify() == 4
    ledger.close()


def test_a_purpose_that_was_paid_before_is_nothing_beyond_the_limits_of_now(path: Path) -> None:
    """Also where it has another price now: what is above the limit is told first."""
    ledger = open_ledger(path, budget=MIXED)
    ledger.seal(sealing(cost=ledger.terms().price(Fraction(1, 2))))
    ledger.close()
    ledger = open_ledger(path, budget=Budget(epsilon=Fraction(1, 10), delta=2 * MIXED.delta))
    ledger.record_limit()
    with pytest.raises(BudgetExceeded):
        ledger.seal(sealing(cost=ledger.terms().price(Fraction(1, 2))))
    ledger.close()


def test_draws_take_parts_and_change_no_total(ledger: Ledger) -> None:
    sealed = ledger.seal(sealing())
    keep(ledger, draw(sealed))
    keep(ledger, draw(sealed, round_=2))
    assert ledger.balance("research").spent.epsilon == 0.5
    assert [line.says for line in ledger.lines()][2:4] == ["draw from entry 2", "release of entry 3"]
    assert len(ledger.history()) == 1
    assert ledger.verify() == 6
    said = newest(ledger, "draw").content
    assert (said["amount"], said["used"]) == ("1/4", "1/2")


@pytest.mark.parametrize("spend", [Fraction(1, 4) + Fraction(1, 10**30), Fraction(1, 3), Fraction(1)])
def test_no_more_is_drawn_than_is_in_it(ledger: Ledger, spend: Fraction) -> None:
    """Whatever a learner reckons, and however much is left of the table."""
    sealed = ledger.seal(sealing())
    keep(ledger, draw(sealed))
    with pytest.raises(BudgetExceeded, match="this draw costs more than is left in envelope 2"):
        ledger.draw(draw(sealed, spend, round_=2))
    keep(ledger, draw(sealed, round_=3))
    assert ledger.verify() == 6


def test_a_draw_is_repeated_in_its_round_and_paid_in_another(ledger: Ledger) -> None:
    sealed = ledger.seal(sealing())
    keep(ledger, draw(sealed), 7)
    again = ledger.draw(draw(sealed))
    assert isinstance(again, Stored)
    assert again.releases == (answer(3, 7),)
    assert ledger.found(draw(sealed)) == again
    assert isinstance(ledger.draw(draw(sealed, round_=2)), Receipt)


def test_a_draw_without_an_answer_is_resumed_and_one_that_failed_fails(path: Path) -> None:
    """The process died: the next one gets the same receipt, and after a failure the failure."""
    ledger = open_ledger(path)
    sealed = ledger.seal(sealing())
    first = ledger.draw(draw(sealed))
    ledger.close()
    ledger = open_ledger(path)
    assert ledger.seal(sealing()) == sealed
    again = ledger.draw(draw(sealed))
    assert isinstance(again, Receipt)
    assert again.entry == first.entry
    ledger.fail(again.entry, EngineFailed("it failed."))
    with pytest.raises(EngineFailed, match=r"it failed\."):
        ledger.draw(draw(sealed))
    assert ledger.verify() == 5
    ledger.close()


def test_draws_are_of_the_data_and_the_analyst_that_sealed(ledger: Ledger) -> None:
    sealed = ledger.seal(sealing())
    with pytest.raises(UsageError, match="the data has changed since envelope 2 was sealed"):
        ledger.draw(draw(sealed, version="v2"))
    with pytest.raises(UsageError, match="entry 2 is no envelope of yours"):
        ledger.draw(draw(sealed, analyst="press"))
    paid = ledger.charge(payment())
    with pytest.raises(UsageError, match="entry 3 is no envelope"):
        ledger.draw(draw(Sealed(paid.entry, sealed.cost, "")))
    with pytest.raises(LedgerDamaged, match="entry 2 of the ledger is no charge"):
        ledger.fail(sealed.entry, EngineFailed("an envelope has no answer of its own"))
    assert ledger.verify() == 3


FORGED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "more than is left": ({"amount": "1/2", "used": "3/4"}, {}, "draws more than was left"),
    "a sum of its own": ({"used": "1/4"}, {}, "has a sum that is not that of the draws"),
    "for nothing": ({"amount": "0", "used": "1/4"}, {}, "draws nothing"),
    "less than nothing": ({"amount": "-1/4", "used": "0"}, {}, "draws nothing"),
    "a delta": ({"delta": "1/9", "delta_used": "1/9"}, {}, "draws more than was left"),
    "another currency": ({"currency": "rho"}, {}, "is drawn in another currency"),
    "somebody else": ({}, {"analyst": "press"}, "draws from somebody else's envelope"),
    "no envelope": ({}, {"charge": 3}, "draws from what is no envelope"),
    "nowhere": ({}, {"charge": None}, "draws from what is no envelope"),
    "without a price": ({"amount": 7}, {}, "lacks what it should say"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_draw_is_noticed_by_everybody(path: Path, name: str) -> None:
    changes, fields, words = FORGED[name]
    ledger = open_ledger(path)
    keep(ledger, draw(ledger.seal(sealing())))
    said = newest(ledger, "draw").content | {"used": "1/2"} | changes
    ledger.close()
    forge(path, "draw", said, **({"analyst": "research", "question": "2/9/d", "charge": 2} | fields))
    with pytest.raises(LedgerDamaged, match=f"entry 5 of the ledger {words}"):
        open_ledger(path)


@pytest.mark.parametrize("named", ["d", "2/x/d", "2/9"])
def test_a_draw_of_another_name_is_not_listed(path: Path, named: str) -> None:
    ledger = open_ledger(path)
    keep(ledger, draw(ledger.seal(sealing())))
    said = newest(ledger, "draw").content | {"used": "1/2"}
    assert [line.round for line in ledger.draws()] == [1]
    ledger.close()
    forge(path, "draw", said, analyst="research", question=named, charge=2)
    ledger = open_ledger(path)
    with pytest.raises(LedgerDamaged, match="entry 5 of the ledger does not match"):
        ledger.draws()
    ledger.close()


def test_the_same_draw_twice_is_noticed(path: Path) -> None:
    """SQLite itself refuses it; and a book, of a file whose indexes lie."""
    ledger = open_ledger(path)
    keep(ledger, draw(ledger.seal(sealing())))
    entries = list(ledger.records.chain.entries())
    ledger.close()
    book = Book()
    for entry in entries:
        book.take(entry)
    said = entries[2].content | {"used": "1/2"}
    twice = ledger_module.Pen(_Nowhere(), book, None).append(  # type: ignore[arg-type]
        "draw", said, analyst="research", question=entries[2].question, charge=2
    )
    with pytest.raises(LedgerDamaged, match="entry 5 of the ledger draws once more what was drawn"):
        book.take(twice)


class _Nowhere:
    def append(self, entry: object) -> None:
        pass


def test_the_twin_that_does_not_add_up_overdraws(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without both sums, twenty draws of a quarter come out of one half."""

    def overdraw(times: int) -> int:
        ledger = open_ledger(path.with_name(f"{times}.ledger"))
        sealed, drawn = ledger.seal(sealing()), 0
        for round_ in range(times):
            try:
                keep(ledger, draw(sealed, round_=round_))
                drawn += 1
            except BudgetExceeded:
                break
        ledger.close()
        return drawn

    assert overdraw(3) == 2
    take = Book._take_draw

    def forgetful(book: Book, entry: Any, said: Any) -> None:
        take(book, entry, said)
        book.envelopes[entry.charge].used = Fraction(0)

    monkeypatch.setattr(Book, "_take_draw", forgetful)
    assert overdraw(20) == 20


def test_a_lowered_limit_ends_what_was_begun(path: Path) -> None:
    ledger = open_ledger(path)
    sealed = ledger.seal(sealing())
    ledger.draw(draw(sealed))
    lowered = open_ledger(path, budget=Budget(Fraction(1, 4)))
    lowered.record_limit()
    with pytest.raises(BudgetExceeded):
        ledger.draw(draw(sealed))
    for each in (ledger, lowered):
        each.close()


def test_a_lowered_limit_ends_new_draws_and_the_envelope_itself(path: Path) -> None:
    ledger = open_ledger(path)
    sealed = ledger.seal(sealing())
    lowered = open_ledger(path, budget=Budget(Fraction(1, 4)))
    lowered.record_limit()
    for act in (lambda: ledger.draw(draw(sealed)), lambda: ledger.seal(sealing())):
        with pytest.raises(BudgetExceeded):
            act()
    assert ledger.verify() == 3
    for each in (ledger, lowered):
        each.close()


def test_a_forged_envelope_between_two_limits_pays_nothing(path: Path) -> None:
    """Whoever can write the ledger copies what the state of the data is called from an honest envelope."""
    ledger = open_ledger(path)
    ledger.seal(sealing(Fraction(1, 10)))
    said = newest(ledger, "charge").content
    much = {"amount": "900", "spend": "900", "total": "9001/10", "analyst_total": "9001/10"}
    forge(path, "limit", {"when": "", "epsilon": "1000", "delta": "0"})
    forge(path, "charge", said | much, analyst="research", question="f" * 64)
    forge(path, "limit", {"when": "", "epsilon": "1", "delta": "0"})
    for each in (ledger, open_ledger(path)):
        with pytest.raises((BudgetExceeded, UsageError)):
            each.draw(draw(Sealed(4, Cost("epsilon", Fraction(900)), ""), Fraction(800)))
        each.close()


@pytest.mark.parametrize(
    "cost",
    [Cost("rho", Fraction(1, 2)), Cost("epsilon", Fraction(0)), Cost("epsilon", Fraction(1, 2), Fraction(-1, 9))],
)
def test_what_no_book_would_take_is_not_written(path: Path, cost: Cost) -> None:
    ledger = open_ledger(path)
    with pytest.raises(Refused, match="not paid in epsilon, or costs nothing"):
        ledger.seal(Sealing(PURPOSE, "research", Fraction(1, 2), cost, "v1"))
    assert ledger.verify() == 1
    ledger.close()


def test_draws_of_others_and_of_other_data_are_not_found(ledger: Ledger) -> None:
    """Whatever was drawn before: who asks for it is looked at first, as when it is drawn."""
    sealed = ledger.seal(sealing())
    keep(ledger, draw(sealed), 7)
    for act in (ledger.found, ledger.draw):
        with pytest.raises(UsageError, match="entry 2 is no envelope of yours"):
            act(draw(sealed, analyst="press"))
        with pytest.raises(UsageError, match="the data has changed since envelope 2 was sealed"):
            act(draw(sealed, version="v2"))
        with pytest.raises(UsageError, match="entry 9 is no envelope of yours"):
            act(draw(Sealed(9, sealed.cost, "")))
        assert act(draw(sealed)).releases == (answer(3, 7),)


def test_unrelated_fractions_are_rounded_up_and_the_envelope_is_never_overdrawn(ledger: Ledger) -> None:
    """Else the sum becomes longer than a number that Python writes, and the envelope can be used no more."""
    sealed, exact = ledger.seal(sealing()), Fraction(0)
    for round_ in range(80):
        part = Fraction(10**60, 10**63 + 2 * round_ + 1)
        ledger.draw(draw(sealed, part, round_))
        exact += part
    used = Fraction(newest(ledger, "draw").content["used"])
    assert used.denominator <= LARGEST_DENOMINATOR
    assert 0 < used - exact < Fraction(80, ROUNDED_TO)
    assert ledger.verify() == 82
    hair = Fraction(int((used - exact) / 2 * (1 << 300)), 1 << 300)
    with pytest.raises(BudgetExceeded):  # the exact sum would fit
        ledger.draw(draw(sealed, Fraction(1, 2) - used + hair, 100))
    ledger.draw(draw(sealed, Fraction(1, 2) - used, 101))
    assert ledger.verify() == 83


@pytest.mark.parametrize("parts", [3, 7, 48])
def test_equal_parts_use_an_envelope_up(ledger: Ledger, parts: int) -> None:
    sealed = ledger.seal(sealing(Fraction(1, 3)))
    for round_ in range(parts):
        ledger.draw(draw(sealed, Fraction(1, 3 * parts), round_))
    assert newest(ledger, "draw").content["used"] == "1/3"
    with pytest.raises(BudgetExceeded):
        ledger.draw(draw(sealed, Fraction(1, 10**90), parts))
