"""One mechanism and one share of the spend for every aggregate."""

from fractions import Fraction

from sfumato.kernel.cost import Cost, Currency
from sfumato.plan.nodes import Aggregate, Measure, MechanismName, MostFrequent, Plan, Quantiles
from sfumato.query.bind import BoundQuestion
from sfumato.query.rewrite import Draft
from sfumato.schema.table import Schema


def allocate(question: BoundQuestion, draft: Draft, schema: Schema, spend: Cost) -> Plan:
    """Shares in proportion to the weights; they add up to the spend exactly."""
    whole = sum(draft.weights, Fraction(0))
    measures = tuple(
        Measure(aggregate, _mechanism(aggregate, spend.currency), spend.amount * weight / whole)
        for aggregate, weight in zip(draft.aggregates, draft.weights, strict=True)
    )
    return Plan(schema.table, schema.unit, question.where, question.keys, measures)


def _mechanism(aggregate: Aggregate, currency: Currency) -> MechanismName:
    match aggregate:
        case Quantiles():
            return "exponential"
        case MostFrequent():
            # Permute-and-flip errs less at the same ε, but in zCDP the other choice costs a quarter as much.
            return "permute_and_flip" if currency == "epsilon" else "exponential"
        case _:
            return "laplace" if currency == "epsilon" else "gaussian"
