"""Privacy losses that are given point by point: Gaussian noise, whole-number noise, and what zCDP alone allows.

Everything is held under a tilt: the probability of a loss l is weighted by e^(tilt · l), which moves the region that
decides δ to the centre and keeps its digits. Proofs: docs/proofs/pld.md
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, erfc, exp, expm1, log, log1p, pi, sqrt

import numpy as np

from sfumato.accounting.bands import UNIT, Floats

PANELS_A_DEVIATION = 4
HULL_POINTS = 4096
HULL_SLACK = HULL_POINTS * UNIT  # relative to δ: what the differences of slopes may lose
ROUNDING = 2.0**-49  # of the largest loss


@dataclass(frozen=True, slots=True)
class GridLaw:
    """Tilted masses at first, first + 1, …, adding up to 1; e^scale turns them back; `infinite` lies at infinity."""

    first: int
    masses: Floats
    scale: float
    infinite: float

    def highest(self) -> int:
        return self.first + int(np.flatnonzero(self.masses)[-1])

    def folded(self, length: int) -> Floats:
        """The masses on a circle of this many points."""
        places = (np.arange(len(self.masses)) + self.first) % length
        return np.asarray(np.bincount(places, weights=self.masses, minlength=length), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Normal:
    """The loss of Gaussian noise whose deviation is 1 / mean_shift of the sensitivity: N(μ²/2, μ²)."""

    mean_shift: float

    def moments(self, orders: Floats) -> Floats:
        return np.asarray(orders * (orders + 1) * self.mean_shift**2 / 2)

    def on_grid(self, step: Fraction, tilt: float, *, reach: float, optimistic: bool = False) -> GridLaw:
        """Split onto the grid (optimistic: rounded down to it), cut `reach` deviations from the tilted centre.

        Claim: the cut counts as infinite loss above, and is moved up to the first point below.
        """
        h, mu = float(step), self.mean_shift
        centre = (tilt + 0.5) * mu**2
        first, last = int(np.floor((centre - reach * mu) / h)), int(np.ceil((centre + reach * mu) / h))
        masses = np.zeros(last - first + 1)
        starts = np.arange(first, last) * h - centre
        nodes, weights = _nodes(h, mu)
        for offset, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            density = weight / (mu * sqrt(2 * pi)) * np.exp(-(((starts + offset) / mu) ** 2) / 2)
            share = 1.0 if optimistic else expm1(h - offset) / expm1(h)
            masses[:-1] += density * (share * exp(-tilt * offset))
            masses[1:] += density * ((1 - share) * exp(tilt * (h - offset)))
        above = _upper_tail((last * h - mu**2 / 2) / mu)
        below = _upper_tail((mu**2 / 2 - first * h) / mu)
        scale = tilt * (tilt + 1) * mu**2 / 2
        if not optimistic:
            masses[0] += below * exp(min(tilt * first * h - scale, 700.0))
        total = float(masses.sum())
        return GridLaw(first, masses / total, scale + log(total), 0.0 if optimistic else above)


def _nodes(h: float, mu: float) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on one cell, in panels that are short against the deviation."""
    nodes, weights = np.polynomial.legendre.leggauss(3 if h < mu / 1000 else 8)
    panels = max(1, ceil(PANELS_A_DEVIATION * h / mu))
    starts = np.arange(panels) * (h / panels)
    return (starts[:, None] + (nodes + 1) / 2 * (h / panels)).ravel(), np.tile(weights * (h / panels / 2), panels)


def _upper_tail(z: float) -> float:
    """P(N > z), from above."""
    return erfc(z / sqrt(2)) / 2 * (1 + 1e-9) + 1e-300


@dataclass(frozen=True, slots=True)
class Atoms:
    """Finitely many losses with the logarithms of their probabilities; the rest of the mass lies at infinity."""

    losses: Floats
    logarithms: Floats
    infinite: float

    def moments(self, orders: Floats) -> Floats:
        exponents = self.logarithms + np.multiply.outer(orders, self.losses)
        top = exponents.max(axis=1, keepdims=True)
        return np.asarray(top[:, 0] + np.log(np.exp(exponents - top).sum(axis=1)))

    def on_grid(self, step: Fraction, tilt: float, *, optimistic: bool = False) -> GridLaw:
        """Each loss split onto its two neighbours on the grid (optimistic: rounded down).

        A loss that misses a grid point by rounding alone belongs to it.
        """
        h = float(step)
        slack = ROUNDING * (h + float(np.abs(self.losses).max()))
        places = np.floor((self.losses + slack) / h)
        offsets = np.maximum(self.losses - places * h, 0.0)
        offsets[offsets <= slack] = 0.0
        shares = np.ones_like(offsets) if optimistic else np.expm1(np.maximum(h - offsets, 0.0)) / expm1(h)
        with np.errstate(divide="ignore"):
            lower = self.logarithms + np.log(shares) + tilt * h * places
            upper = self.logarithms + np.log1p(-shares) + tilt * h * (places + 1)
        top = max(float(lower.max()), float(upper.max()))
        first = int(places.min())
        cells = (places - first).astype(np.int64)
        length = int(cells.max()) + 2
        masses = np.bincount(cells, weights=np.exp(lower - top), minlength=length)
        masses += np.bincount(cells + 1, weights=np.exp(upper - top), minlength=length)
        total = float(masses.sum())
        return GridLaw(first, masses / total, top + log(total), self.infinite)


def discrete_laplace(epsilon: Fraction, sensitivity: int) -> Atoms:
    """The loss of noise k ~ e^(-|k| ε / Δ) on one whole number that a person moves by at most Δ."""
    places = np.arange(sensitivity + 1, dtype=np.float64)
    rate = float(epsilon) / sensitivity
    logarithms = -places * rate + log(-expm1(-rate)) - log1p(exp(-rate))
    logarithms[0], logarithms[-1] = -log1p(exp(-rate)), -float(epsilon) - log1p(exp(-rate))
    return Atoms(rate * (sensitivity - 2 * places), logarithms, 0.0)


def discrete_gaussian(sigma: Fraction, sensitivity: int) -> Atoms:
    """The loss of discrete Gaussian noise on one whole number that a person moves by at most Δ.

    Claim: noise beyond 40 σ, of probability below 10^-340, counts as infinite loss.
    Proof: docs/proofs/gaussian-delta.md (Δ is the worst change, for every ε).
    """
    deviation, variance = float(sigma), float(sigma**2)
    reach = int(np.ceil(40 * deviation)) + sensitivity
    places = np.arange(-reach, reach + 1, dtype=np.float64)
    exponents = -places * places / (2 * variance)
    normaliser = float(np.exp(exponents).sum())
    losses = (2 * places * sensitivity + sensitivity**2) / (2 * variance)
    return Atoms(losses, exponents - log(normaliser), 1e-300)


def concentrated(rho: float, *, smallest: float) -> Atoms:
    """A loss that dominates everything ρ-zCDP allows.

    Claim: the δ(ε) of any ρ-zCDP mechanism lies below the conversion formula at every ε, and is convex in e^ε; so
    it lies below the lower convex hull of that formula on a grid of ε, and the δ(ε) of the law returned is nowhere
    below that hull: its masses are rounded up, and add up to a little more than 1.
    Needs: `smallest`, the δ at which the tail is cut and counts as infinite loss.
    Proof: docs/proofs/pld.md, "What is only known to be zCDP".
    """
    reach = rho + 2 * sqrt(rho * -log(smallest))
    half = np.linspace(0.0, reach, HULL_POINTS // 2 + 1)[1:]
    upper = _conversion(rho, half)
    epsilons = np.concatenate([-half[::-1], [0.0], half])
    at_zero = float(_conversion(rho, np.zeros(1))[0])
    # δ(-ε) = 1 - e^-ε + e^-ε · δ'(ε), where δ' belongs to the pair the other way round
    lower = -np.expm1(-half) + np.exp(-half) * upper
    return _hull(epsilons, np.concatenate([lower[::-1], [at_zero], upper]))


def _conversion(rho: float, epsilons: Floats) -> Floats:
    """The smallest δ found at each ε >= 0, from above; every order gives a valid one."""
    best = np.full(len(epsilons), 1.0)
    centre = np.maximum((epsilons - rho) / (2 * rho), 0.0) + 1e-6
    for stretch in np.exp(np.linspace(-1.5, 4.0, 400)):
        for order in (centre * stretch, np.full_like(centre, 0.02 / sqrt(rho) * stretch)):
            factor, power = np.log(order), (order + 1) * np.log1p(1 / order)
            exponent = order * ((order + 1) * rho - epsilons) - factor - power
            rounding = UNIT * (1 + order * ((order + 1) * rho + epsilons) + np.abs(factor) + power)
            best = np.minimum(best, np.exp(np.minimum(exponent + rounding, 0.0)))
    return best


def _hull(epsilons: Floats, deltas: Floats) -> Atoms:
    """The law whose δ(ε) is the lower convex hull, in e^ε, of these points and of δ = 1 at e^ε = 0; from above.

    A mass is the difference of two slopes and errs by a few units in the last place of them, which is more of itself
    the denser the points. Added up over all points that stays below HULL_SLACK of δ (docs/proofs/pld.md, "Rounding").
    """
    kept: list[int] = []
    slopes: list[float] = []  # to the next point kept, times e^ε at the point itself; the first is the one from δ = 1

    def turns(place: int) -> float:
        """The slope before this point, times e^ε here."""
        if not kept:
            return float(deltas[place]) - 1
        width = epsilons[place] - epsilons[kept[-1]]
        return float((deltas[place] - deltas[kept[-1]]) / -expm1(-width))

    for place in range(len(epsilons)):
        while kept and slopes[-1] >= turns(place) * exp(epsilons[kept[-1]] - epsilons[place]):
            kept.pop()
            slopes.pop()
        slopes.append(turns(place))
        kept.append(place)
    chosen, before = np.array(kept), np.array(slopes)
    after = np.append(before[1:] * np.exp(-np.diff(epsilons[chosen])), 0.0)
    masses = after - before
    return Atoms(epsilons[chosen], np.log(masses) + HULL_SLACK, float(deltas[chosen[-1]]) * (1 + HULL_SLACK))
