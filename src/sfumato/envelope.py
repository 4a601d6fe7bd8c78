"""An envelope: one charge for a purpose, and plans that are drawn from it one after the other.

Whoever draws sees releases and nothing else. What a draw costs is certified and taken from the charge by the ledger,
whatever the learner that asks for it reckons.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import TracebackType
from typing import Self

from sfumato.door import answer
from sfumato.engines.copies import Copies
from sfumato.engines.protocol import Engine
from sfumato.errors import UsageError, missing_argument
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Release
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.payment import Draw, Sealed
from sfumato.ledger.terms import Amount
from sfumato.plan.nodes import Plan
from sfumato.query.wordings import delta_unused
from sfumato.schema.budget import Spend
from sfumato.schema.numbers import GivenNumber
from sfumato.schema.table import Schema

LONGEST_PURPOSE = 20_000
MOST_PLANS = 1000
MOST_ROUNDS = 1 << 53  # a ledger keeps the number of a round


@dataclass(frozen=True, slots=True)
class Envelope:
    """What was paid for a purpose: `price` in the currency of the ledger, and a public `seed` for public coins.

    Use it in a `with` block, or close it: what the engine keeps from draw to draw is dropped then.
    """

    schema: Schema
    analyst: str
    spend: Fraction
    cost: Amount
    _sealed: Sealed = field(repr=False)
    _ledger: Ledger = field(repr=False)
    _engine: Engine = field(repr=False)
    _entropy: Entropy = field(repr=False)
    _copies: Copies = field(repr=False)

    @property
    def receipt(self) -> int:
        """The number of its charge."""
        return self._sealed.entry

    @property
    def when(self) -> str:
        return self._sealed.when

    @property
    def price(self) -> Cost:
        return self._sealed.cost

    @property
    def seed(self) -> str:
        return self._sealed.seed

    def ask(self, plan: Plan, *, round_: int) -> Release:
        """One plan, as `ask_all`."""
        return self.ask_all([plan], round_=round_)[0]

    def ask_all(self, plans: Sequence[Plan], *, round_: int) -> tuple[Release, ...]:
        """Plans that do not wait for each other: one draw, on one state of the data, one release a plan.

        Claim: nothing is drawn beyond the price. The same plans in the same round are the same draw: free, and the same
        to the last digit; in another round they are paid and drawn anew.
        """
        if not 1 <= len(plans) <= MOST_PLANS or type(round_) is not int or not 0 <= round_ < MOST_ROUNDS:
            raise UsageError(
                f"a draw takes 1 to {MOST_PLANS} plans and the number of its round.", "Count rounds from 0 on."
            )
        certified = tuple(certify(plan, self.schema, self.price.currency) for plan in plans)
        draw = Draw(certified, self.analyst, self.receipt, round_, self._engine.version())
        return answer(self._ledger, draw, self._engine, self._entropy, self._copies).releases

    def close(self) -> None:
        self._copies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def without_keys(spend: GivenNumber | Spend | None) -> Spend:
    """What an envelope may cost: it has nothing for discovering keys."""
    if spend is None:
        raise missing_argument("spend", "spend=0.5")
    wanted = spend if isinstance(spend, Spend) else Spend(spend)
    if wanted.delta is not None:
        raise delta_unused()
    return wanted


def check_purpose(purpose: object) -> str:
    """A purpose is written into the ledger, and is what an envelope is found again by."""
    if not isinstance(purpose, str) or not 0 < len(purpose) <= LONGEST_PURPOSE or not purpose.isprintable():
        raise UsageError(
            f"a purpose is a text of 1 to {LONGEST_PURPOSE} printable characters.",
            "Write out what decides on the draws, e.g. as JSON.",
        )
    return purpose
