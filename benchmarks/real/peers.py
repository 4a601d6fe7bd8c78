"""What peers make of the same rows: OpenDP with the same price, clamps and caps; for bounds that are found, PyDP.

OpenDP answers by its own measurements, each tuned by its own map. Where it leaves something to its user, the user knows
the tool: averages are a noisy sum over a noisy count, prices are split evenly as its planner splits them, candidates
for quantiles lie at round numbers and finer than the noise. Rows are prepared for it: filtered, looked up, one row a
person where we fold, cut to the caps.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import log10, sqrt
from typing import Any

import numpy as np
import opendp.prelude as dp

from sfumato.kernel.cost import Currency

MOST_CANDIDATES = 20_000
LARGE = 2**31 - 1  # no key reaches it: the scale is sought first, then the threshold

dp.enable_features("contrib")


def scale(currency: Currency, share: float, moved: float) -> float:
    """The least scale of the noise for numbers that one unit moves so far: Laplace in ε, Gaussian in ρ."""
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    if currency == "epsilon":
        space, make = (domain, dp.l1_distance(T=float)), dp.m.make_laplace
    else:
        space, make = (domain, dp.l2_distance(T=float)), dp.m.make_gaussian
    return float(dp.binary_search_param(lambda width: make(*space, width), d_in=moved, d_out=share))


def noisy(values: Sequence[int], width: float) -> list[int]:
    """With Gaussian noise."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    return list(dp.m.make_gaussian(*space, width)(list(values)))


class Quantile:
    """A private quantile of values between bounds; scores are worked out once, every draw chooses anew."""

    def __init__(
        self, values: Any, candidates: list[float], level: float, currency: Currency, share: float, rows: int
    ) -> None:
        self.candidates = candidates
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
        measure = dp.max_divergence() if currency == "epsilon" else dp.zero_concentrated_divergence()
        scored = dp.t.make_quantile_score_candidates(*space, self.candidates, level)

        def chosen(width: float) -> dp.Measurement:
            return dp.m.make_private_quantile(*space, measure, self.candidates, level, width)

        width = dp.binary_search_param(chosen, d_in=rows, d_out=share)
        # Scores are in parts of a row, and the scale of a private quantile is in rows.
        parts = scored.map(1) / max(level, 1 - level)
        self._scores = scored(values.tolist())
        self._choose = dp.m.make_noisy_max(
            scored.output_domain, scored.output_metric, measure, width * parts, negate=True
        )
        # One law: the two together cost what the private quantile does.
        assert np.isclose((scored >> self._choose).map(rows), chosen(width).map(rows))

    def draw(self) -> float:
        return self.candidates[self._choose(self._scores)]


def candidates(lower: float, upper: float, *, whole: bool) -> list[float]:
    """At round steps of 1, 2 or 5 times a power of ten; of whole numbers each."""
    exponent = round(log10((upper - lower) / MOST_CANDIDATES)) - 1
    steps = [mantissa * 10.0 ** (exponent + more) for more in (0, 1, 2) for mantissa in (1, 2, 5)]
    step = next(step for step in steps if (upper - lower) / step <= MOST_CANDIDATES)
    step = max(step, 1.0) if whole else step
    return [round(lower + step * place, 10) for place in range(round((upper - lower) / step) + 1)]


class Keys:
    """Counts of units by keys that nobody knows: those above a threshold are shown with noise."""

    def __init__(self, share: float, delta: float, groups: int) -> None:
        space = (
            dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
            dp.l02inf_distance(dp.absolute_distance(T=float)),
        )
        moved = groups, sqrt(groups), 1.0

        def made(width: float, threshold: int) -> dp.Measurement:
            return dp.m.make_gaussian_threshold(*space, width, threshold)

        def cost(width: float, threshold: int) -> tuple[float, float]:
            return made(width, threshold).map(moved)

        self.width = dp.binary_search(lambda width: cost(width, LARGE)[0] <= share, T=float, bounds=(1e-3, 1e6))
        self.threshold = dp.binary_search(lambda few: cost(self.width, few)[1] <= delta, T=int, bounds=(1, LARGE))
        self._draw = made(self.width, self.threshold)

    def draw(self, units: Mapping[str, int]) -> dict[str, int]:
        return dict(self._draw(dict(units)))


def approximate_bounds(values: Any, epsilon: float, *, mean: bool, runs: int) -> Iterator[float]:
    """Google's library as PyDP: half of ε finds bounds. Infinite where it finds none."""
    from pydp.algorithms.laplacian import BoundedMean, BoundedSum

    kind = BoundedMean if mean else BoundedSum
    everything = kind(epsilon=epsilon, dtype="float")
    everything.add_entries(values.astype(float).tolist())
    entries = everything.serialize()
    for _ in range(runs):
        one = kind(epsilon=epsilon, dtype="float")
        one.merge(entries)
        try:
            yield float(one.result())
        except RuntimeError:  # no bin stands out of its noise
            yield float("inf")
