"""One mechanism and one share of the spend for every aggregate."""

from fractions import Fraction

from sfumato.kernel.cost import Cost
from sfumato.plan.nodes import Measure, MechanismName, Plan
from sfumato.query.bind import BoundQuestion
from sfumato.query.rewrite import Draft
from sfumato.schema.table import Schema


def allocate(question: BoundQuestion, draft: Draft, schema: Schema, spend: Cost) -> Plan:
    """Shares in proportion to the weights; they add up to the spend exactly."""
    mechanism: MechanismName = "laplace" if spend.currency == "epsilon" else "gaussian"
    whole = sum(draft.weights, Fraction(0))
    measures = tuple(
        Measure(aggregate, mechanism, spend.amount * weight / whole)
        for aggregate, weight in zip(draft.aggregates, draft.weights, strict=True)
    )
    return Plan(question.table, schema.unit, question.where, question.keys, measures)
