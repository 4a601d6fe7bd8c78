"""What would need less noise: the same question with fewer rows of a person, offered and never applied."""

from sfumato.answers.answer import CONFIDENCE
from sfumato.answers.columns import expected_error
from sfumato.answers.explain import Explanation
from sfumato.plan.caps import Caps
from sfumato.plan.nodes import Plan
from sfumato.plan.sources import unit_of
from sfumato.query.capping import AskedCaps
from sfumato.query.planned import Planned
from sfumato.query.rewrite import KeyColumn
from sfumato.schema.unit import Row

ONE_ROW = AskedCaps(max_rows=1)
ONE_IN_A_GROUP = AskedCaps(max_rows_per_group=1)
MEANING = {
    ONE_ROW: ("--max-rows 1", "one row of each person counts"),
    ONE_IN_A_GROUP: ("--max-rows-per-group 1", "one row of each person counts in each group"),
}


def cheaper(plan: Plan) -> list[AskedCaps]:
    """Caps that would lower the noise of a question that has none of its own."""
    if isinstance(unit_of(plan.table, plan.unit), Row) or plan.capped.rows == 1:
        return []
    caps = plan.capped
    several = bool(plan.keys) and Caps(caps.rows, caps.groups, 1).l2_squared < caps.l2_squared and caps.groups > 1
    return [*([ONE_IN_A_GROUP] if several else []), ONE_ROW]


def smaller_errors(explained: Explanation, other: Planned) -> dict[str, float]:
    """Of the columns whose error bars are known beforehand and smaller in another plan: these."""
    mechanisms = tuple(release.mechanism for release in other.certified.releases)
    errors = {
        column.name: expected_error(column, mechanisms, CONFIDENCE)
        for column in other.columns
        if not isinstance(column, KeyColumn)
    }
    return {
        name: error
        for name, error in errors.items()
        if error is not None and (before := explained.expected_error.get(name)) is not None and error < before
    }


def offered(explained: Explanation, caps: AskedCaps, other: Planned) -> str:
    """In words: what to type, what it counts, and the error bars that are known beforehand."""
    better = [
        f"{name} ±{error:.6g} instead of ±{explained.expected_error[name]:.6g}"
        for name, error in smaller_errors(explained, other).items()
    ]
    typed, meaning = MEANING[caps]
    return f"{typed}: {meaning}" + (f"; {', '.join(better)}" if better else "")
