"""How far one unit moves an answer, measured through the emitted SQL: never further than the kernel certified.

Each check ends with a broken twin that it must flag.
"""

import importlib
from bisect import bisect_left
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import EngineFailed, Refused, UsageError
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.mechanisms.additive import Additive, DiscreteGaussian, DiscreteLaplace
from sfumato.plan.expressions import Arithmetic, Column, Comparison, Negative, Number
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CentredSum, CountRows, CountValues, ListedKey, Measure, Plan, RangeKey, Sum
from sfumato.query import bind_calls
from sfumato.query.planned import planned
from sfumato.query.sql import parse
from sfumato.schema.table import Schema
from tests.emitter import arrange, emit, sql_of
from tests.engines.brute_force import AGGREGATES, KEYS, Shape, bounds, twin, worst_of_corners, worst_of_every_table
from tests.kernel.laws import mutant
from tests.marks import few

# ---- every small table

UNITS = (sf.Row(), *(sf.Person("who", *limits) for limits in ((1, 1), (2, 1), (2, 2), (3, 2))))
PEOPLE = Shape(sf.Person("who", 3, 2), "one key", where=False)
SHAPES = [Shape(unit, keys, where) for unit in UNITS for keys in KEYS for where in (False, True)]


def few_tables(shape: Shape) -> bool:
    """With WHERE, or for people of three rows, there are ten times as many tables: here a few shapes of them."""
    if isinstance(shape.unit, sf.Row) or shape.unit.max_rows == 1:
        return True
    if shape.unit.max_rows == 2:
        return not shape.where or (shape.unit.max_groups == 2 and shape.keys in ("no key", "one key"))
    return shape == PEOPLE


@pytest.mark.parametrize("shape", few(SHAPES, few_tables), ids=str)
def test_the_worst_change_is_the_certified_one(shape: Shape) -> None:
    worst = worst_of_every_table(shape, emit).joined(worst_of_corners(shape, emit))
    assert worst.breaches(shape) == []
    assert dict(zip(AGGREGATES, worst.l1, strict=True)) == dict(zip(AGGREGATES, bounds(shape), strict=True))
    assert worst.l2_squared == [bound**2 for bound in bounds(shape)]


RANGES = Shape(sf.Person("who", 3, 2), "range key", where=False)
ROWS = Shape(sf.Row(), "one key", where=True)
NO_CLAMP = (
    "WHEN {written} < {lower} THEN {lower} WHEN {written} > {upper} THEN {upper} END",
    "ELSE CAST({written} AS INTEGER) END",
)
SHARE = 'dialect.quotient(_big(caps.rows, dialect), "many")'
KEEP_UNDECLARED = [("VARCHAR) {whens} END", "VARCHAR) {whens} ELSE 0 END")]
KEEP_UNLISTED = [
    ("<= FEW", "< 0"),
    ("CAST(enum_code(", "COALESCE(enum_code("),
    ("listed))}))) AS INTEGER)", "listed))}))), 0)"),
]
TIES = [
    (
        "row_number() OVER (PARTITION BY u ORDER BY {order}) AS rank",
        "rank() OVER (PARTITION BY u ORDER BY u) AS rank",
    )
]
ONE_MORE = 'f"{caps.rows} // many + CAST({caps.rows} % many > 0 AS INTEGER)"'
TWINS: dict[str, tuple[Shape, list[tuple[str, str]]]] = {
    "no clamp": (PEOPLE, [NO_CLAMP]),
    "no clamp of rows": (ROWS, [NO_CLAMP]),
    "clamp off by one": (ROWS, [("WHEN {real} < {low} THEN {low}", "WHEN {real} < {low} THEN {low} - 1")]),
    "rows not bounded": (
        PEOPLE,
        [("SELECT {columns}, {most} AS most", "SELECT {columns}, CAST(1000000000 AS BIGINT) AS most")],
    ),
    "rows bounded group by group": (PEOPLE, [(SHARE, "_big(caps.rows, dialect)")]),
    "share rounded up": (PEOPLE, [(SHARE, ONE_MORE)]),
    "rows of one group counted": (PEOPLE, [("SUM(least(n, {most}))", "MAX(n)")]),
    "groups not bounded": (PEOPLE, [(" WHERE rank <= {caps.groups}", "")]),
    "ties share a rank": (PEOPLE, TIES),
    "sums not clipped below": (PEOPLE, [("WHEN s{i} < most * {low} THEN most * {low} ", "")]),
    "centred sums not bounded": (PEOPLE, [("THEN {whole} * most + {rest} ELSE", "THEN {total} ELSE")]),
    "centred sums not centred": (PEOPLE, [("- {dialect.huge(lattice.centre)} * COUNT(v{i}) AS", "AS")]),
    "undeclared keys kept": (PEOPLE, KEEP_UNDECLARED),
    "undeclared keys of rows kept": (ROWS, KEEP_UNDECLARED),
    "undeclared keys of long lists kept": (PEOPLE, KEEP_UNLISTED),
    "undeclared keys of long lists of rows kept": (ROWS, KEEP_UNLISTED),
    "keys outside a range kept": (
        RANGES,
        [("AND {high} THEN {place} END", "AND {high} THEN {place} ELSE 0 END")],
    ),
    "NULL ids kept": (PEOPLE, [("{column(counting.unit.id, writer.dialect)} IS NOT NULL", "TRUE")]),
    "condition left out": (
        ROWS,
        [("conditions.append(writer.dialect.filter(writer.condition(counting.where)))", "pass")],
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_twin_is_flagged(name: str) -> None:
    shape, changes = TWINS[name]
    broken = twin(*changes)
    assert worst_of_corners(shape, broken).breaches(shape) or worst_of_every_table(shape, broken).breaches(shape)


# ---- S1: rounding, where the bounds almost meet

ABOVE_ONE = 1 + Fraction(1, 2**40)
MANY = 2**20


def table_of(values: Any, threads: int = 1) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": threads})
    connection.register("frame", pa.table({"x": values}))
    connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return connection


def plan_for(*aggregates: Any, unit: Any = None, keys: tuple[Any, ...] = (), where: Any = None) -> Plan:
    measures = tuple(Measure(aggregate, "laplace", Fraction(1)) for aggregate in aggregates)
    return Plan("people", unit or sf.Row(), where, keys, measures)


def test_s1_rounding_between_almost_equal_bounds_moves_no_sum_further_than_certified() -> None:
    lattice = Lattice.covering(Fraction(1), ABOVE_ONE, whole=False)
    plan = plan_for(Sum(Column("x"), lattice), CentredSum(Column("x"), lattice))
    schema = Schema("people", sf.Row(), {"x": sf.Float(1, ABOVE_ONE)})
    claims = [release.sensitivity.l1 for release in certify(plan, schema, "epsilon").releases]
    assert claims == [2**30 + 1, 1]
    sql = sql_of(plan, schema)
    # Values on both bounds, between them, and outside.
    values = np.resize([1.0, float(ABOVE_ONE), 1 + 2.0**-41, 2.0, 0.0, 1 + 2.0**-31], MANY)
    with table_of(values) as connection:

        def total() -> tuple[int, ...]:
            return connection.execute(sql).fetchall()[0][1:]

        before = total()
        worst = [Fraction(0), Fraction(0)]
        for step, width in [*((step, 50) for step in range(20)), *((step, 1) for step in range(20, 40))]:
            first = step * 20_011
            connection.execute(f"UPDATE people SET x = 3.0 - x WHERE rowid BETWEEN {first} AND {first + width - 1}")
            after = total()
            worst = [max(w, Fraction(abs(a - b), width)) for w, a, b in zip(worst, after, before, strict=True)]
            before = after
        for row in range(10):
            connection.execute(f"DELETE FROM people WHERE rowid = {row * 99_991 + 7}")
            after = total()
            worst = [max(w, Fraction(abs(a - b))) for w, a, b in zip(worst, after, before, strict=True)]
            before = after
    assert all(measured <= claim for measured, claim in zip(worst, claims, strict=True))
    assert worst[1] == 1


def test_s1_twin_a_sum_of_doubles_moves_by_256_times_the_claim() -> None:
    def total(raised: int) -> float:
        """`raised` values of the first 4096 lie on the upper bound, all others on the lower."""
        values = np.ones(MANY)
        values[:raised] = float(ABOVE_ONE)
        with table_of(values) as connection:
            return connection.execute("SELECT SUM(x) FROM people").fetchall()[0][0]

    jump = bisect_left(range(257), True, key=lambda raised: total(raised) > MANY)
    assert (total(jump) - total(jump - 1)) / float(ABOVE_ONE - 1) == 256


# ---- S2: the order of rows, the number of threads and the size of chunks


@pytest.mark.slow
def test_s2_order_threads_and_chunks_leave_the_integers_alone() -> None:
    draws = np.random.default_rng(2)
    rows = 6_000
    table = pa.table(
        {
            "who": draws.integers(0, 700, rows),
            "k": draws.choice(["a", "b", "c", "undeclared"], rows),
            "x": np.where(
                draws.random(rows) < 0.01, np.inf, draws.normal(size=rows) * 10.0 ** draws.integers(-8, 9, rows)
            ),
        }
    )
    unit = sf.Person("who", 5, 2)
    schema = Schema("people", unit, {"k": sf.Category(["a", "b", "c"]), "x": sf.Float(-3, 7.1)})
    lattice = Lattice.covering(Fraction(-3), Fraction(71, 10), whole=False)
    plan = plan_for(
        CountRows(),
        Sum(Column("x"), lattice),
        CentredSum(Arithmetic("*", Column("x"), Column("x")), lattice),
        unit=unit,
        keys=(ListedKey(Column("k"), ("a", "b", "c")),),
    )
    sql = sql_of(plan, schema)
    seen, sums_of_doubles = set(), set()
    for threads in (1, 4):
        with duckdb.connect(":memory:", config={"threads": threads}) as connection:
            for _ in range(50):
                shuffled = table.take(draws.permutation(rows))
                for chunk in (700, 2048):
                    connection.register("people", pa.Table.from_batches(shuffled.to_batches(max_chunksize=chunk)))
                    seen.add(tuple(arrange(plan, connection.execute(sql).fetchall())))
                sums_of_doubles.add(connection.execute("SELECT SUM(x) FROM people WHERE x < 1e9").fetchall()[0][0])
    assert len(seen) == 1
    assert len(sums_of_doubles) > 1, "the twin adds up doubles and should depend on the order"


# ---- S3: overflow

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "huge": (-(2**127), 2**127 - 1),
    "double": (-1e308, 1e308),
    "infinite": (-inf, inf),
}
X, SQUARE = Column("x"), Arithmetic("*", Column("x"), Column("x"))
EXTREMES = (
    CountValues(Negative(X)),
    Sum(X, Lattice(-5, 5, 0)),
    Sum(X, Lattice.covering(Fraction(-(2**62)), Fraction(2**62), whole=True)),
    Sum(Arithmetic("+", X, X), Lattice(-(2**31) + 1, 2**31 - 1, 40)),
    Sum(Arithmetic("*", SQUARE, SQUARE), Lattice(-(2**31) + 1, 2**31 - 1, 500)),
    CentredSum(Negative(X), Lattice.covering(Fraction(-(2**62)), Fraction(0), whole=True)),
    CentredSum(Arithmetic("-", SQUARE, X), Lattice(1, 2**31 - 1, 0)),
)


def frame_of(kind: str, rows: list[tuple[Any, int]]) -> Any:
    values, tabs = [value for value, _ in rows], [tab for _, tab in rows]
    if kind == "huge":
        return pd.DataFrame({"x": pd.Series(values, dtype=object), "who": range(len(rows)), "tab": tabs})
    kinds = {"double": pa.float64(), "infinite": pa.float64()}
    column = pa.array(values, kinds[kind]) if kind in kinds else pa.array(values, getattr(pa, kind)())
    return pa.table({"x": column, "who": range(len(rows)), "tab": tabs})


def steps_of_each_row(kind: str, emitter: Any, unit: Any) -> np.ndarray[Any, Any]:
    """By how much each of five rows at the ends of a type moves each aggregate; an extra key tells the tables apart."""
    low, high = INTEGERS[kind]
    ends = [type(low)(end) for end in (low, high, 2**62, -(2**62)) if low <= end <= high]
    rows = [
        (value, 6 * number + count)
        for number, end in enumerate(ends)
        for count in range(6)
        for value in (high, low, *[end] * count)
    ]
    column = sf.Float(-1, 1) if kind in ("double", "infinite") else sf.Int(-5, 5)
    schema = Schema("people", unit, {"x": column, "tab": sf.Int(0, 100)})
    plan = plan_for(*EXTREMES, unit=unit, keys=(RangeKey(Column("tab"), 0, 6 * len(ends) - 1),))
    engine = DuckDBEngine(frame_of(kind, rows), schema)
    answers = np.array(arrange(plan, engine.run(sql_of(plan, schema, emitter))), dtype=object)
    engine.close()
    return np.abs(np.diff(answers.reshape(len(ends), 6, len(EXTREMES)), axis=1)).reshape(-1, len(EXTREMES))


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 1, 1)], ids=["row", "person"])
@pytest.mark.parametrize("kind", INTEGERS)
def test_s3_rows_at_the_ends_of_a_type_neither_wrap_nor_fail(kind: str, unit: Any) -> None:
    schema = Schema("people", unit, {"x": sf.Int(-5, 5)})
    certified = certify(plan_for(*EXTREMES, unit=unit), schema, "epsilon")
    claims = [release.sensitivity.l1 for release in certified.releases]
    steps = steps_of_each_row(kind, emit, unit)
    assert len(steps) >= 10
    assert (steps <= np.array(claims, dtype=object)).all()
    assert steps.max() > 0


@pytest.mark.parametrize("rows", [19, 20, 21, 1_000])
@pytest.mark.parametrize("column", [sf.Float(0, 100), sf.Float(-1e9, 1e9), sf.Int(0, 2**31 - 1), sf.Int(-(2**62), 0)])
@pytest.mark.parametrize("keys", [(), (RangeKey(Column("tab"), 0, 3),)], ids=["no key", "a key"])
def test_s3_a_person_above_max_rows_is_bounded_and_never_an_error(keys: Any, column: Any, rows: int) -> None:
    """An error here would tell whether the one person that WHERE leaves over has more than max_rows rows."""
    unit = sf.Person("who", 20, 1)
    schema = Schema("people", unit, {"x": column, "tab": sf.Int(0, 3)})
    lattice = Lattice.covering(column.lower, column.upper, whole=isinstance(column, sf.Int))
    plan = plan_for(CountRows(), CountValues(X), Sum(X, lattice), CentredSum(X, lattice), unit=unit, keys=keys)
    table = pa.table({"x": [float(2**62)] * rows, "who": [1] * rows, "tab": [0] * rows})
    engine = DuckDBEngine(table, schema)
    counted = min(rows, 20)
    found = arrange(plan, engine.run(sql_of(plan, schema)))[0]
    engine.close()
    assert found == (counted, counted, counted * lattice.upper, counted * (lattice.upper - lattice.centre))


def test_s3_twin_arithmetic_in_whole_numbers_fails_on_one_row() -> None:
    with pytest.raises(EngineFailed):
        steps_of_each_row(
            "int64", twin(("self.dialect.to_double(self._written(node))", "self._written(node)")), sf.Row()
        )


@pytest.mark.parametrize("call", ["SUM(x * x * x * x)", "AVG(1e99 * 1e99 * 1e99 * 1e99)"])
def test_s3_bounds_beyond_the_largest_double_are_refused(call: str) -> None:
    schema = Schema("people", sf.Row(), {"x": sf.Float(0, 1e99)})
    with pytest.raises(Refused):
        sql_of(certified_question(f"SELECT {call} FROM people", schema, Cost("epsilon", Fraction(1))).plan, schema)


# ---- S5: one person with very many rows and groups

GROUPS = 1_000


def crowded_plan(draws: np.random.Generator) -> Plan:
    max_groups = int(draws.integers(1, 30))
    unit = sf.Person("who", max_groups + int(draws.integers(0, 50)), max_groups)
    lower = int(draws.integers(-20, 10))
    lattice = Lattice(lower, lower + int(draws.integers(1, 20)), 0)
    every = [CountRows(), CountValues(X), Sum(X, lattice), CentredSum(X, lattice)]
    where = Comparison(">", X, Number(Fraction(int(draws.integers(-30, 30))))) if draws.random() < 0.5 else None
    width = int(draws.choice([1, 10, 100, GROUPS]))
    keys = (RangeKey(Column("place"), 0, width - 1),) if draws.random() < 0.9 else ()
    return plan_for(*every, unit=unit, keys=keys, where=where)


def crowd_with_and_without_one(rows: int) -> tuple[DuckDBEngine, DuckDBEngine]:
    """Thirty modest people, and one who has `rows` rows all over the place."""
    draws = np.random.default_rng(5)
    columns = {
        "who": draws.integers(1, 31, 300),
        "place": draws.integers(0, GROUPS, 300),
        "x": draws.integers(-40, 40, 300),
    }
    one = {"who": np.zeros(rows, int), "place": np.arange(rows) % GROUPS, "x": draws.integers(-40, 40, rows)}
    schema = Schema("people", sf.Person("who", 1, 1), PLACES)
    with_one = pa.table({name: np.concatenate([columns[name], one[name]]) for name in columns})
    return DuckDBEngine(with_one, schema), DuckDBEngine(pa.table(columns), schema)


PLACES = {"place": sf.Int(0, GROUPS - 1), "x": sf.Int(-20, 20)}


def contribution(plan: Plan, engines: tuple[DuckDBEngine, DuckDBEngine], emitter: Any = emit) -> np.ndarray[Any, Any]:
    """By how much the one person moves each group of each measure."""
    sql = sql_of(plan, Schema("people", plan.unit, PLACES), emitter)
    present, absent = (np.array(arrange(plan, engine.run(sql))) for engine in engines)
    return np.abs(present - absent)


def excess(plan: Plan, moved: np.ndarray[Any, Any]) -> bool:
    certified = certify(plan, Schema("people", plan.unit, PLACES), "epsilon")
    claims = np.array([release.sensitivity.l1 for release in certified.releases])
    assert isinstance(plan.unit, sf.Person)
    return bool((moved.sum(axis=0) > claims).any() or (moved.max(axis=1) > 0).sum() > plan.unit.max_groups)


@pytest.mark.slow
def test_s5_a_person_in_a_thousand_groups_contributes_no_more_than_declared_to_200_questions() -> None:
    engines = crowd_with_and_without_one(10_000)
    draws = np.random.default_rng(55)
    plans = [crowded_plan(draws) for _ in range(200)]
    assert not any(excess(plan, contribution(plan, engines)) for plan in plans)
    unbounded = twin(("SELECT {columns}, {most} AS most", "SELECT {columns}, CAST(1000000000 AS BIGINT) AS most"))
    assert sum(excess(plan, contribution(plan, engines, unbounded)) for plan in plans[:20]) >= 5


def test_s5_a_person_with_a_million_rows_counts_as_declared() -> None:
    engines = crowd_with_and_without_one(1_000_000)
    unit = sf.Person("who", 20, 4)
    lattice = Lattice(-20, 20, 0)
    plan = plan_for(CountRows(), Sum(X, lattice), unit=unit, keys=(RangeKey(Column("place"), 0, GROUPS - 1),))
    moved = contribution(plan, engines)
    assert sorted(moved[:, 0].tolist())[-5:] == [0, 5, 5, 5, 5]
    assert not excess(plan, moved)
    alone = plan_for(CountRows(), Sum(X, lattice), unit=unit)
    assert contribution(alone, engines)[0, 0] == 20


# ---- S7: the unit is the person

QUESTION = "SELECT place, COUNT(*) AS n, SUM(x) AS total, AVG(x) AS mean FROM people WHERE x > -15 GROUP BY place"


def certified_question(question: str, schema: Schema, price: Cost) -> Certified:
    return planned(question, schema, price).certified


def true_cost(certified: Certified, moved: np.ndarray[Any, Any]) -> Fraction:
    """The privacy loss of exactly this pair of tables under the exact law of the noise, over all measures.

    Discrete Laplace: the worst log-ratio of a vector is Σ|d|/scale. Discrete Gaussian: Σd²/(2 variance) is its ρ.
    """
    cost = Fraction(0)
    for measure, release in enumerate(certified.releases):
        changes = [int(change) for change in moved[:, measure]]
        match release.mechanism:
            case Additive(law=DiscreteLaplace(scale=scale)):
                cost += sum(changes) / scale
            case Additive(law=DiscreteGaussian(variance=variance)):
                cost += sum(change**2 for change in changes) / (2 * variance)
            case _:
                raise AssertionError("no law of added noise")
    return cost


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
@pytest.mark.parametrize("max_groups", [1, 5, 20])
def test_s7_adding_a_user_with_a_thousand_rows_costs_no_more_than_the_spend(currency: Any, max_groups: int) -> None:
    engines = crowd_with_and_without_one(1_000)
    schema = Schema("people", sf.Person("who", 20, max_groups), PLACES)
    price = Cost(currency, Fraction(1, 2))
    certified = certified_question(QUESTION, schema, price)
    assert certified.cost.amount <= price.amount
    moved = contribution(certified.plan, engines)
    assert 0 < true_cost(certified, moved) <= certified.cost.amount
    # The twin protects rows where people were meant.
    rows = certified_question(QUESTION, Schema("people", sf.Row(), PLACES), price)
    assert true_cost(rows, contribution(rows.plan, engines)) > 100 * price.amount


def test_s7_a_plan_for_rows_on_a_table_of_people_is_refused() -> None:
    people = Schema("people", sf.Person("who", 20, 5), PLACES)
    for unit in (sf.Row(), sf.Person("place", 20, 5)):
        with pytest.raises(Refused, match="another unit"):
            certify(plan_for(CountRows(), unit=unit), people, "epsilon")
    for unit in (sf.Person("who", 21, 5), sf.Person("who", 20, 6)):
        with pytest.raises(Refused, match="more of a person than the owner allows"):
            certify(plan_for(CountRows(), unit=unit), people, "epsilon")
    for unit in (people.unit, sf.Person("who", 19, 4)):
        certify(plan_for(CountRows(), unit=unit), people, "epsilon")


def test_s7_a_ledger_of_people_does_not_open_for_rows(tmp_path: Path) -> None:
    def open_for(unit: Any) -> sf.Session:
        table = pa.table({"who": [1, 1], "other": [1, 2], "x": [1, 2]})
        ledger, columns = tmp_path / "people.ledger", {"x": sf.Int(0, 9)}
        return sf.protect(table, unit=unit, columns=columns, budget=sf.Budget(epsilon=1), ledger=ledger)

    open_for(sf.Person("who", 2, 1)).close()
    for unit in (sf.Row(), sf.Person("other", 2, 1)):
        with pytest.raises(UsageError, match="the ledger was opened for"):
            open_for(unit)


# ---- S8: what is not declared is refused

UNBOUNDED = {"whole": sf.Int(), "real": sf.Float(), "text": sf.Text(), "place": sf.Int(0, 3), "name": sf.Identifier()}
NOT_DECLARED = [
    *(
        f"SELECT {call}({value}) FROM data"
        for call in ("SUM", "AVG")
        for value in ("whole", "real", "-real", "whole + 1")
    ),
    *(
        f"SELECT {call}({value}) FROM data"
        for call in ("SUM", "AVG")
        for value in ("place * real", "1 / place", "text")
    ),
    *(f"SELECT {key}, COUNT(*) FROM data GROUP BY {key}" for key in ("text", "real", "whole", "name", "hidden", "who")),
    "SELECT place, text, COUNT(*) FROM data GROUP BY place, text",
    "SELECT COUNT(name) FROM data",
    "SELECT COUNT(*) FROM data WHERE name = 'x'",
    "SELECT COUNT(*) FROM data WHERE hidden = 1",
    "SELECT SUM(hidden) FROM data",
]
FRAME = pa.table(
    {"who": [1, 2], "whole": [1, 2], "real": [1.5, 2.5], "text": ["a", "b"], "place": [1, 2], "name": ["p", "q"],
     "hidden": [1, 2]}
)  # fmt: skip


@pytest.mark.parametrize("unit", [sf.Row(), sf.Person("who", 2, 1)], ids=["row", "person"])
def test_s8_questions_without_bounds_keys_or_categories_are_refused_and_cost_nothing(unit: Any, tmp_path: Path) -> None:
    with sf.protect(
        FRAME, unit=unit, columns=UNBOUNDED, budget=sf.Budget(epsilon=9), ledger=tmp_path / "data.ledger"
    ) as session:
        for question in NOT_DECLARED:
            for act in (session.ask, session.explain):
                with pytest.raises(Refused):
                    act(question, spend=0.1)
        assert session.budget.spent.epsilon == 0
        assert session.history() == []
        session.ask("SELECT place, COUNT(*), SUM(place), COUNT(text) FROM data GROUP BY place", spend=1)


def test_s8_a_policy_file_without_bounds_refuses_the_same_questions(tmp_path: Path) -> None:
    pd.DataFrame(FRAME.to_pydict()).to_csv(tmp_path / "data.csv", index=False)
    policy = tmp_path / "data.toml"
    kinds = {"whole": "int", "real": "float", "text": "text", "name": "identifier"}
    columns = "\n".join(f'{name} = {{ type = "{kind}" }}' for name, kind in kinds.items())
    policy.write_text(
        '[data]\nsource = "data.csv"\n[unit]\nid = "who"\nmax_rows = 2\n[budget]\nepsilon = 1\n[columns]\n'
        f'{columns}\nplace = {{ type = "int", lower = 0, upper = 3 }}\n',
        encoding="utf-8",
    )
    with sf.open(policy) as session:
        for question in NOT_DECLARED:
            with pytest.raises(Refused):
                session.ask(question, spend=0.1)
        assert session.history() == []


def test_s8_declarations_themselves_cannot_leave_out_half() -> None:
    for declare in (
        lambda: sf.Int(lower=0),
        lambda: sf.Float(upper=1),
        lambda: sf.Int(5, 5),
        lambda: sf.Float(0, inf),
        lambda: sf.Float(float("nan"), 1),
        lambda: sf.Category([]),
        lambda: sf.Category("abc"),
        lambda: sf.Person("who", 0, 1),
        lambda: sf.Person("who", 1, 2),
    ):
        with pytest.raises(UsageError):
            declare()


FOUND = "    lower, upper = found.bounds\n"
REFUSED, WIDE = "        raise _unbounded_reason(value, text, schema)\n", "        raise bounds_too_wide(text)\n"


def test_s8_twin_a_planner_that_invents_bounds_is_noticed() -> None:
    broken = mutant(
        importlib.import_module("sfumato.query.bind_calls"),
        f"{REFUSED}{FOUND}    if max(abs(lower), abs(upper)) > WIDEST:\n{WIDE}",
        f"        return True, Fraction(0), Fraction(100)\n{FOUND}",
    )
    schema = Schema("data", sf.Row(), UNBOUNDED)
    (call,) = parse(NOT_DECLARED[0]).selected
    with pytest.raises(Refused):
        bind_calls.bind_call(call, schema)
    assert broken.bind_call(call, schema)
