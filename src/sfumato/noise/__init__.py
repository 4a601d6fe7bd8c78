"""Mechanisms on your own number, array or candidates. There is no ledger here: you vouch for the sensitivity.

Every draw is exact and comes from the operating system's randomness; docs/reference/noise.md lists the calls.
"""

from sfumato.noise.accuracy import Description, describe, epsilon_for, interval
from sfumato.noise.numeric import gaussian, geometric, laplace
from sfumato.noise.selection import exponential, permute_and_flip

__all__ = [
    "Description",
    "describe",
    "epsilon_for",
    "exponential",
    "gaussian",
    "geometric",
    "interval",
    "laplace",
    "permute_and_flip",
]
