"""What error bars do not cover, and what a price means. Every sentence follows from the plan; no data is near."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from sfumato.accounting.belief import membership_advantage, posterior
from sfumato.answers.cells import apart
from sfumato.errors import so_many
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.ledger.terms import Amount
from sfumato.plan.expressions import Call, Case, Column, Expression, Number, String
from sfumato.plan.nodes import CountPeople, Key, ListedKey, OpenKey, Plan, RangeKey
from sfumato.plan.sources import Lookup, OnUnit, PerUnit, Rows, Source, one_row_each, unit_of
from sfumato.plan.walk import columns_in
from sfumato.query.clipping import Bounded, clamped_to
from sfumato.query.rewrite import Clipping, MeanColumn, ModeColumn, OutputColumn, QuantileColumn, SumColumn
from sfumato.schema.columns import CategoryValue
from sfumato.schema.unit import Person, UpTo

EVEN = Fraction(1, 2)
ONE_DAY = timedelta(1)
MOST_NAMED = 6  # values in a note
# Of every date within bounds, and how many of them there are.
PARTS_OF_DATES = {"QUARTER": 4, "MONTH": 12, "WEEK": 53, "DAY": 31, "DAYOFWEEK": 7, "ISODOW": 7, "DAYOFYEAR": 366}


def notes(
    certified: Certified,
    columns: tuple[OutputColumn, ...],
    clipping: Clipping | None = None,
    declared: tuple[Key | OpenKey, ...] = (),
) -> tuple[str, ...]:
    """One sentence for each thing that clipping to bounds, bounding of a person's rows and keys may hide.

    Where clipping is counted, what error bars hold of it is said with the counts. `declared`: the keys before a
    condition left a part of them, which hides nothing.
    """
    plan = certified.plan
    aggregates = tuple(measure.aggregate for measure in plan.measures)
    found: dict[Bounded, list[OutputColumn]] = {}
    for column in columns:
        clamped = clamped_to(column, aggregates)
        if clamped is not None and not _always_within(clamped[0]):
            found.setdefault(clamped, []).append(column)
    said = []
    for (value, lower, upper), users in found.items():
        low, high = shown(lower), shown(upper)
        names, what = ", ".join(user.name for user in users), named(value)
        held = clipping is not None and all(isinstance(user, SumColumn | MeanColumn) for user in users)
        rest = "." if held else "; error bars do not cover what that changes."
        said.append(f"{names}: a value of {what} below {low} counts as {low}, one above {high} as {high}{rest}")
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
    said += _capped(plan, clipping)
    said += [note for key in declared or plan.keys if (note := _outside(key))]
    if certified.selection is not None:
        said.append(_discovered(certified.selection))
    return tuple(said)


def _outside(key: Key | OpenKey) -> str:
    """Which rows are in no group."""
    match key:
        case ListedKey(expression=value) if _always_given(value):
            return ""
        case ListedKey(expression=value, values=values) if _without_gaps(value, values):
            return f"Not counted: rows {_whose(value)} is outside {values[0]} to {values[-1]}."
        case ListedKey(expression=value, values=values):
            few = len(values) <= MOST_NAMED
            listed = ", ".join(map(str, values)) if few else f"the {len(values):,} values that are declared"
            return f"Not counted: rows {_whose(value)} is none of {listed}."
        case RangeKey(expression=Call(name=name), values=values) if len(values) == PARTS_OF_DATES.get(name):
            return ""  # every date has one of them
        case RangeKey(expression=value, values=values):
            return f"Not counted: rows {_whose(value)} is outside {values[0]} to {values[-1]}."
        case _:
            return ""


def _without_gaps(value: Expression, values: Sequence[CategoryValue]) -> bool:
    """Whether values are days, or first days of weeks, months …, all that there are from the first to the last."""
    if isinstance(value, Call) and value.name == "DATE_TRUNC":
        return True
    try:
        days = [date.fromisoformat(str(day)) for day in values]
    except ValueError:
        return False
    return len(days) > 1 and all(after - before == ONE_DAY for before, after in pairwise(days))


def _whose(value: Expression) -> str:
    return f"{'whose' if isinstance(value, Column) else 'in which'} {named(value)}"


def _always_given(value: Expression) -> bool:
    """Whether no row is without one of its values: a CASE of constants with an ELSE."""
    if isinstance(value, Case):
        given = [then for _, then in value.branches]
        return value.otherwise is not None and all(map(_always_given, (*given, value.otherwise)))
    return isinstance(value, Number | String)


def _always_within(value: Expression) -> bool:
    """Whether its bounds follow from what is written, as of CASE WHEN … THEN 1 ELSE 0: they rest on no declaration."""
    if isinstance(value, Case):
        given = [then for _, then in value.branches] + ([] if value.otherwise is None else [value.otherwise])
        return all(_always_within(each) for each in given)
    if isinstance(value, Call) and value.name in PARTS_OF_DATES:
        return True
    return isinstance(value, Number)


def _discovered(selection: KeySelection) -> str:
    """Weights are of people alone."""
    few, many = (selection.units_for(EVEN, held) for held in (1, selection.max_groups))
    if not selection.weighted:
        return f"Groups are discovered: one of {few:,} units is shown half of the time, smaller ones less often."
    return (
        f"Groups are discovered: one of {few:,} people who are in no other group is shown half of the time, and one of "
        f"{many:,} who are each in {selection.max_groups:,} or more; smaller ones less often."
    )


def protects(plan: Plan) -> str:
    """One whom: of a person also how much counts."""
    match plan.unit:
        case Person(id=name) if one_row_each(plan.table):
            return f"person ({name})"
        case Person(id=name):
            return str(Person(name, plan.asked_caps.rows, plan.asked_caps.groups))
        case unit:
            return str(unit)


def _capped(plan: Plan, clipping: Clipping | None) -> list[str]:
    """What is cut off of a person: in folds and joins, and of what these make."""
    uncovered = "; error bars do not cover what is cut off beyond that."
    cut = [f"{part}{uncovered}" for part in dict.fromkeys(_parts(plan.table))]
    if isinstance(unit_of(plan.table, plan.unit), Person):
        caps = plan.asked_caps
        within = [f"in at most {so_many(caps.groups, 'group')}"] if plan.keys else []
        if not all(isinstance(measure.aggregate, CountPeople) for measure in plan.measures):  # who has a row is counted
            within.insert(0, f"with at most {so_many(caps.rows, 'row')}")
            within[-1] += f", {caps.rows_per_group:,} in each" if caps.rows_per_group < caps.rows else ""
        rest = uncovered if clipping is None else "."
        cut += [f"A person counts {' '.join(within)}{rest}"] if within else []
    if isinstance(plan.unit, UpTo):
        many = so_many(plan.unit.rows, "row")
        cut.append(f"Everybody is protected if nobody has more than {many}; of somebody with more nothing is cut off.")
    return cut


def _parts(source: Source) -> Iterator[str]:
    match source:
        case Rows(source=inner) | Lookup(source=inner):
            yield from _parts(inner)
        case PerUnit(source=inner, columns=columns, rows=rows):
            yield from _parts(inner)
            if any(column.how in ("count", "sum") for column in columns):
                yield f"A person's COUNT and SUM in a sub-query are those of at most {so_many(rows, 'row')}"
        case OnUnit(left=left, right=right, left_rows=left_rows, right_rows=right_rows):
            yield from _parts(left)
            yield from _parts(right)
            if not one_row_each(left) and not one_row_each(right):
                yield f"Of a person a join pairs at most {so_many(left_rows, 'row')} with {so_many(right_rows, 'row')}"
        case _:
            pass


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


def named(value: Expression) -> str:
    """A column by its name, anything else by those of the columns in it."""
    if isinstance(value, Column):
        return value.name
    names = sorted(set(columns_in(value)))
    return f"the expression of {', '.join(names)}" if names else "the expression"


def shown(end: Fraction) -> str:
    return f"{float(end):,.10g}"


def _up(share: float) -> str:
    return f"{ceil(1000 * share) / 10:g} %"


def _down(share: float) -> str:
    return f"{floor(1000 * share) / 10:g} %"
