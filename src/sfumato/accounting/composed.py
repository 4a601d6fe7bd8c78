"""The law of a sum of privacy losses on a grid, read both ways: δ at an ε, and ε at a δ."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, inf, log, nextafter

import numpy as np

from sfumato.accounting.bands import Floats

CUT = 100.0  # tilt · (loss - ε) beyond which losses are left out and e^-CUT is added instead
LARGEST_EXPONENT = 700.0
TINY = 1e-300
CLOSE = 1e-12
STEPS, SCAN, HALVINGS = 200, 200, 40


@dataclass(frozen=True, slots=True)
class Window:
    """Which grid points are computed: `length` of them from `first` on, under `tilt`."""

    first: int
    length: int
    tilt: float
    step: float

    def falling(self) -> Floats:
        """e^(-tilt x) and e^(-tilt x) (1 - e^-x) at x = 0, step, 2 · step, … as far as they matter."""
        above = np.arange(min(self.length, 2 + int(CUT / self.tilt / self.step))) * self.step
        decay = np.exp(-self.tilt * above)
        return np.stack([decay, decay * -np.expm1(-above)])


@dataclass(frozen=True, slots=True)
class Composed:
    """Masses under the tilt, and everything that may be missing from them.

    `falling` is `window.falling()`. e^(scale - tilt · loss) turns a mass into a probability, with relative error
    `margin`. `noise` bounds the rounding error of each mass, `above` the probability beyond the window, `wrapped` the
    tilted mass that came in from outside. `infinite` is the probability of an infinite loss; no finite sum of losses
    exceeds `largest`. Proof: docs/proofs/pld.md, "Reading δ(ε)".
    """

    window: Window
    masses: Floats
    falling: Floats
    scale: float
    margin: float
    noise: float
    above: float
    wrapped: float
    infinite: float
    largest: float

    def delta(self, epsilon: float) -> float:
        """At least δ(epsilon) of the law on the grid. Needs: epsilon not below the window."""
        if epsilon >= self.largest:
            return self.infinite
        value, slack, _ = self._excess(epsilon)
        return min(1.0, (value + slack) * (1 + self.margin) + self.above + self.infinite + TINY)

    def delta_below(self, epsilon: float) -> float:
        """At most δ(epsilon) of the law on the grid."""
        value, slack, front = self._excess(epsilon)
        return max(0.0, (value - slack - self.wrapped * front) * (1 - self.margin)) + self.infinite

    def epsilon(self, delta: float) -> float:
        """The smallest ε >= 0 found with δ(ε) <= delta. Needs: delta above the infinite part."""
        low, high = self._ends()
        if low >= high or self.delta(low) <= delta:
            return low
        return nextafter(_crossing(self.delta, low, high, delta)[1], inf)

    def epsilon_below(self, delta: float) -> float:
        """An ε at which δ(ε) > delta still, as large as was found; 0 if there is none."""
        low, high = self._ends()
        near_the_end = high - (high - low) * 2.0 ** -np.arange(1, HALVINGS)
        places = sorted({*np.linspace(low, high, SCAN).tolist(), *near_the_end.tolist()})
        over = [place for place in range(len(places) - 1) if self.delta_below(places[place]) > delta]
        return _crossing(self.delta_below, places[over[-1]], places[over[-1] + 1], delta)[0] if over else 0.0

    def _ends(self) -> tuple[float, float]:
        first, last = self.window.first + 1, self.window.first + self.window.length
        return max(0.0, first * self.window.step), min(last * self.window.step, self.largest)

    def _excess(self, epsilon: float) -> tuple[float, float, float]:
        """Σ p (1 - e^(ε - l)) over losses l > ε, what rounding and cutting did to it, and e^(scale - tilt ε)."""
        window = self.window
        start = max(0, int(np.floor(epsilon / window.step)) + 1 - window.first)
        rest = max((start + window.first) * window.step - epsilon, 0.0)
        exponent = self.scale - window.tilt * (epsilon + rest)
        if exponent > LARGEST_EXPONENT:
            return 0.0, 1.0, inf
        masses = self.masses[start : start + self.falling.shape[1]]
        # 1 - e^-(rest + x) = (1 - e^-rest) + e^-rest (1 - e^-x): nothing cancels
        shares = np.array([-expm1(-rest), exp(-rest)])
        front = exp(exponent)
        value = float(shares @ (self.falling[:, : len(masses)] @ masses))
        slack = self.noise * float(shares @ self.falling.sum(axis=1)) + exp(-CUT)
        return front * value, front * slack, front * exp(min(window.tilt * rest, LARGEST_EXPONENT))


def _crossing(at: Callable[[float], float], low: float, high: float, delta: float) -> tuple[float, float]:
    """Two near points between which a falling function passes delta: above it, and not above.

    Needs: at(low) > delta. False position on logarithms with bisection in between. Safe whatever the function does:
    both points were tried themselves, or are the ends.
    """
    left, right = log(at(low) / delta), log(max(at(high), TINY) / delta)
    for step in range(STEPS):
        if high - low <= CLOSE * high:
            break
        share = left / (left - right) if step % 3 < 2 and left > 0 > right else 0.5
        middle = low + (high - low) * min(max(share, 1e-3), 1 - 1e-3)
        value = log(max(at(middle), TINY) / delta)
        if value > 0:
            low, left = middle, value
        else:
            high, right = middle, value
    return low, high
