"""Privacy losses with two edges: Laplace, randomised response and bounded-range choice have one shape.

On (-edge, edge) the loss has density top · e^((l - edge) / 2); at the edge there is an atom, and at -edge the same atom
times e^-edge. On a grid of equal steps this is a geometric sequence and at most four other points, so its Fourier
transform is a closed formula. Proofs: docs/proofs/pld.md
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Complex = npt.NDArray[np.complex128]

UNIT = 2.0**-48  # more than the rounding errors of one formula, each function being right to four units


@dataclass(frozen=True, slots=True)
class Band:
    """One loss law: its edge, the atom at the edge, and the density just below it."""

    edge: Fraction
    atom: float
    top: float

    def __hash__(self) -> int:
        return hash((self.edge.as_integer_ratio(), self.atom, self.top))


def laplace(epsilon: Fraction) -> Band:
    """The loss of Laplace noise on one number."""
    return Band(epsilon, 0.5, 0.25)


def randomised_response(epsilon: Fraction) -> Band:
    """The largest loss that ε-DP allows: ±ε, and +ε with probability e^ε / (1 + e^ε)."""
    return Band(epsilon, 1 / (1 + float(np.exp(-float(epsilon)))), 0.0)


def bounded_range(epsilon: Fraction) -> Band:
    """A loss that dominates every mechanism whose loss has range ε, the exponential mechanism among them."""
    return Band(epsilon, 0.0, -0.5 / float(np.expm1(-float(epsilon))))


@dataclass(frozen=True, slots=True)
class Bands:
    """Several bands side by side, with how often each occurs; `sizes` are the edges as doubles."""

    edges: tuple[Fraction, ...]
    sizes: Floats
    atoms: Floats
    tops: Floats
    counts: Whole

    @classmethod
    def of(cls, counted: dict[Band, int]) -> "Bands":
        ordered = sorted(counted, key=lambda band: -counted[band])
        return cls(
            tuple(band.edge for band in ordered),
            np.array([float(band.edge) for band in ordered], dtype=np.float64),
            np.array([band.atom for band in ordered], dtype=np.float64),
            np.array([band.top for band in ordered], dtype=np.float64),
            np.array([counted[band] for band in ordered], dtype=np.int64),
        )

    def moments(self, orders: Floats) -> Floats:
        """Σ counts · ln E e^(v L) for every order v >= 0, from above."""
        edges = self.sizes[:, None]
        low = -(2 * orders + 1) * edges
        inside = self.atoms[:, None] * (1 + np.exp(low)) - self.tops[:, None] * np.expm1(low) / (orders + 0.5)
        rounding = UNIT * (1 + orders * edges)
        return np.asarray(self.counts @ (orders * edges + np.log(inside) + rounding))

    def inside(self) -> float:
        """Σ counts · P(the loss lies between the edges)."""
        return float(self.counts @ (2 * self.tops * -np.expm1(-self.sizes)))

    def on_grid(self, step: Fraction, *, optimistic: bool = False) -> "GridBands":
        """Losses moved to multiples of the step, so that every δ(ε) grows (or, optimistic, shrinks).

        Claim: pessimistic: each loss is split onto its two neighbours on the grid so that E e^-L stays the same;
        this is the smallest law on the grid whose δ(ε) is nowhere below.
        Proof: docs/proofs/pld.md, "The grid" (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022).
        """
        whole = np.array([int(edge // step) for edge in self.edges], dtype=np.int64)
        rest = np.array([float(edge % step) for edge in self.edges])
        return self._below(whole, rest, float(step)) if optimistic else self._above(whole, rest, float(step))

    def _above(self, whole: Whole, rest: Floats, step: float) -> "GridBands":
        cell = np.expm1(step)
        upper = np.exp(step - rest) * np.expm1(rest) / cell  # the share of an atom at the edge that moves up
        lower = np.expm1(step - rest) / cell
        height = self.tops * np.exp(-rest / 2)
        half, full = np.expm1(rest / 2), 2 * np.tanh(step / 4)
        outer = self.atoms * upper + height * 2 * half**2 * np.exp(step - rest / 2) / cell
        partial = 2 * half * np.expm1(step - rest / 2) / cell
        inner = self.atoms * lower + height * (partial + np.where(whole > 0, full, 0.0))
        return GridBands(
            self.counts,
            widths=whole - 1,
            heights=2 * full * height * np.exp(-step / 2),
            indices=np.stack([whole + 1, whole, -whole, -whole - 1]),
            masses=np.stack([outer, inner, inner * np.exp(-whole * step), outer * np.exp(-(whole + 1) * step)]),
            step=step,
        )

    def _below(self, whole: Whole, rest: Floats, step: float) -> "GridBands":
        """Cells around grid points are merged into one outcome, whose loss is that point; edges are rounded down."""
        edge = whole * step + rest
        width = np.floor(edge / step - 0.5).astype(np.int64)
        border = np.maximum(width + 0.5, 0.0) * step
        piece = self.tops * -2 * np.expm1((border - edge) / 2)  # between the last whole cell and the edge
        middle = (border + edge) / 2
        places = [np.floor(place / step).astype(np.int64) for place in (middle, -middle)]
        return GridBands(
            self.counts,
            widths=width,
            heights=4 * self.tops * np.sinh(step / 4) * np.exp((width * step - edge) / 2),
            indices=np.stack([whole, *places, -whole - (rest > 0)]),
            masses=np.stack([self.atoms, piece, piece * np.exp(-middle), self.atoms * np.exp(-edge)]),
            step=step,
        )


@dataclass(frozen=True, slots=True)
class GridBands:
    """Bands on a grid: points -width..width with masses height · e^((x - width · step) / 2), and four more points.

    A width of -1 means that there are only the four.
    """

    counts: Whole
    widths: Whole
    heights: Floats
    indices: Whole
    masses: Floats
    step: float

    def logarithms(self, tilt: float) -> Floats:
        """ln E e^(tilt · L) of each band."""
        return np.asarray(tilt * self.step * self.highest() + np.log(self._at_zero(slice(None), tilt)))

    def transform(self, chosen: slice, frequencies: Whole, length: int, tilt: float) -> Complex:
        """E e^(tilt · L - 2πi · frequency · index / length) over E e^(tilt · L): a row a band, a column a frequency."""
        width = self.widths[chosen]
        turned = _turned(width, frequencies, length)
        near = [_turned(np.array([offset]), frequencies, length)[0] for offset in range(3)]
        result = np.zeros(turned.shape, dtype=np.complex128)
        for index, weight in zip(self.indices[:, chosen], self._weights(chosen, tilt), strict=True):
            # Every index is near ±width, so that one exponential a band and frequency is enough.
            side, offset = np.where(index < 0, -1, 1), np.abs(index) - width
            for sign, distance in sorted(set(zip(side.tolist(), offset.tolist(), strict=True))):
                rows = (side == sign) & (offset == distance) & (weight > 0)
                factor = turned[rows] * near[distance] if sign > 0 else np.conj(turned[rows] * near[distance])
                result[rows] += weight[rows, None] * factor
        height = self._inside(chosen, tilt)
        if height.any():
            growth = tilt + 0.5
            whole = np.expm1(
                _exponents(2 * width + 1, frequencies, length) - (growth * self.step * (2 * width + 1))[:, None]
            )
            one = np.expm1(_exponents(np.ones(1, dtype=np.int64), frequencies, length)[0] - growth * self.step)
            result += height[:, None] * turned * whole / one
        return result / self._at_zero(chosen, tilt)[:, None]

    def highest(self) -> Whole:
        """The highest index that each band can take."""
        points = np.where(self.masses > 0, self.indices, np.iinfo(np.int64).min).max(axis=0)
        return np.asarray(np.maximum(points, np.where(self.heights > 0, self.widths, np.iinfo(np.int64).min)))

    def reaches(self) -> Whole:
        """The largest index of each band, in size."""
        return np.asarray(np.abs(self.indices).max(axis=0))

    def _weights(self, chosen: slice, tilt: float) -> Floats:
        """The masses of the four points under the tilt, relative to the highest of them: no exponent is positive."""
        distance = np.minimum(self.indices - self.highest(), 0)[:, chosen]
        return np.asarray(self.masses[:, chosen] * np.exp(tilt * self.step * distance))

    def _inside(self, chosen: slice, tilt: float) -> Floats:
        """The mass of the point at +width under the tilt, relative to the highest point."""
        distance = np.minimum(self.widths - self.highest(), 0)[chosen]
        heights = self.heights[chosen] * np.exp(tilt * self.step * distance)
        return np.where(self.widths[chosen] >= 0, heights, 0.0)

    def _at_zero(self, chosen: slice, tilt: float) -> Floats:
        growth = (tilt + 0.5) * self.step
        sums = np.expm1(-growth * (2 * self.widths[chosen] + 1)) / np.expm1(-growth)
        return np.asarray(self._weights(chosen, tilt).sum(axis=0) + self._inside(chosen, tilt) * sums)


def _turned(indices: Whole, frequencies: Whole, length: int) -> Complex:
    """e^(-2πi · index · frequency / length)."""
    return np.asarray(np.exp(np.conj(_exponents(indices, frequencies, length))))


def _exponents(indices: Whole, frequencies: Whole, length: int) -> Complex:
    """2πi · index · frequency / length between -πi and πi: the product is reduced before it becomes a double."""
    half = length // 2
    return np.asarray(2j * np.pi / length * ((indices[:, None] * frequencies + half) % length - half))
