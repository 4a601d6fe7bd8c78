"""What an attack came to."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, TypeVar

from sfumato.errors import UsageError

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class AttackResult(Generic[Found]):
    """What was recovered, how often that is right, and how often it could be.

    success     share of the attempts that hit the truth, from 0 to 1; NaN when the truth was not told
    chance      share that a guess without the data would hit
    bound       share that the promised privacy allows on average; None when nothing is promised
    attempts    how often the attacker tried: records for linking, pairs of questions for differencing
    measures    what else the attack measured, by name: an error, a share before the attack
    """

    name: str
    recovered: list[Found]
    success: float
    chance: float
    bound: float | None
    attempts: int
    measures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shares = {"chance": self.chance} | ({} if math.isnan(self.success) else {"success": self.success})
        shares |= {} if self.bound is None else {"bound": self.bound}
        for what, share in shares.items():
            if not 0 <= share <= 1:
                raise UsageError(f"{what} must lie between 0 and 1.", "It is a share of the attempts.")
        if self.attempts < 0:
            raise UsageError("attempts must not be negative.", "Count the attempts that were made.")
        object.__setattr__(self, "measures", MappingProxyType(dict(self.measures)))

    def summary(self) -> str:
        """One line without any recovered value, fit for a log or a report."""
        hit = "success unknown" if math.isnan(self.success) else f"success {_share(self.success)}"
        promise = "nothing was promised" if self.bound is None else f"the promise allows {_share(self.bound)}"
        attempts = f"{self.attempts:,} attempt{'' if self.attempts == 1 else 's'}"
        return f"{self.name}: {hit} in {attempts}; chance {_share(self.chance)}; {promise}"


def _share(share: float) -> str:
    return f"{share:.1%}" if share == 0 or share >= 0.001 else f"{share:.1g}"
