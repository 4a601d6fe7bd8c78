"""From a plan to the privacy losses it can cause, one dominating law for each kind of mechanism."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import expm1, fsum, gcd, inf, lcm, log1p, sqrt

import numpy as np

from sfumato.accounting.bands import UNIT, Band, Bands, Floats, bounded_range, laplace, randomised_response
from sfumato.accounting.events import Event, Plan
from sfumato.accounting.lattices import Atoms, Normal, concentrated, discrete_gaussian, discrete_laplace

LARGEST_DENOMINATOR = 10**24
LEFT_OUT = 1e-12  # of δ: where the tail of what is only known to be zCDP is cut


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss laws of a plan: bands, one normal law for all Gaussian noise, atoms, and the chance of total loss.

    `common` divides every edge and every atom, where that is known: a step that divides it moves no atom.
    """

    bands: Bands | None
    normal: Normal | None
    atoms: tuple[tuple[Atoms, int], ...]
    infinite: float
    common: Fraction | None
    count: int

    def moments(self, orders: Floats) -> Floats:
        """ln E e^(v L) of the sum of finite losses, for orders v >= 0."""
        result = np.full(len(orders), log1p(-self.infinite))
        if self.bands is not None:
            result += self.bands.moments(orders)
        if self.normal is not None:
            result += self.normal.moments(orders)
        for law, count in self.atoms:
            result += count * law.moments(orders)
        return result

    @property
    def largest(self) -> float:
        """No finite sum of losses is larger."""
        if self.normal is not None:
            return inf
        parts = [float(law.losses.max()) * count for law, count in self.atoms]
        if self.bands is not None:
            parts += (self.bands.sizes * self.bands.counts).tolist()
        return fsum(parts) * (1 + 1e-15)

    def spread(self) -> float:
        """What a step h adds to the variance of the sum, over h², if it divides `common`."""
        inside = 0.0 if self.bands is None else self.bands.inside()
        moved = sum(count for _, count in self.atoms) if self.common is None else 0
        return (inside + (self.normal is not None)) / 6 + moved / 4

    def moved(self, step: Fraction) -> int:
        """How many of the losses are not multiples of the step with certainty."""
        divides = self.common is not None and (self.common / step).denominator == 1
        if not divides:
            return self.count
        inside = 0 if self.bands is None else int(self.bands.counts @ (self.bands.tops > 0))
        return inside + (self.normal is not None)


def losses(plan: Plan, *, delta: float) -> Losses:
    """The laws of a plan that is to be judged near this δ.

    Claim: each law dominates its mechanism: at every ε its δ(ε) is at least that of the mechanism, for a person added
    and for a person removed. All Gaussian noise together is one normal law, and zCDP events are added first.
    Proof: docs/proofs/pld.md, "Dominating laws" and "What is only known to be zCDP".
    """
    bands: Counter[Band] = Counter()
    atoms: list[tuple[Atoms, int]] = []
    squares, rhos, intact = [], [], []
    for event, count in plan:
        match event.mechanism:
            case "gaussian":
                squares.append(count / float(event.amount) ** 2)
            case "zcdp":
                rhos.append(float(count * event.amount))
                intact.append(count * log1p(-float(event.delta)))
            case "discrete_gaussian":
                atoms.append((discrete_gaussian(event.amount, int(event.detail)), count))
            case "geometric" if event.detail > 1:
                atoms.append((discrete_laplace(event.amount, int(event.detail)), count))
            case _:
                bands[_band(event)] += count
                intact.append(count * log1p(-float(event.delta)))
    if rhos:
        atoms.append((concentrated(fsum(rhos) * (1 + 1e-15), smallest=delta * LEFT_OUT), 1))
    return Losses(
        Bands.of(bands) if bands else None,
        Normal(sqrt(fsum(squares)) * (1 + 1e-15)) if squares else None,
        tuple(atoms),
        _lost(fsum(intact)),
        _common([event for event, _ in plan]),
        sum(count for _, count in plan),
    )


def worst(plan: Plan) -> Losses:
    """The largest losses that the ε and δ of these events allow. Needs: every event has an ε."""
    bands: Counter[Band] = Counter()
    for event, count in plan:
        bands[randomised_response(event.amount)] += count
    intact = fsum(count * log1p(-float(event.delta)) for event, count in plan)
    common = _divisor([event.amount for event, _ in plan])
    return Losses(Bands.of(bands), None, (), _lost(intact), common, sum(count for _, count in plan))


def _lost(intact: float) -> float:
    """The chance of losing everything, from the logarithm of the chance of not: from above."""
    return max(0.0, -expm1(intact)) * (1 + UNIT)


def _band(event: Event) -> Band:
    match event.mechanism:
        case "laplace":
            return laplace(event.amount)
        case "exponential":
            return bounded_range(event.amount)
        case "geometric" | "randomised_response" | "pure" | "permute_and_flip" | "approximate":
            return randomised_response(event.amount)
        case _:
            raise AssertionError(event.mechanism)


def _common(events: list[Event]) -> Fraction | None:
    """The greatest number that divides all losses with a probability of their own, if it is not absurdly small."""
    spacings = []
    for event in events:
        match event.mechanism:
            case "discrete_gaussian" | "zcdp":
                return None
            case "geometric":
                spacings.append(event.amount / event.detail)
            case "gaussian" | "exponential":
                pass
            case _:
                spacings.append(event.amount)
    return _divisor(spacings)


def _divisor(numbers: list[Fraction]) -> Fraction | None:
    denominator = 1
    for number in numbers:
        denominator = lcm(denominator, number.denominator)
        if denominator > LARGEST_DENOMINATOR:
            return None
    return Fraction(gcd(*(int(number * denominator) for number in numbers)), denominator) if numbers else None
