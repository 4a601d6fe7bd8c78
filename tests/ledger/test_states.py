"""L11: any order of charges, crashes, restarts and changes of the limits agrees with twenty lines of plain Python."""

import shutil
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from sfumato.errors import BudgetExceeded, EngineFailed, RequestConflict
from sfumato.ledger.book import MOST_RESUMED
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Stored
from sfumato.ledger.terms import Terms
from sfumato.schema.budget import Budget
from tests.ledger.payments import answer, newest, open_ledger, paying, payment

ANALYSTS = st.sampled_from(["research", "press"])
SPENDS = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)])
EPSILONS = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)])
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - what is tested here is order, not durability
REQUESTS = st.sampled_from([None, None, "a", "b"])


class LedgerStates(RuleBasedStateMachine):
    """The model: a list of (analyst, question, spend, request, price, value or None), and two kinds of limits."""

    refunds = False

    @initialize(delta=st.sampled_from([0, Fraction(1, 10**6)]))
    def start(self, delta: Any) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=IN_MEMORY if IN_MEMORY.is_dir() else None))
        self.delta = delta
        self.limit: Fraction = Fraction(1)
        self.own: dict[str, Fraction] = {}
        self.charges: list[dict[str, Any]] = []
        self.ledger = self.open()

    def open(self) -> Ledger:
        return open_ledger(self.folder / "a.ledger", budget=self.budget)

    @property
    def budget(self) -> Budget:
        return Budget(self.limit, self.delta)

    def price(self, spend: Fraction) -> Fraction:
        return Terms(self.budget).price(spend).amount

    def spent(self, analyst: str | None = None) -> Fraction:
        return sum((c["price"] for c in self.charges if analyst in (None, c["analyst"])), Fraction(0))

    def spent_on_keys(self) -> Fraction:
        return sum((c["delta"] for c in self.charges), Fraction(0))

    def expected(self, asked: dict[str, Any], fresh: bool) -> Any:
        """What the ledger must do: an earlier charge to answer with, or the error it must raise, or None to charge."""
        same = [c for c in self.charges if c["analyst"] == asked["analyst"]]
        retried = [c for c in same if asked["request"] is not None and c["request"] == asked["request"]]
        if retried:
            agrees = all(retried[0][part] == asked[part] for part in ("question", "spend"))
            return self.bought(retried[0]) if agrees else RequestConflict
        repeated = [c for c in same if all(c[part] == asked[part] for part in ("question", "spend"))]
        if repeated and not fresh:
            return self.bought(repeated[-1])
        own = self.own.get(asked["analyst"])
        if own is not None and self.spent(asked["analyst"]) + asked["price"] > self.price(own):
            return BudgetExceeded
        if self.spent_on_keys() + asked["delta"] > self.delta / 2:
            return BudgetExceeded
        return BudgetExceeded if self.spent() + asked["price"] > self.price(self.limit) else None

    def bought(self, charge: dict[str, Any]) -> Any:
        """What was kept, or the charge to resume: nothing is drawn once a limit was lowered below what is spent."""
        if charge["failed"]:
            return EngineFailed
        own = self.own.get(charge["analyst"])
        above = own is not None and self.spent(charge["analyst"]) > self.price(own)
        above = above or self.spent() > self.price(self.limit)
        if charge["value"] is not None:
            return charge
        if above:
            return BudgetExceeded
        charge["interrupted"] += 1
        charge["failed"] = charge["interrupted"] > MOST_RESUMED
        return EngineFailed if charge["failed"] else charge

    @rule(
        analyst=ANALYSTS,
        question=st.integers(0, 2),
        spend=SPENDS,
        request=REQUESTS,
        fresh=st.booleans(),
        ends=st.sampled_from(["answers", "dies", "fails", "interrupted"]),
        keys=st.booleans(),
        together=st.booleans(),
    )
    def ask(
        self,
        analyst: str,
        question: int,
        spend: Fraction,
        request: str | None,
        fresh: bool,
        ends: str,
        keys: bool,
        together: bool,
    ) -> None:
        """Some discover keys, which takes δ from its pot; some are two questions for one charge."""
        asked = {"analyst": analyst, "question": (question, keys, together), "spend": spend, "request": request}
        delta = Fraction(self.delta) / 5 if keys else Fraction(0)
        asked |= {"price": self.price(spend), "value": None, "delta": delta, "failed": False, "interrupted": 0}
        paid = payment(spend, budget=self.budget, question=question, analyst=analyst, fresh=fresh, request=request)
        (one,), others = paid.plans, ()
        if together:
            one = replace(one, cost=replace(one.cost, amount=one.cost.amount / 2))
            others = (one,)
        changed = replace(one, cost=replace(one.cost, delta=delta), digest=one.digest + ("keys" if keys else ""))
        given = {name: getattr(paid, name) for name in ("analyst", "spend", "version", "fresh", "request")}
        paid = paying((changed, *others), **given)
        expected = self.expected(asked, fresh)
        if isinstance(expected, type):
            with pytest.raises(expected):
                self.ledger.charge(paid)
            return
        bought = self.ledger.charge(paid)
        charge = expected or asked
        if charge is asked:
            self.charges.append(asked)
        if charge["value"] is not None:
            assert isinstance(bought, Stored)
            assert bought.releases[0].values == ((charge["value"],),)
        elif ends == "dies":
            self.crash()
        elif ends == "interrupted":
            pass
        elif ends == "fails":
            charge["failed"] = True
            self.ledger.fail(bought.entry, EngineFailed("it failed."))
        else:
            charge["value"] = len(self.charges)
            kept = self.ledger.store(paid, [answer(bought.entry, charge["value"])] * len(paid.plans))
            assert {one.values for one in kept} == {((charge["value"],),)}

    @rule()
    def crash(self) -> None:
        """Nothing is closed in order; another process takes over."""
        self.ledger = self.open()
        if self.refunds:
            self.charges = [c for c in self.charges if c["value"] is not None]

    @rule(epsilon=EPSILONS)
    def change_the_limit(self, epsilon: Fraction) -> None:
        self.ledger.close()
        self.limit = epsilon
        self.ledger = self.open()
        if newest(self.ledger, "open", "limit").content["epsilon"] != str(epsilon):
            self.ledger.record_limit()

    @rule(analyst=ANALYSTS, epsilon=EPSILONS)
    def limit_an_analyst(self, analyst: str, epsilon: Fraction) -> None:
        self.ledger.limit_analyst(analyst, epsilon)
        self.own[analyst] = epsilon

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "ledger"):
            return
        terms = Terms(self.budget)
        for analyst in ("research", "press"):
            left = terms.limit - self.spent()
            if analyst in self.own:
                left = min(left, self.price(self.own[analyst]) - self.spent(analyst))
            balance = self.ledger.balance(analyst)
            assert balance.spent == terms.spent(self.spent(), self.spent_on_keys())
            assert balance.left_for_keys == float(max(terms.pot - self.spent_on_keys(), Fraction(0)))
            assert balance.left == terms.left(left)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.verify()
            assert len(self.ledger.history()) == len(self.charges)
            self.ledger.close()
            shutil.rmtree(self.folder)


class Refunding(LedgerStates):
    """The broken twin: it believes that a crash gives back what was charged."""

    refunds = True


def explore(machine: type[LedgerStates], runs: int, *phases: Phase) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=10,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            print_blob=False,
            phases=phases or tuple(Phase),
        ),
    )


@pytest.mark.slow
def test_l11_a_hundred_histories_agree_with_the_model() -> None:
    explore(LedgerStates, 100)


@pytest.mark.exhaustive
def test_l11_five_hundred_histories_agree_with_the_model() -> None:
    explore(LedgerStates, 500)


@pytest.mark.slow
def test_l11_a_model_that_refunds_after_a_crash_disagrees() -> None:
    with pytest.raises(AssertionError):
        explore(Refunding, 100, Phase.generate)
