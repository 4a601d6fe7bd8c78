"""A variant of a lab: the constants of its row, and the seed from which its data are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.labs.wordings import no_constant
from sfumato.simulate import Simulator, Stream


@dataclass(frozen=True)
class Variant:
    """Constants by name (`v.eps` or `v["eps"]`), and streams of seeded numbers by name.

    Claim: data drawn from `stream` depend on lab, variant, seed and the stream's name only, so a student's data can be
    made again on any machine.
    """

    lab: str  # the slug, e.g. lab02_laplace
    number: int
    seed: int
    row: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        if name not in self.row:
            raise no_constant(self.lab, name, self.row)
        return self.row[name]

    def __getattr__(self, name: str) -> Any:
        # Only names that a dataclass does not have come here. Those of Python itself must stay unknown (copy, pickle).
        if name.startswith("_") or name == "row":
            raise AttributeError(name)
        try:
            return self[name]
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def stream(self, name: str) -> Stream:
        """Uniform doubles and the laws made from them; see `sfumato.simulate.Stream`."""
        return Simulator(self.seed).stream(f"{self.lab}/{self.number}/{name}")


def practice_seed(number: int) -> int:
    """The seed of whoever works alone: the same data for everybody who takes this variant."""
    return number
