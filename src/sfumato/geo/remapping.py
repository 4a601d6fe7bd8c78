"""What may be done with a report afterwards: the closest place, and the best guess under a public prior.

Both look at the report and at public knowledge alone, so they cost nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.geo.earth import MEAN_RADIUS_M, Floats, Position, positions, vectors
from sfumato.geo.wordings import no_places, weights_unusable

BLOCK = 1 << 22  # distances at a time


def closest(lat: Floats, lon: Floats, places: Sequence[tuple[float, float]] | Floats) -> tuple[Floats, Floats]:
    """The place nearest to each position; of equally near ones the first."""
    lats, lons = _listed(places)
    there, chosen = vectors(lats, lons), np.empty(len(lat), dtype=np.int64)
    size = max(1, BLOCK // len(there))
    for start in range(0, len(lat), size):
        here = vectors(lat[start : start + size], lon[start : start + size])
        chosen[start : start + size] = np.argmax(here @ there.T, axis=1)
    return lats[chosen], lons[chosen]


@dataclass(frozen=True, slots=True)
class Remap:
    """Replaces a report by the place with the least expected distance, given the report and a public prior.

    Claim: post-processing; under the prior the expected distance is never larger than that of any other use of the
    report that names one of the places (Chatzikokolakis, ElSalamouny, Palamidessi 2017).
    Needs: a prior that does not come from the protected data.
    """

    lat: Floats
    lon: Floats
    weights: Floats
    epsilon: Fraction

    def __call__(self, lat: Any, lon: Any) -> Position:
        lats, lons, single = positions(lat, lon)
        there = vectors(self.lat, self.lon)
        between = _metres(there, there)
        chosen = np.empty(len(lats), dtype=np.int64)
        size = max(1, BLOCK // len(there))
        for start in range(0, len(lats), size):
            distance = _metres(vectors(lats[start : start + size], lons[start : start + size]), there)
            likely = -float(self.epsilon) * distance + np.log(self.weights)
            belief = np.exp(likely - likely.max(axis=1, keepdims=True))
            chosen[start : start + size] = np.argmin(belief @ between, axis=1)
        found = self.lat[chosen], self.lon[chosen]
        return Position(float(found[0][0]), float(found[1][0])) if single else Position(*found)


def remap(places: Sequence[tuple[float, float]], weights: Sequence[float] | None = None, *, epsilon: Any) -> Remap:
    """A remap to public places, with how likely each is beforehand (equally, if not said); epsilon is per metre."""
    lats, lons = _listed(places)
    shares = np.ones(len(lats)) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != lats.shape or not np.isfinite(shares).all() or not (shares > 0).all():
        raise weights_unusable()
    return Remap(lats, lons, shares / shares.sum(), Fraction(epsilon))


def _metres(one: Floats, two: Floats) -> Floats:
    """Great-circle distances of all pairs, by the chord: exact for neighbours too."""
    chord = np.linalg.norm(one[:, None, :] - two[None, :, :], axis=2)
    return np.asarray(2 * MEAN_RADIUS_M * np.arcsin(np.minimum(chord / 2, 1)))


def _listed(places: Sequence[tuple[float, float]] | Floats) -> tuple[Floats, Floats]:
    table = np.asarray(places, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] != 2:
        raise no_places()
    lats, lons, _ = positions(table[:, 0], table[:, 1])
    return lats, lons
