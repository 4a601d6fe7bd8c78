"""Charts: what many questions cost by every bound, what an ε lets anybody believe, and which noise is wider."""

from collections.abc import Iterable
from itertools import cycle
from math import log, sqrt

from sfumato.accounting.belief import highest_rate, membership_advantage, posterior
from sfumato.accounting.bounds import DESCRIPTIONS, Bounds, Events, compose
from sfumato.accounting.events import Plan, plan
from sfumato.accounting.planning import deviations
from sfumato.plots.charts import Band, Chart, Line, Mark, Panel
from sfumato.schema.numbers import GivenNumber, exact_positive, shown, whole

POINTS = 24
NAMED = 2
HEADROOM = 1.15
GRID = [place / 100 for place in range(101)]
USUAL = (0.1, 0.5, 1, 3)
STYLES = {
    "sequential": ("rust", False, False),
    "advanced": ("ochre", False, False),
    "thesis": ("stone", False, False),
    "zcdp": ("sea", False, False),
    "rdp": ("plum", False, False),
    "pld": ("fill", False, True),
    "optimal": ("moss", False, False),
}


def draw_composition(
    events: Events, delta: GivenNumber = 1e-5, *, points: int = POINTS, unproved: bool = False
) -> Chart:
    """Every bound over the number of mechanisms run.

    The simplified formula ends where its proof ends; with `unproved` it goes on, dashed, to show where it is false.
    """
    listed = plan(events)
    parts = _parts(listed, whole(points, "points", least=2))
    bounds = [compose(dict(part), delta) for part in parts]
    places = [sum(count for _, count in part) for part in parts]
    curves = {name: [_value(bound, name) for bound in bounds] for name in STYLES}
    lines = [
        Line(f"{name}: {DESCRIPTIONS[name]}", places, values, *STYLES[name])
        for name, values in curves.items()
        if any(value is not None for value in values)
    ]
    if unproved and (claimed := _unproved(listed, places, bounds)):
        lines.append(Line("the simplified formula where it is not proved", places, claimed, "stone", dashed=True))
    name, best = bounds[-1].best
    takeaway = (
        f"{places[-1]} mechanisms cost epsilon {best:.4g} at delta {bounds[-1].delta:g} (by {name}); "
        f"their epsilons add up to {bounds[-1].sequential:.4g}."
    )
    vertical, top = f"epsilon at delta {bounds[-1].delta:g}", HEADROOM * bounds[-1].sequential
    panel = Panel("What they cost together", takeaway, "mechanisms", vertical, lines, top=top)
    kinds = ", ".join(f"{count} × {event}" for event, count in listed[:NAMED]) + (", …" if len(listed) > NAMED else "")
    return Chart(f"Composition of {kinds}", [panel])


def draw_belief(epsilon: GivenNumber, prior: GivenNumber = 0.5, *, beside: Iterable[GivenNumber] = USUAL) -> Chart:
    """How far a belief can move, for this ε and others, and how well members can be told from outsiders."""
    price = float(exact_positive(epsilon, "epsilon"))
    low, high = posterior(prior, epsilon)
    sizes = sorted({price, *(float(exact_positive(other, "epsilon")) for other in beside)}, reverse=True)
    quiet = cycle(("ochre", "rust", "moss", "sea", "plum"))
    colours = ["fill" if size == price else next(quiet) for size in sizes]
    bands = []
    for size, colour in zip(sizes, colours, strict=True):
        ends = [posterior(place, size) for place in GRID]
        bands.append(Band(f"epsilon {size:g}", GRID, [end[0] for end in ends], [end[1] for end in ends], colour))
    moved = Panel(
        "What anybody can come to believe",
        f"With epsilon {price:g} a belief of {float(prior):g} stays between {low:.4f} and {high:.4f}.",
        "belief before the answer",
        "belief after the answer",
        [Line("no answer at all", GRID, GRID, "ink", dashed=True)],
        bands,
        [Mark(float(prior), high, f"{high:.3f}"), Mark(float(prior), low, f"{low:.3f}")],
        top=1.0,
    )
    alarms = [
        Line(f"epsilon {size:g}", GRID, [highest_rate(place, size) for place in GRID], colour, bold=size == price)
        for size, colour in zip(sizes, colours, strict=True)
    ]
    told = Panel(
        "How well members can be told from outsiders",
        f"With epsilon {price:g} true alarms exceed false alarms by at most {membership_advantage(epsilon):.1%}.",
        "outsiders accused",
        "members found",
        [*alarms, Line("guessing", GRID, GRID, "ink", dashed=True)],
        top=1.0,
    )
    return Chart(f"What epsilon {price:g} means", [moved, told])


def draw_deviations(counts: int, epsilon: GivenNumber, delta: GivenNumber = 1e-5) -> Chart:
    """Laplace against Gaussian noise on up to so many counts that one person moves all at once."""
    most = whole(counts, "counts", least=2)
    places = list(range(1, most + 1))
    noise = [deviations(place, epsilon, delta) for place in places]
    last = noise[-1]
    lines = [
        Line("Laplace", places, [each.laplace for each in noise], "rust"),
        Line("Gaussian, exact", places, [each.analytic for each in noise], "fill", bold=True),
    ]
    if last.classical is not None:
        lines.insert(1, Line("Gaussian, classical formula", places, [each.classical for each in noise], "stone"))
    first = next((place for place, each in zip(places, noise, strict=True) if each.analytic < each.laplace), None)
    takeaway = (
        f"On {most} counts Laplace noise has deviation {last.laplace:.1f}, Gaussian noise {last.analytic:.1f}; "
        + (f"from {first} counts on Gaussian noise is narrower." if first else "Laplace noise stays narrower.")
    )
    title = f"{most} counts at epsilon {shown(exact_positive(epsilon, 'epsilon'))}, delta {float(delta):g}"
    panel = Panel("Noise on each count", takeaway, "counts that one person moves", "standard deviation", lines)
    return Chart(title, [panel])


def _parts(listed: Plan, points: int) -> list[Plan]:
    """The plan in growing shares, each kind in proportion; the last is the whole."""
    parts: list[Plan] = [((listed[0][0], 1),)] if len(listed) == 1 else []
    for share in (place / points for place in range(1, points + 1)):
        part = tuple((event, taken) for event, count in listed if (taken := round(share * count)))
        if part and part not in parts[-1:]:
            parts.append(part)
    return parts


def _value(bound: Bounds, name: str) -> float | None:
    value = getattr(bound, name)
    return value if isinstance(value, float) else None


def _unproved(listed: Plan, places: list[int], bounds: list[Bounds]) -> list[float | None]:
    """The simplified formula from the end of its range on, for the figure only; empty where it is proved throughout."""
    prices = {event.epsilon for event, _ in listed}
    epsilon = next(iter(prices))
    if epsilon is None or len(prices) > 1 or any(event.delta for event, _ in listed):
        return []
    if all(bound.thesis is not None for bound in bounds):
        return []
    size, last = (
        float(epsilon),
        max((n for n, bound in zip(places, bounds, strict=True) if bound.thesis is not None), default=0),
    )
    return [
        None if place < last else 2 * size * sqrt(2 * place * log(1 / bound.delta))
        for place, bound in zip(places, bounds, strict=True)
    ]
