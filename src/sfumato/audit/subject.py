"""What is audited: how to draw, on which neighbours, what it claims, what its law is."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.audit import laws
from sfumato.kernel.cost import epsilon_for
from sfumato.kernel.entropy import Entropy, SystemEntropy

ONE = Fraction(1)


@dataclass(frozen=True)
class Subject:
    """`draw(data, count, price, entropy)` runs the mechanism `count` times for a price; `law` says what comes out.

    A price is ε, or ρ when `in_rho`; then (ε, δ) follows from it. `claimed` is an ε that is less than the price.
    """

    name: str
    neighbours: tuple[Any, Any]
    draw: Callable[[Any, int, Fraction, Entropy], Any]
    law: Callable[[Any, Fraction], laws.Law] | None = None
    cell: Callable[[Any], Sequence[Hashable]] | None = None
    price: Fraction = ONE
    delta: Fraction = Fraction(0)
    in_rho: bool = False
    draws: int = 200_000
    claimed: Fraction | None = None

    @property
    def epsilon(self) -> Fraction:
        """What is claimed."""
        if self.claimed is not None:
            return self.claimed
        return epsilon_for(self.price, self.delta) if self.in_rho else self.price

    def run(self, data: Any, count: int, entropy: Entropy | None = None) -> Any:
        return self.draw(data, count, self.price, SystemEntropy() if entropy is None else entropy)

    def cells(self, outputs: Any) -> Sequence[Hashable]:
        return self.cell(outputs) if self.cell else list(outputs)

    def with_less_noise(self, share: Fraction = Fraction(9, 10)) -> "Subject":
        """The twin: that share of the noise, at the same claim."""
        factor = 1 / share**2 if self.in_rho else 1 / share
        drawn = self.draw
        return replace(
            self,
            name=f"{self.name} with {float(share):g} of the noise",
            draw=lambda data, count, price, entropy: drawn(data, count, price * factor, entropy),
        )
