"""Sums of columns and of pairs of columns: what regressions and correlations are made of.

A pair is one release at one price, whatever its columns are: two numbers are a sum of products, a number and listed
values its sum for each of them, two columns of listed values a table of rows. One row adds to one number of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.envelope import Envelope
from sfumato.learn.asking import sums_of
from sfumato.learn.bins import Listed
from sfumato.learn.learner import Told
from sfumato.learn.noise import Floats, Noise
from sfumato.learn.scaled import Scaled, ScaledTask
from sfumato.learn.schedule import Template
from sfumato.plan.expressions import Arithmetic, Column, Cross, Expression, Number, RangeKey
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import Aggregate, CellSum, CountRows, Histogram, Plan, Sum
from sfumato.simulate import Simulator

STEPS = 1024  # of a number to both sides: products stay below 2^21
MOST_AT_ONCE = 500  # plans in a draw

Pair = tuple[int, int]  # the first is not above the second
Tables = dict[Pair, Floats]  # the last two axes are the values of the first and of the second
Shares = Mapping[Pair, Fraction]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of what a task is about: number 0 is 1 in every row, then come its columns, and its target if it has one.

    With 0 a pair is the sum of a column, or how many rows have each listed value; (0, 0) is the number of rows.
    """

    task: ScaledTask

    @property
    def used(self) -> tuple[Scaled, ...]:
        response = self.task.response
        return (*self.task.columns, *(() if response is None else (response,)))

    def among(self, places: Iterable[int]) -> list[Pair]:
        """All pairs of these; of listed values with themselves there is nothing to ask."""
        listed = [place for place in places if self.width(place) > 1]
        every = sorted(places)
        return [(one, other) for one in every for other in every if one < other or (one == other not in listed)]

    def width(self, place: int) -> int:
        """How many numbers a row has there: 1, or of listed values as many as there are, of which one is 1."""
        cells = None if place == 0 else self.used[place - 1].feature.cells
        return len(cells.values) if isinstance(cells, Listed) else 1

    def plan(self, pair: Pair, share: Fraction) -> Plan:
        return self.task.plan((), self._aggregate(pair), share)

    def size(self, pair: Pair) -> int:
        return self.width(pair[0]) * self.width(pair[1])

    def unit(self, pair: Pair) -> int:
        """What the whole numbers of a release are divided by: they count steps of each number."""
        return int(self.task.steps ** sum(place > 0 and self.width(place) == 1 for place in pair))

    def natural(self, pair: Pair, numbers: Floats) -> Floats:
        """What was released, of numbers from -1 to 1; there may be many releases."""
        wide = self.width(pair[0]), self.width(pair[1])
        return np.asarray(numbers / self.unit(pair)).reshape(*numbers.shape[:-1], *wide)

    def _aggregate(self, pair: Pair) -> Aggregate:
        cells = [self._cells(place) for place in pair if self.width(place) > 1]
        numbers = [self.used[place - 1].column for place in pair if place > 0 and self.width(place) == 1]
        most = self.unit(pair)
        lattice = Lattice(-most, most, 0)
        match numbers, cells:
            case [], []:
                return CountRows()
            case [], lines:
                return Histogram(lines[0] if len(lines) == 1 else Cross(tuple(lines)))
            case [number], [line]:
                return CellSum(line, number, lattice)
            case [number], []:
                return Sum(number, lattice)
            case [first, second], _:
                return Sum(_product(first, second, most), lattice)
            case _:
                raise TypeError("a pair is of two")

    def _cells(self, place: int) -> RangeKey:
        return RangeKey(self.used[place - 1].column, 0, self.width(place) - 1)


def _product(first: Column, second: Column, most: int) -> Expression:
    """Of a number with itself 2x² - 1: x² lies between 0 and 1, so that it is known twice as well at the same price."""
    product = Arithmetic("*", first, second)
    if first != second:
        return product
    return Arithmetic("-", Arithmetic("*", Number(Fraction(2)), product), Number(Fraction(most)))


# ---- asking


def measured(pairs: Pairs, shares: Shares, envelope: Envelope, told: Told) -> Tables:
    """All pairs, a few hundred in a draw."""
    found, asked = Tables(), list(shares.items())
    for round_, start in enumerate(range(0, len(asked), MOST_AT_ONCE)):
        told(start / len(asked), "sums of columns and of pairs of columns")
        part = asked[start : start + MOST_AT_ONCE]
        releases = envelope.ask_all([pairs.plan(*each) for each in part], round_=round_)
        for (pair, _), release in zip(part, releases, strict=True):
            found[pair] = pairs.natural(pair, sums_of(release).astype(np.float64))
    return found


def moved(pairs: Pairs, shares: Shares, simulator: Simulator, count: int) -> Tables:
    """How far noise moves all pairs, drawn so many times with public coins."""
    known: dict[tuple[int, Fraction], Noise] = {}
    found = Tables()
    for pair, share in shares.items():
        law = pairs.unit(pair), share
        if law not in known:
            known[law] = Noise.of(pairs.plan(pair, share), pairs.task)
        found[pair] = pairs.natural(pair, known[law].scenes(simulator, f"{pair}", pairs.size(pair), count))
    return found


def templates(pairs: Pairs, shares: Shares) -> list[Template]:
    """A line of the schedule for what is measured alike: equal steps at an equal price."""
    alike: dict[tuple[Fraction, int], list[Pair]] = {}
    for pair, share in shares.items():
        alike.setdefault((share, pairs.unit(pair)), []).append(pair)
    made = []
    for (share, unit), group in alike.items():
        largest = max(group, key=pairs.size)
        numbers = sum(map(pairs.size, group))
        made.append(Template(_what(pairs, group, unit), pairs.plan(largest, share), len(group), numbers))
    return made


def _what(pairs: Pairs, group: list[Pair], unit: int) -> str:
    targets = {len(pairs.used)} if pairs.task.response is not None else set()
    own = "" if not any(targets & set(pair) for pair in group) else " with the target"
    listed = ", in all and by listed values" if any(pairs.size(pair) > 1 for pair in group) else ""
    if unit == 1:
        return f"rows{listed}"
    steps = f"in steps of 1/{unit:,}"
    if unit == pairs.task.steps:
        return f"sums of {'the target' if own else 'numbers'}{listed}, {steps}"
    return f"sums of products{own}, {steps}"


# ---- what is known of two columns


def block(tables: Tables, first: int, second: int) -> Floats:
    """The sum of products of two: a number for each value of the first and of the second."""
    if first > second:
        return np.swapaxes(tables[second, first], -1, -2)
    if first < second or first == 0:
        return tables[first, second]
    if (first, first) in tables:
        return (tables[first, first] + tables[0, 0]) / 2
    rows = tables[0, first]
    return rows * np.eye(rows.shape[-1])


def together(tables: Tables, places: Iterable[int], bases: Mapping[int, Floats] | None = None) -> Floats:
    """The sums of products of several, each in its base, as one matrix."""
    listed = list(places)
    known = {place: np.eye(block(tables, place, place).shape[-1]) for place in listed} if bases is None else bases
    rows = [
        np.concatenate([known[one].T @ block(tables, one, other) @ known[other] for other in listed], axis=-1)
        for one in listed
    ]
    return np.concatenate(rows, axis=-2)
