"""Filters: they let an analyst choose every next price after seeing earlier answers, and never let the sum pass.

A filter is a value: `grant` gives the filter after the charge, or refuses. It remembers nothing: who shares one between
threads or processes hands on the newest, or keeps a ledger (`sf.open`). Amounts are exact rationals, so that a
thousand thirds never drift. A privacy loss distribution is no filter. Proof: docs/proofs/composition.md, "Filters"
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.accounting.wordings import filter_refuses, limit_unusable
from sfumato.errors import out_of_range
from sfumato.kernel.cost import rho_for
from sfumato.schema.budget import Budget
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown


@dataclass(frozen=True, slots=True)
class PureFilter:
    """Pure ε: the sum never exceeds the limit.

    Claim: everything granted is ε-DP together, ε the limit, however the amounts were chosen.
    """

    limit: Fraction
    spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", exact_positive(self.limit, "limit"))
        object.__setattr__(self, "spent", exact(self.spent, "spent"))
        if not 0 <= self.spent <= self.limit:
            raise out_of_range("spent", "0", shown(self.limit), shown(self.spent))

    @property
    def left(self) -> Fraction:
        return self.limit - self.spent

    def admits(self, epsilon: GivenNumber) -> bool:
        return exact_positive(epsilon, "epsilon") <= self.left

    def grant(self, epsilon: GivenNumber) -> "PureFilter":
        """The filter after this charge. Refuses with BudgetExceeded."""
        if not self.admits(epsilon):
            raise filter_refuses(f"epsilon {shown(exact(epsilon, 'epsilon'))}", f"epsilon {shown(self.left)}")
        return replace(self, spent=self.spent + exact(epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class ZcdpFilter:
    """zCDP: the sum of ρ never exceeds the largest ρ that converts to the limit (ε, δ).

    Claim: everything granted is ρ-zCDP together and (ε, δ)-DP, however the amounts were chosen (Feldman, Zrnic 2021;
    Whitehouse, Ramdas, Rogers, Wu 2023).
    Needs: a limit with δ > 0.
    """

    limit: Budget
    spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _check(self.limit)
        if not 0 <= self.spent <= self.spent + self.left:
            raise out_of_range("spent", "0", "the limit", shown(self.spent))

    @property
    def left(self) -> Fraction:
        return rho_for(self.limit.epsilon, self.limit.delta) - self.spent

    def admits(self, rho: GivenNumber) -> bool:
        return exact_positive(rho, "rho") <= self.left

    def grant(self, rho: GivenNumber) -> "ZcdpFilter":
        """The filter after this charge. Refuses with BudgetExceeded."""
        if not self.admits(rho):
            raise filter_refuses(f"rho {shown(exact(rho, 'rho'))}", f"rho {shown(self.left)}")
        return replace(self, spent=self.spent + exact(rho, "rho"))


@dataclass(frozen=True, slots=True)
class ApproximateFilter:
    """(ε, δ)-DP mechanisms: half of the limit's δ for the conversion, half for what the mechanisms lose themselves.

    Claim: everything granted is (ε, δ)-DP together, however the amounts were chosen (Whitehouse, Ramdas, Rogers, Wu
    2023: an (ε, δ)-DP mechanism is δ-approximately ε²/2-zCDP, and both sums have a filter).
    Needs: a limit with δ > 0.
    """

    limit: Budget
    squares: Fraction = Fraction(0)
    deltas: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _check(self.limit)
        if min(self.squares, self.deltas, *self.left) < 0:
            raise out_of_range("what is spent", "0", "the limit", shown(max(self.squares, self.deltas)))

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """What is left of Σ ε²/2, and of Σ δ."""
        half = self.limit.delta / 2
        return rho_for(self.limit.epsilon, half) - self.squares, half - self.deltas

    def admits(self, epsilon: GivenNumber, delta: GivenNumber = 0) -> bool:
        price, chance = exact_positive(epsilon, "epsilon"), exact(delta, "delta")
        if not 0 <= chance < 1:
            raise out_of_range("delta", "0", "1", shown(chance))
        squares, deltas = self.left
        return price**2 / 2 <= squares and chance <= deltas

    def grant(self, epsilon: GivenNumber, delta: GivenNumber = 0) -> "ApproximateFilter":
        """The filter after this charge. Refuses with BudgetExceeded."""
        if not self.admits(epsilon, delta):
            squares, deltas = self.left
            asked = f"epsilon {shown(exact(epsilon, 'epsilon'))} with delta {shown(exact(delta, 'delta'))}"
            raise filter_refuses(asked, f"epsilon²/2 = {shown(squares)} with delta {shown(deltas)}")
        added = exact(epsilon, "epsilon") ** 2 / 2
        return replace(self, squares=self.squares + added, deltas=self.deltas + exact(delta, "delta"))


def _check(limit: Budget) -> None:
    if not isinstance(limit, Budget):
        raise limit_unusable()
    if not limit.delta:
        raise out_of_range("the limit's delta", "0", "1 (both excluded)", "0")
