"""What clipping did, counted on request: further measures of a question, for a tenth of its spend.

Rows that are kept and count with a clamped value; and people of whom something is cut off. Never rows that are cut off:
one person can have any number of them.
"""

from dataclasses import replace
from fractions import Fraction

from sfumato.plan.expressions import AnyOf, Case, Comparison, Expression, Number
from sfumato.plan.nodes import Aggregate, CountCut, CountValues, Grid
from sfumato.plan.sources import Source, unit_of
from sfumato.query.rewrite import (
    CdfColumn,
    Clamped,
    Clipping,
    Draft,
    HistogramColumn,
    MeanColumn,
    OutputColumn,
    QuantileColumn,
    SpreadColumn,
    SumColumn,
)
from sfumato.query.wordings import nothing_clipped
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

SHARE_OF_CLIPPING = Fraction(1, 10)
Bounded = tuple[Expression, Fraction, Fraction]


def with_clipping(draft: Draft, source: Source, schema: Schema) -> Draft:
    """The same measures with nine tenths of the spend, and what was clipped with the rest, each at an equal part."""
    values: dict[Bounded, list[str]] = {}
    for column in draft.columns:
        bounds = clamped_to(column, draft.aggregates)
        if bounds is not None:
            values.setdefault(bounds, []).append(column.name)
    first = len(draft.aggregates)
    clamped = tuple(
        Clamped(value, lower, upper, first + place, tuple(names))
        for place, ((value, lower, upper), names) in enumerate(values.items())
    )
    counts: list[Aggregate] = [CountValues(_beyond(each)) for each in clamped]
    cut = first + len(counts) if isinstance(unit_of(source, schema.unit), Person) else None
    counts += [] if cut is None else [CountCut()]
    if not counts:
        raise nothing_clipped()
    whole = sum(draft.weights, Fraction(0)) * SHARE_OF_CLIPPING / (1 - SHARE_OF_CLIPPING)
    weights = (*draft.weights, *[whole / len(counts)] * len(counts))
    return replace(draft, aggregates=(*draft.aggregates, *counts), weights=weights, clipping=Clipping(clamped, cut))


def clamped_to(column: OutputColumn, aggregates: tuple[Aggregate, ...]) -> Bounded | None:
    """Whose values are clamped to what; None where a column has no bounds."""
    match column:
        case SumColumn(measure=measure, lattice=lattice) | MeanColumn(total=measure, lattice=lattice):
            pass
        case SpreadColumn(total=measure, spread=spread):
            lattice = spread.lattice
        case QuantileColumn(quantile=quantile) if quantile.step is None:
            return _within(quantile.cells, quantile.cells.upper, quantile.whole)
        case HistogramColumn(cells=cells, upper=upper) | CdfColumn(cells=cells, upper=upper):
            return _within(cells, upper, column.whole)
        case _:
            return None
    value: Expression = aggregates[measure].value  # type: ignore[union-attr]
    return value, lattice.lower * lattice.step, lattice.upper * lattice.step


def _within(cells: Grid, upper: Fraction, whole: bool) -> Bounded:
    """Whole numbers lie in the middle of their cells."""
    inward = Fraction(1, 2) if whole else Fraction(0)
    return cells.value, cells.lower + inward, upper - inward


def _beyond(clamped: Clamped) -> Expression:
    """A value where the clamped one lies beyond its bounds, else none."""
    below = Comparison("<", clamped.value, Number(clamped.lower))
    above = Comparison(">", clamped.value, Number(clamped.upper))
    return Case(((AnyOf((below, above)), Number(Fraction(1))),), None)
