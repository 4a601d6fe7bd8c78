"""From a finished plan to what it may release: sensitivity and cost, derived here and nowhere else.

The planner proposes, this file disposes: a closed `match` over the nodes, and the last branch refuses.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import assert_never

from sfumato.errors import identifier_used, plan_refused, unknown_column
from sfumato.kernel.bounds import BoundedSum
from sfumato.kernel.choice import Exponential, PermuteAndFlip
from sfumato.kernel.cost import Cost, Currency
from sfumato.kernel.mechanisms import DiscreteGaussian, DiscreteLaplace, Event
from sfumato.kernel.ranks import RankChoice, root_below
from sfumato.kernel.selection import KeySelection
from sfumato.kernel.strategies import Strategy
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    String,
    parts,
)
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.nodes import (
    Aggregate,
    Cells,
    CentredSum,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Grid,
    Histogram,
    ListedKey,
    Magnitudes,
    Measure,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    Sum,
    SumInCells,
    UnboundedSum,
)
from sfumato.plan.sources import MOST_MULTIPLIED, Lookup, OnUnit, PerUnit, Rows, Source, derive, multiplied, unit_of
from sfumato.schema.columns import Identifier
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

MOST_GROUPS = 100_000
MOST_CELLS = 1 << 27  # of which an engine returns those that have rows
MOST_COUNTED = 1 << 22  # cells that get noise of their own and are not released


Mechanism = DiscreteLaplace | DiscreteGaussian | RankChoice | PermuteAndFlip | Exponential | BoundedSum


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one unit can move the vector of all groups: by `bound` in L1 norm, by `length` in L2. `rule` says why."""

    bound: int
    rule: str
    length: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", self.length or self.bound)


@dataclass(frozen=True, slots=True)
class CertifiedRelease:
    sensitivity: Sensitivity
    mechanism: Mechanism
    strategy: Strategy | None = None

    @property
    def event(self) -> Event:
        match self.mechanism:
            case DiscreteLaplace() as laplace:
                return laplace.event(self.sensitivity.bound)
            case DiscreteGaussian() as gaussian:
                return gaussian.event(self.sensitivity.length)
            case choice:
                return choice.event()


@dataclass(frozen=True, slots=True)
class Certified:
    """A plan the kernel will answer, one release a measure, with what it costs in all."""

    plan: Plan
    releases: tuple[CertifiedRelease, ...]
    cost: Cost
    digest: str
    selection: KeySelection | None = None

    @property
    def events(self) -> list[Event]:
        chosen = [] if self.selection is None else [self.selection.event()]
        return chosen + [release.event for release in self.releases]


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
    for measure in plan.measures:
        size, most = _size(measure.aggregate)
        if size * plan.groups > most:
            raise plan_refused(f"it has more than {most} cells in all groups")
    for key in plan.keys:
        # A value listed twice would get two groups of which an engine fills one: harmless, but not what was meant.
        if (
            isinstance(key, ListedKey)
            and len({str(value).lower() if isinstance(value, bool) else str(value) for value in key.values}) < key.size
        ):
            raise plan_refused("a key lists a value twice")
    if any(isinstance(key, Grid | Magnitudes) for key in plan.keys):
        raise plan_refused("it groups by a grid or by magnitudes")
    grouped = [key.expression for key in plan.keys if not isinstance(key, Grid | Magnitudes)]
    if len(set(grouped)) < len(grouped):
        raise plan_refused("it groups by the same twice")
    used = [name for key in grouped for name in _columns(key)]
    used += _columns(plan.where) if plan.where is not None else []
    for measure in plan.measures:
        used += _used(measure.aggregate)
    _check_columns(used, columns)
    releases = tuple(_release(measure, plan, currency) for measure in plan.measures)
    total = sum((_price(release, currency) for release in releases), Fraction(0))
    selection = _selection(plan, currency)
    if selection is None:
        return Certified(plan, releases, Cost(currency, total), plan.digest())
    # (ε, δ)-DP is δ-approximate ε²/2-zCDP.
    cost = Cost(currency, total + selection.epsilon**2 / 2, selection.delta)
    return Certified(plan, releases, cost, plan.digest(), selection)


def _certified_source(source: Source, schema: Schema) -> Schema:
    """The columns the plan may use.

    Claim: the source keeps the unit (every row is of one unit and depends on that unit's rows and public tables
    alone), no identifier is used on the way, and a person's rows multiply once at most.
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
            if multiplied(source) > MOST_MULTIPLIED:
                raise plan_refused(f"it pairs more than {MOST_MULTIPLIED} tables with several rows a person")
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


def _selection(plan: Plan, currency: Currency) -> KeySelection | None:
    """How values of open keys are found. Proof: docs/proofs/key-selection.md"""
    if not plan.open:
        if plan.selection is not None:
            raise plan_refused("it pays for finding keys and has none to find")
        return None
    wanted = plan.selection
    if wanted is None or currency != "rho" or wanted.share <= 0 or not 0 < wanted.delta < 1:
        raise plan_refused("it does not pay for the keys that it has to find")
    if type(wanted.share) is not Fraction or type(wanted.delta) is not Fraction:
        raise plan_refused("a release has no exact share of the spend")
    unit = unit_of(plan.table, plan.unit)
    groups = unit.max_groups if isinstance(unit, Person) else 1
    try:
        selection = KeySelection(root_below(2 * wanted.share), wanted.delta, groups)
        selection.probability(1)  # its table is made before anything is paid
    except ValueError as error:
        raise plan_refused("with so small a share no number of units would make a key sure to be shown") from error
    return selection


def _release(measure: Measure, plan: Plan, currency: Currency) -> CertifiedRelease:
    share = measure.share
    if type(share) is not Fraction or share <= 0:
        raise plan_refused("a release has no exact share of the spend")
    strategy = strategy_of(measure.aggregate, currency)
    sensitivity = _sensitivity(measure.aggregate, plan, strategy)
    match measure.aggregate, measure.mechanism, currency:
        case Quantiles(cells=cells, levels=levels), "exponential", _:
            chooser = RankChoice.for_share(share, currency, levels, cells.size, sensitivity.bound)
            return CertifiedRelease(sensitivity, chooser)
        case Quantiles(), _, _:
            pass
        case MostFrequent(), "permute_and_flip", "epsilon":
            # With a unit more no count falls: the choice is monotone.
            return CertifiedRelease(sensitivity, PermuteAndFlip(share, Fraction(sensitivity.bound), monotone=True))
        case MostFrequent(), "exponential", "rho":
            epsilon = root_below(8 * share)
            return CertifiedRelease(sensitivity, Exponential(epsilon, Fraction(sensitivity.bound), monotone=True))
        case MostFrequent(), _, _:
            pass
        case (UnboundedSum(cells=sizes, finding=finding), "laplace", "epsilon") | (
            UnboundedSum(cells=sizes, finding=finding),
            "gaussian",
            "rho",
        ):
            bounded = BoundedSum.for_share(share, currency, finding, sensitivity.bound, sizes.edges)
            return CertifiedRelease(sensitivity, bounded)
        case _, "laplace", "epsilon":
            return CertifiedRelease(sensitivity, DiscreteLaplace.for_epsilon(share, sensitivity.bound), strategy)
        case _, "gaussian", "rho":
            return CertifiedRelease(sensitivity, DiscreteGaussian.for_rho(share, sensitivity.length), strategy)
    raise plan_refused(f"{measure.mechanism.replace('_', ' ')} noise is not for this, or not paid in {currency}")


def _price(release: CertifiedRelease, currency: Currency) -> Fraction:
    """The cost by the mechanism's own theorem, not by the share that was asked for."""
    match release.mechanism:
        case DiscreteLaplace() as laplace:
            bound = release.sensitivity.bound
            return laplace.epsilon(bound) if currency == "epsilon" else laplace.rho(bound)
        case DiscreteGaussian() as gaussian:
            return gaussian.rho(release.sensitivity.length)
        case RankChoice() as ranks:
            return ranks.epsilon() if currency == "epsilon" else ranks.rho()
        case BoundedSum() as bounded:
            return bounded.cost()
        case PermuteAndFlip() | Exponential() as choice:
            return choice.epsilon if currency == "epsilon" else choice.rho()
        case _:
            assert_never(release.mechanism)


def strategy_of(aggregate: Aggregate, currency: Currency) -> Strategy | None:
    """What is measured in place of the cells themselves."""
    match aggregate:
        case Cumulative(cells=cells):
            return Strategy("tree" if currency == "epsilon" else "roots", cells.size)
        case _:
            return None


def _sensitivity(aggregate: Aggregate, plan: Plan, strategy: Strategy | None) -> Sensitivity:
    unit = unit_of(plan.table, plan.unit)
    if isinstance(aggregate, CountPeople):
        if not isinstance(plan.unit, Person):
            raise plan_refused("it counts people in a table whose rows are protected")
        places = unit.max_groups if isinstance(unit, Person) else 1
        most = places if plan.open else min(places, plan.groups)
        return Sensitivity(most, f"one person counts once in each of at most {most} groups", isqrt(most - 1) + 1)
    most, what = _most_per_row(aggregate)
    if most == 0:
        raise plan_refused("an aggregate is constant")
    rows = unit.max_rows if isinstance(unit, Person) else 1
    match unit:
        case Row():
            rule = f"one row adds at most {what} to one group"
        case Person():
            rule = f"one person adds at most {rows} rows, each at most {what}"
        case _:
            assert_never(unit)
    if strategy is not None:
        rule += f"; a cell counts in sums of {strategy.most} in all (length {strategy.spread})"
        return Sensitivity(rows * strategy.most, rule, rows * strategy.spread)
    return Sensitivity(rows * most, rule)


def _most_per_row(aggregate: Aggregate) -> tuple[int, str]:
    """The largest size of one row's contribution, in steps of the aggregate's lattice."""
    match aggregate:
        case CountRows() | CountValues() | CountDistinct():
            return 1, "1"
        case Histogram() | Cumulative() | Quantiles() | MostFrequent():
            return 1, "1 in one cell"
        case UnboundedSum():
            return 1, "1 in one cell of magnitudes and then, to the sum, the larger of the bounds found"
        case Sum(lattice=lattice):
            most = max(abs(lattice.lower), abs(lattice.upper))
            return most, f"max(|{lattice.lower}|, |{lattice.upper}|) = {most} steps of 2^{lattice.exponent}"
        case CentredSum(lattice=lattice):
            centre = lattice.centre
            most = max(lattice.upper - centre, centre - lattice.lower)
            return most, f"({lattice.upper} - {lattice.lower})/2 rounded up = {most} steps of 2^{lattice.exponent}"
        case _:
            raise plan_refused(f"it holds an unknown {type(aggregate).__name__}")


def _size(aggregate: Aggregate) -> tuple[int, int]:
    """The number of cells, and how many there may be in all groups."""
    match aggregate:
        case Histogram(cells=cells) | Cumulative(cells=cells) | MostFrequent(cells=cells):
            return cells.size, MOST_GROUPS
        case Quantiles(cells=cells):
            return cells.size, MOST_CELLS
        case UnboundedSum(cells=sizes):
            return sizes.size, MOST_COUNTED
        case _:
            return 1, MOST_GROUPS


def _used(aggregate: Aggregate) -> list[str]:
    match aggregate:
        case CountRows() | CountPeople():
            return []
        case Histogram(cells=cells) | Cumulative(cells=cells) | Quantiles(cells=cells) | MostFrequent(cells=cells):
            return _cells(cells)
        case UnboundedSum(cells=sizes):
            return _columns(sizes.value)
        case SumInCells():
            raise plan_refused("it adds up cells")
        case _:
            return _columns(aggregate.value)


def _cells(cells: Cells | OpenKey) -> list[str]:
    match cells:
        case Grid(value=value):
            return _columns(value)
        case _:
            return _columns(cells.expression)


def _columns(node: Expression | Condition) -> list[str]:
    match node:
        case Column(name=name):
            return [name]
        case Call(name=function) if function not in FUNCTIONS:
            raise plan_refused("it calls an unknown function")
        case (
            Number() | String() | Day() | Arithmetic() | Negative() | Call() | Case()
            | Comparison() | OneOf() | Matches() | IsNull() | Not() | AllOf() | AnyOf()
        ):  # fmt: skip
            return [name for part in parts(node) for name in _columns(part)]
        case _:
            raise plan_refused(f"it holds an unknown {type(node).__name__}")
