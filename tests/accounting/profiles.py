"""δ(ε) straight from the definition, or on paper: what grids are compared with."""

from math import exp, expm1

import numpy as np
from scipy.special import log_ndtr

from sfumato.accounting.lattices import Atoms


def profile(law: Atoms, epsilon: float) -> float:
    """δ(ε) of a list of losses, straight from the definition."""
    over = law.losses > epsilon
    return float(np.exp(law.logarithms[over]) @ -np.expm1(epsilon - law.losses[over])) + law.infinite


def gaussian_logarithm(sigma: float, at: float) -> float:
    """ln δ(ε) of Gaussian noise."""
    near, far = at * sigma - 0.5 / sigma, at * sigma + 0.5 / sigma
    one, two = log_ndtr(-near), at + log_ndtr(-far)
    return float(one + np.log(-np.expm1(min(two - one, -1e-300))))


def band_profile(kind: str, epsilon: float, at: float) -> float:
    """δ of one mechanism at any real ε, on paper."""
    if at >= epsilon:
        return 0.0
    if at <= -epsilon:
        return -expm1(at)
    match kind:
        case "laplace":
            return -expm1((at - epsilon) / 2)
        case "pure":
            return -expm1(at - epsilon) / (1 + exp(-epsilon))
        case _:
            return (exp(epsilon / 2) - exp(at / 2)) ** 2 / expm1(epsilon)
