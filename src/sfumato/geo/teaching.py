"""Planar Laplace noise the way textbooks write it, for teaching and for comparison.

**Not private on a computer.** These are doubles: which of them can come out depends on the true position, so no epsilon
holds (`sfumato.geo.planar` has none of this). The steps are those of Andrés, Bordenabe, Chatzikokolakis, Palamidessi
2013: polar form, radius by Lambert's W, a smaller epsilon for finite angles, the closest acceptable place.
"""

from math import e, exp, log, pi
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.geo.wordings import correction_impossible, no_places
from sfumato.kernel.entropy import Entropy, SystemEntropy

Floats = npt.NDArray[np.float64]

STEP_OF_ANGLES = 2 * pi * 2.0**-53


def lambert_w_lower(x: Any) -> Any:
    """W₋₁: the w <= -1 with w e^w = x. Needs: -1/e <= x < 0."""
    value = np.asarray(x, dtype=np.float64)
    near = np.sqrt(np.maximum(2 * (1 + e * value), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.log(-value)
        w = np.where(near < 0.6, -1 - near - near * near / 3, far - np.log(-far))
        for _ in range(12):  # Halley; the error is cubed in each step
            grown = np.exp(w)
            miss = w * grown - value
            slope = grown * (w + 1)
            step = miss / (slope - (w + 2) * miss / (2 * w + 2))
            w = np.where(np.isfinite(step), w - step, w)
    return np.minimum(w, -1.0)


def radius(share: Any, epsilon: float) -> Any:
    """The r within which this share of planar Laplace noise lies: the inverse of 1 - (1 + εr) e^(-εr)."""
    return -(lambert_w_lower((np.asarray(share) - 1) / e) + 1) / epsilon


def share_within(r: Any, epsilon: float) -> Any:
    """1 - (1 + εr) e^(-εr): the radius follows a Gamma(2, 1/ε) law."""
    scaled = epsilon * np.asarray(r)
    return 1 - (1 + scaled) * np.exp(-scaled)


def corrected_epsilon(
    epsilon: float, *, step_m: float, reach_m: float, step_of_angles: float = STEP_OF_ANGLES
) -> float:
    """The largest ε′ with ε′ + ln[(q + 2e^(ε′u)) / (q - 2e^(ε′u))] / u <= ε, q = u / (reach · step of angles).

    On a grid of step u, with angles that are multiples of a step, noise drawn with ε′ is meant to keep ε within the
    reach (theorem 4.1 of the paper). The proof was not checked here: for teaching only.
    """
    q = step_m / (reach_m * step_of_angles)

    def cost(candidate: float) -> float:
        grown = 2 * exp(min(candidate * step_m, 700.0))
        return candidate + log((q + grown) / (q - grown)) / step_m if grown < q else float("inf")

    if cost(0.0) > epsilon:
        raise correction_impossible()
    low, high = 0.0, epsilon
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= epsilon else (low, middle)
    return low


def planar_laplace(
    east_m: Any,
    north_m: Any,
    *,
    epsilon: float,
    places: npt.ArrayLike | None = None,
    step_m: float = 1.0,
    entropy: Entropy | None = None,
) -> tuple[Any, Any]:
    """The paper's algorithm on a flat map in metres: correct ε, draw angle and radius, add, take the closest place.

    `places` are the acceptable ones, rows of (east, north); without them the result stays where it falls.
    """
    x, y = np.asarray(east_m, dtype=np.float64), np.asarray(north_m, dtype=np.float64)
    inner = epsilon
    listed = None
    if places is not None:
        listed = np.asarray(places, dtype=np.float64)
        if listed.ndim != 2 or not len(listed):
            raise no_places()
        reach = float(np.hypot(*np.ptp(listed, axis=0)))
        inner = corrected_epsilon(epsilon, step_m=step_m, reach_m=max(reach, step_m))
    source = SystemEntropy() if entropy is None else entropy
    words = source.words(2 * x.size).reshape(2, *x.shape)
    angle, share = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    angle *= 2 * pi
    r = radius(share, inner)
    x, y = x + r * np.cos(angle), y + r * np.sin(angle)
    if listed is None:
        return x, y
    nearest = np.argmin((x[..., None] - listed[:, 0]) ** 2 + (y[..., None] - listed[:, 1]) ** 2, axis=-1)
    return listed[nearest, 0], listed[nearest, 1]
