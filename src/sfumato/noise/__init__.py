"""Mechanisms on your own number, array or candidates. There is no ledger here: you vouch for the sensitivity.

Every draw is exact and comes from the operating system's randomness; docs/reference/noise.md lists the calls.
"""

from sfumato.noise.accuracy import Description, describe, epsilon_for, interval
from sfumato.noise.classical import analytic_gaussian_deviation, classical_gaussian_deviation
from sfumato.noise.figures import draw_densities, draw_errors
from sfumato.noise.numeric import gaussian, geometric, laplace
from sfumato.noise.ranking import noisy_max, top_k
from sfumato.noise.response import randomised_response
from sfumato.noise.selection import exponential, permute_and_flip
from sfumato.noise.sparse_vector import above_threshold, above_threshold_stream
from sfumato.noise.stairs import staircase

__all__ = [
    "Description",
    "above_threshold",
    "above_threshold_stream",
    "analytic_gaussian_deviation",
    "classical_gaussian_deviation",
    "describe",
    "draw_densities",
    "draw_errors",
    "epsilon_for",
    "exponential",
    "gaussian",
    "geometric",
    "interval",
    "laplace",
    "noisy_max",
    "permute_and_flip",
    "randomised_response",
    "staircase",
    "top_k",
]
