"""The same questions beside peers: at one price, with one clamp and the same caps, whose answer errs more?

Where noise is added, by the scales that both state; where something is chosen, found or selected, by 400 runs of both,
on the integers that our engine counted.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks.measure import Report
from benchmarks.real import peers
from benchmarks.real.cases import CASES, POLICIES, Case
from benchmarks.real.ratios import ALIKE, WORSE, Ratio, of_runs, stated
from benchmarks.real.truth import by_key, key_of, noiseless, opened, tables, truth_of
from benchmarks.repeated import Counted, Counting
from sfumato.answers.columns import value_of
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace, Law
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import CentredSum, CountPeople, CountValues, Plan, Quantiles, Sum, UnboundedSum
from sfumato.query.rewrite import (
    CountColumn,
    FoundMeanColumn,
    KeyColumn,
    MeanColumn,
    OutputColumn,
    QuantileColumn,
    SumColumn,
)

RUNS = 400
Errors = list[float]


@dataclass(frozen=True, slots=True)
class Beside:
    """A number of a case, our error over the peer's, and whether law, caps or selection differ at all."""

    what: str
    ratio: Ratio
    differs: bool = True


def run() -> Iterator[Report]:
    of_found = [case for case in CASES if case.kind == "found bounds"]
    declared = [case for case in CASES if case not in of_found]
    yield _report(f"{len(declared)} questions beside OpenDP: our error / its", list(compared(declared)), WORSE)
    # For comparison, without a target: OpenDP finds no bounds, and PyDP's answers have no bar for what it clips.
    title = f"{len(of_found)} questions whose bounds are found, beside PyDP: our error / its"
    yield _report(title, list(compared(of_found)), None)


def compared(cases: Sequence[Case]) -> Iterator[tuple[Case, list[Beside]]]:
    """Nothing beside a case of which no peer has a counterpart."""
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            with opened(POLICIES[case.policy], case.pure, Path(folder) / f"{number}.ledger") as session:
                asked = Counting(session).of(case.question, case.spend, case.caps)
                yield case, list(_beside(asked, case))


def _beside(asked: Counted, case: Case) -> Iterator[Beside]:
    plan = asked.planned.certified.plan
    if case.kind == "joins" and POLICIES[case.policy].tables:
        return  # of two private tables
    if isinstance(plan.measures[0].aggregate, Quantiles):
        yield _quantiles(asked, case)
    elif isinstance(plan.measures[0].aggregate, UnboundedSum):
        yield _found(asked, case)
    elif plan.open:
        yield from _keys(asked)
    else:
        yield from _scales(asked, case)


# ---- noise that is added


def _scales(asked: Counted, case: Case) -> Iterator[Beside]:
    """Of counts and sums the scales themselves, of averages what they make of a quotient; the middle one of groups."""
    ours = our_scales(asked)
    theirs = [_their_scale(asked, place) for place in range(len(ours))]
    groups: Any = noiseless(asked.session, case).released().values
    for column in asked.planned.columns:
        match column:
            case CountColumn(measure=measure) | SumColumn(measure=measure):
                yield _stated(column.name, ours[measure] / theirs[measure])
            case MeanColumn(total=total, count=count, lattice=lattice):
                step, centre = float(lattice.step), float(lattice.centre * lattice.step)
                means = [row[total] / row[count] * step for row in groups if row[count] > 0]  # from the centre
                ratios = [
                    sqrt(ours[total] ** 2 + (mean * ours[count]) ** 2)
                    / sqrt(theirs[total] ** 2 + ((centre + mean) * theirs[count]) ** 2)
                    for mean in means
                ]
                yield _stated(column.name, median(ratios))
            case _:
                continue  # a deviation needs the number of rows to be public elsewhere


def our_scales(asked: Counted) -> list[float]:
    """Of the noise of every measure, in units of its values."""
    certified = asked.planned.certified
    return [
        _scale(release.mechanism.law) * _step(measure.aggregate)
        for release, measure in zip(certified.releases, certified.plan.measures, strict=True)
        if isinstance(release.mechanism, Additive)
    ]


def _stated(what: str, ratio: float) -> Beside:
    return Beside(what, stated(ratio), differs=abs(ratio - 1) > ALIKE)


def _scale(law: Law) -> float:
    return float(law.scale) if isinstance(law, DiscreteLaplace) else sqrt(float(law.variance))


def _step(aggregate: Any) -> float:
    return float(aggregate.lattice.step) if isinstance(aggregate, Sum | CentredSum) else 1.0


def _their_scale(asked: Counted, place: int) -> float:
    """With the price split evenly over the same measures; a sum is of values as they are, not from their middle."""
    certified = asked.planned.certified
    plan, cost = certified.plan, certified.cost
    aggregate, caps = plan.measures[place].aggregate, plan.capped
    rows_per_group = 1 if isinstance(aggregate, CountPeople) else caps.rows_per_group
    l1 = caps.groups if isinstance(aggregate, CountPeople) else caps.l1
    most = 1.0
    if isinstance(aggregate, Sum | CentredSum):
        most = max(abs(aggregate.lattice.lower), abs(aggregate.lattice.upper)) * float(aggregate.lattice.step)
    moved = l1 if cost.currency == "epsilon" else min(l1, sqrt(caps.groups) * rows_per_group)
    return peers.scale(cost.currency, float(cost.amount) / _measures(asked), moved * most)


def _measures(asked: Counted) -> int:
    """As a peer's user has them who knows whether values are missing: rows and values are not counted both if not."""
    return len(set(zip(*asked.found.entries, strict=True)))


# ---- quantiles


def _quantiles(asked: Counted, case: Case) -> Beside:
    """The mean error of all numbers of an answer."""
    columns = [column for column in asked.planned.columns if isinstance(column, QuantileColumn)]
    names = {column.name for column in columns}
    truths = by_key(truth_of(case, POLICIES[case.policy], clipped=True), names)
    ours = [
        fmean(
            abs(row[name] - truths[key_of(row, names)][name])
            for row in answer.rows
            for name in names
            if key_of(row, names) in truths
        )
        for answer in asked.answers(RUNS)
    ]
    plan, cost, drawn = asked.planned.certified.plan, asked.planned.certified.cost, []
    for key in truths:
        for column in columns:
            grid, whole, level = column.quantile.cells, column.quantile.whole, float(column.quantile.level)
            ends = float(grid.lower) + 0.5 * whole, float(grid.upper) - 0.5 * whole
            share, values = float(cost.amount) / len(columns), _values(case, plan, grid.value, key)
            candidates = peers.candidates(*ends, whole=whole)
            peer = peers.Quantile(values, candidates, level, cost.currency, share, plan.capped.l1)
            drawn.append([abs(peer.draw() - truths[key][column.name]) for _ in range(RUNS)])
    return Beside(", ".join(sorted(names)), of_runs(np.array(ours), np.mean(drawn, axis=0)))


def _values(case: Case, plan: Plan, value: Any, key: Sequence[Any]) -> Any:
    """The values of a group, as bounds clip them."""
    assert isinstance(value, Column)
    source = case.question[case.question.index(" FROM ") :].partition(" GROUP BY ")[0]
    names = [one.expression.name for one in plan.keys if isinstance(one.expression, Column)]
    conditions = [f"{value.name} IS NOT NULL", *(f"{name} = {part!r}" for name, part in zip(names, key, strict=True))]
    where = (" AND " if " WHERE " in source else " WHERE ") + " AND ".join(conditions)
    raw = tables(POLICIES[case.policy], clipped=True)
    return raw.execute(f"SELECT CAST({value.name} AS DOUBLE) AS x{source}{where}").fetchnumpy()["x"]


# ---- bounds that are found


def _found(asked: Counted, case: Case) -> Beside:
    """Against PyDP in the same currency: of ρ, its Laplace noise costs ε²/2."""
    (column,), cost = asked.planned.columns, asked.planned.certified.cost
    aggregate = asked.planned.certified.plan.measures[0].aggregate
    assert isinstance(aggregate, UnboundedSum)
    policy = POLICIES[case.policy]
    ((truth,),) = (row.values() for row in truth_of(case, policy, clipped=False))
    found = [answer.rows[0][column.name] for answer in asked.answers(RUNS)]
    ours = [inf if value is None else abs(value - truth) for value in found]
    epsilon = float(cost.amount) if cost.currency == "epsilon" else sqrt(2 * float(cost.amount))
    mean = isinstance(column, FoundMeanColumn)
    values = _values(case, asked.planned.certified.plan, aggregate.cells.value, ())
    theirs = [abs(value - truth) for value in peers.approximate_bounds(values, epsilon, mean=mean, runs=RUNS)]
    return Beside(column.name, of_runs(np.array(ours), np.array(theirs)))


# ---- keys that nobody knows


def _keys(asked: Counted) -> Iterator[Beside]:
    """Where selection is the same, the thresholds; else how many keys are not shown on average, and numbers' errors.

    Of a count: over all keys, where one that is not shown says 0. Of an average: over those that are shown, each as
    heavy as its rows.
    """
    certified, found = asked.planned.certified, asked.found
    assert certified.selection is not None
    ours, peer = certified.selection, _peer_of_keys(asked)
    if abs(ours.threshold - peer.threshold) <= 1 and abs(_scale(ours.law) / peer.width - 1) < ALIKE:
        yield Beside("people that a key needs", stated(ours.threshold / peer.threshold), differs=False)
        return
    exact = named(found.groups, found.entries)
    both = [_shown_by_us(asked) for _ in range(RUNS)], list(_shown_by_peer(asked, peer, exact))
    missed = [np.array([len(exact) - len(run) for run in runs], dtype=float) for runs in both]
    yield Beside("keys not shown", of_runs(*missed, middle=np.mean))
    for column in asked.planned.columns:
        if not isinstance(column, KeyColumn):
            yield Beside(
                column.name, of_runs(*(np.array([key_error(column, run, exact) for run in runs]) for runs in both))
            )


def key_error(column: OutputColumn, shown: dict[str, Any], exact: dict[str, Any]) -> float:
    """Of the numbers of one answer."""
    if isinstance(column, MeanColumn):
        weights = {key: exact[key][column.count] for key in shown}
        off = {key: value_of(column, (), shown[key], ()) - value_of(column, (), exact[key], ()) for key in shown}
        return sum(weight * abs(off[key]) for key, weight in weights.items()) / sum(weights.values())
    assert isinstance(column, CountColumn)
    numbers = {key: row[column.measure] for key, row in shown.items()}
    return float(sum(abs(numbers.get(key, 0) - row[column.measure]) for key, row in exact.items()))


def named(groups: Any, rows: Any) -> dict[str, Any]:
    return dict(zip(("|".join(map(str, group)) for group in groups), rows, strict=True))


def _shown_by_us(asked: Counted) -> dict[str, Any]:
    released = asked.released()
    return named(released.groups, released.values)


def _peer_of_keys(asked: Counted) -> peers.Keys:
    plan, cost = asked.planned.certified.plan, asked.planned.certified.cost
    assert plan.selection is not None
    return peers.Keys(float(cost.amount) / _measures(asked), float(plan.selection.delta), plan.capped.groups)


def _shown_by_peer(asked: Counted, peer: peers.Keys, exact: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Selected by how many units are counted, or by how many rows have a value, and that count is shown."""
    plan = asked.planned.certified.plan
    by = None if plan.selection is None else plan.selection.by
    if by is None:
        by = next(i for i, measure in enumerate(plan.measures) if isinstance(measure.aggregate, CountValues))
    widths = [_their_scale(asked, place) / _step(measure.aggregate) for place, measure in enumerate(plan.measures)]
    # Ours are sums from the middle of the bounds, of so many values.
    middles = {
        column.total: (column.lattice.centre, column.count)
        for column in asked.planned.columns
        if isinstance(column, MeanColumn)
    }
    units = {key: row[by] for key, row in exact.items() if row[by]}
    for _ in range(RUNS):
        shown = peer.draw(units)
        numbers = {by: list(shown.values())}
        for place in set(range(len(plan.measures))) - {by}:
            middle, of = middles.get(place, (0, by))
            numbers[place] = peers.noisy([exact[key][place] + middle * exact[key][of] for key in shown], widths[place])
        for place, (middle, of) in middles.items():
            numbers[place] = [total - middle * many for total, many in zip(numbers[place], numbers[of], strict=True)]
        yield dict(zip(shown, zip(*(numbers[place] for place in range(len(numbers))), strict=True), strict=True))


# ---- the table


def _report(title: str, found: list[tuple[Case, list[Beside]]], worse: float | None) -> Report:
    """A line for every number that differs: the lower end of its interval must not be above `worse`."""
    report = Report(title)
    everything = [(case, one) for case, several in found for one in several]
    for case, one in everything:
        if one.differs:
            asked = f"{case.question[7:67]}… {one.what}, {case.spend:g} in {'ε' if case.pure else 'ρ'}"
            report.add(f"{asked}: {one.ratio.value:.3g}, at least", one.ratio.low, "×", at_most=worse)
    differ = [one for _, one in everything if one.differs]
    report.add("questions with a counterpart", sum(1 for _, several in found if several), "")
    report.add("numbers of one law with one noise", len(everything) - len(differ), "")
    report.add("numbers that differ", len(differ), "")
    report.add("  of these better", 100 * fmean(one.ratio.better for one in differ), "%", at_least=50)
    return report
