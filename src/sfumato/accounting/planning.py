"""Before the first question: how many fit, what each may spend, and how wrong each answer will be."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from sfumato.accounting.gaussian import classical_sigma, gaussian_sigma
from sfumato.accounting.rounding import down
from sfumato.accounting.wordings import limit_too_small, limit_unusable
from sfumato.errors import out_of_range
from sfumato.kernel.cost import epsilon_for, rho_for
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Law
from sfumato.kernel.widths import error
from sfumato.schema.budget import Budget
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown, whole

FINEST = 10**9
MOST = 10**12
LARGEST_MISS = Fraction(1, 10**12)


def questions(limit: Budget, spend: GivenNumber) -> int:
    """How many questions at this spend a ledger with this limit grants.

    Claim: pure ε with δ = 0; else ρ, converted with half of δ (the other half is for discovering keys): the ledger's
    own rule. 28 questions at 0.5 fit into (3, 1e-6), not 6.
    """
    price, budget = exact_positive(spend, "spend"), _limit(limit)
    each = price if not budget.delta else rho_for(price, budget.delta / 2)
    return int(_amount(budget) // each) if each else 0


def spend_for(limit: Budget, questions: int) -> float:
    """The largest spend at which this many questions fit, rounded down."""
    budget, count = _limit(limit), whole(questions, "questions", least=1)
    share = _amount(budget) / count
    if not budget.delta:
        return down(share)
    spend = Fraction(int(epsilon_for(share, budget.delta / 2) * FINEST), FINEST)
    while spend > 0 and rho_for(spend, budget.delta / 2) > share:
        spend -= Fraction(1, FINEST)
    if spend <= 0 or not rho_for(spend, budget.delta / 2):
        raise limit_too_small(str(count))
    return down(spend)


def error_of(limit: Budget, questions: int, *, sensitivity: int = 1, confidence: GivenNumber = 0.95) -> int:
    """The error that each of so many counts stays within, if the limit is shared equally among them.

    Claim: whole-number Laplace noise with δ = 0, else Gaussian noise; `confidence` is for each count alone.
    """
    level, steps = _confidence(confidence), whole(sensitivity, "sensitivity", least=1)
    return _error(_limit(limit), whole(questions, "questions", least=1), steps, level)


def questions_within(limit: Budget, error: GivenNumber, *, sensitivity: int = 1, confidence: GivenNumber = 0.95) -> int:
    """How many counts, each within ±error with this confidence, the limit pays for."""
    budget, most, level = _limit(limit), exact_positive(error, "error"), _confidence(confidence)
    steps = whole(sensitivity, "sensitivity", least=1)
    return _largest(lambda count: _error(budget, count, steps, level) <= most)


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standard deviations of the noise on each of several counts that one person moves all at once."""

    laplace: float
    classical: float | None
    analytic: float


def deviations(counts: int, epsilon: GivenNumber, delta: GivenNumber = 1e-5) -> Deviations:
    """Laplace against Gaussian noise for counts that one person moves by one each, at one price for all.

    Claim: √2 · counts / ε; √counts times the classical deviation (None from ε = 1 on, where it is not proved); √counts
    times the exact one.
    """
    entries, price = whole(counts, "counts", least=1), exact_positive(epsilon, "epsilon")
    return Deviations(
        sqrt(2) * entries / float(price),
        sqrt(entries) * classical_sigma(price, delta) if price < 1 else None,
        sqrt(entries) * gaussian_sigma(price, delta),
    )


def _error(budget: Budget, count: int, sensitivity: int, level: Fraction) -> int:
    share = _amount(budget) / count
    law: Law
    if budget.delta:
        law = DiscreteGaussian.for_rho(share, l2_squared=sensitivity**2)
    else:
        law = DiscreteLaplace.for_epsilon(share, sensitivity)
    return error(law, float(level))


def _largest(fits: Callable[[int], bool]) -> int:
    """The largest number that fits, 0 if none does. Needs: what fits, fits for every smaller number."""
    if not fits(1):
        return 0
    low, high = 1, 2
    while high < MOST and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _amount(budget: Budget) -> Fraction:
    """The limit in the ledger's currency."""
    return rho_for(budget.epsilon, budget.delta / 2) if budget.delta else budget.epsilon


def _limit(limit: Budget) -> Budget:
    if not isinstance(limit, Budget):
        raise limit_unusable()
    return limit


def _confidence(value: GivenNumber) -> Fraction:
    level = exact(value, "confidence")
    if not 0 < level <= 1 - LARGEST_MISS:
        raise out_of_range("confidence", "0", "1 - 1e-12", shown(level))
    return level
