"""Noise added to integers: two laws with their prices, and the mechanism that adds one to all integers of a measure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency, rho_of_pure
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, CellSums, Event, Released
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.samplers import Integers, discrete_gaussian, discrete_laplace, gaussian_pieces, laplace_pieces
from sfumato.schema.allow import Family

# The samplers reckon with a scale and with twice a variance as doubles, and divide by them: up to here with all digits.
MOST_SCALE, MOST_VARIANCE = 1 << 900, 1 << 1000


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Adds k with probability proportional to exp(-|k| / scale) to every integer of a vector.

    Claim: l1/scale-DP for a vector of integers that one unit moves by at most l1 in L1 norm.
    Proof: docs/proofs/laplace-mechanism.md
    """

    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError("the scale of a discrete Laplace law is positive")
        if self.scale.numerator > MOST_SCALE * self.scale.denominator:
            raise plan_refused("its noise is so large that no double tells its scale")

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, l1: int) -> "DiscreteLaplace":
        return cls(l1 / epsilon)

    def cost(self, currency: Currency, l1: int) -> Fraction:
        epsilon = l1 / self.scale
        return epsilon if currency == "epsilon" else rho_of_pure(epsilon)

    def event(self, l1: int) -> Event:
        return {"mechanism": "discrete_laplace", "scale": str(self.scale), "sensitivity": str(l1)}

    def draw(self, count: int, entropy: Entropy) -> Integers:
        return discrete_laplace(self.scale, count, entropy)

    def pieces(self, count: int, entropy: Entropy) -> Iterator[Integers]:
        """The same draws in pieces, for whoever works on each at once."""
        return laplace_pieces(self.scale, count, entropy)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Adds k with probability proportional to exp(-k² / (2 variance)) to every integer of a vector.

    Claim: l2_squared/(2 variance)-zCDP for a vector of integers that one unit moves by at most √l2_squared in L2 norm.
    Proof: docs/proofs/gaussian-mechanism.md
    """

    variance: Fraction

    def __post_init__(self) -> None:
        if self.variance <= 0:
            raise ValueError("the variance of a discrete Gaussian law is positive")
        if self.variance.numerator > MOST_VARIANCE * self.variance.denominator:
            raise plan_refused("its noise is so large that no double tells its variance")

    @classmethod
    def for_rho(cls, rho: Fraction, *, l2_squared: int) -> "DiscreteGaussian":
        return cls(l2_squared / (2 * rho))

    def cost(self, currency: Currency, l2_squared: int) -> Fraction:
        if currency != "rho":
            raise plan_refused("Gaussian noise is not paid in epsilon")
        return l2_squared / (2 * self.variance)

    def event(self, l2_squared: int) -> Event:
        """A length that is a whole number is kept as such; of another the square, which is one."""
        length = isqrt(l2_squared)
        whole = length**2 == l2_squared
        moved = {"sensitivity": str(length)} if whole else {"sensitivity_squared": str(l2_squared)}
        return {"mechanism": "discrete_gaussian", "variance": str(self.variance), **moved}

    def draw(self, count: int, entropy: Entropy) -> Integers:
        return discrete_gaussian(self.variance, count, entropy)

    def pieces(self, count: int, entropy: Entropy) -> Iterator[Integers]:
        """The same draws in pieces, for whoever works on each at once."""
        return gaussian_pieces(self.variance, count, entropy)


Law = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class Additive:
    """Adds independent noise of one law to the number of every group, or to each of the counts, or sums, of its cells.

    Of running totals the counts are first added up by a `strategy`; l1 and l2_squared are of its answers.
    Claim: costs what the law does, for all groups together, when one unit moves all their integers by at most l1 in L1
    norm and √l2_squared in L2 norm.
    """

    law: Law
    l1: int
    l2_squared: int
    cells: int | None = None  # of each group; None: it has one number
    strategy: Strategy | None = None
    sums: bool = False  # in the cells, in place of counts

    def __post_init__(self) -> None:
        if self.strategy is not None and self.strategy.size != self.cells:
            raise ValueError("a strategy adds up all cells of a group")
        if self.sums and (self.cells is None or self.strategy is not None):
            raise ValueError("sums in cells have cells, and are not added up again")

    @classmethod
    def for_share(
        cls,
        share: Fraction,
        currency: Currency,
        l1: int,
        l2_squared: int,
        cells: int | None = None,
        strategy: Strategy | None = None,
        *,
        sums: bool = False,
    ) -> "Additive":
        """Laplace noise that costs so much ε, or Gaussian noise that costs so much ρ."""
        law: Law
        if currency == "epsilon":
            law = DiscreteLaplace.for_epsilon(share, l1)
        else:
            law = DiscreteGaussian.for_rho(share, l2_squared=l2_squared)
        return cls(law, l1, l2_squared, cells, strategy, sums)

    @property
    def family(self) -> Family:
        return "additive" if self.strategy is None else "running"

    def cost(self, currency: Currency) -> Fraction:
        return self.law.cost(currency, self._moved)

    def event(self) -> Event:
        return self.law.event(self._moved)

    def check(self, entry: Added) -> None:
        if self.cells is None:
            if type(entry) is not int:
                raise plan_refused("the engine answered with something else than whole numbers")
        elif not isinstance(entry, CellSums if self.sums else CellCounts) or not entry.fit(self.cells):
            raise plan_refused("the engine answered with something else than cells")

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        if self.cells is None:
            noise = self.law.draw(len(entries), entropy).tolist()
            numbers = [entry for entry in entries if isinstance(entry, int)]
            return [number + drawn for number, drawn in zip(numbers, noise, strict=True)]
        vectors = [self._measured(entry, self.cells) for entry in entries]
        width = len(vectors[0])
        noise = self.law.draw(len(entries) * width, entropy).reshape(len(entries), width).tolist()
        return [
            tuple(value + drawn for value, drawn in zip(vector, row, strict=True))
            for vector, row in zip(vectors, noise, strict=True)
        ]

    def _measured(self, entry: Added, cells: int) -> list[int]:
        match entry:
            case CellSums():
                return entry.dense(cells)
            case CellCounts():
                counts = entry.dense(cells)
                answers: list[int] = (counts if self.strategy is None else self.strategy.answers(counts)).tolist()
                return answers
            case _:
                raise plan_refused("the engine answered with something else than cells")

    @property
    def _moved(self) -> int:
        """The norm that the law's theorem speaks of."""
        return self.l1 if isinstance(self.law, DiscreteLaplace) else self.l2_squared
