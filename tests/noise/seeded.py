"""A seeded source of randomness for tests."""

import random

import numpy as np
import numpy.typing as npt


class SeededEntropy:
    """Uniform integers from a fixed seed: the same draws in every run."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)

    def below(self, bound: int) -> int:
        return self._source.randrange(bound)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(self._source.randbytes(8 * count), dtype=np.uint64)
