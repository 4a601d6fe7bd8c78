"""What correlations and components are made of: whole numbers, in steps of 2^-30 of numbers from -1 to 1."""

from dataclasses import dataclass

import numpy as np

from sfumato.learn.linear.coefficients import FINE, fine
from sfumato.learn.noise import Floats

Matrix = tuple[tuple[int, ...], ...]


def fine_matrix(numbers: Floats) -> Matrix:
    return tuple(tuple(fine(float(one)) for one in row) for row in numbers)


def plain(numbers: Matrix | tuple[int, ...]) -> Floats:
    return np.array(numbers, dtype=np.float64) / FINE


@dataclass(frozen=True, slots=True)
class Correlations:
    """Of every two columns, and the standard deviation that noise gives each.

    `means` and `deviations` are of the columns; `rows` is the noisy number of rows, `noise` its standard deviation.
    """

    matrix: Matrix
    errors: Matrix
    means: tuple[int, ...]
    deviations: tuple[int, ...]
    rows: int
    noise: int


@dataclass(frozen=True, slots=True)
class Directions:
    """The directions in which columns vary most, each of length 1, and the standard deviation that noise gives each.

    `shares` of the variance lie along them; `means`, `rows` and `noise` are as of correlations.
    """

    directions: Matrix
    errors: Matrix
    shares: tuple[int, ...]
    means: tuple[int, ...]
    rows: int
    noise: int

    def along(self, scaled: Floats) -> Floats:
        """How far every row lies from the mean along each direction; what is missing counts as the mean."""
        apart = scaled - plain(self.means)
        return np.asarray(np.where(np.isnan(apart), 0, apart) @ plain(self.directions).T)
