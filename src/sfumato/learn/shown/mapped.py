"""Centres of clusters in lines of text, and on a map of two columns: no row is on it."""

from typing import Any

from sfumato.learn.bins import Feature, shown
from sfumato.learn.model import SIDE, Centres, Model
from sfumato.learn.scaled import span
from sfumato.learn.shown.notes import lost
from sfumato.learn.wordings import no_such_axes
from sfumato.plots.centres import Axis, Centre, centres_map

BETWEEN = " × "  # the names of two axes
ERRORS = 256  # of a step
DEVIATIONS = 2  # to both sides, on a map


def centre_lines(model: Model, fitted: Centres) -> list[str]:
    """One line a cluster: how many rows, and where."""
    lines = []
    for number, (centre, rows) in enumerate(zip(fitted.centres, fitted.rows, strict=True)):
        ruled = "; noise rules it" if lost(rows, fitted.noise) else ""
        places = ", ".join(_at(feature, one) for feature, one in zip(model.features, centre, strict=True))
        lines.append(f"cluster {number}: about {rows:,} rows, ±{fitted.noise:,}: {places}{ruled}")
    return lines


def _at(feature: Feature, step: int) -> str:
    cells = span(feature)
    place = _placed(feature, step)
    return f"{feature.name} {shown(round(place), 'day') if cells.kind == 'day' else f'{place:.4g}'}"


def _placed(feature: Feature, step: float) -> float:
    cells = span(feature)
    return cells.middle + step * cells.reach / SIDE


def axes_of(model: Model, fitted: Centres) -> str:
    """The two columns in which the centres differ most, by their (noisy) rows; of one column that."""
    rows = [max(one, 0) + 1 for one in fitted.rows]
    spread = []
    for column in zip(*fitted.centres, strict=True):
        mean = sum(one * many for one, many in zip(column, rows, strict=True)) / sum(rows)
        spread.append(sum(many * (one - mean) ** 2 for one, many in zip(column, rows, strict=True)))
    places = sorted(range(len(spread)), key=lambda place: -spread[place])[:2]
    return BETWEEN.join(model.features[place].name for place in places)


def map_figure(model: Model, fitted: Centres, axes: str | int | None) -> Any:
    """A map of two columns, named as "age × income"; of a model of one column the other axis is the rows."""
    names = [feature.name for feature in model.features]
    wanted = str(axes_of(model, fitted) if axes is None else axes)
    found = [name for name in (wanted,) if name in names] or wanted.split(BETWEEN)
    if len(found) != min(2, len(names)) or len(set(found)) < len(found) or not set(found) <= set(names):
        raise no_such_axes(wanted, names)
    places = [names.index(name) for name in found]
    drawn = [_drawn(model, fitted, number, places) for number in range(len(fitted.rows))]
    lines = [_axis(model.features[place]) for place in places]
    return centres_map(drawn, lines[0], lines[1] if len(lines) > 1 else Axis("rows, about", None, False))


def _axis(feature: Feature) -> Axis:
    cells = span(feature)
    return Axis(feature.name, (cells.lower, cells.upper), cells.kind == "day")


def _drawn(model: Model, fitted: Centres, number: int, places: list[int]) -> Centre:
    centre, errors, rows = fitted.centres[number], fitted.errors[number], fitted.rows[number]
    at = [_placed(model.features[place], centre[place]) for place in places]
    around = [DEVIATIONS * errors[place] * span(model.features[place]).reach / (SIDE * ERRORS) for place in places]
    if len(places) == 1:
        at, around = [at[0], float(rows)], [around[0], float(DEVIATIONS * fitted.noise)]
    told = ", ".join(_at(feature, one) for feature, one in zip(model.features, centre, strict=True))
    text = f"cluster {number}; about {rows:,} rows, ±{fitted.noise:,}; {told}"
    return Centre(number, (at[0], at[1]), (around[0], around[1]), rows, text, lost(rows, fitted.noise))
