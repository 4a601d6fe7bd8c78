"""Charts of noise: the densities that prices buy, and errors as they fall."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import cycle, pairwise
from math import exp, expm1, log, pi, sinh, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import missing_argument
from sfumato.kernel.entropy import Entropy
from sfumato.noise.accuracy import interval
from sfumato.noise.classical import analytic_gaussian_deviation
from sfumato.noise.numeric import geometric
from sfumato.plots.charts import Bars, Chart, Line, Panel
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown, whole

POINTS = 30
REACH, WIDEST = 7.0, 4.0
SHOWN = 0.99
MOST_BARS = 100
HEADROOM = 1.3
LARGEST_EXPONENT = 700.0
NORMAL_QUARTILE = 0.6744897501960817


def draw_densities(
    epsilons: Iterable[GivenNumber],
    *,
    delta: GivenNumber | None = None,
    answer: GivenNumber = 0,
    sensitivity: GivenNumber = 1,
) -> Chart:
    """The densities of Laplace noise around an answer at several ε; with δ also the narrowest Gaussian noise."""
    prices, change, centre = _prices(epsilons), exact_positive(sensitivity, "sensitivity"), exact(answer, "answer")
    scales = [float(change / price) for price in prices]
    widths = [] if delta is None else [analytic_gaussian_deviation(change, price, delta) for price in prices]
    most = WIDEST * max([*scales, *widths])
    offsets = sorted({0.0, *(sign * d for each in [*scales, *widths] for d in _steps(each, most) for sign in (-1, 1))})
    places = [float(centre) + offset for offset in offsets]
    colours = dict(zip(prices, cycle(("fill", "rust", "moss", "ochre", "plum")), strict=False))
    lines = [
        Line(
            f"Laplace, epsilon {shown(price)}",
            places,
            [exp(-abs(each) / scale) / (2 * scale) for each in offsets],
            colours[price],
        )
        for price, scale in zip(prices, scales, strict=True)
    ]
    lines += [
        Line(
            f"Gaussian, epsilon {shown(price)}, delta {float(delta or 0):g}",
            places,
            [exp(-((each / width) ** 2) / 2) / (width * sqrt(2 * pi)) for each in offsets],
            colours[price] if len(prices) > 1 else "sea",
            dashed=True,
        )
        for price, width in zip(prices, widths, strict=False)
    ]
    halves = [f"±{scale * log(2):.3g} at epsilon {shown(price)}" for price, scale in zip(prices, scales, strict=True)]
    halves += [f"±{width * NORMAL_QUARTILE:.3g} by Gaussian noise" for width in widths]
    takeaway = f"Half of the answers lie within {', '.join(halves)}."
    panel = Panel("How the answer falls", takeaway, "noisy answer", "density", lines)
    return Chart(f"Noise on a number with sensitivity {shown(change)}", [panel])


def draw_errors(
    epsilons: Iterable[GivenNumber],
    *,
    answer: GivenNumber | None = None,
    draws: int = 10_000,
    entropy: Entropy | None = None,
) -> Chart:
    """Histograms of the error of a count at several ε, freshly drawn, with the law they follow; no data, no cost.

    With `answer`, an invented or public number, errors are shown in percent of it.
    """
    prices, many = _prices(epsilons), whole(draws, "draws", least=1)
    unit = 1.0 if answer is None else 100 / float(exact_positive(answer, "answer"))
    reach = int(interval("geometric", sensitivity=1, epsilon=min(prices), confidence=SHOWN))
    width = 1 + 2 * (reach // MOST_BARS)  # odd, so that a bin is centred at 0
    half = -(-reach // width)
    starts = [place * width - width // 2 for place in range(-half, half + 2)]
    panels = []
    for price in prices:
        drawn = geometric(np.zeros(many, dtype=np.int64), sensitivity=1, epsilon=price, entropy=entropy)
        errors = np.asarray(drawn, dtype=np.float64)
        panels.append(_errors(price, errors, starts, unit, " in % of the answer" if answer is not None else ""))
    return Chart(f"{many:,} errors of a count", panels)


def _errors(price: Fraction, errors: npt.NDArray[Any], starts: Sequence[int], unit: float, measure: str) -> Panel:
    """Claim: E|error| = 2 q / (1 - q²) = 1 / sinh(ε) with q = e^-ε."""
    edges = [start - 0.5 for start in starts]
    counted, _ = np.histogram(errors, edges)
    law = [_mass(float(price), start, after - 1) for start, after in pairwise(starts)]
    mean, expected = float(np.abs(errors).mean()) * unit, unit / sinh(min(float(price), LARGEST_EXPONENT))
    shares = [float(each) / len(errors) for each in counted]
    sign = " %" if measure else ""
    return Panel(
        f"epsilon {shown(price)}",
        f"The mean size of these errors is {mean:.3g}{sign}; the law says {expected:.3g}{sign}.",
        f"error{measure}",
        "share of the draws",
        [Line("the law", [(left + right) / 2 * unit for left, right in pairwise(edges)], law, "ink")],
        bars=[Bars("drawn", [edge * unit for edge in edges], shares, "fill")],
        top=max(HEADROOM * max(law), max(shares)),
    )


def _mass(epsilon: float, low: int, high: int) -> float:
    """P(low <= K <= high) for P(K = k) = (1 - q) / (1 + q) · q^|k|, q = e^-ε.

    Needs: -low = high, or both of one sign.
    """
    if low > 0 or high < 0:
        near, far = sorted((abs(low), abs(high)))
        return -exp(-epsilon * near) * expm1(-epsilon * (far - near + 1)) / (1 + exp(-epsilon))
    return 1 - 2 * exp(-epsilon * (high + 1)) / (1 + exp(-epsilon))


def _prices(epsilons: Iterable[GivenNumber]) -> list[Fraction]:
    prices = list(dict.fromkeys(exact_positive(price, "epsilon") for price in epsilons))
    if not prices:
        raise missing_argument("epsilons", "epsilons=(0.1, 1)")
    return prices


def _steps(width: float, most: float) -> list[float]:
    """Distances at which a density of this width is drawn, none beyond `most`."""
    return [
        *(REACH * width * place / POINTS for place in range(1, POINTS + 1) if REACH * width * place <= most * POINTS),
        most,
    ]
