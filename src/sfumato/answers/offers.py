"""What would need less noise: the same question with fewer rows of a person, offered and never applied."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any

from sfumato.answers.columns import CONFIDENCE, Noises, expected_error, interval_of, value_of
from sfumato.answers.rounding import bar, margin
from sfumato.answers.supposed import supposed_error
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
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


# The error bar of a mean in a plan whose rows are so many times fewer.
ErrorOfMean = Callable[[MeanColumn, Certified, int], float | None]


@dataclass(frozen=True, slots=True)
class Bars:
    """The error bar of a mean, and what it is with other caps if nobody loses a row, and if everybody loses most."""

    now: float
    best: float
    worst: float

    @property
    def in_words(self) -> str:
        low, high = f"{self.best:,.3g}", f"{self.worst:,.3g}"
        to = "" if low == high else f" to ±{high}, the more rows people have the wider,"
        return f"±{low}{to} instead of ±{self.now:,.3g}"


@dataclass(frozen=True, slots=True)
class Offer:
    """Other caps; error bars that are known beforehand, now and with them; and how many times less noise means get.

    `bars`: of means, where it is known or supposed how many rows there are.
    """

    caps: AskedCaps
    errors: Mapping[str, tuple[float, float]]
    means: Mapping[str, float]
    bars: Mapping[str, Bars] = field(default_factory=dict)

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
            *(
                f"{name} {self.bars[name].in_words}"
                if name in self.bars
                else f"{name} {less:,.3g} times less, on the rows that count"
                for name, less in means.items()
            ),
        ]


def cheaper(certified: Certified, columns: tuple[OutputColumn, ...], rows: int | None = None) -> tuple[str, ...]:
    """For `explain`: everything that would lower the noise. rows: about how many a group has, as is guessed."""

    def error(column: MeanColumn, other: Certified, times: int) -> float | None:
        return None if rows is None else supposed_error(column, columns, other, -(-rows // times), CONFIDENCE)

    return (
        *(offer.in_words for offer in _offers(certified, columns, error)),
        *_by_person(certified, columns, error),
    )


def offer_notes(
    certified: Certified, columns: tuple[OutputColumn, ...], values: Sequence[tuple[Released, ...]] = ()
) -> tuple[str, ...]:
    """Under an answer: what would lower its noise by much. A single group says how many rows there are."""

    def error(column: MeanColumn, other: Certified, times: int) -> float | None:
        return _error_at(column, values[0], other, times) if len(values) == 1 else None

    found = [offer.note for offer in _offers(certified, columns, error)]
    if certified.plan.capped.rows > WORTH_A_NOTE:
        found += [f"{means}." for means in _by_person(certified, columns, error)]
    return tuple(note for note in found if note)


def _error_at(column: MeanColumn, released: tuple[Released, ...], other: Certified, times: int) -> float | None:
    """The error bar of the same mean over so many times fewer rows than were released; None where noise hides these."""
    numbers: tuple[Any, ...] = released
    many = numbers[column.count]
    if many <= 0:
        return None
    fewer = list(numbers)
    fewer[column.count] = -(-many // times)
    fewer[column.total] = round(Fraction(numbers[column.total] * fewer[column.count], many))
    mechanisms = _mechanisms(other)
    interval = interval_of(column, tuple(fewer), Noises(mechanisms, CONFIDENCE))
    found = margin(interval, value_of(column, (), tuple(fewer), mechanisms))
    return float(found) if isinstance(found, int | float) else None


def _offers(certified: Certified, columns: tuple[OutputColumn, ...], error: ErrorOfMean) -> list[Offer]:
    """Of a question that counts what the owner has declared: other caps that lower its noise."""
    plan, schema = certified.plan, certified.schema
    if (plan.unit, plan.caps) != OWNERS.of(plan.table, schema):
        return []
    found = []
    for caps in _fewer(plan):
        other = certify(with_caps(plan, caps.of(plan.table, schema)[1]), schema, certified.cost.currency)
        bars = {}
        # A person's one row of all may lie in another group: of that group nothing is known.
        if caps is ONE_IN_A_GROUP or not plan.keys:
            means = [column for column in columns if isinstance(column, MeanColumn)]
            bars = {column.name: known for column in means if (known := _bars(certified, other, column, error))}
        less = _less_noise(certified, other, columns)
        found.append(Offer(caps, smaller_errors(certified, other, columns), less, bars))
    return found


def _bars(certified: Certified, other: Certified, column: MeanColumn, error: ErrorOfMean) -> Bars | None:
    """In a group one row of a person counts instead of up to so many: rows are that many times fewer at most."""
    caps = certified.plan.capped
    now, best = error(column, certified, 1), error(column, other, 1)
    worst = error(column, other, min(caps.rows, caps.rows_per_group))
    return None if now is None or best is None or worst is None else Bars(now, best, worst)


def _by_person(certified: Certified, columns: tuple[OutputColumn, ...], error: ErrorOfMean) -> list[str]:
    """A mean over rows as a mean of people's means: one row of a person, whatever the caps. It is another question."""
    plan = certified.plan
    if not isinstance(plan.unit, Person) or plan.capped.rows == 1:
        return []
    found = []
    for column in columns:
        aggregate = plan.measures[column.total].aggregate if isinstance(column, MeanColumn) else None
        if isinstance(column, MeanColumn) and isinstance(aggregate, CentredSum) and isinstance(aggregate.value, Column):
            name, who = aggregate.value.name, plan.unit.id
            one = certify(with_caps(plan, Caps(1, 1, 1)), certified.schema, certified.cost.currency)
            bars = None if plan.keys else _bars(certified, one, column, error)
            found.append(
                f"{column.name}: AVG({name}) of each person in a sub-query (GROUP BY {who}), and AVG of that, is the "
                "mean of people's means, another question in which one row of each person counts"
                + (f"; {bars.in_words}" if bars is not None else "")
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
