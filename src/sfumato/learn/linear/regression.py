"""Least squares from noisy sums: solved where noise lets it be, with intervals made of the law of that noise."""

from dataclasses import dataclass

import numpy as np

from sfumato.learn.noise import Floats

LEAST_FLOOR = 1e-6  # of an eigenvalue, where there is hardly any noise
LEAST_VARIANCE, MOST_VARIANCE = 1e-6, 1.0  # of what is left over, of a number from -1 to 1
USUAL = 0.5  # size of a coefficient, of numbers from -1 to 1


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of products of all columns (`matrix`), of them with the target (`vector`), and of the target with itself.

    There may be many of each, along the first axis.
    """

    matrix: Floats
    vector: Floats
    square: Floats


@dataclass(frozen=True, slots=True)
class Solution:
    """Coefficients, and how far off they may be: draws of their error. `held` directions are lost in noise."""

    coefficients: Floats
    errors: Floats
    held: int


def solved(sums: Sums, noise: Sums, coins: Floats) -> Solution:
    """Coefficients that explain the target best, and draws of how far noise and chance may have moved them.

    What eigenvalues noise alone makes, about its standard deviation times √d, no direction is taken to be below: such a
    direction is held near 0, and its coefficient may be any that is usual.
    Claim: with B the matrix that is solved with, θ the truth and N, n the noise, the error is
    B⁻¹(n - Nθ + chance - (B - A)θ); draws put the coefficients that were found in the place of θ, once more noise in
    that of N and n, and in the last term, which only held directions have, coefficients of a usual size. `coins` are
    standard normal, two for each coefficient and draw.
    Needs: the first number of the matrix is the number of rows.
    """
    many = len(sums.vector)
    floor = max(float(noise.matrix.std(axis=0).mean()) * many**0.5, LEAST_FLOOR)
    values, directions = np.linalg.eigh(sums.matrix)
    firm = np.maximum(values, floor)
    inverse = (directions / firm) @ directions.T
    found = np.asarray(inverse @ sums.vector, dtype=np.float64)
    rows = max(float(sums.matrix[0, 0]) - many, 1.0)
    variance = float(np.clip((sums.square - found @ sums.vector) / rows, LEAST_VARIANCE, MOST_VARIANCE))
    chance = coins[:, :many] * np.sqrt(variance * firm) @ directions.T
    held = USUAL * coins[:, many:] * (firm - values) @ directions.T
    errors = (noise.vector - noise.matrix @ found + chance + held) @ inverse
    return Solution(found, errors, int((values < floor).sum()))
