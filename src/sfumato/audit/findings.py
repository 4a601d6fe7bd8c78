"""What an audit reports."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Check = Literal["events", "law", "precision", "time", "replay", "canaries", "membership"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one mechanism.

    `measured` is the lower bound of ε at 95 % for `events` and `precision`; else the statistic that `limit` bounds.
    A violation is declared when the claim is false except with a probability of one in a million (for canaries: as
    chosen).
    """

    name: str
    check: Check
    claimed: float
    measured: float
    violated: bool
    detail: str
    draws: int
    delta: float = 0.0

    @property
    def verdict(self) -> str:
        return "VIOLATED" if self.violated else "holds"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict}

    def __str__(self) -> str:
        promise = f"ε = {self.claimed:.4g}" + (f", δ = {self.delta:.2g}" if self.delta else "")
        match self.check:
            case "events" | "precision" | "canaries":
                return f"{self.name}: claims {promise}; shown ε ≥ {self.measured:.3f} by {self.detail}: {self.verdict}"
            case _:
                return f"{self.name}: {self.detail}: {self.verdict}"


def violations(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.violated]
