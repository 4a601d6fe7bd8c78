"""What error bars do not cover, and what a price means. Every sentence follows from the plan; no data is near."""

from dataclasses import fields
from fractions import Fraction
from math import ceil, floor

from sfumato.accounting.belief import membership_advantage, posterior
from sfumato.answers.cells import apart
from sfumato.kernel.certify import Certified
from sfumato.ledger.terms import Amount
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import Column, Expression, columns_in
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Grid, ListedKey, RangeKey
from sfumato.query.rewrite import (
    CdfColumn,
    HistogramColumn,
    MeanColumn,
    ModeColumn,
    OutputColumn,
    QuantileColumn,
    SpreadColumn,
    SumColumn,
)
from sfumato.schema.unit import Person

EVEN = Fraction(1, 2)
Clamped = tuple[str, str, str]  # what is clamped, and its bounds


def notes(certified: Certified, columns: tuple[OutputColumn, ...]) -> tuple[str, ...]:
    """One sentence for each thing that clipping to bounds, bounding of a person's rows and keys may hide."""
    plan = certified.plan
    found: dict[Clamped, list[str]] = {}
    for column in columns:
        clamped = _clamped(column, certified)
        if clamped is not None:
            found.setdefault(clamped, []).append(column.name)
    said = [
        f"{', '.join(names)}: a value of {what} below {low} counts as {low}, one above {high} as {high}; "
        "error bars do not cover what that changes."
        for (what, low, high), names in found.items()
    ]
    said += [
        f"{column.name}: no bounds are declared, so the answer is one of numbers that lie "
        f"{100 * apart(column.quantile.cells):.2g} % apart; with bounds it comes nearer."
        for column in columns
        if isinstance(column, QuantileColumn) and column.quantile.step is not None
    ]
    said += [
        f"{column.name}: how much {'smaller' if column.quantile.level == 0 else 'larger'} a value may be that was not "
        f"found is known from the declared bounds alone; so far the error bar goes."
        for column in columns
        if isinstance(column, QuantileColumn) and column.quantile.level in (0, 1)
    ]
    said += [
        f"{column.name}: a most frequent value has no error bar; one that is nearly as frequent may come out instead."
        for column in columns
        if isinstance(column, ModeColumn)
    ]
    if isinstance(plan.unit, Person):
        owners = Caps(plan.unit.max_rows, plan.unit.max_groups, plan.unit.max_rows)
        caps = owners if plan.caps is None else plan.caps
        within = f" in at most {_many(caps.groups, 'group')}" if plan.keys else ""
        within += f", {caps.rows_per_group} in each" if caps.rows_per_group < caps.rows else ""
        said.append(
            f"A person counts with at most {_many(caps.rows, 'row')}{within}; "
            "error bars do not cover what is cut off beyond that."
        )
    for key in plan.keys:
        name = named(getattr(key, fields(key)[0].name))
        what = name if name.startswith("the expression") else f"a {name}"
        if isinstance(key, ListedKey):
            said.append(f"Rows with {what} other than the {key.size:,} declared are in no group.")
        elif isinstance(key, RangeKey):
            said.append(f"Rows with {what} outside {key.values[0]:,} to {key.values[-1]:,} are in no group.")
    if certified.selection is not None:
        units = certified.selection.units_for(EVEN)
        said.append(
            f"Groups are discovered: one of {units:,} units is shown half of the time, smaller ones less often."
        )
    return tuple(said)


def price_in_words(cost: Amount) -> str:
    """What somebody who sees the answer can come to believe, rounded to the safe side."""
    if cost.delta:
        right = (1 + membership_advantage(cost.epsilon, cost.delta)) / 2
        return (
            "If a coin decides whether somebody is in the data, "
            f"whoever sees this answer guesses right in at most {_up(right)} of cases."
        )
    low, high = posterior(EVEN, cost.epsilon)
    return (
        "Someone who starts at even odds that a person is in the data "
        f"ends, after this answer, between {_down(low)} and {_up(high)}."
    )


def _clamped(column: OutputColumn, certified: Certified) -> Clamped | None:
    match column:
        case SumColumn(measure=measure, lattice=lattice):
            return _between(_value(certified, measure), lattice)
        case MeanColumn(total=total, lattice=lattice):
            return _between(_value(certified, total), lattice)
        case SpreadColumn(total=total, spread=spread):
            return _between(_value(certified, total), spread.lattice)
        case QuantileColumn(quantile=quantile) if quantile.step is None:
            return _within(quantile.cells, quantile.cells.upper, quantile.whole)
        case HistogramColumn(cells=cells, upper=upper) | CdfColumn(cells=cells, upper=upper):
            return _within(cells, upper, column.whole)
        case _:
            return None


def _between(value: Expression, lattice: Lattice) -> Clamped:
    return named(value), _shown(lattice.lower * lattice.step), _shown(lattice.upper * lattice.step)


def _within(cells: Grid, upper: Fraction, whole: bool) -> Clamped:
    """Whole numbers lie in the middle of their cells."""
    inward = EVEN if whole else 0
    return named(cells.value), _shown(cells.lower + inward), _shown(upper - inward)


def _shown(end: Fraction) -> str:
    return f"{float(end):,.10g}"


def _value(certified: Certified, measure: int) -> Expression:
    value: Expression = certified.plan.measures[measure].aggregate.value  # type: ignore[union-attr]
    return value


def named(value: Expression) -> str:
    """A column by its name, anything else by those of the columns in it."""
    if isinstance(value, Column):
        return value.name
    names = sorted(set(columns_in(value)))
    return f"the expression of {', '.join(names)}" if names else "the expression"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _up(share: float) -> str:
    return f"{ceil(1000 * share) / 10:g} %"


def _down(share: float) -> str:
    return f"{floor(1000 * share) / 10:g} %"
