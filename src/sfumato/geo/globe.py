"""Laplace noise on the whole sphere, rounded to public cells: no map, no zone, no pole, no date line.

A double proposes the cell; where a proved margin does not decide, the same uniforms are continued with more bits and
the arithmetic is repeated with more digits.
"""

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from math import pi as half_circle

import numpy as np
import numpy.typing as npt

from sfumato.geo.digits import pi, sine_cosine
from sfumato.kernel.entropy import Entropy

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int64]
Cell = tuple[int, int, int]

CHUNK = 1 << 13
CELLS = 1 << 23  # along half an axis: a cell is 0.76 m wide
MARGIN = 2.0**-43  # of a coordinate; the float error and the width of the uniforms' intervals stay below 2^-44.8
COIN_MARGIN = 2.0**-44
TAIL = 2.0**-18
LEAST_RATE = Fraction(16)  # per radian
MORE_BITS = 64


def spherical_laplace(rate: Fraction, lat: Floats, lon: Floats, entropy: Entropy) -> Cells:
    """For each position x the cell of a point y of the sphere, its density proportional to exp(-rate · angle(x, y)).

    Claim: exact, for every rational rate of 16 a radian or more, and every position given in degrees as doubles.
    Proof: docs/proofs/spherical-laplace.md
    """
    if rate < LEAST_RATE:
        raise ValueError("the rate of a spherical Laplace is 16 a radian or more")
    result = np.empty((3, len(lat)), dtype=np.int64).T  # each axis in one piece
    for start in range(0, len(lat), CHUNK):
        chunk = slice(start, start + CHUNK)
        result[chunk], accepted = _proposals(rate, lat[chunk], lon[chunk], entropy)
        waiting = start + np.flatnonzero(~accepted)
        while len(waiting):
            cells, accepted = _proposals(rate, lat[waiting], lon[waiting], entropy)
            result[waiting[accepted]] = cells[accepted]
            waiting = waiting[~accepted]
    return result


def centres(cells: Cells) -> Floats:
    """A vector in the middle of each cell."""
    return np.asarray((cells + 0.5) / CELLS)


def _proposals(rate: Fraction, lat: Floats, lon: Floats, entropy: Entropy) -> tuple[Cells, npt.NDArray[np.bool_]]:
    """One proposal a position: radius from the planar law, accepted with probability sin(c)/c."""
    count = len(lat)
    words = entropy.words(4 * count).reshape(4, count)
    first, second, turn, coin = (words >> np.uint64(1)).view(np.int64).astype(np.float64) * 2.0**-63
    doubtful = (first < TAIL) | (second < TAIL)
    with np.errstate(divide="ignore"):
        angle = np.log(first * second) / -float(rate)
    angle[doubtful] = 1.0
    turn *= 2 * half_circle
    sine = np.sin(angle)
    chance = np.divide(sine, angle, out=np.ones(count), where=angle > 0)
    difference = coin - chance
    accepted: npt.NDArray[np.bool_] = difference < 0
    doubtful |= np.abs(difference) < COIN_MARGIN
    position = _moved(lat, lon, np.cos(angle), sine, turn)
    position *= CELLS
    cells = np.floor(position).astype(np.int64)
    position -= cells
    position -= 0.5
    doubtful |= (np.abs(position, out=position) > 0.5 - MARGIN * CELLS).any(axis=0)
    for index in np.flatnonzero(doubtful):
        found = _exact(rate, float(lat[index]), float(lon[index]), [int(word) for word in words[:, index]], entropy)
        accepted[index] = found is not None
        if found is not None:
            cells[:, index] = found
    return cells.T, accepted


def _moved(lat: Floats, lon: Floats, cosine: Floats, sine: Floats, turn: Floats) -> Floats:
    """Unit vectors (a row an axis) at an angle from the positions, in the direction `turn` from north to east."""
    phi, lam = np.radians(lat), np.radians(lon)
    sin_phi, cos_phi, sin_lam, cos_lam = np.sin(phi), np.cos(phi), np.sin(lam), np.cos(lam)
    north, east = sine * np.cos(turn), sine * np.sin(turn)
    out = cosine * cos_phi - north * sin_phi  # along the meridian of the position, away from the axis
    return np.stack(
        [out * cos_lam - east * sin_lam, out * sin_lam + east * cos_lam, cosine * sin_phi + north * cos_phi]
    )


def _exact(rate: Fraction, lat: float, lon: float, words: list[int], entropy: Entropy) -> Cell | None:
    """The cell, or None for a rejected proposal, from the same uniforms with as many bits and digits as it takes."""
    prefixes, bits = [word >> 1 for word in words], 63
    while True:
        if prefixes[0] and prefixes[1]:
            with localcontext(Context(prec=60 + bits * 302 // 1000, Emax=10**17, Emin=-(10**17), traps=[])):
                accepted, cell = _decided(rate, lat, lon, prefixes, bits)
            if accepted is False:
                return None
            if accepted and cell is not None:
                return cell
        prefixes = [(prefix << MORE_BITS) | entropy.below(1 << MORE_BITS) for prefix in prefixes]
        bits += MORE_BITS


def _decided(rate: Fraction, lat: float, lon: float, prefixes: list[int], bits: int) -> tuple[bool | None, Cell | None]:
    """Whether the proposal is accepted and where it lies; None for what these bits leave open."""
    first, second, turn, coin = (Decimal(prefix) / 2**bits for prefix in prefixes)
    width, half_turn = Decimal(2) ** -bits, pi()
    rate_ = Decimal(rate.numerator) / Decimal(rate.denominator)
    far = -(first * second).ln() / rate_
    near = -((first + width) * (second + width)).ln() / rate_
    error = (far - near) + 8 * width + Decimal(10) ** -(40 + bits * 302 // 1000)
    if near - error >= half_turn:
        return False, None
    if far + error >= half_turn:
        return None, None
    sine, cosine = sine_cosine(far)
    chance = sine / far if far else Decimal(1)
    accepted = True if coin + width <= chance - error else False if coin >= chance + error else None
    sin_turn, cos_turn = sine_cosine(2 * half_turn * turn)
    sin_phi, cos_phi = sine_cosine(Decimal(lat) * half_turn / 180)
    sin_lam, cos_lam = sine_cosine(Decimal(lon) * half_turn / 180)
    north, east = sine * cos_turn, sine * sin_turn
    out = cosine * cos_phi - north * sin_phi
    place = (out * cos_lam - east * sin_lam, out * sin_lam + east * cos_lam, cosine * sin_phi + north * cos_phi)
    low, high = ([_floor((axis + shift) * CELLS) for axis in place] for shift in (-error, error))
    return accepted, (low[0], low[1], low[2]) if low == high else None


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_FLOOR))
