"""What an engine keeps between draws: the rows of a source, worked out once, of the state that each draw names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato import door
from sfumato.engines.arrange import look
from sfumato.engines.copies import Copies
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.sources import write_source
from sfumato.engines.wordings import engine_failed
from sfumato.errors import EngineFailed, Refused
from sfumato.kernel.certify import Certified, certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import SystemEntropy
from sfumato.ledger.payment import Draw, Sealing
from sfumato.plan.expressions import Arithmetic, Column, Comparison, Number, Pick, UnitPart
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import CellSum, Choose, CountRows, Grid, ListedKey, Measure, Plan, Question, RangeKey, Sum
from sfumato.plan.sources import Computed, Kept, OnUnit, Rows, Source, Taken, outermost
from sfumato.plan.work import check_work
from sfumato.schema.columns import Category, Int
from sfumato.schema.others import Table
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit

COLUMNS = {"age": Int(0, 99), "sex": Category(["a", "b"])}
AGES, SEXES = Grid(Column("age"), Fraction(0), Fraction(100), 4), ListedKey(Column("sex"), ("a", "b"))
TABLE = pa.table(
    {
        "who": [1, 1, 1, 2, 3, 4, 5, None, 6, 7],
        "age": pa.array([10, 30, 60, 99, None, 45, 50, 1, 24, 25], pa.int64()),
        "sex": ["a", "b", "a", "b", "a", None, "a", "a", "undeclared", "b"],
    }
)
CODES = Rows(
    "people",
    Comparison("<>", UnitPart(5, 4), Number(Fraction(3))),
    (Computed("age", Pick(AGES, (0, 1, 2, 3), 4), Int(0, 4)), Computed("sex", Pick(SEXES, (0, 1)), Int(0, 1))),
)
FIRST = Kept(CODES)
SAME = tuple(Computed(name, Column(name), Int(0, 4)) for name in ("age", "sex"))
TWICE = Arithmetic("*", Column("age"), Number(Fraction(2)))
SECOND = Kept(Rows(FIRST, None, (*SAME, Computed("twice", TWICE, Int(0, 8)))))
KEY, HALF = RangeKey(Column("sex"), 0, 1), RangeKey(Column("age"), 0, 4)
ASKED = Choose((HALF,), KEY, (Question(0, (0, 0, 1, 1, 1)), Question(0, (0, 0, 0, 1, 1))))


SCHEMA = Schema("people", Person("who", 2, 2), COLUMNS)
COUNTED = Plan("people", SCHEMA.unit, None, (), (Measure(CountRows(), "laplace", Fraction(1)),))


def plan(source: Source, unit: Unit, value: str = "age") -> Plan:
    measures = (
        Measure(CountRows(), "laplace", Fraction(1)),
        Measure(Sum(Column(value), Lattice(0, 8, 0)), "laplace", Fraction(1)),
        Measure(CellSum(HALF, Column(value), Lattice(0, 8, 0)), "laplace", Fraction(1)),
        Measure(ASKED, "permute_and_flip", Fraction(1)),
    )
    return Plan(source, unit, None, (KEY,), measures)


def certified(source: Source, unit: Unit, value: str = "age") -> Certified:
    return certify(plan(source, unit, value), Schema("people", unit, COLUMNS), "epsilon")


def entries(engine: DuckDBEngine, one: Certified, names: Any = None) -> str:
    return repr(look(engine, one.countings, door.written(one, engine.dialect, names or {})).entries)


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    made = DuckDBEngine(TABLE, Schema("people", Person("who", 2, 2), COLUMNS))
    yield made
    made.close()


def tables(engine: DuckDBEngine) -> list[str]:
    return sorted(name for (name,) in engine.run("SELECT table_name FROM duckdb_tables() WHERE temporary"))


@pytest.mark.parametrize("unit", [Row(), Person("who", 2, 1), Person("who", 2, 2)], ids=str)
def test_what_is_kept_is_counted_as_the_source_is(unit: Unit) -> None:
    made = DuckDBEngine(TABLE, Schema("people", unit, COLUMNS))
    copies = Copies(made)
    for source, value in ((FIRST, "age"), (SECOND, "twice"), (Rows(SECOND, None, SAME), "age")):
        wanted = certified(source, unit, value)
        names = copies.names([wanted], made.version())
        sql = door.written(wanted, made.dialect, names)
        assert all("list_extract" not in one and "md5" not in one for one in sql), "worked out before"
        assert entries(made, wanted, names) == entries(made, wanted)
        bare = certified(_without(source), unit, value)
        assert [one.sensitivity for one in wanted.releases] == [one.sensitivity for one in bare.releases]
        assert wanted.cost == bare.cost
        assert wanted.digest != bare.digest
    made.close()


def _without(source: Source) -> Source:
    match source:
        case Kept(source=inner):
            return _without(inner)
        case Rows(source=inner, where=where, columns=columns):
            return Rows(_without(inner), where, columns)
        case _:
            return source


def test_a_copy_stays_as_long_as_draws_want_it_and_no_longer(engine: DuckDBEngine) -> None:
    unit, copies = Person("who", 2, 2), Copies(engine)
    version = engine.version()
    first = copies.names([certified(FIRST, unit)], version)
    assert tables(engine) == sorted(first.values())
    assert copies.names([certified(Rows(FIRST, None, SAME), unit)], version) == first, "the same, for another plan"
    second = copies.names([certified(SECOND, unit, "twice")], version)
    assert set(second) == {SECOND}
    assert tables(engine) == sorted(second.values()), "what it was made of is not wanted any more"
    both = copies.names([certified(SECOND, unit, "twice"), certified(FIRST, unit)], version)
    assert both[SECOND] == second[SECOND]
    for wanted in (certified(SECOND, unit, "twice"), certified(FIRST, unit)):
        assert entries(engine, wanted, both) == entries(engine, wanted), "each reads its own"
    assert tables(engine) == sorted(both.values())
    assert both[FIRST] != first[FIRST], "no name is given twice"
    assert copies.names([certify(COUNTED, SCHEMA, "epsilon")], version) == {}
    assert tables(engine) == []
    copies.names([certified(FIRST, unit)], version)
    copies.close()
    assert tables(engine) == []


def test_a_copy_is_of_the_state_that_the_draw_names(tmp_path: Path) -> None:
    path, unit = tmp_path / "people.parquet", Person("who", 2, 2)
    pyarrow.parquet.write_table(TABLE, path)
    engine = DuckDBEngine(path, Schema("people", unit, COLUMNS))
    copies, wanted = Copies(engine), certified(FIRST, unit)
    before = copies.names([wanted], engine.version())
    old = entries(engine, wanted, before)
    pyarrow.parquet.write_table(pa.concat_tables([TABLE] * 2).slice(0, 14), path)
    with pytest.raises(EngineFailed):  # nobody has named the new state yet
        copies.names([certified(SECOND, unit, "twice")], "v2")
    version = engine.version()
    after = copies.names([wanted], version)
    assert entries(engine, wanted, after) == entries(engine, wanted) != old
    assert tables(engine) == sorted(after.values())
    engine.close()


def test_another_description_of_the_table_is_another_copy(engine: DuckDBEngine) -> None:
    unit, copies, version = Person("who", 2, 2), Copies(engine), engine.version()
    wider = Schema("people", unit, {**COLUMNS, "age": Int(0, 120)})
    first = copies.names([certified(FIRST, unit)], version)
    other = certify(plan(FIRST, unit), wider, "epsilon")
    second = copies.names([other], version)
    assert first[FIRST] != second[FIRST]
    with pytest.raises(Refused, match="describe otherwise"):
        copies.names([certified(FIRST, unit), other], version)
    assert copies.names([certify(COUNTED, each, "epsilon") for each in (SCHEMA, wider)], version) == {}


def test_both_sides_of_a_join_are_kept() -> None:
    unit = Person("who", 2, 2)
    schema = Schema("people", unit, COLUMNS, tables={"visits": Table("visits.csv", {"n": Int(0, 9)})})
    side = Kept(Rows("visits", None, (Computed("n", Column("n"), Int(0, 9)),)))
    assert outermost(OnUnit(FIRST, side, (Taken("n", "n"),), True, 2, 2)) == (FIRST, side)
    joined = Plan(
        OnUnit(FIRST, side, (Taken("n", "n"),), True, 2, 2),
        unit,
        None,
        (KEY,),
        (Measure(Sum(Column("n"), Lattice(0, 9, 0)), "laplace", Fraction(1)),),
    )
    wanted = certify(joined, schema, "epsilon")
    assert wanted.releases[0].sensitivity.l1 == 2 * 9


def test_a_source_that_is_kept_is_weighed_once() -> None:
    unit, schema = Row(), Schema("people", Row(), COLUMNS)
    many = tuple(Computed(f"c{i}", Pick(AGES, (i, 1, 2, 3)), Int(0, 20)) for i in range(20))
    tables_ = tuple(RangeKey(Column(f"c{i}"), 0, 20) for i in range(20))
    asked = Choose(tables_, RangeKey(Column("sex"), 0, 1), (Question(0, (0,) * 21),))
    source = Rows("people", None, (*many, CODES.columns[1]))
    wide = Plan(source, unit, None, (), (Measure(asked, "permute_and_flip", Fraction(1)),))
    with pytest.raises(Refused, match="repeat themselves too often"):
        certify(wide, schema, "epsilon")
    kept = Plan(Kept(source), unit, None, (), wide.measures)
    check_work(certify(kept, schema, "epsilon").countings, schema)
    longer = Computed("long", Pick(RangeKey(Column("age"), 1, 4096), (0,) * 4096), Int(0, 1))
    heavy = Kept(Rows("people", None, (longer, *source.columns)))
    with pytest.raises(Refused, match="repeat themselves too often"):
        certify(Plan(heavy, unit, None, (), wide.measures), schema, "epsilon")


# ---- through the door


def drawn(session: sf.Session, envelope: int, source: Source, round_: int) -> Draw:
    asked = Plan(source, session.schema.unit, None, (), (Measure(CountRows(), "laplace", Fraction(1, 8)),))
    one = certify(asked, session.schema, "epsilon")
    return Draw((one,), session.analyst, envelope, round_, session._engine.version())


def test_draws_share_what_is_kept_and_a_question_leaves_nothing(
    open_crowd: Callable[..., sf.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd()
    engine: Any = session._engine
    sealing = Sealing("{}", session.analyst, Fraction(1), Cost("epsilon", Fraction(1)), engine.version())
    sealed = session._ledger.seal(sealing)
    run, made = engine._run, []
    monkeypatch.setattr(engine, "_run", lambda sql: made.append(sql) or run(sql))
    name = next(name for name, column in session.schema.columns.items() if isinstance(column, Int))
    source = Kept(Rows(session.schema.table, None, (Computed("n", Column(name), Int(0, 9)),)))
    copies = Copies(engine)
    for round_ in (1, 2, 2):
        door.answer(session._ledger, drawn(session, sealed.entry, source, round_), engine, SystemEntropy(), copies)
    assert sum("CREATE TEMP TABLE" in sql for sql in made) == 1
    assert sum(f'"{session.schema.table}"' in sql for sql in made) == 1, "no counting reads the table itself"
    assert len(tables(engine)) == 1
    copies.close()
    door.answer(session._ledger, drawn(session, sealed.entry, source, 3), engine, SystemEntropy())
    assert sum("CREATE TEMP TABLE" in sql for sql in made) == 2
    assert tables(engine) == []
    kinds = [str(entry.kind) for entry in session._ledger.records.chain.entries()]
    assert kinds == ["open", "charge", "draw", "release", "draw", "release", "draw", "release"]


def test_what_cannot_be_kept_is_a_failure_like_others(
    open_crowd: Callable[..., sf.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd()
    engine: Any = session._engine
    sealing = Sealing("{}", session.analyst, Fraction(1), Cost("epsilon", Fraction(1)), engine.version())
    sealed = session._ledger.seal(sealing)
    source = Kept(session.schema.table)
    run = engine._run

    def full(sql: str) -> Any:
        if "CREATE TEMP TABLE" in sql:
            raise MemoryError("no room for 123456 rows")
        return run(sql)

    monkeypatch.setattr(engine, "_run", full)
    for _ in range(2):
        with pytest.raises(EngineFailed) as failure:
            door.answer(session._ledger, drawn(session, sealed.entry, source, 1), engine, SystemEntropy())
        assert "123456" not in repr(failure.value)
    kinds = [str(entry.kind) for entry in session._ledger.records.chain.entries()]
    assert kinds == ["open", "charge", "draw", "failure"], "and it is not looked for twice"


@pytest.mark.parametrize("put_back", [True, False])
def test_a_copy_of_a_state_that_others_named_is_not_read_by_the_next_draw(
    open_crowd: Callable[..., sf.Session],
    crowd: pa.Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    put_back: bool,
) -> None:
    """The file is replaced, looked at by somebody, and put back: the next draw names the state of before again."""
    path, other = tmp_path / "people.parquet", tmp_path / "other.parquet"
    pyarrow.parquet.write_table(crowd, path)
    pyarrow.parquet.write_table(crowd.slice(0, 100), other)
    session = open_crowd(path)
    engine: Any = session._engine
    sealing = Sealing("{}", session.analyst, Fraction(1), Cost("epsilon", Fraction(1)), engine.version())
    sealed = session._ledger.seal(sealing)
    draws = [drawn(session, sealed.entry, Kept(session.schema.table), round_) for round_ in (1, 2)]
    kept, copies, aside = engine.kept, Copies(engine), tmp_path / "aside.parquet"

    @contextmanager
    def replaced(*given: Any) -> Iterator[str]:
        path.rename(aside)
        other.rename(path)
        engine.version()
        with kept(*given) as name:
            if put_back:
                aside.replace(path)
                engine.version()
            yield name

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(engine, "kept", replaced)
        with pytest.raises(EngineFailed):
            door.answer(session._ledger, draws[0], engine, SystemEntropy(), copies)
    assert tables(engine) == []
    if aside.exists():
        aside.replace(path)
    door.answer(session._ledger, draws[1], engine, SystemEntropy(), copies)
    (copy,) = tables(engine)
    assert engine.run(f"SELECT COUNT(*) FROM {copy}") == [(crowd.num_rows,)]


def test_a_draw_that_failed_leaves_nothing_kept(
    open_crowd: Callable[..., sf.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd()
    engine: Any = session._engine
    sealing = Sealing("{}", session.analyst, Fraction(1), Cost("epsilon", Fraction(1)), engine.version())
    draw = drawn(session, session._ledger.seal(sealing).entry, Kept(session.schema.table), 1)

    def failing(*_: Any) -> Any:
        assert tables(engine)
        raise engine_failed()

    monkeypatch.setattr(engine, "rows", failing)
    with pytest.raises(EngineFailed):
        door.answer(session._ledger, draw, engine, SystemEntropy(), Copies(engine))
    assert tables(engine) == []


def test_copies_whose_end_is_broken_off_are_forgotten(engine: DuckDBEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    unit, copies, version = Person("who", 2, 2), Copies(engine), engine.version()
    first = copies.names([certified(FIRST, unit)], version)
    with monkeypatch.context() as broken:
        broken.setattr(engine, "_drop", interrupted)
        with pytest.raises(KeyboardInterrupt):
            copies.close()
    assert set(copies.names([certified(FIRST, unit)], version).values()).isdisjoint(first.values())


def test_a_copy_is_read_for_its_own_source_alone() -> None:
    schema = Schema("data", Row(), {"x": Int(0, 9)})
    own, other = Kept("data"), Kept(Rows("data", None, (Computed("x", Column("x"), Int(0, 9)),)))
    names = {own: "sfumato_kept_0", other: "sfumato_kept_1"}
    for kept, name in names.items():
        assert write_source(kept, schema, DUCKDB, names) == DUCKDB.quoted(name)
        left = {each: named for each, named in names.items() if each != kept}
        assert "sfumato_kept" not in write_source(kept, schema, DUCKDB, left)
