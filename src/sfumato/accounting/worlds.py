"""A chart of two neighbouring worlds: the answer's law with and without one person, and what an answer tells."""

from dataclasses import dataclass
from math import erfc, exp, log, pi, sqrt

from sfumato.accounting.gaussian import gaussian_sigma
from sfumato.plots.charts import Chart, Line, Mark, Panel
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown

POINTS = 120
SCALES, DEVIATIONS = 5.0, 4.5
HEADROOM = 1.25
FROM_EDGE = 1.1


@dataclass(frozen=True, slots=True)
class _Laplace:
    """Laplace noise of this scale."""

    scale: float

    def logarithm(self, distance: float) -> float:
        """ln of the density at this distance from the true answer."""
        return -abs(distance) / self.scale - log(2 * self.scale)

    @property
    def reach(self) -> float:
        return SCALES * self.scale


@dataclass(frozen=True, slots=True)
class _Gaussian:
    """Gaussian noise of this deviation."""

    sigma: float

    def logarithm(self, distance: float) -> float:
        return -((distance / self.sigma) ** 2) / 2 - log(self.sigma * sqrt(2 * pi))

    @property
    def reach(self) -> float:
        return DEVIATIONS * self.sigma


def draw_worlds(
    epsilon: GivenNumber, delta: GivenNumber = 0, *, answer: GivenNumber = 0, sensitivity: GivenNumber = 1
) -> Chart:
    """The noisy answer on D and on D', in which one person more moves it by `sensitivity`, and the privacy loss.

    Laplace noise with δ = 0: the loss stays within ±ε, whatever the answer. Else the narrowest Gaussian noise: the loss
    leaves ±ε far out, and δ bounds by how much that matters.
    """
    price, change = float(exact_positive(epsilon, "epsilon")), float(exact_positive(sensitivity, "sensitivity"))
    chance, first = exact(delta, "delta"), float(exact(answer, "answer"))
    law = _Gaussian(change * gaussian_sigma(epsilon, delta)) if chance else _Laplace(change / price)
    second, reach = first + change, law.reach
    edge = None if isinstance(law, _Laplace) else first + change / 2 + price * law.sigma**2 / change
    if edge is not None:
        reach = max(reach, FROM_EDGE * (edge - second))
    steps = [first - reach + (change + 2 * reach) * place / POINTS for place in range(POINTS + 1)]
    places = sorted({*steps, first, second})
    without = [law.logarithm(place - first) for place in places]
    with_one = [law.logarithm(place - second) for place in places]
    seen = Panel(
        "Two neighbouring worlds",
        f"One person more moves the answer by {change:g}; such noise hides which of the two worlds it came from.",
        "noisy answer",
        "density",
        [
            Line(f"without the person: the true answer is {first:g}", places, [exp(each) for each in without], "sea"),
            Line(f"with the person: the true answer is {second:g}", places, [exp(each) for each in with_one], "rust"),
        ],
    )
    told = [more - less for more, less in zip(with_one, without, strict=True)]
    told_most = max(HEADROOM * price, max(told))
    limits = [
        Line(f"{sign}epsilon", places, [level] * len(places), colour, dashed=True)
        for sign, level, colour in (("", price, "rust"), ("-", -price, "sea"))
    ]
    loss = Panel(
        "What each answer tells",
        _told(law, price, shown(chance), edge, second),
        "noisy answer",
        "privacy loss: ln(density with / density without)",
        [Line("privacy loss", places, told, "fill", bold=True), *limits],
        marks=[] if edge is None else [Mark(edge, price, f"{edge:.1f}")],
        top=told_most,
        bottom=-told_most,
    )
    noise = "Laplace noise" if edge is None else f"Gaussian noise, delta {shown(chance)}"
    return Chart(f"The same question in two worlds, epsilon {price:g}, {noise}", [seen, loss])


def _told(law: _Laplace | _Gaussian, price: float, delta: str, edge: float | None, second: float) -> str:
    if edge is None or isinstance(law, _Laplace):
        return f"No answer is more than {exp(price):.3g} times likelier in one world than in the other."
    beyond = erfc((edge - second) / law.sigma / sqrt(2)) / 2
    return (
        f"Answers above {edge:.1f} are more than {exp(price):.3g} times likelier with the person; they have "
        f"probability {beyond:.2g}, of which delta {delta} is the part above that ratio."
    )
