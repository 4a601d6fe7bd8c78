"""What an attacker can come to believe, and how well he can tell who is in the data."""

from math import exp, expm1

from sfumato.accounting.wordings import posterior_needs_pure
from sfumato.errors import not_positive, out_of_range
from sfumato.schema.numbers import GivenNumber, exact, shown

LARGEST_EXPONENT = 700.0


def posterior(prior: GivenNumber, epsilon: GivenNumber, delta: GivenNumber = 0) -> tuple[float, float]:
    """The lowest and the highest probability an attacker can give to "this person is in the data" after an answer.

    Claim: whatever the answer, whatever else he knows: the odds change by a factor between e^-ε and e^ε.
    Needs: 0 <= prior <= 1, epsilon >= 0, delta = 0: with δ > 0 no such bound holds for every answer.
    Proof: docs/proofs/posterior.md
    """
    before, price = _probability(prior, "prior"), _price(epsilon)
    if _probability(delta, "delta") > 0:
        raise posterior_needs_pure()
    shrink = exp(-min(price, LARGEST_EXPONENT))
    low = before * shrink / (1 - before + before * shrink)
    return low, before / (before + (1 - before) * shrink)


def membership_advantage(epsilon: GivenNumber, delta: GivenNumber = 0) -> float:
    """The most by which true alarms can exceed false alarms, for the best test of "is this person in the data".

    Claim: (e^ε - 1 + 2δ) / (e^ε + 1), which is tanh(ε/2) at δ = 0; some (ε, δ)-DP mechanism reaches it.
    Needs: epsilon >= 0, 0 <= delta <= 1. The guarantee is for adding or removing one person.
    Proof: docs/proofs/posterior.md
    """
    price, chance = _price(epsilon), _probability(delta, "delta")
    shrink = exp(-min(price, LARGEST_EXPONENT))
    return min(1.0, (-expm1(-price) + 2 * chance * shrink) / (1 + shrink))


def highest_rate(false_alarms: GivenNumber, epsilon: GivenNumber, delta: GivenNumber = 0) -> float:
    """The largest share of members that a test can find while it accuses this share of outsiders.

    Claim: min(e^ε f + δ, 1 - e^-ε (1 - f - δ)), and never above 1 (Kairouz, Oh, Viswanath 2015).
    """
    rate, price, chance = _probability(false_alarms, "false_alarms"), _price(epsilon), _probability(delta, "delta")
    growth = exp(min(price, LARGEST_EXPONENT))
    return min(1.0, growth * rate + chance, max(0.0, 1 - (1 - rate - chance) / growth))


def _probability(value: GivenNumber, what: str) -> float:
    number = exact(value, what)
    if not 0 <= number <= 1:
        raise out_of_range(what, "0", "1", shown(number))
    return float(number)


def _price(epsilon: GivenNumber) -> float:
    price = exact(epsilon, "epsilon")
    if price < 0:
        raise not_positive("epsilon", shown(price))
    return float(price)
