"""Ledgers and payments for tests: real certified plans, one question a number."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.gate import Release
from sfumato.ledger.entry import Entry
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Asking, Payment
from sfumato.ledger.terms import Terms
from sfumato.plan.expressions import Column, Comparison, Number
from sfumato.plan.nodes import CountRows, Measure, Plan
from sfumato.schema.budget import Budget
from sfumato.schema.columns import Int
from sfumato.schema.numbers import exact
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

SCHEMA = Schema("people", Person("user_id", max_rows=2, max_groups=2), {"age": Int(17, 90)})
PURE = Budget(epsilon=1)
MIXED = Budget(epsilon=3, delta=1e-6)


def certified(spend: object, *, budget: Budget = PURE, question: int = 0) -> Certified:
    price = Terms(budget).price(exact(spend, "spend"))
    mechanism = "gaussian" if budget.delta else "laplace"
    asked = Comparison("=", Column("age"), Number(Fraction(question)))
    plan = Plan(SCHEMA.table, SCHEMA.unit, asked, (), (Measure(CountRows(), mechanism, price.amount),))
    return certify(plan, SCHEMA, price.currency)


def payment(
    spend: object = 0.1,
    *,
    budget: Budget = PURE,
    question: int = 0,
    analyst: str = "research",
    version: str = "v1",
    fresh: bool = False,
    request: str | None = None,
) -> Payment:
    paid_for = certified(spend, budget=budget, question=question)
    return paying(
        (paid_for,), analyst=analyst, spend=exact(spend, "spend"), version=version, fresh=fresh, request=request
    )


def paying(plans: tuple[Certified, ...], **given: Any) -> Payment:
    """For plans that no question was written for."""
    asking = Asking(
        ("SELECT COUNT(*) FROM people",) * len(plans), sum((plan.cost.amount for plan in plans), Fraction(0))
    )
    return Payment(plans, asking=asking, **given)


def open_ledger(path: Path, *, budget: Budget = PURE, schema: Schema = SCHEMA, anchor: Path | None = None) -> Ledger:
    return Ledger(path, schema=schema, budget=budget, anchor=anchor)


def newest(ledger: Ledger, *kinds: str) -> Entry:
    """The last entry of a kind."""
    return [entry for entry in ledger.records.chain.entries() if entry.kind in kinds][-1]


def answer(entry: int, value: int = 42) -> Release:
    return Release(entry, ((value,),))


def store(ledger: Ledger, entry: int, value: int = 42) -> Release:
    """Keep an answer; all questions of these payments are answered in the same shape."""
    return ledger.store(payment(), [answer(entry, value)])[0]


def in_child(work: Callable[[], object]) -> int:
    """Run `work` in a forked process; its exit status, 0 when it returned."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
