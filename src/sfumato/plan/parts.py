"""A plan as the counting queries an engine runs: each part is a plan of its own that `engines.sql.counting` can write.

Claim: one unit moves the integers of a part by at most what `kernel.certify` derives for its measures.
Proof: docs/proofs/contribution-bounding.md
"""

from dataclasses import dataclass, replace
from typing import Literal

from sfumato.plan.nodes import (
    Binned,
    Cells,
    CountDistinct,
    CountRows,
    Magnitudes,
    Measure,
    Plan,
    SumInCells,
    UnboundedSum,
)
from sfumato.schema.unit import Person


@dataclass(frozen=True, slots=True)
class Part:
    """`numbers`: an integer a group and measure. `cells`: rows a cell, which is one more key. `distinct`: values.

    `magnitudes`: rows and sum of a cell, which is one more key.
    """

    kind: Literal["numbers", "cells", "distinct", "magnitudes"]
    plan: Plan
    measures: tuple[int, ...]
    size: int = 1


def parts(plan: Plan) -> tuple[Part, ...]:
    """One part for all plain numbers, one for every line of cells and one for every count of different values."""
    numbers: list[int] = []
    found: dict[Cells | CountDistinct | Magnitudes, list[int]] = {}
    for place, measure in enumerate(plan.measures):
        match measure.aggregate:
            case CountDistinct() as distinct:
                found.setdefault(distinct, []).append(place)
            case UnboundedSum(cells=magnitudes):
                found.setdefault(magnitudes, []).append(place)
            case aggregate if isinstance(aggregate, Binned):
                found.setdefault(aggregate.cells, []).append(place)
            case _:
                numbers.append(place)
    plain = tuple(plan.measures[i] for i in numbers)
    made = [Part("numbers", replace(plan, measures=plain or _counted(plan.measures[0])), tuple(numbers))]
    for what, places in found.items():
        first = plan.measures[places[0]]
        if isinstance(what, CountDistinct):
            made.append(Part("distinct", replace(_spread(plan), measures=(first,)), tuple(places)))
            continue
        measured = _counted(first)
        if isinstance(what, Magnitudes):
            measured += (Measure(SumInCells(what), first.mechanism, first.share),)
        plan_of_cells = replace(_spread(plan), keys=(*plan.keys, what), measures=measured)
        kind: Literal["cells", "magnitudes"] = "magnitudes" if isinstance(what, Magnitudes) else "cells"
        made.append(Part(kind, plan_of_cells, tuple(places), what.size))
    # Open keys are found with the plain numbers, of which there may be none.
    return tuple(part for part in made if part.measures or plan.open)


def _counted(measure: Measure) -> tuple[Measure, ...]:
    return (Measure(CountRows(), measure.mechanism, measure.share),)


def _spread(plan: Plan) -> Plan:
    """A person may be in as many cells as they have rows: `max_rows` bounds them all."""
    if isinstance(plan.unit, Person):
        return replace(plan, unit=Person(plan.unit.id, plan.unit.max_rows, plan.unit.max_rows))
    return plan
