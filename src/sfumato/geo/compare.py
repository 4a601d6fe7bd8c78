"""Planar noise beside cloaking and bounded obfuscation: what each costs in accuracy, and what an attacker still learns.

Everything is computed, nothing drawn: on a square of public places, each mechanism is a table of probabilities. The
attacker knows the mechanism and the prior, and guesses the place with the least expected distance to the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.geo.planar import level_of
from sfumato.geo.wordings import mechanism_unknown, weights_unusable
from sfumato.schema.numbers import GivenNumber, exact_positive

Floats = npt.NDArray[np.float64]

SIDE = 24  # places along a side
SPREAD = 2.0  # places in the distance 1/ε
BLOCKS = (1, 2, 3, 4, 6, 8, 12, 24)
WIDTHS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
REACHES = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
TAIL = 30  # what lies further out than so many 1/ε is below 10^-11
PRIORS = ("uniform", "town")


@dataclass(frozen=True, slots=True)
class Curve:
    """A mechanism at several strengths: how far a report, and the attacker's guess, lie from the truth on average."""

    name: str
    private: bool
    loss_m: Sequence[float]
    adversary_m: Sequence[float]

    def at(self, loss_m: float) -> float:
        """The attacker's error where the expected distance is this; between two strengths, a public coin chooses."""
        return float(np.interp(loss_m, self.loss_m, self.adversary_m))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The experiment at one strength and over a range of them."""

    epsilon: float  # per metre
    spacing_m: float
    prior: str
    loss_m: float  # the expected distance of planar noise at this strength: where all are compared
    curves: Sequence[Curve]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """At the same expected distance of a report: the attacker's error, and the level per metre that holds."""
        return [
            {
                "mechanism": curve.name,
                "expected_error_m": self.loss_m,
                "adversary_error_m": curve.at(self.loss_m),
                "epsilon_per_m": self.epsilon if curve.private else inf,
            }
            for curve in self.curves
        ]


def compare(
    *, level: GivenNumber | str, radius_m: GivenNumber, prior: str | npt.ArrayLike = "uniform", side: int = SIDE
) -> Comparison:
    """Planar noise, cloaking, obfuscation against an optimal attacker, on a square of side × side places 1/(2ε) apart.

    `prior` is "uniform", "town" (three busy quarters), or a table of weights, one per place.
    """
    epsilon = float(level_of(level) / exact_positive(radius_m, "radius_m"))
    spacing = 1 / epsilon / SPREAD
    weights, name = _prior(prior, side)
    places = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2) * spacing
    between = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    planar = Curve("planar noise", True, *_curve([_planar(side, 1 / width) for width in WIDTHS], weights, between))
    disc = Curve("bounded obfuscation", False, *_curve([_disc(side, reach) for reach in REACHES], weights, between))
    blocks = [_cloaked(side, block) for block in BLOCKS if side % block == 0]
    cloak = Curve("cloaking", False, *_curve(blocks, weights, between))
    loss, _ = _errors(_planar(side, 1 / SPREAD), weights, between)
    return Comparison(epsilon, spacing, name, loss, (planar, disc, cloak))


def _curve(channels: Sequence[Floats], weights: Floats, between: Floats) -> tuple[list[float], list[float]]:
    pairs = sorted(_errors(channel, weights, between) for channel in channels)
    return [loss for loss, _ in pairs], [error for _, error in pairs]


def _errors(channel: Floats, weights: Floats, between: Floats) -> tuple[float, float]:
    """The expected distance of the report, and of the best guess that can be made from it."""
    joint = weights[:, None] * channel
    return float((joint * between).sum()), float((between @ joint).min(axis=0).sum())


def _planar(side: int, rate: float) -> Floats:
    """Rows: true place; columns: reported place; the planar geometric, brought back to the nearest place."""
    pad = ceil(TAIL / rate)
    line = np.arange(-(side + pad), side + pad + 1)
    return _folded(np.exp(-rate * np.hypot(line[:, None], line[None, :])), side)


def _disc(side: int, reach: float) -> Floats:
    line = np.arange(-(side + ceil(reach)), side + ceil(reach) + 1)
    return _folded((np.hypot(line[:, None], line[None, :]) <= reach).astype(np.float64), side)


def _folded(kernel: Floats, side: int) -> Floats:
    """The table of a noise, with what falls outside the square moved to the nearest place on its rim."""
    half = len(kernel) // 2
    kernel = kernel / kernel.sum()
    shifts = np.arange(-half, half + 1)
    fold = np.zeros((side, side, len(kernel)))
    for place in range(side):
        fold[place, np.clip(place + shifts, 0, side - 1), np.arange(len(kernel))] = 1
    rows = np.einsum("irm,mn->irn", fold, kernel)
    return np.asarray(np.einsum("irn,jcn->ijrc", rows, fold, optimize=True).reshape(side**2, side**2))


def _cloaked(side: int, block: int) -> Floats:
    """Every place reports the middle of its block, or the place just before the middle."""
    place = np.arange(side)
    middle = place // block * block + (block - 1) // 2
    target = (middle[:, None] * side + middle[None, :]).ravel()
    return np.asarray(np.eye(side**2)[target])


def _prior(prior: str | npt.ArrayLike, side: int) -> tuple[Floats, str]:
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise mechanism_unknown(prior, PRIORS)
        weights = np.ones((side, side)) if prior == "uniform" else _town(side)
        name = prior
    else:
        weights, name = np.asarray(prior, dtype=np.float64), "given"
    flat = weights.ravel()
    if len(flat) != side * side or not np.isfinite(flat).all() or (flat < 0).any() or flat.sum() <= 0:
        raise weights_unusable()
    return flat / flat.sum(), name


def _town(side: int) -> Floats:
    """Three busy quarters and quiet streets between them; the same town every time."""
    line = (np.arange(side) + 0.5) / side
    y, x = np.meshgrid(line, line, indexing="ij")
    weights = np.full((side, side), 0.05)
    for cy, cx, width, height in ((0.3, 0.35, 0.10, 1.0), (0.65, 0.7, 0.06, 1.6), (0.75, 0.2, 0.05, 0.8)):
        weights += height * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * width**2))
    return np.asarray(weights)
