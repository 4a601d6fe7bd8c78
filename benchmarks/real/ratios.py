"""Our error over a peer's: of one case, with the interval that chance leaves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

SAMPLES = 2000
WORSE, ALIKE = 1.10, 1e-3


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of errors and its 95 % interval; where both errors are stated, the interval is the ratio itself."""

    value: float
    low: float
    high: float

    @property
    def worse(self) -> bool:
        return self.low > WORSE

    @property
    def better(self) -> bool:
        return self.high < 1


def stated(ratio: float) -> Ratio:
    return Ratio(ratio, ratio, ratio)


def of_runs(ours: Any, theirs: Any, *, middle: Any = np.median) -> Ratio:
    """Of the medians of two samples of errors (or another `middle`), by bootstrap.

    Errors may be infinite, where there was no answer. Two errors of nothing are alike.
    """
    generator = np.random.default_rng(0)
    value = _divided(middle(ours), middle(theirs))
    both = [middle(generator.choice(errors, (SAMPLES, len(errors))), axis=1) for errors in (ours, theirs)]
    low, high = np.quantile(_divided(*both), (0.025, 0.975), method="nearest")
    return Ratio(float(value), float(low), float(high))


def _divided(ours: Any, theirs: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.equal(ours, theirs), 1.0, np.divide(ours, theirs))
