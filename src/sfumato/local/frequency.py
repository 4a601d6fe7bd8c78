"""How many people hold each value: a domain, and the protocol that reports it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np

from sfumato.accounting.rounding import up
from sfumato.kernel.entropy import Entropy
from sfumato.local.domain import Domain
from sfumato.local.estimate import Estimate
from sfumato.local.hashing import Hashing
from sfumato.local.oracle import Codes, Oracle, variance
from sfumato.local.response import Response
from sfumato.local.scheme import VERSION, Columns, Tally, added, rounded_up
from sfumato.local.subset import Subset
from sfumato.local.unary import Unary
from sfumato.local.wordings import domain_not_binary, domain_too_large

LARGEST_IN_BITS = 1 << 16  # a report has one bit per value
LARGEST = 1 << 22
NEARLY = 1.005  # variances within half a percent count as equal: then the shorter report wins

Maker = Callable[[int, Fraction], Oracle]

MAKERS: dict[str, Maker] = {
    "grr": Response,
    "sue": lambda size, epsilon: Unary(size, epsilon, optimised=False),
    "oue": lambda size, epsilon: Unary(size, epsilon, optimised=True),
    "olh": Hashing.best,
    "hadamard": lambda size, epsilon: Hashing(size, epsilon, 2),
    "subset": Subset.best,
}
IN_BITS = ("sue", "oue", "subset")


@dataclass(frozen=True, slots=True)
class Frequency:
    """A frequency protocol over a domain."""

    name: str
    domain: Domain
    price: Fraction | None
    oracle: Oracle

    @property
    def epsilon(self) -> float:
        return rounded_up(log(3)) if self.price is None else up(self.price)

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    @property
    def arrays(self) -> int:
        return self.oracle.arrays

    def spec(self) -> dict[str, Any]:
        return {
            "sfumato": VERSION,
            "protocol": self.name,
            "epsilon": "ln 3" if self.price is None else str(self.price),
            "domain": self.domain.to_json(),
            **self.oracle.options(),
        }

    def encode(self, values: Any, row: int = 1) -> Codes:
        return self.domain.codes(values, row)

    def read(self, cells: dict[str, list[str]]) -> Any:
        return read_column(self.domain, next(iter(cells.values())))

    def draw(self, encoded: Codes, entropy: Entropy) -> Columns:
        return self.oracle.draw(encoded, entropy)

    def payloads(self, reports: Columns) -> list[Any]:
        return self.oracle.payloads(reports)

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        return self.oracle.columns(payloads, row)

    def tally(self) -> Tally:
        return [self.oracle.tally()]

    def add(self, tally: Tally, reports: Columns) -> Tally:
        return added(tally, [self.oracle.count(reports)])

    def merge(self, first: Tally, second: Tally) -> Tally:
        return added(first, second)

    def finish(self, tally: Tally, users: int, confidence: float) -> Estimate:
        """Unbiased counts of these very users, with the deviation that their reports have.

        Proof: docs/proofs/local-estimates.md
        """
        keep, stray = self.oracle.keep, self.oracle.stray
        unbiased = np.asarray((self.oracle.supports(tally[0]) - users * stray) / (keep - stray), dtype=np.float64)
        held = np.clip(unbiased, 0, users)
        spread = held * keep * (1 - keep) + (users - held) * stray * (1 - stray)
        deviations = np.sqrt(spread) / (keep - stray)
        return Estimate(self.domain.values, users, unbiased, deviations, self.epsilon, confidence)

    def of_a_sample(self, tally: Tally, sampled: int, users: int, confidence: float) -> Estimate:
        """Counts of all users from those who were chosen by chance to report; the choice is part of the deviation."""
        keep, stray = self.oracle.keep, self.oracle.stray
        supports = self.oracle.supports(tally[0])
        unbiased = (supports / sampled - stray) / (keep - stray) * users
        # An estimate of the support's chance that is never 0 or 1, so that no error bar vanishes.
        chance = (supports + 1) / (sampled + 2)
        deviations = np.sqrt(chance * (1 - chance) / sampled) / (keep - stray) * users
        return Estimate(self.domain.values, users, unbiased, deviations, self.epsilon, confidence)


def read_column(domain: Domain, texts: list[str]) -> list[Any]:
    known: dict[str, Any] = {}
    for text in set(texts):
        value = domain.read(text)
        known[text] = text if value is None else value
    return [known[text] for text in texts]


def frequency(name: str, domain: Domain, epsilon: Fraction | None) -> Frequency:
    """The protocol of this name. Needs: epsilon, but for "rr", where None means two fair coins."""
    size = len(domain)
    if name == "rr":
        if size != 2:
            raise domain_not_binary(size)
        return Frequency(name, domain, epsilon, Response(2, epsilon))
    if epsilon is None:
        raise ValueError("only randomised response has a price of its own")
    limit = LARGEST_IN_BITS if name in IN_BITS else LARGEST
    if size > limit:
        raise domain_too_large(size, limit, name)
    return Frequency(name, domain, epsilon, MAKERS[name](size, epsilon))


def choices(size: int, epsilon: Fraction) -> dict[str, Oracle]:
    """Every frequency protocol that can serve a domain of this size."""
    usable = {name: maker for name, maker in MAKERS.items() if size <= LARGEST_IN_BITS or name not in IN_BITS}
    return {name: maker(size, epsilon) for name, maker in usable.items()}


def least_variance(size: int, epsilon: Fraction) -> str:
    """The protocol with the least variance; of those within half a percent of it the one with the shortest report."""
    found = choices(size, epsilon)
    limit = NEARLY * min(variance(oracle) for oracle in found.values())
    return min((name for name, oracle in found.items() if variance(oracle) <= limit), key=lambda n: found[n].bits)
