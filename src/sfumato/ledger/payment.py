"""What a question costs and is known by, and what an earlier charge for it bought."""

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction

from sfumato.kernel.certify import Certified
from sfumato.kernel.cost import Cost
from sfumato.kernel.gate import Release
from sfumato.ledger.entry import Entry
from sfumato.ledger.typed import fraction


@dataclass(frozen=True, slots=True)
class Payment:
    """One question, or several that are paid together, as the ledger needs to know them."""

    certified: Certified
    analyst: str
    spend: Fraction
    version: str
    fresh: bool = False
    request: str | None = None
    others: tuple[Certified, ...] = ()

    @property
    def plans(self) -> tuple[Certified, ...]:
        return (self.certified, *self.others)

    @property
    def cost(self) -> Cost:
        amounts, deltas = ([getattr(plan.cost, part) for plan in self.plans] for part in ("amount", "delta"))
        return Cost(self.certified.cost.currency, sum(amounts, Fraction(0)), sum(deltas, Fraction(0)))

    @property
    def digest(self) -> str:
        return " ".join(plan.digest for plan in self.plans)

    @property
    def question(self) -> str:
        text = json.dumps([self.digest, str(self.spend), self.version])
        return hashlib.sha256(text.encode()).hexdigest()

    def demand_allowed(self) -> None:
        """Refuse what needs a mechanism that is switched off; what is stored is given out without asking."""
        for plan in self.plans:
            plan.demand_allowed()

    def was_paid_by(self, charge: Entry) -> bool:
        """Whether a charge under this question's name took what the question costs, for the same plans.

        Needs: a charge that a book has taken.
        """
        said, cost = charge.content, self.cost
        amounts = [fraction(text) for text in (said["amount"], said.get("delta", "0"), said["spend"])]
        paid = said["currency"], *amounts, said["digest"]
        return paid == (cost.currency, cost.amount, cost.delta, self.spend, self.digest)


@dataclass(frozen=True, slots=True)
class Stored:
    """A release that was paid for before: free, and the same to the last digit."""

    release: Release
    when: str
