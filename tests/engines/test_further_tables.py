"""Tables beside the private one: read like it, ids alike, keys unique, and part of the data's version."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable, EngineFailed, UsageError
from sfumato.schema.table import Schema

PERSON = sf.Person("who", 5, 1)
PEOPLE = pa.table({"who": [1, 2, 3], "code": ["a", "b", None]})
COLUMNS = {"code": sf.Text()}


def lookup(source: Any, **columns: Any) -> sf.Lookup:
    return sf.Lookup(source, "code", columns or {"area": sf.Float(0, 9)})


def engine(*, unit: Any = PERSON, **beside: Any) -> DuckDBEngine:
    return DuckDBEngine(PEOPLE, Schema("people", unit, COLUMNS, **beside))


def written(path: Path, table: pa.Table) -> Path:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        lines = [",".join(table.column_names)]
        lines += [",".join("" if cell is None else str(cell) for cell in row.values()) for row in table.to_pylist()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(params=["frame", "csv", "parquet"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    def keep(table: pa.Table) -> Any:
        return table if request.param == "frame" else written(tmp_path / f"beside.{request.param}", table)

    return keep


def test_a_lookup_is_copied_with_its_declared_types(kept: Any) -> None:
    source = kept(pa.table({"code": ["a", "b", None, None], "area": [1.5, None, 3.0, 4.0], "secret": [1, 2, 3, 4]}))
    opened = engine(lookups={"areas": lookup(source)})
    if isinstance(source, Path):
        source.unlink()
    assert sorted(opened.run('SELECT * FROM "areas"')) == [("a", 1.5), ("b", None)]
    opened.close()


@pytest.mark.parametrize(
    ("codes", "declared", "shown"),
    [(["a", "b", "a"], sf.Text(), "'a'"), (["1", "01", "x"], sf.Int(), "1"), ([7, 8, 7], sf.Int(0, 9), "7")],
)
def test_a_key_twice_is_refused_and_named(kept: Any, codes: list[Any], declared: Any, shown: str) -> None:
    """Twice after it is read: 1 and 01 are the same whole number. A lookup is public, so its key may be shown."""
    source = kept(pa.table({"code": codes, "area": [1.0, 2.0, 3.0]}))
    with pytest.raises(DataUnreadable, match=rf'"areas" has several rows with code = {shown}:'):
        engine(lookups={"areas": lookup(source, code=declared, area=sf.Float())})


def test_ids_are_texts_in_all_tables(kept: Any) -> None:
    source = kept(pa.table({"who": ["1", "02", "x", None], "cost": [1.0, 2.0, 3.0, 4.0]}))
    opened = engine(tables={"visits": sf.Table(source, {"cost": sf.Float(0, 9)})})
    found = sorted(opened.run("SELECT who, cost FROM visits WHERE who IS NOT NULL"))
    assert found == [("02", 2.0), ("1", 1.0), ("x", 3.0)]
    assert opened.run("SELECT COUNT(*) FROM visits WHERE who IS NULL") == [(1,)]
    assert len(opened.run("SELECT 1 FROM people JOIN visits ON people.who = visits.who")) == 1
    opened.close()


def test_ids_that_are_numbers_meet_ids_that_are_texts() -> None:
    """As numbers they would be compared by a cast, which fails on the row that is none."""
    people = pa.table({"who": ["1", "x", "02"], "code": ["a", "b", None]})
    visits = sf.Table(pa.table({"who": [1, 2, 2], "cost": [1.0] * 3}), {"cost": sf.Float(0, 9)})
    schema = Schema("people", PERSON, COLUMNS, tables={"visits": visits})
    opened = DuckDBEngine(people, schema)
    assert len(opened.run("SELECT 1 FROM people JOIN visits ON people.who = visits.who")) == 1
    opened.close()


def test_the_version_covers_every_table(tmp_path: Path) -> None:
    def version(areas: Any, visits: Any) -> str:
        tables = {"visits": sf.Table(visits, {"cost": sf.Float(0, 9)})}
        opened = engine(lookups={"areas": lookup(areas)}, tables=tables)
        found = opened.version()
        opened.close()
        return found

    areas = [pa.table({"code": ["a"], "area": [size]}) for size in (1.0, 2.0)]
    visits = [pa.table({"who": [1], "cost": [size]}) for size in (1.0, 2.0)]
    frames = {version(area, visit) for area in areas for visit in visits}
    assert len(frames) == 4
    assert frames == {version(area, visit) for area in areas for visit in visits}
    alone = engine()
    assert alone.version() not in frames
    assert "\n" not in alone.version()
    alone.close()
    csv = version(areas[0], written(tmp_path / "visits.csv", visits[0]))
    parquet = version(areas[0], written(tmp_path / "visits.parquet", visits[0]))
    assert str(tmp_path / "visits.csv") in csv
    assert str(tmp_path / "visits.parquet") in parquet


def test_a_parquet_table_is_scanned_in_place_and_its_version_looked_at_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "visits.parquet", pa.table({"who": [1], "cost": [1.0]}))
    opened = engine(tables={"visits": sf.Table(path, {"cost": sf.Float(0, 9)})})
    before = opened.version()
    written(path, pa.table({"who": [1, 2, 3], "cost": [1.0, 2.0, 3.0]}))
    assert opened.version() != before
    assert opened.run("SELECT COUNT(*) FROM visits") == [(3,)]
    with pytest.raises(EngineFailed):
        opened.run(f"SELECT * FROM read_parquet('{written(tmp_path / 'other.parquet', PEOPLE)}')")
    path.unlink()
    with pytest.raises(DataUnreadable, match="there is no file"):
        opened.version()
    opened.close()


def test_a_column_that_is_not_there_is_named(kept: Any) -> None:
    source = kept(pa.table({"code": ["a"], "arrea": [1.0]}))
    with pytest.raises(DataUnreadable, match='no column "area"'):
        engine(lookups={"areas": lookup(source)})
    with pytest.raises(DataUnreadable, match='no column "who"'):
        engine(tables={"visits": sf.Table(source, {"arrea": sf.Float(0, 9)})})


# ---- declarations


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: sf.Lookup("x.csv", "k", {"k": sf.Float(0, 1)}), "must be a text, a category or a whole number"),
        (lambda: sf.Lookup("x.csv", "k", {"k": sf.Identifier()}), "must be a text, a category or a whole number"),
        (lambda: sf.Lookup("x.csv", "k", {"name": sf.Identifier()}), "a lookup is public"),
        (lambda: engine(unit=sf.Row(), tables={"v": sf.Table(PEOPLE, COLUMNS)}), "the unit has no id"),
        (lambda: engine(tables={"People": sf.Table(PEOPLE, COLUMNS)}), 'two tables are called "People"'),
        (
            lambda: engine(tables={"x": sf.Table(PEOPLE, COLUMNS)}, lookups={"X": lookup(PEOPLE)}),
            'two tables are called "x"',
        ),
        (lambda: engine(tables={"v": COLUMNS}), '"v" is not declared as a Table'),
        (lambda: engine(lookups={"v": COLUMNS}), '"v" is not declared as a Lookup'),
        (lambda: engine(tables={"v": sf.Table(PEOPLE, {})}), "no column is declared"),
        (lambda: engine(tables={"v": sf.Table(PEOPLE, {"who": sf.Int()})}), 'the unit id "who" is declared'),
        (lambda: engine(lookups={"v": lookup(PEOPLE, area="float")}), '"area" is declared as str'),
        (lambda: engine(lookups={"": lookup(PEOPLE)}), "is not a usable name"),
    ],
)
def test_what_is_declared_wrongly_is_said(declare: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        declare()


POLICY = """
[data]
source = "people.csv"
[unit]
id = "who"
max_rows = 5
[budget]
epsilon = 1
[columns]
code = { type = "text" }
"""


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("[lookups.areas]\nkey = 'code'", "[lookups.areas] lacks source"),
        ("[lookups.areas]\nsource = 'x.csv'", "[lookups.areas] lacks key"),
        ("[lookups.areas]\nsource = 'x.csv'\nkey = 'k'\ntype = 1", '[lookups.areas] does not know "type"'),
        ("[tables.visits]\nsource = 'x.csv'\nkey = 'k'", '[tables.visits] does not know "key"'),
        ("[tables]\nvisits = 'x.csv'", "[tables.visits] lacks its lines"),
        ("[tables.visits]\nsource = 'x.csv'\n[tables.visits.columns]\na = 1", "[columns.a] lacks type"),
        ("[tables.visits]\nsource = 'x.csv'", "the table: no column is declared"),
        ("[lookup.areas]\nkey = 'code'", '[file] does not know "lookup"'),
    ],
)
def test_a_policy_says_which_line_to_mend(tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "people.toml").write_text(POLICY + lines, encoding="utf-8")
    with pytest.raises(UsageError) as wrong:
        sf.open(tmp_path / "people.toml")
    assert said in wrong.value.message
