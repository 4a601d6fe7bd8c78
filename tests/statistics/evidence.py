"""Entropy for checks of laws, and what a number of draws proves (sfumato.audit.evidence)."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.audit.evidence import FALSE_ALARM, between, delta_shown, epsilon_shown
from sfumato.kernel.entropy import Entropy, SystemEntropy
from tests.entropy import SeededEntropy

ERROR = FALSE_ALARM  # of a whole check
Sampler = Callable[[Entropy], np.ndarray[Any, Any]]

__all__ = ["ERROR", "Sampler", "between", "delta_shown", "epsilon_shown", "source"]


def source(name: str) -> Entropy:
    """Seeded, so that a run can be repeated; with SFUMATO_FRESH=1 the real source, for long runs."""
    return SystemEntropy() if os.environ.get("SFUMATO_FRESH") else SeededEntropy(name)
