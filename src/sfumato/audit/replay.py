"""Run questions on neighbouring tables and compare what the engine adds up with what the kernel certified.

Deterministic: the sums before noise are recorded for a table full of corner cases and for the same table without each
of its units, and the noise is replayed from one tape, so any dependence of the noise on the data shows as well.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import inf, nan
from typing import Any

import numpy as np

from sfumato.audit.findings import Finding
from sfumato.audit.plans import PLANS
from sfumato.engines.arrange import look
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.counting import emit
from sfumato.engines.sql.dialect import Dialect
from sfumato.kernel.certify import Certified, certify, strategy_of
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import SystemEntropy, Words
from sfumato.kernel.gate import Receipt, ReleasedRows, release
from sfumato.kernel.mechanisms.found_bounds import BoundedSum, clamped
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, CellSums, Weighed
from sfumato.plan.counting import Counting
from sfumato.plan.nodes import BetweenEnds, Choose, MostFrequent, Plan, Quantiles, UnboundedSum
from sfumato.query.capping import OWNERS
from sfumato.query.planned import planned
from sfumato.schema.columns import Category, Declared, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit, UpTo

Emit = Callable[[Counting, Schema, Dialect], str]
Entries = Sequence[Sequence[Added]]

COLUMNS: dict[str, Declared] = {
    "x": Float(-2, 5),
    "n": Int(0, 9),
    "g": Category(["a", "b", "c"]),
    "d": Int(1, 3),
    "wide": Float(private_bounds=0.1),
    "whole": Int(private_bounds=0.2),
}
QUESTIONS = (
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(x), SUM(x), AVG(x) FROM t",
    "SELECT SUM(n), AVG(n) FROM t WHERE n <> 3 OR x IS NULL",
    "SELECT g, COUNT(*) FROM t GROUP BY g",
    "SELECT g, d, SUM(x), AVG(n), COUNT(n) FROM t GROUP BY g, d",
    "SELECT d, SUM(x * n - 1), AVG(x / 2) FROM t WHERE NOT n > 7 GROUP BY d",
    "SELECT g, VARIANCE(x), STDDEV_POP(n) FROM t GROUP BY g",
    "SELECT MEDIAN(x), MAX(n), MODE(g), COUNT(DISTINCT x) FROM t",
    "SELECT g, QUANTILE(n, 0.25), HISTOGRAM(x, 4), CDF(n, 5), MODE(d), COUNT(DISTINCT n) FROM t GROUP BY g",
    "SELECT SUM(wide), AVG(whole) FROM t WHERE n IS NOT NULL OR g = 'b'",
    "SELECT g, SUM(whole), AVG(wide * whole - x) FROM t GROUP BY g",
    "SELECT VARIANCE(wide), HISTOGRAM(whole, 3), CDF(wide, 4) FROM t WHERE n IS NOT NULL OR g = 'b'",
)
PERSON = Person("who", max_rows=3, max_groups=2)
ONCE_A_GROUP = Person("who", max_rows=3, max_groups=2, max_rows_per_group=1)


@dataclass
class Tape:
    """Entropy that remembers what it gave, or gives again what another remembers.

    `strayed`: it was asked for something else than was recorded there, and from then on gives what is new.
    """

    recorded: list[Any] = field(default_factory=list)
    playing: Iterator[Any] | None = None
    strayed: bool = False
    _source: SystemEntropy = field(default_factory=SystemEntropy)

    def below(self, bound: int) -> int:
        return int(self._next(lambda: self._source.below(bound), 1)) % bound

    def words(self, count: int) -> Words:
        return np.asarray(self._next(lambda: self._source.words(count), count), dtype=np.uint64)

    def _next(self, draw: Callable[[], Any], count: int) -> Any:
        value = draw() if self.playing is None or self.strayed else next(self.playing, None)
        if value is None or np.size(value) != count:
            self.strayed, value = True, draw()
        self.recorded.append(value)
        return value


def corner_cases() -> Any:
    """Rows somebody could add: far outside every bound, missing, undeclared; too many in all, and in one group."""
    import pyarrow as pa  # noqa: PLC0415 - an engine's dependency, slow to load

    xs = [-inf, -9.0, -2.0, 0.25, 5.0, 1e308, inf, nan, None, 3.5, 4.999999, -1e-320, *[5.0] * 6]
    ns = [-(2**62), -1, 0, 3, 9, 10, 2**62, None, 5, 8, 7, 1, *[9] * 6]
    gs = ["a", "b", "c", "undeclared", None, "A", "", "a", "b", *"cccaaabbb"]
    ds = [1, 2, 3, 4, 0, None, -1, 1, 2, 3, 3, 3, 1, 1, 1, 2, 2, 2]
    who = [1, 1, 1, 1, 1, 2, 2, 2, None, *[3] * 3, *[4] * 6]
    whole = pa.array(ns, pa.int64())
    return pa.table(
        {"x": xs, "n": whole, "g": gs, "d": pa.array(ds, pa.int64()), "who": who, "wide": xs, "whole": whole}
    )


def replayed(question: str, unit: Unit, write: Emit = emit) -> Finding:
    """How far one unit moves the sums of a question, or of one of PLANS, in both norms, against what was certified."""
    schema = Schema("t", unit, COLUMNS)
    if question in PLANS:
        keys, measures = PLANS[question]
        usual, caps = OWNERS.of("t", schema)
        certified = certify(Plan("t", usual, None, keys, measures, caps=caps), schema, "epsilon")
    else:
        certified = planned(question, schema, Cost("epsilon", Fraction(1))).certified
    plan = certified.plan
    claims = [(one.sensitivity.l1, one.sensitivity.l2_squared) for one in certified.releases]
    table, sql = corner_cases(), tuple(write(counting, schema, DUCKDB) for counting in certified.countings)
    whole, tape = _sums(table, certified, sql), Tape()
    noisy = _release(certified, whole, tape)
    worst, straight = 0.0, True
    for kept in _without_each_unit(table, unit):
        less = _sums(table.filter(kept), certified, sql)
        for place, claim in enumerate(claims):
            worst = max(worst, _share_of(claim, _moved(plan, place, whole, less)))
        worst = max(worst, *(_clamped_moves(certified, whole, less)))
        again = Tape(playing=iter(tape.recorded))
        other = _release(certified, less, again)
        # The same tape must be read to the same place, and give the same noise; unless another bound was found and
        # released: noise of that size is drawn in other steps, more or fewer, and what follows reads elsewhere.
        in_step = not again.strayed and len(again.recorded) == len(tape.recorded)
        same = in_step and _noise(plan, noisy, whole) == _noise(plan, other, less)
        straight &= same or (not in_step and _found(plan, noisy) != _found(plan, other))
    return Finding(
        name=f"{question}, unit {_named(unit)}",
        check="replay",
        claimed=1.0,
        measured=worst,
        violated=worst > 1 or not straight,
        detail=f"one unit moves a sum by {worst:.2f} of what is certified"
        + ("" if straight else "; the noise depends on the data"),
        draws=table.num_rows,
    )


def every_question(write: Emit = emit) -> Iterator[Callable[[], Finding]]:
    for unit in (Row(), PERSON, ONCE_A_GROUP, UpTo(3)):
        for question in (*QUESTIONS, *(() if isinstance(unit, UpTo) else PLANS)):
            yield partial(replayed, question, unit, write)


def _named(unit: Unit) -> str:
    match unit:
        case Row():
            return "row"
        case UpTo():
            return unit.whose
        case Person(max_rows=rows, max_rows_per_group=each):
            return "person" if each is None else f"person, {each} of {rows} rows in a group"


def _sums(table: Any, certified: Certified, sql: tuple[str, ...]) -> Entries:
    engine = DuckDBEngine(table, certified.schema)
    try:
        return look(engine, certified.countings, sql).entries
    finally:
        engine.close()


def _release(certified: Certified, integers: Entries, entropy: Tape) -> ReleasedRows:
    return release(certified, Receipt(1, certified.digest), integers, entropy).values


def integers_of(plan: Plan, entries: Entries) -> list[list[int]]:
    """Of each measure all integers of all groups; of cells the count in each, or what a strategy makes of them.

    Of a choice all counts of all its tables.
    """
    columns = []
    for place, measure in enumerate(plan.measures):
        strategy = strategy_of(measure.aggregate, "epsilon")
        column: list[int] = []
        for row in entries:
            entry = row[place]
            if isinstance(entry, Weighed):
                column += entry.cells.dense(measure.aggregate.cells.size).tolist()  # type: ignore[union-attr]
            elif isinstance(entry, CellCounts):
                counts = entry.dense(measure.aggregate.cells.size)  # type: ignore[union-attr]
                column += (counts if strategy is None else strategy.answers(counts)).tolist()
            elif isinstance(entry, CellSums):
                column += entry.dense(measure.aggregate.cells.size)  # type: ignore[union-attr]
            elif isinstance(entry, int):
                column.append(entry)
            else:
                column += [count for table in _tables(plan, place, row) for count in table]
        columns.append(column)
    return columns


def _clamped_moves(certified: Certified, one: Entries, other: Entries) -> Iterator[float]:
    """What share of what their noise is for clamped sums move, whichever bounds are found; 0 where none are."""
    yield 0.0
    for place, released in enumerate(certified.releases):
        if isinstance(released.mechanism, BoundedSum):
            edges, rows = released.mechanism.edges, released.mechanism.counting
            for low, high in [*((-edge, edge) for edge in edges), *((0, edge) for edge in edges)]:
                sides = [
                    [clamped(row[place], low, high, edges) for row in entries]  # type: ignore[arg-type]
                    for entries in (one, other)
                ]
                yield _share_of((rows.l1 * high, rows.l2_squared * high**2), _differences(*sides))


def _moved(plan: Plan, place: int, one: Entries, other: Entries) -> list[int]:
    """How far a measure moves; a choice by the table of each group that moves most, as it looks at all of them."""
    if not isinstance(plan.measures[place].aggregate, Choose):
        return _differences(integers_of(plan, one)[place], integers_of(plan, other)[place])
    return [
        max(sum(_differences(*sides)) for sides in zip(_tables(plan, place, a), _tables(plan, place, b), strict=True))
        for a, b in zip(one, other, strict=True)
    ]


def _tables(plan: Plan, place: int, row: Sequence[Added]) -> list[list[int]]:
    asked, entry = plan.measures[place].aggregate, row[place]
    if not isinstance(asked, Choose) or not isinstance(entry, tuple):
        raise TypeError("a choice has tables")
    return [table.dense(cells.size).tolist() for table, cells in zip(entry, asked.counted, strict=True)]


def _differences(one: list[int], other: list[int]) -> list[int]:
    return [abs(a - b) for a, b in zip(one, other, strict=True)]


def _share_of(claim: tuple[int, int], moves: list[int]) -> float:
    """What is used of a claim of L1 and L2 squared, in the norm where it is more."""
    l1, l2_squared = claim
    used = Fraction(sum(moves), l1), Fraction(sum(move**2 for move in moves), l2_squared)
    return float(max(used))


def _noise(plan: Plan, noisy: ReleasedRows, entries: Entries) -> list[list[int]]:
    """What was added, where something is added and not chosen."""
    found = []
    for place, column in enumerate(integers_of(plan, entries)):
        chosen = Quantiles | MostFrequent | Choose | UnboundedSum | BetweenEnds
        if not isinstance(plan.measures[place].aggregate, chosen):
            released = [row[place] for row in noisy]
            flat = [one for entry in released for one in ([entry] if isinstance(entry, int) else entry)]
            found.append([a - b for a, b in zip(flat, column, strict=True)])
    return found


def _found(plan: Plan, noisy: ReleasedRows) -> list[Any]:
    """The bounds that were found, of every group: what is released begins with them, of two ends with four numbers."""
    many = {UnboundedSum: 2, BetweenEnds: 4}
    places = {place: many.get(type(measure.aggregate), 0) for place, measure in enumerate(plan.measures)}
    return [row[place][:first] for place, first in places.items() if first for row in noisy]  # type: ignore[index]


def _without_each_unit(table: Any, unit: Unit) -> Iterator[list[bool]]:
    if isinstance(unit, UpTo):  # any rows may be one person's: here so many, one after the other
        for first in range(table.num_rows - unit.rows + 1):
            yield [not first <= place < first + unit.rows for place in range(table.num_rows)]
        return
    labels = table["who"].to_pylist() if isinstance(unit, Person) else list(range(table.num_rows))
    for label in dict.fromkeys(labels):
        if label is None:  # rows without an id are nobody's
            continue
        yield [other != label for other in labels]
