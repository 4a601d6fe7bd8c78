"""The law of the noise on released numbers, to be drawn again with public coins: how far it may have moved them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernel.certify import certify
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace
from sfumato.kernel.widths import deviation
from sfumato.learn.asking import Asking
from sfumato.plan.nodes import Plan
from sfumato.simulate import Simulator

Floats = NDArray[np.float64]

SCENES = 4000  # draws of the noise that error bars are made of


@dataclass(frozen=True, slots=True)
class Noise:
    """The law of the noise on every number of a table."""

    laplace: bool
    deviation: float

    @classmethod
    def of(cls, plan: Plan, task: Asking) -> "Noise":
        mechanism = certify(plan, task.schema, task.currency).releases[0].mechanism
        if not isinstance(mechanism, Additive):
            raise TypeError("a choice has no noise")
        return cls(isinstance(mechanism.law, DiscreteLaplace), deviation(mechanism.law))

    def scenes(self, simulator: Simulator, name: str, numbers: int, count: int = SCENES) -> Floats:
        """Many draws of it, with public coins."""
        stream = simulator.stream(f"noise of {name}")
        drawn = stream.laplace(count * numbers) / 2**0.5 if self.laplace else stream.normal(count * numbers)
        return np.asarray(self.deviation * drawn).reshape(count, numbers)
