"""Noise on a number, a list or an array that the caller brings, with a sensitivity the caller vouches for."""

from typing import Any, TypeVar

import numpy.typing as npt

from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.noise.calibration import Price, gaussian_noise, geometric_noise, laplace_noise
from sfumato.noise.pieces import noisy_reals
from sfumato.noise.values import narrowed, real_entries, whole_entries
from sfumato.schema.numbers import GivenNumber

Reals = TypeVar("Reals", float, list[float], npt.NDArray[Any])
Wholes = TypeVar("Wholes", int, list[int], npt.NDArray[Any])


def laplace(value: Reals, *, sensitivity: GivenNumber, epsilon: GivenNumber, entropy: Entropy | None = None) -> Reals:
    """Add Laplace noise of scale sensitivity / epsilon.

    Claim: epsilon-DP, finite arithmetic included: each entry is rounded to a grid that depends on the sensitivity
    and the number of entries alone, and gets whole-number noise there.
    Needs: `sensitivity` bounds the sum of the absolute changes of all entries (L1) when one person's data change.
    Proof: docs/proofs/real-lattice.md, docs/proofs/laplace-mechanism.md
    """
    entries = real_entries(value)
    noise = laplace_noise(sensitivity, price=Price(epsilon), entries=len(entries.numbers))
    result: Reals = entries.like(noisy_reals(entries, noise, _source(entropy)))
    return result


def geometric(
    value: Wholes, *, sensitivity: GivenNumber, epsilon: GivenNumber, entropy: Entropy | None = None
) -> Wholes:
    """Add whole-number noise k with probability proportional to exp(-|k| epsilon / sensitivity).

    Claim: epsilon-DP; of all mechanisms for one count (sensitivity 1) the best for every sensible loss.
    Needs: whole numbers by type; `sensitivity`, a whole number, bounds the sum of the absolute changes of all
    entries (L1) when one person's data change.
    Proof: docs/proofs/laplace-mechanism.md
    """
    entries = whole_entries(value)
    noise = geometric_noise(sensitivity, price=Price(epsilon), entries=len(entries.numbers))
    result: Wholes = entries.like(narrowed(noise.add(entries.numbers, _source(entropy))))
    return result


def gaussian(
    value: Reals,
    *,
    sensitivity: GivenNumber,
    epsilon: GivenNumber | None = None,
    delta: GivenNumber | None = None,
    rho: GivenNumber | None = None,
    entropy: Entropy | None = None,
) -> Reals:
    """Add Gaussian noise: the least that is (epsilon, delta)-DP on one number; on a vector the least zCDP allows.

    Claim: (epsilon, delta)-DP, or rho-zCDP when rho is given; finite arithmetic included.
    Needs: `sensitivity` bounds the Euclidean length of the change of all entries (L2) when one person's data change.
    Proof: docs/proofs/real-lattice.md, docs/proofs/gaussian-delta.md, docs/proofs/gaussian-mechanism.md
    """
    entries = real_entries(value)
    noise = gaussian_noise(sensitivity, price=Price(epsilon, delta, rho), entries=len(entries.numbers))
    result: Reals = entries.like(noisy_reals(entries, noise, _source(entropy)))
    return result


def _source(entropy: Entropy | None) -> Entropy:
    return SystemEntropy() if entropy is None else entropy
