"""Aggregates over cells and discovered keys, as an auditor draws them: certify and gate on fixed cells, many at a time.

One unit's rows are all in one cell. What a run gives is shortened to what that unit can move.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, product
from math import ceil, comb, erfc, exp, sqrt
from typing import Any

import numpy as np

from sfumato.audit import laws
from sfumato.kernel.certify import MOST_GROUPS, Certified, certify
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Found, Receipt, release
from sfumato.kernel.mechanisms.found_bounds import SPLIT
from sfumato.kernel.mechanisms.found_ends import HALF_SQUARE, MOST_AWAY, SPLIT_OF_MOMENTS
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, CellSums, Numbers, Released, Weighed
from sfumato.kernel.mechanisms.rank_bars import balanced
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.widths import deviation
from sfumato.plan.counting import WHOLE_WEIGHT
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    BetweenEnds,
    CellSum,
    CountRows,
    Cross,
    Cumulative,
    Grid,
    Histogram,
    ListedKey,
    Magnitudes,
    Measure,
    MechanismName,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    RangeKey,
    Selection,
    UnboundedSum,
)
from sfumato.schema.columns import Category, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit, UpTo

BINS, LINE = 40, 16
TWO = Histogram(Grid(Column("x"), Fraction(0), Fraction(40), 2))
RUNNING = Cumulative(Grid(Column("x"), Fraction(0), Fraction(40), BINS))
MEDIAN = Quantiles(Grid(Column("x"), Fraction(0), Fraction(40), LINE), (Fraction(1, 2),))
LARGEST = 3  # of a value that is added up in a cell
CROSSED = Histogram(Cross((TWO.cells, ListedKey(Column("c"), ("a", "b")))))  # type: ignore[arg-type]
SUMS = CellSum(TWO.cells, Column("x"), Lattice(-LARGEST, 1, 0))
FAVOURITE = MostFrequent(ListedKey(Column("c"), ("a", "b")))
WIDE = UnboundedSum(Magnitudes(Column("x"), 0, 1), Fraction(1, 3))
SPREAD = BetweenEnds(Grid(Column("x"), Fraction(0), Fraction(4), 4), Fraction(1, 2), Fraction(1, 3), "moments")
Counts = tuple[int, ...]
KEY_DELTA = Fraction(1, 100)
KEYS_AT_ONCE = 50_000
COARSE = 1 << 14  # a bin of running totals by roots, whose grid is fine
FAR = 24
CROWD = 10_000  # so many rows that their bounds are found
COUNTED = 25  # a bin of the noisy number of rows
# Of a variance: the last cell of the line holds y from 3 to 4, with both ends of the line at e^0 - 1 and e^4 - 1.
AWAY = round((exp(3) + exp(4) - 1 - exp(4)) / (exp(4) - 1) * MOST_AWAY)
SQUARE = AWAY**2 - HALF_SQUARE
EDGES_OF_SUM = [MOST_AWAY * k for k in (-16, -8, -4, 0, 4, 8, 16)]
EDGES_OF_SQUARES = [HALF_SQUARE * k for k in (-8, -4, -2, 0, 2, 4, 8)]


def rows_of(unit: Unit) -> int:
    match unit:
        case Person(max_rows=rows) | UpTo(rows=rows):
            return rows
        case Row():
            return 1


def neighbours(aggregate: Aggregate, unit: Unit) -> tuple[Counts, Counts]:
    """Rows in each cell, without and with a unit."""
    rows = rows_of(unit)
    match aggregate:
        case Quantiles():
            return (3 * rows,) * LINE, (*(3 * rows,) * (LINE - 1), 4 * rows)
        case MostFrequent():
            return (2 * rows, 0), (2 * rows, rows)
        case UnboundedSum(cells=cells):  # everybody has the largest value there is
            empty = (0,) * (cells.size - 1)
            return (*empty, CROWD), (*empty, CROWD + rows)
        case Histogram(cells=Cross()):
            return (0, 0, 0, 0), (rows, 0, 0, 0)
        case BetweenEnds():
            return (0, 0, 0, CROWD), (0, 0, 0, CROWD + rows)
        case _:
            return (0, 0), (rows, 0)


def draw(
    aggregate: Aggregate, unit: Unit, counts: Counts, count: int, price: Fraction, entropy: Entropy, *, in_rho: bool
) -> list[Any]:
    """Groups that all have these cells: each group is one run."""
    size = 2 if isinstance(aggregate, MostFrequent) else aggregate.cells.size  # type: ignore[union-attr]
    at_once = min(count, MOST_GROUPS // size)
    certified = _certified(aggregate, unit, price, at_once, in_rho)
    dense = np.array(counts, dtype=np.int64)
    places = np.flatnonzero(dense)
    cells = CellCounts(places, dense[places])
    entry: Added = cells
    if isinstance(aggregate, UnboundedSum):
        entry = Weighed(cells, tuple(aggregate.cells.edges[-1] * int(many) for many in cells.counts))
    if isinstance(aggregate, CellSum):
        entry = CellSums(places, tuple(-LARGEST * int(many) for many in cells.counts))
    drawn: list[Any] = []
    while len(drawn) < count:
        released = release(certified, Receipt(1, certified.digest), [(entry,)] * at_once, entropy)
        drawn += [shortened(aggregate, row[0]) for row in released.values]
    return drawn[:count]


def shortened(aggregate: Aggregate, released: Released) -> Any:
    values = (released,) if isinstance(released, int) else released
    match aggregate:
        case Cumulative():  # the first cell and, in a tree, the block it lies in
            return (values[0], values[BINS]) if len(values) > BINS else values[:4]
        case Quantiles():
            return values[0] // _bin(), values[-1]
        case MostFrequent():
            return values[0]
        case UnboundedSum():
            *_, counted, _, total = values
            return total - aggregate.cells.edges[-1] * CROWD, counted - CROWD
        case BetweenEnds():
            away, squares = values[-2] - AWAY * CROWD, values[-1] - SQUARE * CROWD
            return bisect_right(EDGES_OF_SUM, away), bisect_right(EDGES_OF_SQUARES, squares)
        case _:
            return values


def cell(aggregate: Aggregate, in_rho: bool, outputs: Sequence[Any]) -> list[Any]:
    """What the law below speaks of."""
    if isinstance(aggregate, MostFrequent | BetweenEnds):
        return list(outputs)
    if isinstance(aggregate, Quantiles):
        return [(place, bisect_right(_edges(in_rho), last)) for place, last in outputs]
    if isinstance(aggregate, UnboundedSum):
        return [(min(max(total, -FAR), FAR) // 4, min(max(counted // COUNTED, -2), 1)) for total, counted in outputs]
    step = COARSE if in_rho and isinstance(aggregate, Cumulative) else 1
    return [min(max(output[0] // step, -FAR), FAR) for output in outputs]


def law(aggregate: Aggregate, unit: Unit, in_rho: bool, counts: Counts, price: Fraction) -> laws.Law:
    rows, epsilon = rows_of(unit), sqrt(8 * price) if in_rho else float(price)
    match aggregate:
        case MostFrequent():
            chosen = laws.exponential if in_rho else laws.permute_and_flip
            return chosen(epsilon / rows, counts)
        case Quantiles():
            return _median(rows, in_rho, counts, price)
        case UnboundedSum():
            return _found(aggregate, rows, in_rho, price)
        case BetweenEnds():
            return _between(aggregate, rows, in_rho, sum(counts) - CROWD, price)
        case Cumulative() if in_rho:
            roots = [exp(sum(np.log1p(-1 / (2 * k)) for k in range(1, place + 1))) for place in range(BINS)]
            deviation = rows * sqrt(sum(root**2 for root in roots) / (2 * price)) * (1 << 16)
            edges = [COARSE * k for k in range(1 - FAR, FAR + 1)]
            found = laws.bins(1.0, deviation, (1 << 16) * counts[0], edges, "gaussian")
            return {place - FAR: found[place] for place in range(len(edges) + 1)}
        case CellSum():
            centre = -LARGEST * counts[0]
            if in_rho:
                return laws.gaussian((LARGEST * rows) ** 2 / (2 * float(price)), centre, FAR)
            return laws.laplace(LARGEST * rows / epsilon, centre, FAR)
        case _:
            blocks = 2 if isinstance(aggregate, Cumulative) else 1
            return (
                laws.gaussian(rows**2 / (2 * float(price)), counts[0], FAR)
                if in_rho
                else laws.laplace(rows * blocks / epsilon, counts[0], FAR)
            )


def _median(rows: int, in_rho: bool, counts: Counts, price: Fraction) -> laws.Law:
    """Of the bin of the position, and given that, of the last noisy count around it."""
    mechanism = RankChoice.for_share(price, "rho" if in_rho else "epsilon", rows, rows**2, MEDIAN.levels, LINE)
    parts, everybody = mechanism.parts, sum(counts)
    held = np.zeros(LINE * parts, dtype=np.int64)
    for place, many in enumerate(counts):
        for row in range(many):  # the first into the middle of the cell, and so on evenly
            reverse = int(f"{row % parts:0{parts.bit_length() - 1}b}"[::-1], 2)
            held[place * parts + (reverse + parts // 2) % parts] += 1
    ranks = np.array([0, *accumulate(held.tolist())])
    nexts = np.append(ranks[1:], ranks[-1])
    estimate = float(mechanism.estimates[0])
    highest = np.maximum(ranks, nexts - mechanism.widths.slack(mechanism.nodes()[0]))
    gaps = np.maximum(np.maximum(ranks - everybody / 2, everybody / 2 - highest), 0.0)
    weights = np.exp(-estimate * gaps) if in_rho else laws.flipped(np.exp(-estimate * (gaps - gaps.min())))
    bins = np.bincount(np.arange(len(ranks)) // _bin(), weights)
    found: dict[Hashable, float] = {}
    for place, chance in enumerate(bins / bins.sum()):
        cuts = mechanism.cuts((place * _bin(),))
        between = np.add.reduceat(np.array(counts), (0, *cuts))
        last = float(((balanced(len(between), mechanism.tilt) if in_rho else np.eye(len(between))) @ between)[-1])
        spread = deviation(mechanism.noise(cuts)) if in_rho else 1 / float(mechanism.bars)
        noisy = laws.bins(1.0, spread, last, _edges(in_rho), "gaussian" if in_rho else "laplace")
        found.update({(place, where): float(chance * here) for where, here in noisy.items()})
    return found


def _edges(in_rho: bool) -> list[float]:
    """Between which the last of the counts around a median is told apart."""
    return [(1 << 16 if in_rho else 1) * k for k in range(-12, 84, 6)]


def _found(aggregate: UnboundedSum, rows: int, in_rho: bool, price: Fraction) -> laws.Law:
    """Of the sum and of the noisy number of rows within the clamp, when the clamp is that of the crowd.

    Another one is chosen less than once in a million runs.
    """
    most, far = aggregate.cells.edges[-1], 600 * rows
    counting, adding = float(aggregate.finding * SPLIT[2] * price), float((1 - aggregate.finding) * price)
    total, counted = (
        laws.gaussian(size**2 / (2 * paid), 0, reach) if in_rho else laws.laplace(size / paid, 0, reach)
        for size, paid, reach in ((most * rows, adding, FAR), (rows, counting, far))
    )
    chances: dict[int, float] = defaultdict(float)
    for many, chance in zip(range(-far, far + 1), counted.values(), strict=True):
        chances[min(max(many // COUNTED, -2), 1)] += chance
    law: dict[tuple[int, int], float] = defaultdict(float)
    for (k, chance), (many, here) in product(enumerate(total.values(), start=-FAR), chances.items()):
        law[k // 4, many] += chance * here
    return dict(law)


def _between(aggregate: BetweenEnds, rows: int, in_rho: bool, more: int, price: Fraction) -> laws.Law:
    """Of both sums, when the high end is the line's. Another one is chosen less than once in a million runs."""
    found: list[laws.Law] = []
    for part, most, moved, edges in zip(
        SPLIT_OF_MOMENTS[1:], (MOST_AWAY, HALF_SQUARE), (AWAY, SQUARE), (EDGES_OF_SUM, EDGES_OF_SQUARES), strict=True
    ):
        paid = float((1 - aggregate.finding) * part * price)
        scale = rows * most / (sqrt(2 * paid) if in_rho else paid)
        found.append(laws.bins(1.0, scale, moved * more, edges, "gaussian" if in_rho else "laplace"))
    return {(one, other): a * b for (one, a), (other, b) in product(found[0].items(), found[1].items())}


def _bin() -> int:
    return _last() // 64


@lru_cache(maxsize=1)
def _last() -> int:
    return RankChoice.for_share(Fraction(1), "epsilon", 1, 1, MEDIAN.levels, LINE).positions - 1


def _certified(aggregate: Aggregate, unit: Unit, price: Fraction, groups: int, in_rho: bool) -> Certified:
    schema = Schema("t", unit, {"x": Float(0, 40), "c": Category(["a", "b"]), "g": Int(1, MOST_GROUPS)})
    mechanism: MechanismName = "gaussian" if in_rho else "laplace"
    match aggregate:
        case Quantiles():
            mechanism = "exponential"
        case MostFrequent():
            mechanism = "exponential" if in_rho else "permute_and_flip"
    plan = Plan("t", unit, None, (RangeKey(Column("g"), 1, groups),), (Measure(aggregate, mechanism, price),))
    return certify(plan, schema, "rho" if in_rho else "epsilon")


# ---- discovered keys


def draw_keys(unit: Unit, units: int, count: int, price: Fraction, entropy: Entropy) -> list[int | None]:
    """A key held by so many units, many times over: its noisy count where it is shown."""
    schema = Schema("t", unit, {"city": Text()})
    measure, selection = Measure(CountRows(), "gaussian", price / 2), Selection(price / 2, KEY_DELTA)
    certified = certify(Plan("t", unit, None, (OpenKey(Column("city")),), (measure,), selection), schema, "rho")
    at_once = min(count, KEYS_AT_ONCE)
    groups = [(str(number), 0) for number in range(at_once)]
    drawn: list[int | None] = []
    for _ in range(ceil(count / at_once)):
        found = Found([(units * rows_of(unit),)] * at_once, groups, np.full(at_once, units, dtype=np.int64))
        released = release(certified, Receipt(1, certified.digest), found, entropy)
        shown: list[int | None] = [None] * at_once
        for group, row in zip(released.groups or (), released.values, strict=True):
            shown[int(group[0])] = int(row[0])  # type: ignore[arg-type]
        drawn += shown
    return drawn[:count]


def keys_cell(outputs: Sequence[Any]) -> list[Any]:
    return [None if output is None else min(max(output, -FAR), FAR) for output in outputs]


def keys_law(unit: Unit, units: int, price: Fraction) -> laws.Law:
    groups = unit.max_groups if isinstance(unit, Person) else 1
    selection, rows = KeySelection(price / 2, KEY_DELTA, groups), rows_of(unit)
    reach = 20 * (selection.threshold + units)
    shown = sum(
        chance
        for value, chance in laws.gaussian(float(selection.law.variance), units, reach).items()
        if isinstance(value, int) and value >= selection.threshold
    )
    noisy = laws.gaussian(rows**2 / float(price), units * rows, FAR)
    return {None: 1 - shown, **{value: shown * chance for value, chance in noisy.items()}}


# ---- keys alone, found by weights

HALF = 20  # of a person's keys others hold too, and half nobody else
MANY = Person("who", max_rows=2 * HALF, max_groups=2 * HALF)
Sums = tuple[int, int]  # of weights on each of the keys that others hold too, and on each of those of a person alone


def draw_weighed(sums: Sums, count: int, price: Fraction, entropy: Entropy) -> list[tuple[int, bool]]:
    """How many of the keys are shown that others hold, and whether any of the others is."""
    selection, schema = Selection(price, KEY_DELTA, weighted=True), Schema("t", MANY, {"city": Text()})
    certified = certify(Plan("t", MANY, None, (OpenKey(Column("city")),), (), selection), schema, "rho")
    at_once = KEYS_AT_ONCE // (2 * HALF)
    groups = [(str(number), 0) for number in range(at_once * 2 * HALF)]
    found = Found([()] * len(groups), groups, np.tile(np.repeat(np.array(sums, dtype=np.int64), HALF), at_once))
    drawn: list[tuple[int, bool]] = []
    while len(drawn) < count:
        released = release(certified, Receipt(1, certified.digest), found, entropy).groups or ()
        drawn += told(np.bincount([int(group[0]) for group in released], minlength=len(groups)))
    return drawn[:count]


def told(shown: Numbers) -> list[tuple[int, bool]]:
    """One for each run, of which keys were shown in all of them."""
    halves = shown.reshape(-1, 2, HALF).sum(axis=2)
    return [(many, alone > 0) for many, alone in halves.tolist()]


def weighed_law(sums: Sums, price: Fraction) -> laws.Law:
    threshold = KeySelection(price, KEY_DELTA, MANY.max_groups, weighted=True).threshold
    far = [(threshold - weight - 0.5) * sqrt(price) / WHOLE_WEIGHT for weight in sums]
    shared, alone = (erfc(one) / 2 if weight else 0.0 for one, weight in zip(far, sums, strict=True))
    return {
        (many, found): comb(HALF, many) * shared**many * (1 - shared) ** (HALF - many) * chance
        for many in range(HALF + 1)
        for found, chance in ((False, (1 - alone) ** HALF), (True, 1 - (1 - alone) ** HALF))
    }
