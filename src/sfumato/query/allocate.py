"""One mechanism and one share of the spend for every aggregate."""

from dataclasses import replace
from fractions import Fraction

from sfumato.kernel.cost import Cost, Currency
from sfumato.plan.caps import Caps
from sfumato.plan.nodes import (
    Aggregate,
    CountPeople,
    CountRows,
    Measure,
    MechanismName,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    Selection,
)
from sfumato.plan.sources import unit_of
from sfumato.query.bind import BoundQuestion
from sfumato.query.capping import OWNERS, AskedCaps
from sfumato.query.rewrite import Draft
from sfumato.query.wordings import keys_need_delta, keys_need_people
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row, UpTo

SHARE_OF_KEYS = Fraction(1, 4)


def allocate(
    question: BoundQuestion,
    draft: Draft,
    schema: Schema,
    spend: Cost,
    delta: Fraction = Fraction(0),
    caps: AskedCaps = OWNERS,
) -> Plan:
    """Shares in proportion to the weights; they add up to the spend exactly. `delta` is for discovering keys.

    Keys are found by a count of units that is asked for anyway; else by weights, with all of the spend where there is
    nothing beside them.
    """
    opened = [key for key in question.keys if isinstance(key, OpenKey)]
    if opened and isinstance(schema.unit, UpTo):
        raise keys_need_people(opened[0].expression.name)
    if opened and not (delta and spend.currency == "rho"):
        raise keys_need_delta(opened[0].expression.name)
    by = _counting_units(question, draft, schema) if opened else None
    part = SHARE_OF_KEYS if draft.aggregates else 1
    finding = spend.amount * part if opened and by is None else Fraction(0)
    whole = sum(draft.weights, Fraction(0))
    measures = tuple(
        Measure(aggregate, _mechanism(aggregate, spend.currency), (spend.amount - finding) * weight / whole)
        for aggregate, weight in zip(draft.aggregates, draft.weights, strict=True)
    )
    unit, own = caps.of(question.table, schema)
    selection = Selection(finding, delta, by) if opened else None
    return with_caps(Plan(question.table, unit, question.where, question.keys, measures, selection), own)


def with_caps(plan: Plan, caps: Caps | None) -> Plan:
    """The same question with these caps: who may hold several keys has weights, unless a count of units finds them."""
    capped, selection = replace(plan, caps=caps), plan.selection
    if selection is None:
        return capped
    weighted = selection.by is None and capped.capped.groups > 1
    return replace(capped, selection=replace(selection, weighted=weighted))


def _counting_units(question: BoundQuestion, draft: Draft, schema: Schema) -> int | None:
    """The first aggregate that counts units: its noisy numbers tell which keys may be shown, for nothing more."""
    of_rows = isinstance(unit_of(question.table, schema.unit), Row)
    found = (
        place
        for place, aggregate in enumerate(draft.aggregates)
        if isinstance(aggregate, CountPeople) or (of_rows and isinstance(aggregate, CountRows))
    )
    return next(found, None)


def _mechanism(aggregate: Aggregate, currency: Currency) -> MechanismName:
    match aggregate:
        case Quantiles():
            return "exponential"
        case MostFrequent():
            # Permute-and-flip errs less at the same ε, but in zCDP the other choice costs a quarter as much.
            return "permute_and_flip" if currency == "epsilon" else "exponential"
        case _:
            return "laplace" if currency == "epsilon" else "gaussian"
