"""The generators a student's functions get as `rng`: NumPy's own, seeded, and one that notes what it is asked.

Labs teach with NumPy's generator because every student will meet it. It is never used for private answers; the lint
rule against it holds everywhere but here and in `sfumato.simulate`.
"""

from typing import Any

import numpy as np

# Methods with a location and a scale, in NumPy's order of arguments, and their defaults.
_LOCATED = ("laplace", "normal", "gumbel", "logistic")
_SCALED = ("exponential",)


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


class Recording(np.random.Generator):
    """Draws as `generator(seed)` does and keeps (method, location, scale) of every call that has a scale."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.asked: list[tuple[str, float, float]] = []

    def _note(self, method: str, location: Any, scale: Any) -> None:
        for one_location, one_scale in np.broadcast(location, scale):
            self.asked.append((method, float(one_location), float(one_scale)))


def _located(method: str) -> Any:
    def asked(self: Recording, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        self._note(method, loc, scale)
        return getattr(np.random.Generator, method)(self, loc, scale, size)

    return asked


def _scaled(method: str) -> Any:
    def asked(self: Recording, scale: Any = 1.0, size: Any = None) -> Any:
        self._note(method, 0.0, scale)
        return getattr(np.random.Generator, method)(self, scale, size)

    return asked


for _method in _LOCATED:
    setattr(Recording, _method, _located(_method))
for _method in _SCALED:
    setattr(Recording, _method, _scaled(_method))
