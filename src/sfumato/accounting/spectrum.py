"""Sums of independent privacy losses on a grid, by one Fourier transform.

Equal mechanisms are a power; a frequency whose product has died is not looked at again. Proofs: docs/proofs/pld.md
"""

from dataclasses import dataclass
from math import exp, log2

import numpy as np
import numpy.typing as npt

from sfumato.accounting.bands import Complex, Floats, GridBands, Whole
from sfumato.accounting.composed import Window
from sfumato.accounting.lattices import GridLaw

DEAD = -31.0  # ln of a modulus that no longer matters
ROUNDING = 64 * 2.0**-53  # of one transform, whose largest value is 1; a first-order count gives less than 20 units
BLOCK = 1 << 20
STRETCH, MANY = 32, 16


@dataclass(frozen=True, slots=True)
class Product:
    """The transform of a sum at the frequencies that still matter.

    `ceiling` bounds the logarithm of the modulus of the exact product, `blur` the error relative to that bound.
    """

    alive: Whole
    logarithm: Complex
    ceiling: Floats
    blur: Floats

    @classmethod
    def empty(cls, count: int) -> "Product":
        return cls(np.arange(count), np.zeros(count, dtype=np.complex128), np.zeros(count), np.zeros(count))

    def times(self, transform: Complex, counts: Whole) -> "Product":
        """One block of factors more; frequencies whose product has died are left out from here on."""
        modulus = np.abs(transform) + 2 * ROUNDING
        ceiling = self.ceiling + counts @ np.log(modulus)
        living = ceiling > DEAD
        logarithm = self.logarithm[living] + counts @ np.log(transform[:, living] + 1e-300)
        blur = self.blur[living] + counts @ (2 * ROUNDING / modulus[:, living])
        return Product(self.alive[living], logarithm, ceiling[living], blur)

    def only(self, kept: npt.NDArray[np.bool_]) -> "Product":
        return Product(self.alive[kept], self.logarithm[kept], self.ceiling[kept], self.blur[kept])

    def error(self, length: int) -> float:
        """A bound of the error that each mass has after the inverse transform."""
        modulus = np.exp(self.ceiling)
        blurred = float(modulus @ np.minimum(self.blur, 1.0)) + ROUNDING * log2(length + 1) * float(modulus.sum())
        return 2 * blurred / length + exp(DEAD)


def summed(bands: GridBands | None, laws: list[tuple[GridLaw, int]], window: Window) -> tuple[Floats, float, float]:
    """The tilted masses of the sum over the window, the logarithm that turns them back, and the error of each mass.

    Claim: masses outside the window are added to the point that lies a whole number of windows away.
    """
    length = window.length
    count = length // 2 + 1
    product, scale = Product.empty(count), 0.0
    for law, times in laws:
        transform = np.fft.rfft(law.folded(length))
        product = product.times(transform[None, product.alive], np.array([times]))
        scale += times * law.scale
    if bands is not None:
        if len(product.alive) * min(len(bands.counts), MANY) > BLOCK:
            product = product.only(_promising(bands, window)[product.alive])
        place = 0
        while place < len(bands.counts):
            chosen = slice(place, place + max(1, BLOCK // max(1, len(product.alive)) if place else 1))
            product = product.times(bands.transform(chosen, product.alive, length, window.tilt), bands.counts[chosen])
            place = chosen.stop
        scale += float(bands.counts @ bands.logarithms(window.tilt))
    spectrum = np.zeros(count, dtype=np.complex128)
    spectrum[product.alive] = np.exp(product.logarithm)
    masses = np.roll(np.fft.irfft(spectrum, length), -(window.first % length))
    return masses, scale, product.error(length)


def _promising(bands: GridBands, window: Window) -> npt.NDArray[np.bool_]:
    """Which frequencies may survive all bands: the middle of each stretch is tried, and the slope bounds the rest."""
    length = window.length
    count = length // 2 + 1
    middles = np.minimum(np.arange(0, count, 2 * STRETCH + 1) + STRETCH, count - 1)
    ceiling, kept = np.zeros(len(middles)), np.arange(len(middles))
    spread = 2 * ROUNDING + STRETCH * 2 * np.pi / length * bands.reaches()
    place = 0
    while place < len(bands.counts) and len(kept):
        chosen = slice(place, place + max(1, BLOCK // 8 // len(kept)))
        modulus = np.abs(bands.transform(chosen, middles[kept], length, window.tilt)) + spread[chosen, None]
        ceiling[kept] += bands.counts[chosen] @ np.log(np.minimum(modulus, 1.0))
        kept = kept[ceiling[kept] > DEAD]
        place = chosen.stop
    promising = np.zeros((len(middles), 2 * STRETCH + 1), dtype=np.bool_)
    promising[kept] = True
    return promising.ravel()[:count]
