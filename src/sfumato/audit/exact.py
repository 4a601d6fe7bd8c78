"""The samplers in integers and fractions: the oracle of the fast ones, and what to read first.

All follow Canonne, Kamath, Steinke 2020 (arXiv:2004.00010), Algorithms 1 to 3. Their running time depends on the
value drawn, so released noise comes from `kernel.samplers`, which has the same laws.
"""

from fractions import Fraction
from math import isqrt

from sfumato.kernel.entropy import Entropy


def bernoulli(probability: Fraction, entropy: Entropy) -> bool:
    """True with exactly this probability.

    Needs: 0 <= probability <= 1.
    """
    return entropy.below(probability.denominator) < probability.numerator


def bernoulli_exp(gamma: Fraction, entropy: Entropy) -> bool:
    """True with probability exp(-gamma).

    Claim: exact; the alternating series is decided by coins with rational probabilities.
    Needs: gamma >= 0.
    Proof: docs/proofs/bernoulli-exp.md
    """
    while gamma > 1:
        if not _bernoulli_exp_at_most_one(Fraction(1), entropy):
            return False
        gamma -= 1
    return _bernoulli_exp_at_most_one(gamma, entropy)


def _bernoulli_exp_at_most_one(gamma: Fraction, entropy: Entropy) -> bool:
    tries = 1
    while bernoulli(gamma / tries, entropy):
        tries += 1
    return tries % 2 == 1


def geometric(scale: Fraction, entropy: Entropy) -> int:
    """Draw k >= 0 with probability proportional to exp(-k / scale).

    Claim: exact.
    Needs: scale > 0.
    Proof: docs/proofs/geometric.md
    """
    # With 1/scale = s/t: u uniform below t accepted with exp(-u/t), plus t times a geometric of rate 1; the s-th
    # part of that is the answer.
    s, t = scale.denominator, scale.numerator
    low = entropy.below(t)
    while not bernoulli_exp(Fraction(low, t), entropy):
        low = entropy.below(t)
    high = 0
    while bernoulli_exp(Fraction(1), entropy):
        high += 1
    return (low + t * high) // s


def discrete_laplace(scale: Fraction, entropy: Entropy) -> int:
    """Draw k with probability proportional to exp(-|k| / scale).

    Claim: exact.
    Needs: scale > 0.
    Proof: docs/proofs/discrete-laplace.md
    """
    while True:
        negative = entropy.below(2) == 1
        magnitude = geometric(scale, entropy)
        if magnitude or not negative:  # else zero would be drawn twice as often
            return -magnitude if negative else magnitude


def discrete_gaussian(variance: Fraction, entropy: Entropy) -> int:
    """Draw k with probability proportional to exp(-k² / (2 variance)).

    Claim: exact.
    Needs: variance > 0.
    Proof: docs/proofs/discrete-gaussian.md
    """
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        candidate = discrete_laplace(Fraction(scale), entropy)
        if bernoulli_exp((abs(candidate) - variance / scale) ** 2 / (2 * variance), entropy):
            return candidate
