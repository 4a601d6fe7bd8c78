"""Centres of weighted points, in whole numbers: k-means as post-processing of what was released.

Sums of whole numbers below 2^53 are exact in doubles, in whatever order they are added. So the same releases lead to
the same centres, and to the same next plan, on every machine.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.simulate import Stream

Whole = NDArray[np.int64]

MOST_WEIGHT = 1 << 20  # of all points together
AT_ONCE = 1 << 16  # rows that are compared with all centres together


def nearest(points: Whole, centres: Whole) -> Whole:
    """The place of the centre that is nearest to each point, of several the first.

    Claim: exact. |x - c|² is smallest where 2c·x - |c|² is largest, and that is a whole number below 2^53.
    """
    parts = [
        _closeness(points[begin : begin + AT_ONCE], centres).argmax(axis=-1)
        for begin in range(0, max(1, len(points)), AT_ONCE)
    ]
    return np.concatenate(parts).astype(np.int64)


def weighed(counts: Whole) -> Whole:
    """Noisy numbers of rows as weights, of which the sum times any squared distance stays below 2^53."""
    weights = np.maximum(counts, 0)
    total = sum(int(one) for one in weights)
    if total > MOST_WEIGHT:
        weights = np.array([int(one) * MOST_WEIGHT // total for one in weights], dtype=np.int64)
    return np.maximum(weights, 1)


def centres_of(points: Whole, weights: Whole, many: int, coins: Stream, *, starts: int, rounds: int) -> Whole:
    """The centres with the least weighted sum of squared distances, of so many starts: they cost nothing."""
    made = _settled(points, weights, _scattered(points, weights, many, coins, starts), rounds)
    squares = (points**2).sum(axis=1)
    losses = ((squares - _closeness(points, made).max(axis=-1)) * weights).sum(axis=-1)
    return np.asarray(made[int(losses.argmin())])


def divided(part: Whole, whole: Whole) -> Whole:
    """Rounded to the next whole number, halves up. Needs: whole > 0."""
    return np.asarray((2 * part + whole) // (2 * whole), dtype=np.int64)


# ---- starts one beside the other: arrays of (starts, points or centres, columns)


def _closeness(points: Whole, centres: Whole) -> NDArray[np.float64]:
    """2c·x - |c|² of every point and centre: the larger, the nearer."""
    found = points.astype(np.float64) @ (2.0 * centres.swapaxes(-1, -2)) - (centres**2).sum(axis=-1)[..., None, :]
    return np.asarray(found)


def _scattered(points: Whole, weights: Whole, many: int, coins: Stream, starts: int) -> Whole:
    """Centres among the points, each drawn with its weight times its squared distance from those before (k-means++)."""
    chosen = points[coins.categories(weights, starts)][:, None]
    away = _away(points, chosen[:, 0])
    while chosen.shape[1] < many:
        pull = np.where(away.any(axis=1, keepdims=True), weights * away, weights)
        drawn = points[coins.conditional(pull, np.arange(starts))]
        chosen = np.concatenate([chosen, drawn[:, None]], axis=1)
        away = np.minimum(away, _away(points, drawn))
    return np.asarray(chosen)


def _away(points: Whole, centres: Whole) -> Whole:
    return np.asarray(((points[None] - centres[:, None]) ** 2).sum(axis=-1), dtype=np.int64)


def _settled(points: Whole, weights: Whole, centres: Whole, rounds: int) -> Whole:
    """Every centre in the mean of the points that are nearest to it, so many times (Lloyd)."""
    weighted = (weights[:, None] * np.column_stack([points, np.ones(len(points), dtype=np.int64)])).astype(np.float64)
    places = np.arange(centres.shape[1])
    for _ in range(rounds):
        own = _closeness(points, centres).argmax(axis=-1)
        added = ((own[..., None] == places).astype(np.float64).swapaxes(-1, -2) @ weighted).astype(np.int64)
        sums, total = added[..., :-1], added[..., -1:]
        centres = np.where(total > 0, divided(sums, np.maximum(total, 1)), centres)
    return np.asarray(centres)
