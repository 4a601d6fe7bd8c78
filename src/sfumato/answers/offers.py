"""What would need less noise: the same question with fewer rows of a person, offered and never applied."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from sfumato.answers.columns import CONFIDENCE, expected_error
from sfumato.answers.rounding import bar
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.mechanisms.protocol import Mechanism
from sfumato.ledger.terms import Terms
from sfumato.plan.caps import Caps
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import CentredSum, Plan
from sfumato.plan.sources import unit_of
from sfumato.query.allocate import with_caps
from sfumato.query.capping import OWNERS, AskedCaps
from sfumato.query.planned import Planned, prepared
from sfumato.query.rewrite import KeyColumn, MeanColumn, OutputColumn
from sfumato.schema.budget import Budget
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

ONE_ROW = AskedCaps(max_rows=1)
ONE_IN_A_GROUP = AskedCaps(max_rows_per_group=1)
# As typed in Python and in the shell, and what counts then.
MEANING = {
    ONE_ROW: ("max_rows=1", "--max-rows 1", "one row of each person counts"),
    ONE_IN_A_GROUP: ("max_rows_per_group=1", "--max-rows-per-group 1", "one row of each person counts in each group"),
}
WORTH_A_NOTE = 2  # times less noise


@dataclass(frozen=True, slots=True)
class Offer:
    """Other caps; error bars that are known beforehand, now and with them; and how many times less noise means get."""

    caps: AskedCaps
    errors: Mapping[str, tuple[float, float]]
    means: Mapping[str, float]

    @property
    def in_words(self) -> str:
        """What to type in the shell, what it counts, and what that brings."""
        _, typed, meaning = MEANING[self.caps]
        return "; ".join([f"{typed}: {meaning}", *self._brought(1)])

    @property
    def note(self) -> str:
        """Nothing where it brings little."""
        name, typed, meaning = MEANING[self.caps]
        brought = self._brought(WORTH_A_NOTE)
        if not brought:
            return ""
        return f"Less noise with {name} ({typed}), another question in which {meaning}: {', '.join(brought)}."

    def _brought(self, times: float) -> list[str]:
        errors = {name: pair for name, pair in self.errors.items() if pair[0] > times * pair[1]}
        means = {name: less for name, less in self.means.items() if less > times}
        return [
            *(f"{name} ±{bar(then)} instead of ±{bar(now)}" for name, (now, then) in errors.items()),
            *(f"{name} {less:,.3g} times less, on the rows that count" for name, less in means.items()),
        ]


def cheaper(certified: Certified, columns: tuple[OutputColumn, ...]) -> tuple[str, ...]:
    """For `explain`: everything that would lower the noise."""
    return *(offer.in_words for offer in _offers(certified, columns)), *_by_person(certified, columns)


def offer_notes(certified: Certified, columns: tuple[OutputColumn, ...]) -> tuple[str, ...]:
    """Under an answer: what would lower its noise by much."""
    found = [offer.note for offer in _offers(certified, columns)]
    if certified.plan.capped.rows > WORTH_A_NOTE:
        found += [f"{means}." for means in _by_person(certified, columns)]
    return tuple(note for note in found if note)


def _offers(certified: Certified, columns: tuple[OutputColumn, ...]) -> list[Offer]:
    """Of a question that counts what the owner has declared: other caps that lower its noise."""
    plan, schema = certified.plan, certified.schema
    if (plan.unit, plan.caps) != OWNERS.of(plan.table, schema):
        return []
    found = []
    for caps in _fewer(plan):
        other = certify(with_caps(plan, caps.of(plan.table, schema)[1]), schema, certified.cost.currency)
        found.append(Offer(caps, smaller_errors(certified, other, columns), _less_noise(certified, other, columns)))
    return found


def _by_person(certified: Certified, columns: tuple[OutputColumn, ...]) -> list[str]:
    """A mean over rows as a mean of people's means: one row of a person, whatever the caps. It is another question."""
    plan = certified.plan
    if not isinstance(plan.unit, Person) or plan.capped.rows == 1:
        return []
    found = []
    for column in columns:
        aggregate = plan.measures[column.total].aggregate if isinstance(column, MeanColumn) else None
        if isinstance(aggregate, CentredSum) and isinstance(aggregate.value, Column):
            name, who = aggregate.value.name, plan.unit.id
            found.append(
                f"{column.name}: AVG({name}) of each person in a sub-query (GROUP BY {who}), and AVG of that, is the "
                "mean of people's means, another question in which one row of each person counts"
            )
    return found


def smaller_errors(
    certified: Certified, other: Certified, columns: tuple[OutputColumn, ...]
) -> dict[str, tuple[float, float]]:
    """Of the columns whose error bars are known beforehand and smaller in another plan: both."""
    mine, theirs = _mechanisms(certified), _mechanisms(other)
    found = {}
    for column in columns:
        if isinstance(column, KeyColumn):
            continue
        now, then = (expected_error(column, mechanisms, CONFIDENCE) for mechanisms in (mine, theirs))
        if now is not None and then is not None and then < now:
            found[column.name] = now, then
    return found


def without_delta(asked: Planned, spend: Fraction, terms: Terms, schema: Schema, caps: AskedCaps) -> dict[str, float]:
    """Error bars of the same question at the same spend, if the budget had no delta: those that are smaller.

    Laplace noise is smaller for one question; many of them together cost less with Gaussian noise.
    """
    if not terms.budget.delta or asked.certified.plan.open or asked.draft.clipping is not None:
        return {}
    pure = Terms(Budget(terms.budget.epsilon))
    (one,) = prepared([asked.question], schema, lambda: pure, spend, caps).planned
    errors = smaller_errors(asked.certified, one.certified, one.columns)
    return {name: then for name, (_, then) in errors.items()}


def _mechanisms(certified: Certified) -> tuple[Mechanism, ...]:
    return tuple(release.mechanism for release in certified.releases)


def _fewer(plan: Plan) -> list[AskedCaps]:
    """Caps that would lower the noise."""
    if not isinstance(unit_of(plan.table, plan.unit), Person) or plan.capped.rows == 1:
        return []
    caps = plan.capped
    several = bool(plan.keys) and Caps(caps.rows, caps.groups, 1).l2_squared < caps.l2_squared and caps.groups > 1
    return [*([ONE_IN_A_GROUP] if several else []), ONE_ROW]


def _less_noise(certified: Certified, other: Certified, columns: tuple[OutputColumn, ...]) -> dict[str, float]:
    """How many times smaller the noise of a mean's sum is."""
    found = {}
    for column in columns:
        if isinstance(column, MeanColumn):
            now, then = (each.releases[column.total].sensitivity for each in (certified, other))
            squared = certified.cost.currency == "rho"
            found[column.name] = sqrt(now.l2_squared / then.l2_squared) if squared else now.l1 / then.l1
    return found
