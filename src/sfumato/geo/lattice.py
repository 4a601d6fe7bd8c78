"""The planar geometric: noise on the points of a square lattice, at NumPy's speed, with exactly the law it claims.

Two discrete Laplace draws propose a point; a coin, decided by a proved margin or else with as many digits as it takes,
accepts it.
"""

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy
from sfumato.kernel.samplers import discrete_laplace
from sfumato.noise.coins import decided

Integers = npt.NDArray[np.int64]

CHUNK = 1 << 14
ROOT_OF_TWO = Fraction(14142135623730950489, 10**19)  # rounded up: the exponent of the coin is never negative
MARGIN = 2.0**-46


def planar_geometric(rate: Fraction, count: int, entropy: Entropy) -> tuple[Integers, Integers]:
    """Draw `count` independent (i, j) with probability proportional to exp(-rate · √(i² + j²)).

    Claim: exact, for every rational rate from 2^-26 to 2^10. How many proposals are needed is independent of the
    points accepted.
    Proof: docs/proofs/planar-geometric.md
    """
    if not Fraction(1, 1 << 26) <= rate <= 1 << 10:
        raise ValueError("the rate of a planar geometric lies between 2^-26 and 2^10")
    scale = ROOT_OF_TWO / rate
    east, north = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        size = min(CHUNK, (count - done) * 4 // 3 + 16)
        proposed = discrete_laplace(scale, 2 * size, entropy)
        i, j = proposed[:size], proposed[size:]
        kept = np.flatnonzero(_accepted(rate, scale, i, j, entropy))[: count - done]
        east[done : done + len(kept)], north[done : done + len(kept)] = i[kept], j[kept]
        done += len(kept)
    return east, north


def _accepted(rate: Fraction, scale: Fraction, i: Integers, j: Integers, entropy: Entropy) -> npt.NDArray[np.bool_]:
    """Keep each (i, j) with probability exp(-(rate · √(i² + j²) - (|i| + |j|) / scale))."""
    x, y = np.abs(i).astype(np.float64), np.abs(j).astype(np.float64)
    steps = (x + y) / float(scale)
    x *= x
    y *= y
    x += y
    gamma = np.sqrt(x, out=x)
    gamma *= float(rate)
    gamma -= steps
    words = entropy.words(len(i))
    difference = (words >> np.uint64(11)).view(np.int64).astype(np.float64)
    difference *= 2.0**-53
    difference -= np.exp(np.negative(gamma, out=gamma), out=gamma)
    result: npt.NDArray[np.bool_] = difference < 0
    steps += 1
    steps *= MARGIN
    for index in np.flatnonzero(np.abs(difference, out=difference) < steps):
        result[index] = _below(rate, scale, int(i[index]), int(j[index]), int(words[index]), entropy)
    return result


def _below(rate: Fraction, scale: Fraction, i: int, j: int, prefix: int, entropy: Entropy) -> bool:
    """Whether U is below the chance of keeping (i, j), where U starts with the 64 bits of `prefix`."""
    return decided(_Kept(rate, scale, i, j), prefix, 64, entropy)


@dataclass(frozen=True, slots=True)
class _Kept:
    """exp(-(rate · √(i² + j²) - (|i| + |j|) / scale)), bracketed as closely as one likes."""

    rate: Fraction
    scale: Fraction
    i: int
    j: int

    def bounds(self, bits: int) -> tuple[int, int]:
        if self.i == 0 == self.j:
            return 1 << bits, 1 << bits
        with localcontext(Context(prec=60 + bits // 3, Emax=10**17, Emin=-(10**17), traps=[])) as context:
            far = self.rate.numerator * Decimal(self.i**2 + self.j**2).sqrt() / self.rate.denominator
            near = Decimal((abs(self.i) + abs(self.j)) * self.scale.denominator) / self.scale.numerator
            target = (near - far).exp() * 2**bits
            margin = 2**bits * (1 + far) * Decimal(10) ** (3 - context.prec)
            return floor(target - margin), ceil(target + margin)
