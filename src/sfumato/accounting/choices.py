"""Charts of what owners and analysts choose: where values are clipped, how many rows count, which keys are found, what
a private quantile may be. The people in them are invented; nothing here needs data or costs budget.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import erfc, exp, log, sqrt
from statistics import NormalDist

from sfumato.kernel.cost import rho_for
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.widths import deviation
from sfumato.plots.charts import Band, Chart, Line, Mark, Panel
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown, whole

POINTS = 160
SURE = log(20)  # of Laplace noise: 95 of 100 draws are within so many scales
# Incomes of invented people: half of them have less than 30,000, one in a hundred more than 190,000.
MIDDLE, SPREAD, LARGEST = 30_000.0, 0.8, 300_000.0
EACH_MORE = 0.8  # of the people who have so many rows, this part has one more: five rows on average
MOST_ROWS = 40
KEYS_IN_ALL, POT = 50, Fraction(1, 2)  # questions that may find keys, and what part of delta they share
LEVELS = (0.1, 0.5, 0.9)


def draw_clipping(epsilon: GivenNumber, *, people: int = 1000) -> Chart:
    """How far off a private total is when values are clipped: a low bound cuts off much, a high one is noisy."""
    price, many = float(exact_positive(epsilon, "epsilon")), whole(people, "people", least=1)
    bounds = [LARGEST * place / POINTS for place in range(1, POINTS + 1)]
    everything = many * _mean()
    noise = [SURE * bound / price / everything for bound in bounds]
    lost = [_beyond(bound) / _mean() for bound in bounds]
    both = [one + other for one, other in zip(noise, lost, strict=True)]
    best = min(range(POINTS), key=lambda place: both[place])
    clipped = 1 - NormalDist().cdf(log(bounds[best] / MIDDLE) / SPREAD)
    panel = Panel(
        f"The total income of {many:,} people",
        f"It is nearest with a bound of about {bounds[best]:,.0f}, which {clipped:.1%} of the people exceed.",
        "upper bound of an income",
        "error, as part of the total",
        [
            Line("noise (95 %)", bounds, noise, "rust"),
            Line("what is clipped", bounds, lost, "sea"),
            Line("both", bounds, both, "fill", bold=True),
        ],
        marks=[Mark(bounds[best], both[best], f"{bounds[best]:,.0f}")],
        top=min(1.0, 3 * both[best]),
    )
    return Chart(f"Where to clip, epsilon {shown(exact_positive(epsilon, 'epsilon'))}", [panel])


def draw_caps(epsilon: GivenNumber, *, people: int = 1000) -> Chart:
    """How far off a private count of rows is when at most so many rows of a person count."""
    price, many = float(exact_positive(epsilon, "epsilon")), whole(people, "people", least=1)
    caps = list(range(1, MOST_ROWS + 1))
    noise = [SURE * cap / price for cap in caps]
    lost = [many * EACH_MORE**cap / (1 - EACH_MORE) for cap in caps]
    both = [one + other for one, other in zip(noise, lost, strict=True)]
    best = min(range(MOST_ROWS), key=lambda place: both[place])
    panel = Panel(
        f"{many / (1 - EACH_MORE):,.0f} rows of {many:,} people",
        f"It is nearest with {caps[best]} rows a person: {EACH_MORE ** caps[best]:.1%} of the people have more.",
        "rows of a person that count",
        "error, in rows",
        [
            Line("noise (95 %)", caps, noise, "rust"),
            Line("rows cut off", caps, lost, "sea"),
            Line("both", caps, both, "fill", bold=True),
        ],
        marks=[Mark(caps[best], both[best], f"{caps[best]} rows")],
        top=3 * both[best],
    )
    return Chart(f"How many rows may count, epsilon {shown(exact_positive(epsilon, 'epsilon'))}", [panel])


def draw_keys(epsilon: GivenNumber, delta: GivenNumber = 1e-6, *, groups: Sequence[int] = (1, 2, 5)) -> Chart:
    """How likely a key that nobody listed is shown, by the people who hold it: of a count of people that costs ε.

    A person may hold several keys. As in a ledger, half of δ is for keys, and fifty questions share it.
    """
    price, chance = exact_positive(epsilon, "epsilon"), exact_positive(delta, "delta")
    rho, for_keys = rho_for(price, chance / 2), chance * POT / KEYS_IN_ALL
    selections = [KeySelection(rho, for_keys, whole(held, "groups", least=1)) for held in groups]
    halves = [selection.threshold for selection in selections]
    people = list(range(1, round(1.6 * max(halves)) + 1))
    lines: list[Line] = []
    marks: list[Mark] = []
    for selection, half, colour in zip(selections, halves, ("fill", "sea", "rust", "ochre", "plum"), strict=False):
        name = "one key each" if selection.max_groups == 1 else f"up to {selection.max_groups} keys each"
        width = deviation(selection.law) * sqrt(2)
        lines.append(Line(name, people, [erfc((half - n - 0.5) / width) / 2 for n in people], colour, bold=not lines))
        marks.append(Mark(half, 0.5, f"{half}"))
    told = ", ".join(f"{half} ({selection.max_groups})" for half, selection in zip(halves, selections, strict=True))
    panel = Panel(
        "How likely a key is shown",
        f"Half of the time it takes so many people, with so many keys each: {told}.",
        "people who hold the key",
        "chance that it is shown",
        lines,
        marks=marks,
        top=1.0,
    )
    return Chart(f"Keys that nobody listed, epsilon {shown(price)}, delta {float(chance):g}", [panel])


def draw_quantiles(epsilon: GivenNumber, *, people: int = 1000, levels: Sequence[float] = LEVELS) -> Chart:
    """Where private quantiles fall, chosen by their rank: as far off in people everywhere, not in what they have."""
    price, many = float(exact_positive(epsilon, "epsilon")), whole(people, "people", least=1)
    places = [LARGEST / 2 * place / (4 * POINTS) for place in range(1, 4 * POINTS + 1)]
    lines, bands, marks, told = [], [], [], []
    for level, colour in zip(levels, ("sea", "fill", "rust", "ochre", "plum"), strict=False):
        wanted = float(exact(level, "levels"))
        # The exponential mechanism: a person more moves how far a rank is off by at most the larger part.
        slope = price * many / (2 * max(wanted, 1 - wanted))
        weights = [exp(-slope * abs(_share(place) - wanted)) for place in places]
        law = [weight / sum(weights) for weight in weights]
        low, high = (_reached(places, law, end) for end in (0.025, 0.975))
        true = MIDDLE * exp(SPREAD * NormalDist().inv_cdf(wanted))
        name = (
            "the median" if wanted == 0.5 else f"the {shown(exact(100 * exact(level, 'levels'), 'levels'))} % quantile"
        )
        lines.append(Line(name, places, [weight / max(law) for weight in law], colour))
        inside = [place for place in places if low <= place <= high]
        bands.append(Band(f"95 % of {name}", inside, [0.0] * len(inside), [0.04] * len(inside), colour))
        marks.append(Mark(true, 1.0, f"{true:,.0f}"))
        told.append(f"{name} {low:,.0f} to {high:,.0f} (true: {true:,.0f})")
    panel = Panel(
        f"Incomes of {many:,} people",
        f"In 95 of 100 cases: {'; '.join(told)}.",
        "income",
        "how likely, beside the likeliest",
        lines,
        bands,
        marks,
        top=1.15,
    )
    return Chart(f"Private quantiles, epsilon {shown(exact_positive(epsilon, 'epsilon'))}", [panel])


def _mean() -> float:
    return MIDDLE * exp(SPREAD**2 / 2)


def _beyond(bound: float) -> float:
    """What a person has beyond a bound, on average: of a log-normal law."""
    far = log(bound / MIDDLE) / SPREAD
    normal = NormalDist()
    return _mean() * normal.cdf(SPREAD - far) - bound * normal.cdf(-far)


def _share(income: float) -> float:
    return NormalDist().cdf(log(income / MIDDLE) / SPREAD)


def _reached(places: Sequence[float], law: Sequence[float], chance: float) -> float:
    """The first place at or below which so much of a law lies."""
    below = 0.0
    for place, weight in zip(places, law, strict=True):
        below += weight
        if below >= chance:
            return place
    return places[-1]
