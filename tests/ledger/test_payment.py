"""Payments and draws: one currency, and the table and the unit that the ledger is of."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import Refused
from sfumato.kernel.certify import Certified, certify
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Asking, Draw, Payment
from sfumato.plan.nodes import CountRows, Measure, Plan
from sfumato.schema.budget import Budget
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.ledger.payments import PURE, SCHEMA, certified, open_ledger, paying
from tests.ledger.test_envelopes import sealing

SHARE = Fraction(1, 10)
OTHER_SCHEMAS = {
    "rows": Schema("people", Row(), SCHEMA.columns),
    "another person": Schema("people", Person("id", max_rows=1), SCHEMA.columns),
    "another table": Schema("patients", SCHEMA.unit, SCHEMA.columns),
}


def of(schema: Schema) -> Certified:
    return certify(
        Plan(schema.table, schema.unit, None, (), (Measure(CountRows(), "laplace", SHARE),)), schema, "epsilon"
    )


def paid(*plans: Certified) -> Payment:
    return paying(plans, analyst="research", spend=SHARE, version="v1")


def drawn(*plans: Certified) -> Draw:
    return Draw(plans, "research", 2, 1, "v1")


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    opened = open_ledger(tmp_path / "a.ledger")
    opened.seal(sealing())
    yield opened
    opened.close()


@pytest.mark.parametrize("make", [paid, drawn])
def test_amounts_of_two_currencies_have_no_sum(make: Callable[..., object]) -> None:
    """Pure epsilon is no rho: what is paid in one of them would be granted in the other."""
    pure, mixed = certified(SHARE, budget=PURE), certified(1, budget=Budget(3, 1e-6), question=1)
    for plans in ((pure, mixed), (mixed, pure), (pure, pure, mixed)):
        with pytest.raises(Refused, match="its parts are paid in different currencies"):
            make(*plans)
    make(pure, pure)


@pytest.mark.parametrize("make", [lambda: Payment((), "a", SHARE, "v1", Asking((), SHARE)), lambda: drawn()])
def test_nothing_is_paid_for_without_a_plan(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="without a plan"):
        make()
    with pytest.raises(ValueError, match="the question that it was made of"):
        Payment((certified(SHARE),), "a", SHARE, "v1", Asking((), SHARE))


@pytest.mark.parametrize("name", OTHER_SCHEMAS)
def test_a_plan_for_another_unit_or_table_is_neither_paid_nor_drawn(ledger: Ledger, name: str) -> None:
    """It is certified for less than the ledger promises: of a person with a thousand rows, one row is hidden."""
    right, wrong = of(SCHEMA), of(OTHER_SCHEMAS[name])
    for plans in ((wrong,), (right, wrong)):
        with pytest.raises(Refused, match="it protects another unit or asks another table"):
            ledger.charge(paid(*plans))
        with pytest.raises(Refused, match="it protects another unit or asks another table"):
            ledger.draw(drawn(*plans))
    assert ledger.verify() == 2
    ledger.charge(paid(right))
    ledger.draw(drawn(right))


def test_nor_is_one_that_was_begun(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = of(OTHER_SCHEMAS["rows"])
    with monkeypatch.context() as twin:
        twin.setattr("sfumato.ledger.ledger.demand_answerable", lambda paid, described: None)
        ledger.charge(paid(wrong))
        ledger.draw(drawn(wrong))
    for act in (lambda: ledger.charge(paid(wrong)), lambda: ledger.draw(drawn(wrong))):
        with pytest.raises(Refused, match="another unit"):
            act()


def test_other_caps_are_the_same_unit(ledger: Ledger) -> None:
    """Each charge is certified for the caps of its time."""
    ledger.charge(paid(of(Schema("people", Person("user_id", max_rows=9), SCHEMA.columns))))
