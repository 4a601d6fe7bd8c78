"""From a finished plan to what it may release: sensitivity and cost, derived here and nowhere else.

The planner proposes, this file disposes: a closed `match` over the nodes, and the last branch refuses.
"""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import plan_refused, so_many
from sfumato.kernel.ceilings import check_ceilings
from sfumato.kernel.cost import Cost, Currency
from sfumato.kernel.lines import Line
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.choice import FrequencyChoice
from sfumato.kernel.mechanisms.found_bounds import BoundedSum
from sfumato.kernel.mechanisms.found_ends import FoundEnds
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.protocol import Event, Mechanism
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.mechanisms.running import Strategy
from sfumato.kernel.mechanisms.splits import MOVED, QuestionChoice
from sfumato.kernel.wordings import mechanism_switched_off
from sfumato.plan.counting import Counted, Counting, SumInCell, countings
from sfumato.plan.expressions import Column, Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    BetweenEnds,
    Cells,
    CellSum,
    CentredSum,
    Choose,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Histogram,
    Key,
    ListedKey,
    Magnitudes,
    Measure,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    RangeKey,
    Sum,
    UnboundedSum,
)
from sfumato.plan.sources import derive, unit_of
from sfumato.plan.totality import check, check_cells, known
from sfumato.plan.work import check_work
from sfumato.schema.allow import Family
from sfumato.schema.columns import Date, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit, UpTo

MOST_GROUPS = 100_000
MOST_CELLS = 1 << 27  # of which an engine returns those that have rows
MOST_COUNTED = 1 << 22  # cells that get noise of their own and are not released


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one unit moves the integers of all groups: by `l1` in L1 norm, by √`l2_squared` in L2; `rule` says why.

    Of ranks, choices and found bounds: the rows that one unit has in all groups, and the largest sum of the squares of
    those in each.
    """

    l1: int
    l2_squared: int
    rule: str

    def __post_init__(self) -> None:
        # Whole numbers are no larger than their squares, and a vector is no longer than the sum of its sizes.
        if not 0 < self.l1 <= self.l2_squared <= self.l1**2:
            raise ValueError("no vector of whole numbers has these norms")


@dataclass(frozen=True, slots=True)
class CertifiedRelease:
    sensitivity: Sensitivity
    mechanism: Mechanism


@dataclass(frozen=True, slots=True)
class Certified:
    """A plan the kernel can answer: what an engine counts for it, one release a measure, and what it costs in all.

    `switched_off` are the families of mechanisms that it needs and the owner does not allow. Such a plan is certified
    all the same, because what it bought before is free: its digest finds the stored release. Nothing new is drawn for
    it: `demand_allowed` refuses, and is asked by the ledger before it hands out a receipt, new or old, and by the gate.
    """

    plan: Plan
    schema: Schema
    countings: tuple[Counting, ...]
    releases: tuple[CertifiedRelease, ...]
    cost: Cost
    digest: str
    selection: KeySelection | None = None
    switched_off: tuple[Family, ...] = ()

    @property
    def events(self) -> list[Event]:
        return [mechanism.event() for mechanism in _used(self.releases, self.selection)]

    def demand_allowed(self) -> None:
        """Refuse if the owner has switched a mechanism off that this plan needs."""
        if self.switched_off:
            raise mechanism_switched_off(self.switched_off[0])


def certify(plan: Plan, schema: Schema, currency: Currency) -> Certified:
    """Derive sensitivity, mechanism and cost of every release of the plan, or refuse.

    Claim: releasing each measure's integers through its mechanism costs at most `cost` for the schema's unit,
    adding or removing one. No expression of the plan fails on any row of any table (`plan.totality`),
    and what one row adds to the work of an engine is bounded (`plan.work`).
    Proof: docs/proofs/contribution-bounding.md
    """
    if plan.unit.whose != schema.unit.whose:
        raise plan_refused("it protects another unit or asks another table")
    if not (plan.measures or plan.open):
        raise plan_refused("it measures nothing")
    if not 0 < plan.groups <= MOST_GROUPS:
        raise plan_refused(f"it has no group or more than {MOST_GROUPS}")
    for measure in plan.measures:
        size, most = _size(measure.aggregate)
        if size * plan.groups > most:
            raise plan_refused(f"it has more than {most} cells in all groups")
    _check_shares(plan)
    digest = plan.digest()
    made = countings(plan, digest)
    for counting in made:
        _check_counting(counting, derive(counting.source, schema))
    check_ceilings(plan, schema)
    check_work(made, schema)
    counted = {place: counting for counting in made for place in counting.measures}
    releases = tuple(_release(measure, counted[place], plan, currency) for place, measure in enumerate(plan.measures))
    selection = _selection(plan, currency)
    if selection is not None and plan.selection is not None and plan.selection.by is not None:
        releases = _selecting(releases, plan, plan.selection.by, selection)
    used = _used(releases, selection)
    total = sum((mechanism.cost(currency) for mechanism in used), Fraction(0))
    cost = Cost(currency, total, Fraction(0) if selection is None else selection.delta)
    families = dict.fromkeys(mechanism.family for mechanism in used)
    switched_off = tuple(family for family in families if family not in schema.allow)
    return Certified(plan, schema, made, releases, cost, digest, selection, switched_off)


def _used(releases: tuple[CertifiedRelease, ...], selection: KeySelection | None) -> list[Mechanism]:
    """Every mechanism that is drawn from, once: the selection of keys may be that of a measure."""
    chosen: list[Mechanism] = [] if selection is None else [selection]
    return chosen + [release.mechanism for release in releases if release.mechanism is not selection]


def _check_shares(plan: Plan) -> None:
    selected = () if plan.selection is None else (plan.selection.share, plan.selection.delta)
    if any(type(share) is not Fraction for share in (*(measure.share for measure in plan.measures), *selected)):
        raise plan_refused("a release has no exact share of the spend")


def _check_counting(counting: Counting, columns: Schema) -> None:
    """Refuse a counting in which a row could make an engine fail, or that no rule bounds."""
    for key in counting.keys:
        _check_key(key, columns)
    if len({key.expression for key in counting.keys}) < len(counting.keys):
        raise plan_refused("it groups by the same twice")
    if counting.where is not None:
        check(counting.where, columns)
    if counting.cells is not None:
        _check_cells(counting.cells, columns)
    for counted in counting.counted:
        _check_counted(counted, columns, isinstance(counting.cells, Magnitudes))


def _selection(plan: Plan, currency: Currency) -> KeySelection | None:
    """How values of open keys are found. Proof: docs/proofs/key-selection.md"""
    if plan.open and isinstance(plan.unit, UpTo):
        raise plan_refused("it finds keys by the number of people who hold them, and knows nobody")
    if not plan.open:
        if plan.selection is not None:
            raise plan_refused("it pays for finding keys and has none to find")
        return None
    wanted = plan.selection
    if wanted is None or currency != "rho" or not 0 < wanted.delta < 1:
        raise plan_refused("it does not pay for the keys that it has to find")
    share = wanted.share
    if wanted.by is not None:
        if share or type(wanted.by) is not int or not 0 <= wanted.by < len(plan.measures):
            raise plan_refused("it pays twice for the keys that it has to find, or with nothing")
        share = plan.measures[wanted.by].share
    if share <= 0:
        raise plan_refused("it does not pay for the keys that it has to find")
    groups = plan.capped.groups
    if wanted.weighted and (groups == 1 or wanted.by is not None):  # a sum of weights is no count
        raise plan_refused("keys are found by weights where there is one, or where they would be shown as counts")
    try:
        selection = KeySelection(share, wanted.delta, groups, wanted.weighted)
        _ = selection.threshold  # worked out before anything is paid
    except ValueError as error:
        raise plan_refused("with so small a share no number of units would make a key sure to be shown") from error
    return selection


def _selecting(
    releases: tuple[CertifiedRelease, ...], plan: Plan, by: int, selection: KeySelection
) -> tuple[CertifiedRelease, ...]:
    """The releases, of which one is the selection itself.

    Claim: the integers of that measure are the numbers of units that select, and its noise is that of the selection.
    Proof: a unit counts once in each of its groups, where a person is counted and where a row is a person.
    """
    release, measure = releases[by], plan.measures[by]
    of_units = isinstance(measure.aggregate, CountPeople) or (
        isinstance(measure.aggregate, CountRows) and isinstance(unit_of(plan.table, plan.unit), Row)
    )
    if not of_units or release.mechanism != Additive(selection.law, plan.capped.groups, plan.capped.groups):
        raise plan_refused("keys are found by what does not count units")
    return *releases[:by], CertifiedRelease(release.sensitivity, selection), *releases[by + 1 :]


def _release(measure: Measure, counting: Counting, plan: Plan, currency: Currency) -> CertifiedRelease:
    share = measure.share
    if share <= 0:
        raise plan_refused("a release has no share of the spend")
    strategy = strategy_of(measure.aggregate, currency)
    sensitivity = _sensitivity(measure.aggregate, counting, plan.unit, strategy)
    try:
        return CertifiedRelease(sensitivity, _mechanism(measure, sensitivity, strategy, currency))
    except ValueError as error:  # a rate that is 0 when it is rounded down
        raise plan_refused("with so small a share nothing could be chosen") from error


def _mechanism(measure: Measure, sensitivity: Sensitivity, strategy: Strategy | None, currency: Currency) -> Mechanism:
    share, l1, l2_squared = measure.share, sensitivity.l1, sensitivity.l2_squared
    match measure.aggregate, measure.mechanism, currency:
        case Quantiles(cells=cells, levels=levels), "exponential", _:
            # Values as they stand in a column share round numbers; of what is computed that is not so.
            line = (cells.lower, cells.width) if isinstance(cells.value, Column) else None
            return RankChoice.for_share(share, currency, l1, l2_squared, levels, cells.size, line)
        case Quantiles(), _, _:
            pass
        case (MostFrequent(cells=cells), "permute_and_flip", "epsilon") | (
            MostFrequent(cells=cells),
            "exponential",
            "rho",
        ):
            return FrequencyChoice.for_share(share, currency, l1, l2_squared, cells.size)
        case (Choose() as asked, "permute_and_flip", "epsilon") | (Choose() as asked, "exponential", "rho"):
            return QuestionChoice.for_share(share, currency, l1, l2_squared, asked)
        case ((MostFrequent() | Choose()), _, _):
            pass
        case (aggregate, "laplace", "epsilon") | (aggregate, "gaussian", "rho"):
            if isinstance(aggregate, UnboundedSum):
                edges = aggregate.cells.edges
                return BoundedSum.for_share(share, currency, l1, l2_squared, edges, aggregate.finding)
            if isinstance(aggregate, BetweenEnds):
                between = aggregate.finding, aggregate.wanted, aggregate.bins
                return FoundEnds.for_share(share, currency, l1, l2_squared, line_of(aggregate), *between)
            size = aggregate.cells.size if isinstance(aggregate, Histogram | CellSum | Cumulative) else None
            sums = isinstance(aggregate, CellSum)
            return Additive.for_share(share, currency, l1, l2_squared, size, strategy, sums=sums)
    raise plan_refused(f"{measure.mechanism.replace('_', ' ')} noise is not for this, or not paid in {currency}")


def line_of(aggregate: BetweenEnds) -> Line:
    cells = aggregate.cells
    return Line(cells.size, cells.lower, cells.width, aggregate.step)


def strategy_of(aggregate: Aggregate, currency: Currency) -> Strategy | None:
    """What is measured in place of the cells themselves."""
    match aggregate:
        case Cumulative(cells=cells):
            return Strategy("tree" if currency == "epsilon" else "roots", cells.size)
        case _:
            return None


def _sensitivity(aggregate: Aggregate, counting: Counting, unit: Unit, strategy: Strategy | None) -> Sensitivity:
    """What one row adds, times the rows of one unit that count, in both norms."""
    caps = counting.caps
    if isinstance(aggregate, CountPeople | CountCut):
        if not isinstance(unit, Person):
            raise plan_refused("it counts people in a table that does not tell them apart")
        if isinstance(aggregate, CountCut) and not isinstance(counting.unit, Person):
            raise plan_refused("nobody is cut off where everybody has one row")
        groups = so_many(caps.groups, "group")
        return Sensitivity(caps.groups, caps.groups, f"one person counts once in each of at most {groups}")
    most, what = _most_per_row(aggregate)
    if most == 0:
        raise plan_refused("an aggregate is constant")
    if isinstance(counting.unit, Row):
        rule = f"one row adds at most {what} to one group"
    elif isinstance(counting.unit, UpTo):
        rows = so_many(caps.rows, "row")
        rule = f"one person has at most {rows}, each adds at most {what}, and all may lie in one group"
    else:
        each = f" ({caps.rows_per_group} in a group)" if caps.rows_per_group < caps.l1 else ""
        rule = f"one person adds at most {so_many(caps.l1, 'row')}{each}, each at most {what}"
    if strategy is not None:
        rule += f"; a cell counts in sums of {strategy.most} in all (of squares {strategy.spread_squared})"
        return Sensitivity(caps.l1 * strategy.most, caps.l2_squared * strategy.spread_squared, rule)
    return Sensitivity(caps.l1 * most, caps.l2_squared * most**2, rule)


def _most_per_row(aggregate: Aggregate) -> tuple[int, str]:
    """The largest size of one row's contribution, in steps of the aggregate's lattice."""
    match aggregate:
        case CountRows() | CountValues() | CountDistinct():
            return 1, "1"
        case Histogram() | Cumulative() | Quantiles() | MostFrequent():
            return 1, "1 in one cell"
        case Choose(score=score):
            return 1, f"1 in one cell of every table, by which no score moves more than {MOVED[score][0]}"
        case UnboundedSum():
            return 1, "1 in one cell of magnitudes and then, to the sum, the larger of the bounds found"
        case BetweenEnds():
            return 1, "1 in one cell and then, to sums, what the found ends are apart"
        case Sum(lattice=lattice) | CellSum(lattice=lattice):
            most = max(abs(lattice.lower), abs(lattice.upper))
            lower, upper, each = (_in_units(steps, lattice) for steps in (lattice.lower, lattice.upper, most))
            return most, f"max(|{lower}|, |{upper}|) = {each}"
        case CentredSum(lattice=lattice):
            centre = lattice.centre
            most = max(lattice.upper - centre, centre - lattice.lower)
            lower, upper, each = (_in_units(steps, lattice) for steps in (lattice.lower, lattice.upper, most))
            return most, f"half of what {lower} and {upper} are apart = {each}"
        case _:
            raise plan_refused(f"it holds an unknown {type(aggregate).__name__}")


def _in_units(steps: int, lattice: Lattice) -> str:
    """So many steps as people know them, for the words of a rule alone."""
    return f"{float(steps * lattice.step):,.6g}"


def _size(aggregate: Aggregate) -> tuple[int, int]:
    """The number of cells, and how many there may be in all groups."""
    match aggregate:
        case Histogram(cells=cells) | CellSum(cells=cells) | Cumulative(cells=cells) | MostFrequent(cells=cells):
            return cells.size, MOST_GROUPS
        case Choose(counted=tables) as asked:
            return max(sum(cells.size for cells in tables), asked.children), MOST_COUNTED
        case Quantiles(cells=cells):
            return cells.size, MOST_CELLS
        case UnboundedSum(cells=sizes):
            return sizes.size, MOST_COUNTED
        case BetweenEnds(cells=cells, bins=bins):
            # Few cells get noise, and these are no more than of a histogram.
            return max(cells.size, bins * MOST_CELLS // MOST_GROUPS), MOST_CELLS
        case _:
            return 1, MOST_GROUPS


def _check_counted(counted: Counted, columns: Schema, magnitudes: bool) -> None:
    """Refuse what is counted if its value is missing, an identifier, of another kind than is added up, or not total."""
    match counted:
        case CountRows() | CountPeople() | CountCut():
            pass
        case SumInCell():
            if not magnitudes:
                raise plan_refused("it adds up cells")
        case CountValues(value=value) | CountDistinct(value=value):
            known(value, columns)
        case Sum(value=value) | CentredSum(value=value):
            _check_number(value, columns)
        case _:
            raise plan_refused(f"it holds an unknown {type(counted).__name__}")


def _check_cells(cells: Cells | Magnitudes, columns: Schema) -> None:
    """Refuse cells that rows are not counted by, or not by an expression of this kind."""
    match cells:
        case Magnitudes(value=value):
            _check_number(value, columns)
        case _:
            check_cells(cells, columns)


def _check_key(key: Key | OpenKey, columns: Schema) -> None:
    """Refuse what rows are not grouped by, or not by an expression of this kind."""
    match key:
        case ListedKey() | RangeKey():
            check_cells(key, columns)
        case OpenKey(expression=Column() as column):
            if known(column, columns).kind != "text" and not isinstance(columns.columns[column.name], Int | Date):
                raise plan_refused("keys that are found are texts, whole numbers or days")
        case _:
            raise plan_refused(f"it holds an unknown {type(key).__name__}")


def _check_number(value: Expression, columns: Schema) -> None:
    if known(value, columns).kind != "number":
        raise plan_refused("it adds up, or puts into cells, what is no number")
