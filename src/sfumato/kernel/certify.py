"""From a finished plan to what it may release: sensitivity and cost, derived here and nowhere else.

The planner proposes, this file disposes: a closed `match` over the nodes, and the last branch refuses.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from sfumato.errors import identifier_used, plan_refused, unknown_column
from sfumato.kernel.cost import Cost, Currency
from sfumato.kernel.mechanisms import DiscreteGaussian, DiscreteLaplace, Event, Mechanism
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Column,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.nodes import Aggregate, CentredSum, CountRows, CountValues, ListedKey, Measure, Plan, Sum
from sfumato.plan.sources import Lookup, OnUnit, PerUnit, Rows, Source, derive, unit_of
from sfumato.schema.columns import Identifier
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit

MOST_GROUPS = 100_000


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one unit can move the vector of all groups: its L1 and L2 norm are at most `bound`. `rule` says why."""

    bound: int
    rule: str


@dataclass(frozen=True, slots=True)
class CertifiedRelease:
    sensitivity: Sensitivity
    mechanism: Mechanism

    @property
    def event(self) -> Event:
        return self.mechanism.event(self.sensitivity.bound)


@dataclass(frozen=True, slots=True)
class Certified:
    """A plan the kernel will answer, one release a measure, with what it costs in all."""

    plan: Plan
    releases: tuple[CertifiedRelease, ...]
    cost: Cost
    digest: str


def certify(plan: Plan, schema: Schema, currency: Currency) -> Certified:
    """Derive sensitivity, mechanism and cost of every release of the plan, or refuse.

    Claim: releasing each measure's integers through its mechanism costs at most `cost` for the schema's unit,
    adding or removing one.
    Proof: docs/proofs/contribution-bounding.md
    """
    if plan.unit != schema.unit:
        raise plan_refused("it protects another unit or asks another table")
    columns = _certified_source(plan.table, schema)
    if not plan.measures:
        raise plan_refused("it measures nothing")
    if not 0 < plan.groups <= MOST_GROUPS:
        raise plan_refused(f"it has no group or more than {MOST_GROUPS}")
    for key in plan.keys:
        # A value listed twice would get two groups of which an engine fills one: harmless, but not what was meant.
        if (
            isinstance(key, ListedKey)
            and len({str(value).lower() if isinstance(value, bool) else str(value) for value in key.values}) < key.size
        ):
            raise plan_refused("a key lists a value twice")
    used = [key.column.name for key in plan.keys]
    if len(set(used)) < len(used):
        raise plan_refused("it groups by a column twice")
    used += _columns(plan.where) if plan.where is not None else []
    for measure in plan.measures:
        used += [] if isinstance(measure.aggregate, CountRows) else _columns(measure.aggregate.value)
    _check_columns(used, columns)
    unit = unit_of(plan.table, plan.unit)
    releases = tuple(_release(measure, unit, currency) for measure in plan.measures)
    total = sum((_price(release, currency) for release in releases), Fraction(0))
    return Certified(plan, releases, Cost(currency, total), plan.digest())


def _certified_source(source: Source, schema: Schema) -> Schema:
    """The columns the plan may use.

    Claim: the source keeps the unit (every row is of one unit and depends on that unit's rows and public tables
    alone), and no identifier is used on the way.
    Proof: docs/proofs/contribution-bounding.md, "Rows from several tables"
    """
    match source:
        case str():
            pass
        case Rows(source=inner, where=where, columns=computed):
            used = [name for column in computed for name in _columns(column.value)]
            _check_columns(used + ([] if where is None else _columns(where)), _certified_source(inner, schema))
        case PerUnit(source=inner, where=where, columns=folded):
            used = [name for column in folded for name in _columns(column.value)]
            _check_columns(used + ([] if where is None else _columns(where)), _certified_source(inner, schema))
        case Lookup(source=inner, column=name):
            _check_columns([name], _certified_source(inner, schema))
        case OnUnit(left=left, right=right, columns=taken):
            _certified_source(left, schema)
            _check_columns([column.column for column in taken], _certified_source(right, schema))
        case _:
            raise plan_refused(f"it holds an unknown {type(source).__name__}")
    return derive(source, schema)


def _check_columns(used: list[str], schema: Schema) -> None:
    for name in used:
        if name not in schema.columns:
            raise unknown_column(name, schema.visible)
        if isinstance(schema.columns[name], Identifier):
            raise identifier_used(name)


def _release(measure: Measure, unit: Unit, currency: Currency) -> CertifiedRelease:
    if type(measure.share) is not Fraction or measure.share <= 0:
        raise plan_refused("a release has no exact share of the spend")
    sensitivity = _sensitivity(measure.aggregate, unit)
    match measure.mechanism, currency:
        case "laplace", "epsilon":
            return CertifiedRelease(sensitivity, DiscreteLaplace.for_epsilon(measure.share, sensitivity.bound))
        case "gaussian", "rho":
            return CertifiedRelease(sensitivity, DiscreteGaussian.for_rho(measure.share, sensitivity.bound))
        case _:
            raise plan_refused(f"{measure.mechanism} noise is not paid in {currency}")


def _price(release: CertifiedRelease, currency: Currency) -> Fraction:
    """The cost by the mechanism's own theorem, not by the share that was asked for."""
    match release.mechanism:
        case DiscreteLaplace() as laplace if currency == "epsilon":
            return laplace.epsilon(release.sensitivity.bound)
        case mechanism:
            return mechanism.rho(release.sensitivity.bound)


def _sensitivity(aggregate: Aggregate, unit: Unit) -> Sensitivity:
    most, what = _most_per_row(aggregate)
    if most == 0:
        raise plan_refused("an aggregate is constant")
    match unit:
        case Row():
            return Sensitivity(most, f"one row adds at most {what} to one group")
        case Person(max_rows=rows):
            return Sensitivity(rows * most, f"one person adds at most {rows} rows, each at most {what}")
        case _:
            assert_never(unit)


def _most_per_row(aggregate: Aggregate) -> tuple[int, str]:
    """The largest size of one row's contribution, in steps of the aggregate's lattice."""
    match aggregate:
        case CountRows() | CountValues():
            return 1, "1"
        case Sum(lattice=lattice):
            most = max(abs(lattice.lower), abs(lattice.upper))
            return most, f"max(|{lattice.lower}|, |{lattice.upper}|) = {most} steps of 2^{lattice.exponent}"
        case CentredSum(lattice=lattice):
            centre = lattice.centre
            most = max(lattice.upper - centre, centre - lattice.lower)
            return most, f"({lattice.upper} - {lattice.lower})/2 rounded up = {most} steps of 2^{lattice.exponent}"
        case _:
            assert_never(aggregate)


def _columns(node: Expression | Condition) -> list[str]:
    match node:
        case Column(name=name):
            return [name]
        case Number() | String():
            return []
        case Arithmetic(left=left, right=right) | Comparison(left=left, right=right):
            return _columns(left) + _columns(right)
        case Negative(operand=operand) | OneOf(operand=operand) | IsNull(operand=operand):
            return _columns(operand)
        case Not(operand=condition):
            return _columns(condition)
        case AllOf(operands=conditions) | AnyOf(operands=conditions):
            return [name for condition in conditions for name in _columns(condition)]
        case _:
            raise plan_refused(f"it holds an unknown {type(node).__name__}")
