"""Reports of a position: noise that hides where one is within a radius, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from math import exp, floor, log2
from typing import Any

import numpy as np

from sfumato.accounting.rounding import up
from sfumato.errors import out_of_range
from sfumato.geo.earth import (
    RADIUS_M,
    WIDEST,
    Chart,
    Floats,
    Position,
    degrees_of,
    flat_places,
    on_grid,
    positions,
)
from sfumato.geo.globe import LEAST_RATE, centres, spherical_laplace
from sfumato.geo.lattice import planar_geometric
from sfumato.geo.remapping import closest
from sfumato.geo.wordings import level_unreadable, noise_too_narrow, noise_too_wide, not_a_position, price_ambiguous
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.schema.numbers import GivenNumber, exact_positive

BLOCK = 1 << 14
FINENESS = 1 << 14  # lattice points in the distance over which the loss grows by one
SNAP = Fraction(14143, 10000)  # √2, rounded up
MAP_ERROR_M = Fraction(1, 10**6)  # of the flat map in doubles, for two positions, with room to spare
LONGEST_REACH_M = 2_000_000
NARROWEST = Fraction(1000)  # a loss of one a millimetre


@dataclass(frozen=True, slots=True)
class Planar:
    """Reports positions on the public grid of 10^-5 degrees.

    Claim: between positions d metres apart on the ground the probabilities of any report differ by a factor of at most
    exp(loss(d)); loss(d) = epsilon · d, and with `around` about 0.0001 more. Every report of the same person adds up.
    Proof: docs/proofs/spherical-laplace.md (everywhere), docs/proofs/planar-geometric.md (around a public place).
    """

    epsilon: Fraction  # per metre
    level: Fraction
    radius_m: Fraction
    around: tuple[float, float] | None = None
    reach_m: int = 50_000

    def __post_init__(self) -> None:
        if self.epsilon * RADIUS_M < LEAST_RATE:
            raise noise_too_wide(int(RADIUS_M / LEAST_RATE / 1000))
        if self.epsilon > NARROWEST:
            raise noise_too_narrow()
        if not 1 <= self.reach_m <= LONGEST_REACH_M:
            raise out_of_range("reach_m", "1", str(LONGEST_REACH_M), str(self.reach_m))

    def report(
        self,
        lat: Any,
        lon: Any,
        *,
        places: Sequence[tuple[float, float]] | None = None,
        entropy: Entropy | None = None,
    ) -> Position:
        """One report a position, each with fresh noise; with `places`, the closest of these public places."""
        lats, lons, single = positions(lat, lon)
        source = SystemEntropy() if entropy is None else entropy
        noisy = self._noisy(lats, lons, source)
        if places is not None:
            noisy = closest(*noisy, places)
        return Position(float(noisy[0][0]), float(noisy[1][0])) if single else Position(*noisy)

    def report_flat(self, east_m: Any, north_m: Any, *, entropy: Entropy | None = None) -> tuple[Any, Any]:
        """One report per place of a flat map of yours, in metres, on the lattice of step `step_m`: a planar geometric.

        Claim: epsilon · (d + √2 · step_m) for places d metres apart on that map; the second part is below 0.0001. What
        the map does to distances is for you to count.
        Proof: docs/proofs/planar-geometric.md
        """
        source = SystemEntropy() if entropy is None else entropy
        east, north, single = flat_places(east_m, north_m)
        step = float(self.step_m)
        i, j = planar_geometric(self.epsilon * self.step_m, len(east), source)
        i += np.rint(east / step).astype(np.int64)
        j += np.rint(north / step).astype(np.int64)
        return (float(i[0] * step), float(j[0] * step)) if single else (i * step, j * step)

    def loss(self, metres: GivenNumber) -> float:
        """What a report can tell two positions apart by, as the logarithm of a ratio of probabilities, rounded up."""
        distance = exact_positive(metres, "metres") if metres else Fraction(0)
        return up(self.epsilon * distance + (self._snap if distance else 0))

    @property
    def mean_error_m(self) -> float:
        """How far a report lies from the truth on average, on the sphere; on the ground up to 1.02 % more."""
        return 2 / float(self.epsilon)

    def error_m(self, confidence: float = 0.95) -> float:
        """Metres on the ground within which this share of reports lies."""
        return WIDEST * quantile(confidence) / float(self.epsilon)

    def event(self) -> dict[str, str]:
        """What is done, for a record."""
        kind = "spherical_laplace" if self.around is None else "planar_geometric"
        return {"mechanism": kind, "epsilon_per_metre": str(self.epsilon), "level": str(self.level)}

    @property
    def step_m(self) -> Fraction:
        """The step of the lattice around a public place: a power of two."""
        return Fraction(2) ** floor(log2(1 / self.epsilon)) / FINENESS

    @property
    def _snap(self) -> Fraction:
        return Fraction(0) if self.around is None else (SNAP * self.step_m + MAP_ERROR_M) * self.epsilon

    def _noisy(self, lat: Floats, lon: Floats, entropy: Entropy) -> tuple[Floats, Floats]:
        """Reports on the public grid, a block at a time, which stays in the cache."""
        draw = self._anywhere if self.around is None else self._around
        lats, lons = np.empty(len(lat)), np.empty(len(lat))
        for start in range(0, len(lat), BLOCK):
            block = slice(start, start + BLOCK)
            lats[block], lons[block] = on_grid(*draw(lat[block], lon[block], entropy))
        return lats, lons

    def _anywhere(self, lat: Floats, lon: Floats, entropy: Entropy) -> tuple[Floats, Floats]:
        return degrees_of(centres(spherical_laplace(self.epsilon * RADIUS_M, lat, lon, entropy)))

    def _around(self, lat: Floats, lon: Floats, entropy: Entropy) -> tuple[Floats, Floats]:
        chart = Chart(*(self.around or (0.0, 0.0)), self.reach_m)
        step = float(self.step_m)
        east, north = (np.rint(metres / step).astype(np.int64) for metres in chart.flat(lat, lon))
        rate = self.epsilon / Fraction(chart.stretch) * self.step_m
        i, j = planar_geometric(rate, len(lat), entropy)
        return chart.round(np.asarray((east + i) * step), np.asarray((north + j) * step))


def planar(
    *,
    level: GivenNumber | str | None = None,
    radius_m: GivenNumber | None = None,
    epsilon: GivenNumber | None = None,
    around: tuple[float, float] | None = None,
    reach_m: int = 50_000,
) -> Planar:
    """Protection as people say it: within `radius_m` metres, a report shifts odds by a factor of e^level at most.

    `level` is a number or a text like "ln 4". Without `around` it works everywhere on Earth; around a public place,
    say the centre of a town, noise is drawn on a flat lattice in metres.
    """
    if (level is None or radius_m is None) if epsilon is None else (level is not None or radius_m is not None):
        raise price_ambiguous()
    if around is not None:
        try:
            lat, lon = (float(entry) for entry in around)
        except (TypeError, ValueError):
            raise not_a_position("around") from None
        lats, lons, _ = positions(lat, lon)
        around = float(lats[0]), float(lons[0])
    if epsilon is not None:
        price = exact_positive(epsilon, "epsilon")
        return Planar(price, price * 100, Fraction(100), around, reach_m)
    within, radius = level_of(level), exact_positive(radius_m, "radius_m")
    rough = Planar(within / radius, within, radius, around, reach_m)
    if around is None:
        return rough
    # Snapping to the lattice is counted inside the radius; a slightly smaller epsilon may double the step.
    return replace(rough, epsilon=within / (radius + 2 * SNAP * rough.step_m + MAP_ERROR_M))


def level_of(level: object) -> Fraction:
    """A level as typed: 1.39, or "ln 4", rounded down in the thirtieth digit."""
    if not isinstance(level, str):
        return exact_positive(level, "level")
    name, _, number = level.strip().replace("(", " ").replace(")", " ").partition(" ")
    try:
        with localcontext(Context(prec=40)):
            if name != "ln":
                return exact_positive(Decimal(level.strip()), "level")
            odds = Decimal(number.strip()).ln()
            return exact_positive(odds - Decimal(10) ** -30, "level")
    except InvalidOperation:
        raise level_unreadable() from None


def quantile(confidence: float) -> float:
    """y with 1 - (1 + y) e^(-y) = confidence: the radius of planar Laplace noise at epsilon 1."""
    if not 0 < confidence < 1:
        raise out_of_range("confidence", "0", "1", f"{confidence:g}")
    low, high = 0.0, 800.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - (1 + middle) * exp(-middle) < confidence else (low, middle)
    return high
