"""The durable budget: charges, stored releases, limits, request ids, and a disk that gives up."""

import dataclasses
import json
import os
import resource
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import BudgetExceeded, EngineFailed, LedgerDamaged, RequestConflict, UsageError
from sfumato.kernel.certify import certify
from sfumato.kernel.gate import Receipt, Release
from sfumato.ledger import chain as chain_module
from sfumato.ledger import ledger as ledger_module
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.book import MOST_RESUMED
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Payment, Stored
from sfumato.ledger.places import default_anchor
from sfumato.ledger.terms import Terms
from sfumato.ledger.totals import LARGEST_DENOMINATOR, bounded
from sfumato.plan.expressions import Column, Comparison, Number
from sfumato.plan.nodes import PLAN_LANGUAGE, CountRows, Measure, OpenKey, Plan, Selection
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Int, Text
from sfumato.schema.given import check_analyst
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.ledger.chains import last
from tests.ledger.payments import MIXED, PURE, SCHEMA, answer, in_child, newest, open_ledger, paying, payment, store
from tests.ledger.tampering import edit, forge

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path: Path) -> Any:
    opened = open_ledger(path)
    yield opened
    opened.close()


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.records.chain.entries()]


# ---- keys that were discovered, and the δ they cost


def discovery(delta: Fraction, *, question: int = 0, budget: Budget = MIXED) -> Payment:
    """A question by an open key; each value of `question` is another one."""
    rho = Terms(budget).price(Fraction(1, 10)).amount / 2
    where = Comparison("=", Column("age"), Number(Fraction(question)))
    asked = Plan("people", SCHEMA.unit, where, (OpenKey(Column("city")),), (Measure(CountRows(), "gaussian", rho),))
    with_city = Schema("people", SCHEMA.unit, {**SCHEMA.columns, "city": Text()})
    paid = certify(replace(asked, selection=Selection(rho, delta)), with_city, "rho")
    return paying((paid,), analyst="research", spend=Fraction(1, 10), version="v1")


def test_discovering_keys_takes_delta_from_a_pot(path: Path) -> None:
    ledger, pot = open_ledger(path, budget=MIXED), Terms(MIXED).pot
    assert ledger.balance("research").left_for_keys == float(pot)
    ledger.charge(discovery(pot / 2))
    ledger.charge(payment(0.1, budget=MIXED, question=7))
    balance = ledger.balance("research")
    assert balance.left_for_keys == float(pot / 2)
    assert balance.spent.delta == pytest.approx(float(MIXED.delta * 3 / 4))
    with pytest.raises(BudgetExceeded, match="discover"):
        ledger.charge(discovery(pot / 2 + Fraction(1, 10**30), question=1))
    ledger.charge(discovery(pot / 2, question=2))
    assert ledger.balance("research").left_for_keys == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(discovery(Fraction(1, 10**30), question=3))
    ledger.charge(payment(0.1, budget=MIXED, question=8))
    last = newest(ledger, "charge")
    assert Fraction(last.field("delta_total")) == pot
    assert last.field("delta") == "0"
    ledger.close()


def test_entries_from_before_keys_could_be_discovered_have_no_delta(path: Path) -> None:
    ledger = open_ledger(path, budget=MIXED)
    ledger.charge(payment(0.1, budget=MIXED))
    old = newest(ledger, "charge")
    content = {name: value for name, value in old.content.items() if not name.startswith("delta")}
    content |= dict.fromkeys(("total", "analyst_total"), str(2 * Fraction(old.field("total"))))
    with ledger.records.writing() as (chain, _):
        chain.append("charge", content, analyst="research", question="old")
    assert ledger.balance("research").left_for_keys == float(Terms(MIXED).pot)
    ledger.charge(discovery(Terms(MIXED).pot))
    assert ledger.balance("research").left_for_keys == 0
    ledger.close()


def test_groups_and_vectors_are_stored_and_come_back(path: Path) -> None:
    ledger = open_ledger(path, budget=MIXED)
    asked = discovery(Fraction(1, 10**9))
    receipt = ledger.charge(asked)
    assert isinstance(receipt, Receipt)
    groups = (("Malmö", 0), ("'; DROP", 0), ("", 0))
    shown = (Release(receipt.entry, ((1,), (-(10**40),), (5,)), groups),)
    assert ledger.store(asked, shown) == shown
    assert ledger.store(asked, [Release(receipt.entry, ((9,),), (("Ulm", 0),))]) == shown
    again = ledger.charge(asked)
    assert isinstance(again, Stored)
    assert again.releases == shown
    nobody = ledger.charge(discovery(Fraction(1, 10**9), question=5))
    assert isinstance(nobody, Receipt)
    ledger.store(asked, [Release(nobody.entry, (), ())])
    empty = ledger.charge(discovery(Fraction(1, 10**9), question=5))
    assert isinstance(empty, Stored)
    assert empty.releases[0] == Release(nobody.entry, (), ())
    ledger.close()


# ---- charges and what they bought


def test_a_charge_gives_a_receipt_for_its_plan(ledger: Ledger) -> None:
    paid = payment(0.25)
    receipt = ledger.charge(paid)
    assert isinstance(receipt, Receipt)
    assert receipt.entry == 2
    receipt.redeem(paid.plans[0].digest)
    assert ledger.balance("research").spent.epsilon == 0.25
    assert ledger.balance("research").left.epsilon == 0.75


def test_an_entry_says_what_was_done_and_not_only_what_it_cost(ledger: Ledger) -> None:
    paid = payment(0.25, request="id-17")
    ledger.charge(paid)
    entry = last(ledger.records.chain)
    assert (entry.kind, entry.analyst, entry.request, entry.question) == (
        "charge",
        "research",
        "id-17",
        paid.name(ledger.records.key),
    )
    said = entry.content
    assert said.pop("when").endswith("Z")
    assert len(said.pop("mark")) == 64
    assert len(said.pop("token")) == 16
    assert said == {
        "currency": "epsilon",
        "amount": "1/4",
        "spend": "1/4",
        "total": "1/4",
        "analyst_total": "1/4",
        "delta": "0",
        "delta_total": "0",
        "digest": paid.plans[0].digest,
        "releases": [{"mechanism": "discrete_laplace", "scale": "8", "sensitivity": "2"}],
        "sql": ["SELECT COUNT(*) FROM people"],
        "price": "1/4",
        "key_delta": "0",
        "caps": {
            "max_rows": 2,
            "max_groups": 2,
            "max_rows_per_group": 2,
            "default_max_rows": 2,
            "default_max_groups": 2,
        },
        "together": 1,
        "language": PLAN_LANGUAGE,
    }


def test_history_has_one_line_a_charge(ledger: Ledger) -> None:
    first = payment(0.25, request="id-17")
    store(ledger, ledger.charge(first).entry)
    ledger.charge(payment(0.5, question=1, analyst="press"))
    lines = ledger.history()
    assert [(line.entry, line.analyst, line.spend, line.request) for line in lines] == [
        (2, "research", 0.25, "id-17"),
        (4, "press", 0.5, None),
    ]
    assert lines[0].digest == first.plans[0].digest
    assert lines[0].releases[0]["mechanism"] == "discrete_laplace"


def test_every_entry_has_its_line(ledger: Ledger) -> None:
    """Charges are not all that somebody could have added."""
    ledger.limit_analyst("press", Fraction(1, 2))
    store(ledger, ledger.charge(payment(0.25)).entry)
    ledger.fail(ledger.charge(payment(0.1, question=1, analyst="press")).entry, EngineFailed("it failed."))
    ledger.record_limit()
    assert [(line.entry, line.kind, line.analyst, line.says) for line in ledger.lines()] == [
        (1, "open", "", "limit epsilon 1"),
        (2, "analyst", "press", "limit epsilon 0.5 of the table's"),
        (3, "charge", "research", "spend 0.25"),
        (4, "release", "", "release of entry 3"),
        (5, "charge", "press", "spend 0.1"),
        (6, "failure", "", "failure of entry 5"),
        (7, "limit", "", "limit epsilon 1"),
    ]
    assert all(line.when.endswith("Z") for line in ledger.lines())


def test_an_older_ledger_is_refused_by_whoever_reads_it(path: Path) -> None:
    """One who has read less than the anchor knows: the file was cut back while the ledger was open."""
    ledger, other = open_ledger(path), open_ledger(path)
    for question in range(3):
        ledger.charge(payment(0.1, question=question))
    edit(path, "DELETE FROM entry WHERE seq > 2")
    for read in (other.history, other.lines, other.verify):
        with pytest.raises(LedgerDamaged, match="its anchor remembers entry 4"):
            read()
    ledger.close()
    other.close()


def test_an_older_ledger_with_an_older_anchor_is_refused_by_whoever_read_the_newer(path: Path) -> None:
    ledger = open_ledger(path)
    older = default_anchor(path).read_bytes()
    for question in range(3):
        ledger.charge(payment(0.1, question=question))
    default_anchor(path).write_bytes(older)
    ledger.records.anchor = Anchor(default_anchor(path))
    edit(path, "DELETE FROM entry WHERE seq > 2")
    for read in (ledger.history, ledger.lines, ledger.verify, lambda: ledger.balance("research")):
        with pytest.raises(LedgerDamaged, match="entry 4 of the ledger is no longer the one"):
            read()
    ledger.close()


@pytest.mark.parametrize("name", ["", "x" * 201, "x\x1b[2Jy", "a\nb", 7, None])
def test_a_limit_is_for_somebody_with_a_name(ledger: Ledger, name: Any) -> None:
    with pytest.raises(UsageError, match="an analyst needs a name"):
        ledger.limit_analyst(name, Fraction(1, 2))
    assert kinds(ledger) == ["open"]


ALIKE = ["Jose\u0301", "Jos\u00e9 ", " Jos\u00e9", "\uff2aos\u00e9", "Jos\u00e9\u2163"]


@pytest.mark.parametrize("name", ALIKE)
def test_a_name_that_looks_like_another_is_nobodys(ledger: Ledger, name: str) -> None:
    """A limit binds one spelling; whoever asks under another would not be bound."""
    ledger.limit_analyst("Jos\u00e9", Fraction(1, 100))
    for act in (lambda: ledger.limit_analyst(name, Fraction(1)), lambda: check_analyst(name)):
        with pytest.raises(UsageError, match="looks like another that is written otherwise"):
            act()
    assert kinds(ledger) == ["open", "analyst"]


def test_names_of_old_ledgers_can_be_read(ledger: Ledger) -> None:
    ledger.charge(payment(0.1, analyst=ALIKE[0]))
    assert [line.analyst for line in ledger.history()] == [ALIKE[0]]
    assert ledger.balance(ALIKE[0]).left.epsilon == 0.9
    assert ledger.verify() == 2


def test_the_limit_itself_can_be_spent_and_not_a_hair_more(ledger: Ledger) -> None:
    ledger.charge(payment(1))
    assert ledger.balance("research").left.epsilon == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(Decimal("1e-99"), question=1))
    assert kinds(ledger) == ["open", "charge"]


def test_a_refused_charge_says_what_would_be_granted(ledger: Ledger) -> None:
    ledger.charge(payment(Decimal("0.66666666")))
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge(payment(0.5, question=1))
    assert refused.value.message == "this question costs epsilon 0.5; the table has 0.333333 left of 1."
    assert refused.value.hint.startswith("Ask with spend=0.333333 or less, or ask the owner to raise")
    ledger.charge(payment(Decimal("0.333333"), question=1))


def test_an_empty_budget_points_at_earlier_answers(ledger: Ledger) -> None:
    ledger.charge(payment(1))
    with pytest.raises(BudgetExceeded, match="has 0 left of 1") as refused:
        ledger.charge(payment(0.1, question=1))
    assert refused.value.hint.startswith("Repeat an earlier question for free, or ask the owner to raise")


@pytest.mark.parametrize(("epsilon", "delta"), [(30, 1e-6), (100, 1e-5), (1000, 1e-6), (0.3, 1e-9)])
def test_limit_and_cost_are_shown_as_they_were_typed(path: Path, epsilon: float, delta: float) -> None:
    budget = Budget(epsilon, delta)
    ledger = open_ledger(path, budget=budget)
    with pytest.raises(BudgetExceeded, match=rf"costs epsilon {2 * epsilon:g}; the table has .* left of {epsilon:g}\."):
        ledger.charge(payment(2 * epsilon, budget=budget))
    ledger.close()


def test_a_price_just_above_the_limit_is_not_shown_as_the_limit(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 1\.00001; the table has 1 left of 1"):
        ledger.charge(payment(Decimal("1.0000001")))


def test_a_stored_release_is_free_and_identical(ledger: Ledger) -> None:
    receipt = ledger.charge(payment())
    store(ledger, receipt.entry, -(10**40))
    again = ledger.charge(payment())
    assert isinstance(again, Stored)
    assert again.releases[0] == answer(2, -(10**40))
    assert again.when.endswith("Z")
    assert kinds(ledger) == ["open", "charge", "release"]


def test_a_charge_without_release_is_resumed(path: Path) -> None:
    """The process died between paying and storing: nothing was shown, so the same charge pays again."""
    ledger = open_ledger(path)
    first = ledger.charge(payment())
    ledger.close()
    ledger = open_ledger(path)
    second = ledger.charge(payment())
    assert isinstance(second, Receipt)
    assert second.entry == first.entry
    assert kinds(ledger) == ["open", "charge", "interrupted"]
    ledger.close()


def test_a_failure_is_told_once_and_then_repeated(path: Path) -> None:
    ledger = open_ledger(path)
    entry = ledger.charge(payment()).entry
    for told in ("it failed.", "it failed otherwise."):
        ledger.fail(entry, EngineFailed(told, "The charge stands."))
    ledger.close()
    ledger = open_ledger(path)
    for _ in range(2):
        with pytest.raises(EngineFailed, match=r"^it failed\.\n  The charge stands\.$"):
            ledger.charge(payment())
    assert kinds(ledger) == ["open", "charge", "failure"]
    assert ledger.charge(payment(fresh=True)).entry == 4
    ledger.close()


def test_of_two_at_once_the_one_that_was_answered_counts(ledger: Ledger) -> None:
    first, second = ledger.charge(payment()), ledger.charge(payment())
    ledger.fail(first.entry, EngineFailed("it failed."))
    store(ledger, second.entry, 7)
    ledger.fail(first.entry, EngineFailed("it failed."))
    assert ledger.charge(payment()).releases[0] == answer(2, 7)
    assert kinds(ledger) == ["open", "charge", "interrupted", "failure", "release"]


def test_the_first_release_of_a_charge_is_the_only_one(ledger: Ledger) -> None:
    first, second = ledger.charge(payment()), ledger.charge(payment())
    assert store(ledger, first.entry, 7) == answer(2, 7)
    assert store(ledger, second.entry, 8) == answer(2, 7)
    assert kinds(ledger) == ["open", "charge", "interrupted", "release"]


def test_no_copy_of_a_ledger_writes_the_same_entry(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one second, before the anchor has moved: it covers the charge of one of them, and only that one may look."""
    monkeypatch.setattr(ledger_module, "now", lambda: "2024-01-01T00:00:00Z")
    open_ledger(path).close()
    other = path.with_name("copy.ledger")
    shutil.copy(path, other)
    shared = default_anchor(path)
    before = shared.read_bytes()
    written = []
    for place in (path, other):
        shared.write_bytes(before)
        one = Ledger(place, schema=SCHEMA, budget=PURE, anchor=shared)
        one.charge(payment())
        one.charge(payment())  # resumed
        written.append({entry.hash for entry in one.records.chain.entries() if entry.kind != "open"})
        one.close()
    assert len(written[0]) == len(written[1]) == 2
    assert not written[0] & written[1]


def test_whoever_kills_the_process_has_few_looks(path: Path) -> None:
    """Each further one is an entry that the anchor covers before its receipt exists: taken out, it is missed."""
    for look in range(1 + MOST_RESUMED):
        ledger = open_ledger(path)
        assert isinstance(ledger.charge(payment()), Receipt)
        ledger.close()
        assert default_anchor(path).read_text().startswith(f"{2 + look:020d} ")
    ledger = open_ledger(path)
    for _ in range(2):
        with pytest.raises(EngineFailed, match="this question has been looked at 4 times, and no answer was kept"):
            ledger.charge(payment())
    assert kinds(ledger) == ["open", "charge", *["interrupted"] * MOST_RESUMED, "failure"]
    ledger.close()
    edit(path, "DELETE FROM entry WHERE seq > 2")
    with pytest.raises(LedgerDamaged, match="its anchor remembers entry 6"):
        open_ledger(path)


@pytest.mark.parametrize(
    "change", [{"question": 1}, {"spend": 0.2}, {"analyst": "press"}, {"version": "v2"}, {"fresh": True}]
)
def test_another_question_spend_analyst_or_table_pays_again(ledger: Ledger, change: dict[str, Any]) -> None:
    store(ledger, ledger.charge(payment()).entry)
    assert isinstance(ledger.charge(payment(**change)), Receipt)
    assert len(ledger.history()) == 2


def test_after_a_fresh_answer_the_newest_one_is_repeated(ledger: Ledger) -> None:
    store(ledger, ledger.charge(payment()).entry, 1)
    store(ledger, ledger.charge(payment(fresh=True)).entry, 2)
    again = ledger.charge(payment())
    assert isinstance(again, Stored)
    assert again.releases[0].values == ((2,),)


def test_a_free_answer_is_free_when_nothing_is_left(ledger: Ledger) -> None:
    store(ledger, ledger.charge(payment(1)).entry)
    assert isinstance(ledger.charge(payment(1)), Stored)


# ---- request ids


def test_a_request_id_pays_once_even_when_fresh(ledger: Ledger) -> None:
    paid = payment(request="id-17", fresh=True)
    first = ledger.charge(paid)
    assert ledger.charge(paid).entry == first.entry
    store(ledger, first.entry)
    assert isinstance(ledger.charge(paid), Stored)
    assert len(ledger.history()) == 1


@pytest.mark.parametrize("change", [{"question": 1}, {"spend": 0.2}, {"version": "v2"}])
def test_a_request_id_belongs_to_one_question(ledger: Ledger, change: dict[str, Any]) -> None:
    ledger.charge(payment(request="id-17"))
    with pytest.raises(RequestConflict, match="'id-17' was used for another question"):
        ledger.charge(payment(request="id-17", **change))
    assert len(ledger.history()) == 1


def test_analysts_number_their_requests_apart(ledger: Ledger) -> None:
    ledger.charge(payment(request="id-17"))
    ledger.charge(payment(request="id-17", question=1, analyst="press"))
    assert len(ledger.history()) == 2


# ---- limits of analysts and the owner's changes


def test_an_analyst_may_be_limited_below_the_table(ledger: Ledger) -> None:
    ledger.limit_analyst("press", Fraction(1, 4))
    assert ledger.balance("press").left.epsilon == 0.25
    assert ledger.balance("research").left.epsilon == 1
    ledger.charge(payment(0.2, analyst="press"))
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge(payment(0.1, analyst="press", question=1))
    assert refused.value.message == 'this question costs epsilon 0.1; analyst "press" has 0.05 left of 0.25.'
    ledger.charge(payment(0.7))
    assert ledger.balance("press").left.epsilon == 0.05
    ledger.charge(payment(0.05, analyst="press", question=2))
    assert ledger.balance("press").left.epsilon == 0


def test_an_analyst_is_offered_no_more_than_the_table_has(ledger: Ledger) -> None:
    ledger.limit_analyst("press", Fraction(1, 2))
    ledger.charge(payment(0.8))
    assert ledger.balance("press").left.epsilon == 0.2
    with pytest.raises(BudgetExceeded, match=r"the table has 0\.2 left of 1\.") as refused:
        ledger.charge(payment(0.6, analyst="press"))
    assert "spend=0.2 or less" in refused.value.hint
    ledger.charge(payment(0.2, analyst="press"))


def test_the_newest_limit_of_an_analyst_counts(ledger: Ledger) -> None:
    ledger.limit_analyst("press", Fraction(1, 4))
    ledger.charge(payment(0.25, analyst="press"))
    ledger.limit_analyst("press", Fraction(1, 2))
    assert ledger.balance("press").left.epsilon == 0.25
    ledger.limit_analyst("press", Fraction(1, 10))
    assert ledger.balance("press").left.epsilon == 0
    assert kinds(ledger) == ["open", "analyst", "charge", "analyst", "analyst"]


def test_analysts_are_limited_in_rho_too(path: Path) -> None:
    ledger = open_ledger(path, budget=MIXED)
    ledger.limit_analyst("press", Fraction(1, 2))
    assert ledger.balance("press").left.epsilon == pytest.approx(0.5, abs=2e-9)
    ledger.charge(payment(0.5, budget=MIXED, analyst="press"))
    with pytest.raises(BudgetExceeded, match=r'analyst "press" has 0 left of 0\.5'):
        ledger.charge(payment(0.1, budget=MIXED, analyst="press", question=1))
    ledger.close()


def test_raising_the_limit_is_an_entry(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment(1))
    ledger.close()
    ledger = open_ledger(path, budget=Budget(2))
    with pytest.raises(UsageError, match=r"limit in force is epsilon 1, the policy now says epsilon 2") as differs:
        ledger.charge(payment(0.5, budget=Budget(2), question=1))
    assert "sfumato ledger raise" in differs.value.hint
    with pytest.raises(UsageError):
        ledger.balance("research")
    ledger.record_limit()
    ledger.charge(payment(0.5, budget=Budget(2), question=1))
    assert ledger.balance("research").left.epsilon == 0.5
    assert kinds(ledger) == ["open", "charge", "limit", "charge"]
    ledger.close()


def test_a_lowered_limit_leaves_nothing_and_takes_nothing_back(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment(0.8))
    ledger.close()
    ledger = open_ledger(path, budget=Budget(Decimal("0.5")))
    ledger.record_limit()
    balance = ledger.balance("research")
    assert (balance.limit.epsilon, balance.spent.epsilon, balance.left.epsilon) == (0.5, 0.8, 0)
    ledger.close()


def test_a_limit_lowered_meanwhile_is_respected(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner's entry lands after this process looked at the terms and before it holds the lock."""
    ledger, owner = open_ledger(path), open_ledger(path, budget=Budget(Decimal("0.5")))
    locked = ledger.records.chain.transaction

    def after_the_owner() -> Any:
        owner.record_limit()
        return locked()

    monkeypatch.setattr(ledger.records.chain, "transaction", after_the_owner)
    with pytest.raises(BudgetExceeded, match=r"the table has 0\.5 left of 0\.5"):
        ledger.charge(payment(0.8))
    assert ledger.history() == []
    ledger.close()
    owner.close()


@pytest.mark.parametrize(("before", "after"), [(PURE, MIXED), (MIXED, PURE)])
def test_the_currency_never_changes(path: Path, before: Budget, after: Budget) -> None:
    open_ledger(path, budget=before).close()
    ledger = open_ledger(path, budget=after)
    with pytest.raises(UsageError, match="the ledger was opened for delta"):
        ledger.record_limit()
    assert kinds(ledger) == ["open"]
    ledger.close()


def test_another_delta_of_the_same_currency_may_come_into_force(path: Path) -> None:
    ledger = open_ledger(path, budget=MIXED)
    ledger.charge(payment(0.5, budget=MIXED))
    ledger.close()
    ledger = open_ledger(path, budget=Budget(3, 1e-9))
    ledger.record_limit()
    assert ledger.balance("research").spent.epsilon > 0.5
    ledger.close()


@pytest.mark.parametrize(
    "schema",
    [
        Schema("people", Row(), SCHEMA.columns),
        Schema("people", Person("id", max_rows=2, max_groups=2), SCHEMA.columns),
        Schema("patients", SCHEMA.unit, SCHEMA.columns),
    ],
)
def test_a_ledger_keeps_the_table_and_the_unit_it_was_opened_for(path: Path, schema: Schema) -> None:
    open_ledger(path).close()
    with pytest.raises(UsageError, match="the ledger was opened for the"):
        open_ledger(path, schema=schema)


@pytest.mark.parametrize(
    "schema",
    [
        Schema("people", SCHEMA.unit, {**SCHEMA.columns, "height": Int(0, 250)}),
        Schema("people", Person("user_id", max_rows=30, max_groups=5), SCHEMA.columns),
    ],
)
def test_more_columns_or_other_caps_need_no_new_ledger(path: Path, schema: Schema) -> None:
    """Each charge is certified for the caps of its time; who is protected stays."""
    open_ledger(path).close()
    ledger = open_ledger(path, schema=schema)
    assert ledger.verify() == 1
    ledger.close()


def test_a_ledger_emptied_while_open_is_damaged(ledger: Ledger) -> None:
    edit(ledger.path, "DELETE FROM entry")
    for act in (ledger.record_limit, lambda: ledger.charge(payment()), lambda: ledger.balance("research")):
        with pytest.raises(LedgerDamaged):
            act()


def test_a_ledger_emptied_with_its_anchor_is_still_missed_by_whoever_read_it(ledger: Ledger) -> None:
    edit(ledger.path, "DELETE FROM entry")
    default_anchor(ledger.path).write_bytes(b"")
    for words in ("the anchor .* no longer knew", "entry 1 of the ledger is no longer", "entry 1 of the ledger"):
        with pytest.raises(LedgerDamaged, match=words):
            ledger.charge(payment())
    assert default_anchor(ledger.path).read_bytes().startswith(f"{1:020d} ".encode())


def test_a_ledger_deleted_while_open_grants_nothing(ledger: Ledger) -> None:
    ledger.charge(payment())
    ledger.path.unlink()
    for act in (lambda: ledger.charge(payment(question=1)), lambda: store(ledger, 2), ledger.record_limit):
        with pytest.raises(LedgerDamaged, match="is gone, but its anchor remembers it"):
            act()


@pytest.mark.parametrize("body", ["rubbish", "[]", "7", "{}"])
def test_an_entry_that_no_ledger_wrote_is_damage_even_when_its_hash_fits(ledger: Ledger, body: str) -> None:
    ledger.charge(payment())
    first, last = ledger.records.chain.entries()
    forged = dataclasses.replace(last, body=body).expected_hash(first.hash)
    edit(ledger.path, f"UPDATE entry SET body = '{body}', hash = '{forged}' WHERE seq = 2")
    for act in (lambda: ledger.balance("research"), ledger.history, lambda: open_ledger(ledger.path)):
        with pytest.raises(LedgerDamaged, match="entry 2 of the ledger"):
            act()
    with pytest.raises(LedgerDamaged):
        ledger.charge(payment(question=1))


@pytest.mark.parametrize(
    "change",
    ["DELETE FROM entry WHERE seq = 3", "UPDATE entry SET body = replace(body, 'Z', 'z') WHERE seq = 3"],
)
def test_a_stored_answer_that_was_changed_while_the_ledger_is_open_is_not_shown(ledger: Ledger, change: str) -> None:
    """Nor is a new one drawn in its place."""
    for question in range(2):
        store(ledger, ledger.charge(payment(question=question)).entry)
    edit(ledger.path, change)
    for act in (lambda: ledger.charge(payment()), lambda: store(ledger, 2, 7)):
        with pytest.raises(LedgerDamaged, match="entry 3 of the ledger does not match its hash"):
            act()


@pytest.mark.parametrize("entry", [1, 3, 4, 99])
def test_nothing_is_kept_for_what_is_no_charge(ledger: Ledger, entry: int) -> None:
    store(ledger, ledger.charge(payment()).entry)
    for act in (lambda: store(ledger, entry), lambda: ledger.fail(entry, EngineFailed("it failed."))):
        with pytest.raises(LedgerDamaged, match=f"entry {entry} of the ledger is no charge"):
            act()
    assert kinds(ledger) == ["open", "charge", "release"]


def test_a_release_without_its_day_is_damage(path: Path) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment())
    forge(path, "release", {"values": [["7"]]}, charge=2)
    with pytest.raises(LedgerDamaged, match="entry 3 of the ledger"):
        ledger.charge(payment())
    ledger.close()


@pytest.mark.parametrize("lacking", ["when", "spend", "digest", "releases"])
def test_a_charge_that_cannot_be_listed_is_damage(path: Path, lacking: str) -> None:
    ledger = open_ledger(path)
    ledger.charge(payment())
    said = newest(ledger, "charge").content | {"total": "1/5", "analyst_total": "1/5"}
    forge(path, "charge", {name: said[name] for name in said if name != lacking}, analyst="research", question="q")
    for act in (ledger.history, ledger.verify):
        with pytest.raises(LedgerDamaged, match="entry 3 of the ledger"):
            act()
    ledger.close()


# ---- exact sums of any length


@given(st.lists(st.fractions(min_value=Fraction(1, 10**9), max_value=1, max_denominator=10**9), max_size=60))
def test_totals_never_shrink_and_their_size_is_bounded(amounts: list[Fraction]) -> None:
    total = exactly = Fraction(0)
    for amount in amounts:
        exactly += amount
        total = bounded(total + amount)
        assert total >= exactly
        assert total.denominator <= LARGEST_DENOMINATOR
    assert total - exactly <= Fraction(len(amounts), 1 << 256)


def test_a_total_is_exact_until_its_denominator_is_enormous() -> None:
    assert bounded(Fraction(1, LARGEST_DENOMINATOR)) == Fraction(1, LARGEST_DENOMINATOR)
    rounded = bounded(Fraction(1, LARGEST_DENOMINATOR + 1))
    assert rounded == Fraction(1, 1 << 256)


def test_charges_with_unrelated_denominators_fill_the_limit(ledger: Ledger) -> None:
    spends = [Fraction(1, prime) for prime in (2, 3, 7, 43)]
    for question, spend in enumerate(spends):
        ledger.charge(payment(spend, question=question))
    left = 1 - sum(spends)
    assert left == Fraction(1, 1806)
    with pytest.raises(BudgetExceeded):
        ledger.charge(payment(Fraction(1, 1805), question=9))
    ledger.charge(payment(left, question=10))
    assert last(ledger.records.chain).content["total"] == "1"


# ---- a disk that gives up


def test_a_full_disk_lets_nothing_out(path: Path) -> None:
    """Files may grow to 256 kB only: the ledger stops granting, and everything granted is in it."""
    limited = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert limited.returncode == 0, limited.stderr
    granted = json.loads(limited.stdout)
    assert len(granted) >= 3
    ledger = open_ledger(path, budget=Budget(1000))
    assert set(granted) <= {line.entry for line in ledger.history()}
    assert ledger.verify() >= len(granted) + 1
    ledger.close()


FULL_DISK = """
import json, resource, sys
from pathlib import Path
from sfumato.errors import LedgerDamaged
from sfumato.schema.budget import Budget
from tests.ledger.payments import open_ledger, payment

ledger = open_ledger(Path(sys.argv[1]), budget=Budget(1000))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
granted = []
for question in range(1000):
    try:
        granted.append(ledger.charge(payment(0.1, question=question)).entry)
    except LedgerDamaged as damaged:
        assert "cannot be written" in damaged.message, damaged.message
        break
else:
    sys.exit("the disk was never full")
for again in range(3):
    try:
        ledger.charge(payment(0.1, question=5000 + again))
        sys.exit("granted on a full disk")
    except LedgerDamaged:
        pass
print(json.dumps(granted))
"""


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_disk_without_room_for_a_ledger_starts_none(path: Path) -> None:
    def child() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            open_ledger(path)

    assert in_child(child) == 0
    ledger = open_ledger(path)
    assert ledger.verify() == 1
    ledger.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_folder_that_may_only_be_read_lets_nothing_out(path: Path) -> None:
    """Root may write everywhere, so the child becomes somebody else first."""
    open_ledger(path).close()
    path.parent.chmod(0o555)

    def child() -> None:
        if os.getuid() == 0:
            os.setuid(65534)
        with pytest.raises(LedgerDamaged, match="cannot be written"):
            open_ledger(path)

    assert in_child(child) == 0
    path.parent.chmod(0o755)


def test_a_busy_ledger_gives_up_after_a_while(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_module, "WAIT_SECONDS", 0.05)
    ledger, busy = open_ledger(path), open_ledger(path)
    with busy.records.chain.transaction(), pytest.raises(LedgerDamaged, match="cannot be written"):
        ledger.charge(payment())
    assert ledger.history() == []
    ledger.charge(payment())
    ledger.close()
    busy.close()


def test_a_release_that_cannot_be_stored_is_not_returned(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the same charge could buy a second, different one."""
    monkeypatch.setattr(chain_module, "WAIT_SECONDS", 0.05)
    busy = open_ledger(ledger.path)
    receipt = ledger.charge(payment())
    ledger.records.chain.close()
    with busy.records.chain.transaction(), pytest.raises(LedgerDamaged):
        store(ledger, receipt.entry)
    assert kinds(ledger) == ["open", "charge"]
    busy.close()


# ---- all at once


def test_threads_never_overspend(ledger: Ledger) -> None:
    def spend(question: int) -> bool:
        try:
            ledger.charge(payment(0.05, question=question))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        granted = sum(pool.map(spend, range(60)))
    assert granted == 20
    assert ledger.verify() == 21


def test_a_folder_that_does_not_exist_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "ledgers" / "people.ledger"
    with pytest.raises(UsageError, match="there is no folder for"):
        open_ledger(path)
    path.parent.mkdir()
    anchor = tmp_path / "people.anchor"
    open_ledger(path, anchor=anchor).close()
    shutil.rmtree(path.parent)
    with pytest.raises(LedgerDamaged, match="is gone, but its anchor remembers it"):
        open_ledger(path, anchor=anchor)


# ---- whoever asks while the same thread is inside


@pytest.mark.parametrize("moment", ["admit", "append"])
def test_a_handler_that_asks_while_its_thread_charges_is_refused_and_undoes_nothing(
    ledger: Ledger, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its BEGIN failed, and undid the transaction around it: the charge was written alone, behind the other's back."""
    told: list[str] = []

    def asking(act: Any) -> Any:
        def asked(*given: Any, **named: Any) -> Any:
            done = act(*given, **named)
            if not told:
                told.append("")
                with pytest.raises(LedgerDamaged, match="by this very thread") as refused:
                    ledger.charge(payment(0.5, question=2))
                told.append(refused.value.message)
            return done

        return asked

    if moment == "admit":
        monkeypatch.setattr("sfumato.ledger.ledger.admit", asking(ledger_module.admit))
    else:
        monkeypatch.setattr(ledger.records.chain, "append", asking(ledger.records.chain.append))
    assert ledger.charge(payment(0.6, question=1)).entry == 2
    assert len(told) == 2
    assert ledger.charge(payment(0.4, question=2)).entry == 3
    assert kinds(ledger) == ["open", "charge", "charge"]
