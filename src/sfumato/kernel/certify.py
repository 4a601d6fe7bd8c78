"""From a finished plan to what it may release: sensitivity and cost, derived here and nowhere else.

The planner proposes, this file disposes: a closed `match` over the nodes, and the last branch refuses.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import assert_never

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Cost, Currency
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, Event
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.kernel.mechanisms.found_bounds import BoundedSum
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.ranks import RankChoice, root_below
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.plan.expressions import Column, Expression
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
    RangeKey,
    Sum,
    SumInCells,
    UnboundedSum,
)
from sfumato.plan.sources import derive, unit_of
from sfumato.plan.totality import check, known
from sfumato.schema.columns import plain_text
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
    """A plan the kernel will answer, one release a measure, what it costs in all, and the schema it was read with."""

    plan: Plan
    schema: Schema
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
    adding or removing one. No expression of the plan fails on any row of any table (`plan.totality`).
    Proof: docs/proofs/contribution-bounding.md
    """
    if plan.unit != schema.unit:
        raise plan_refused("it protects another unit or asks another table")
    columns = derive(plan.table, schema)
    if not plan.measures:
        raise plan_refused("it measures nothing")
    if not 0 < plan.groups <= MOST_GROUPS:
        raise plan_refused(f"it has no group or more than {MOST_GROUPS}")
    for measure in plan.measures:
        size, most = _size(measure.aggregate)
        if size * plan.groups > most:
            raise plan_refused(f"it has more than {most} cells in all groups")
    if any(isinstance(key, Grid | Magnitudes) for key in plan.keys):
        raise plan_refused("it groups by a grid or by magnitudes")
    for key in plan.keys:
        _check_cells(key, columns)
    grouped = [key.expression for key in plan.keys if not isinstance(key, Grid | Magnitudes)]
    if len(set(grouped)) < len(grouped):
        raise plan_refused("it groups by the same twice")
    if plan.where is not None:
        check(plan.where, columns)
    for measure in plan.measures:
        _check_aggregate(measure.aggregate, columns)
    releases = tuple(_release(measure, plan, currency) for measure in plan.measures)
    total = sum((_price(release, currency) for release in releases), Fraction(0))
    selection = _selection(plan, currency)
    if selection is None:
        return Certified(plan, schema, releases, Cost(currency, total), plan.digest())
    # (ε, δ)-DP is δ-approximate ε²/2-zCDP.
    cost = Cost(currency, total + selection.epsilon**2 / 2, selection.delta)
    return Certified(plan, schema, releases, cost, plan.digest(), selection)


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


def _check_aggregate(aggregate: Aggregate, schema: Schema) -> None:
    """Refuse an aggregate whose value is missing, an identifier, of another kind than is added up, or not total."""
    match aggregate:
        case CountRows() | CountPeople():
            pass
        case CountValues(value=value) | CountDistinct(value=value):
            known(value, schema)
        case Sum(value=value) | CentredSum(value=value):
            _check_number(value, schema)
        case UnboundedSum(cells=sizes):
            _check_number(sizes.value, schema)
        case Histogram(cells=cells) | Cumulative(cells=cells) | Quantiles(cells=cells) | MostFrequent(cells=cells):
            _check_cells(cells, schema)
        case SumInCells():
            raise plan_refused("it adds up cells")
        case _:
            raise plan_refused(f"it holds an unknown {type(aggregate).__name__}")


def _check_cells(cells: Cells | OpenKey | Magnitudes, schema: Schema) -> None:
    """Refuse what rows are not counted by, or not by an expression of this kind."""
    match cells:
        case Grid(value=value) | RangeKey(expression=value):
            _check_number(value, schema)
        case ListedKey(expression=value, values=values):
            types = {type(listed) for listed in values}
            if len({plain_text(listed) for listed in values}) < cells.size:
                # It would get two groups of which an engine fills one, or be no list to an engine.
                raise plan_refused("a key lists a value twice")
            if len(types) > 1 or (known(value, schema).kind == "number") != (types == {int}):
                raise plan_refused("a key lists values of another kind than its own")
        case OpenKey(expression=Column() as column):
            if known(column, schema).kind != "text":
                raise plan_refused("keys that are found are texts")
        case _:
            raise plan_refused(f"it holds an unknown {type(cells).__name__}")


def _check_number(value: Expression, schema: Schema) -> None:
    if known(value, schema).kind != "number":
        raise plan_refused("it adds up, or puts into cells, what is no number")
