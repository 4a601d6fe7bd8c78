"""Long texts: what is longer than declared is missing, by a rule about one row, in every kind of source."""

import random
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.duckdb import canonical
from sfumato.engines.duckdb.dialect import DUCKDB, DuckDBDialect
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.expressions import Writer
from sfumato.errors import SfumatoError
from sfumato.plan.expressions import (
    Call,
    Case,
    Column,
    Expression,
    IsNull,
    ListedKey,
    Matches,
    Not,
    Pick,
    String,
    UnitPart,
)
from sfumato.query.sql import parse
from sfumato.schema.columns import LONGEST_TEXT, Category, Declared, Float, Identifier, Int, Text
from sfumato.schema.policy import load_policy
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.engines.stores import FORMS, stored_as

WIDE = "é中😀"  # two, three and four bytes


def held(source: Any, declared: Declared, **more: Declared) -> list[Any]:
    engine = DuckDBEngine(source, Schema("people", Row(), {"t": declared, **more}))
    try:
        return [row[0] for row in engine.run("SELECT t FROM people")]
    finally:
        engine.close()


@pytest.mark.parametrize("form", FORMS)
def test_a_text_is_as_long_as_declared_or_missing(form: str, tmp_path: Path) -> None:
    lengths = [1, 9, 10, 11, 40, 41, 5000]
    for sign in ("x", *WIDE):
        folder = tmp_path / str(ord(sign))
        folder.mkdir()
        source = stored_as(form, pa.table({"t": [sign * length for length in lengths]}), folder)
        kept = held(source, Text(longest=10))
        assert sorted(kept, key=lambda text: len(text or "")) == [None] * 4 + [sign * length for length in lengths[:3]]


def test_if_nothing_is_said_a_thousand_characters() -> None:
    table = pa.table({"t": ["x" * LONGEST_TEXT, "x" * (LONGEST_TEXT + 1), "é" * LONGEST_TEXT]})
    assert held(table, Text()) == ["x" * 1000, None, "é" * 1000]
    assert held(table.append_column("n", pa.array([1, 2, 3])), Identifier(), n=Int()) == ["x" * 1000, None, "é" * 1000]


def test_what_is_longer_than_any_value_of_a_category_is_missing_whatever_its_type() -> None:
    """One cell of bytes, or a number among lines of JSON, changes the type of all others and nothing else of them."""
    cells = ["é", "ab", "abc", "abcd", "somebody else, not listed", "abc" + "b" * 10**6]
    found = ["é", "ab", "abc", None, None, None]
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        assert held(pa.table({"t": pa.array(cells).cast(kind)}), Category(["é", "abc"])) == found, kind
    assert held(pa.table({"t": pa.array(cells).dictionary_encode()}), Category(["é", "abc"])) == found


def test_a_category_in_json_is_as_long_as_in_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (t JSON)")
        cells = ["a", "ab", "abc", "x" * 150, "x" * 10**6]
        connection.executemany("INSERT INTO people VALUES (?)", [[f'"{cell}"'] for cell in cells])
    assert held(path, Category(["a", "ab"])) == ["a", "ab", None, None, None]


def nested(value: Expression) -> Expression:
    for name in ("UPPER", "LOWER") * 3:
        value = Call(name, (value,))
    return value


T = Column("t")
WORK: dict[str, Expression] = {
    "functions": nested(T),
    "functions of a branch": nested(Case(((Not(IsNull(T)), T),), String("none"))),
    "functions of what is there": nested(Call("COALESCE", (T, String("none")))),
    "patterns": Case(tuple((Matches("contains", T, f"é{i}"), String("a")) for i in range(6)), String("b")),
    "a unit's part": Call("LEAST", (UnitPart(7, 5), UnitPart(8, 5), UnitPart(9, 5))),
    "lists": Call("LEAST", tuple(Pick(ListedKey(T, tuple(f"{i}{k}" for i in range(9))), (0,) * 9) for k in range(6))),
}
DECLARED = {"text": Text(longest=20), "category": Category([f"word{i}" for i in range(7)])}


def worked_on(path: Path, declared: Declared, what: Expression) -> float:
    """Processor time of a question that works on texts, for everybody."""
    schema = Schema("people", Row(), {"t": declared})
    written = Writer(schema, DUCKDB).value(what)
    engine = DuckDBEngine(path, schema)
    try:
        times = []
        for _ in range(3):
            start = time.process_time()
            engine.run(f"SELECT COUNT({written}) FROM people AS t")
            times.append(time.process_time() - start)
        return min(times)
    finally:
        engine.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A file of short texts, and one where a row has a long one: each different text stands there once."""
    folder = tmp_path_factory.mktemp("dictionaries")
    words = [f"word{i % 7}" for i in range(10_000)]
    short, long = folder / "short.parquet", folder / "long.parquet"
    pq.write_table(pa.table({"t": words}), short)
    pq.write_table(pa.table({"t": [*words, "é" * 4_000_000]}), long)
    return short, long


@pytest.mark.parametrize("what", WORK)
@pytest.mark.parametrize("kind", DECLARED)
def test_nobody_works_on_a_longer_text_in_the_dictionary_of_a_file(
    kind: str, what: str, files: tuple[Path, Path]
) -> None:
    """DuckDB keeps the different texts of a column once, and works on all of them, whichever rows are meant."""
    short, long = (worked_on(path, DECLARED[kind], WORK[what]) for path in files)
    assert long < short + 0.1


@pytest.mark.parametrize("kind", DECLARED)
def test_without_the_cut_it_would_be_worked_on(
    kind: str, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical, "_cut", lambda written, longest: written)
    monkeypatch.setattr(DuckDBDialect, "beginning", lambda self, value, signs: value)
    for what in ("functions", "functions of a branch"):
        short, long = (worked_on(path, DECLARED[kind], WORK[what]) for path in files)
        assert long > short + 0.1, what


@pytest.mark.parametrize(
    "question", ["SELECT t, COUNT(*) FROM people AS t GROUP BY t", "SELECT COUNT(DISTINCT t) FROM people AS t"]
)
def test_to_group_by_a_category_looks_at_a_longer_text_once(question: str, files: tuple[Path, Path]) -> None:
    def seconds(path: Path) -> float:
        engine = DuckDBEngine(path, Schema("people", Row(), {"t": DECLARED["category"]}))
        try:
            times = []
            for _ in range(3):
                start = time.process_time()
                engine.run(question)
                times.append(time.process_time() - start)
            return min(times)
        finally:
            engine.close()

    short, long = map(seconds, files)
    assert long < short + 0.1


JOINED = "SELECT COUNT(*) FROM people AS a JOIN people AS b ON a.who = b.who WHERE b.x = 1"


def joined(folder: Path, cell: str) -> float:
    """Processor time of rows of people joined with each other; nobody names the column of texts."""
    rows, path = range(200_000), folder / f"{len(cell)}.parquet"
    words = [*(f"word{row % 7}" for row in rows[:-1]), cell]
    table = pa.table({"who": [row // 3 for row in rows], "x": [row % 3 for row in rows], "t": words})
    pq.write_table(table, path, dictionary_pagesize_limit=1 << 30)
    columns, unit = {"x": Int(0, 2), "t": DECLARED["category"]}, Person("who", max_rows=2)
    ledger = folder / f"{len(cell)}.ledger"
    with sf.protect(path, table="people", unit=unit, columns=columns, budget=sf.Budget(1), ledger=ledger) as session:
        (asked,) = session._prepare(JOINED, 1).planned
        (sql,) = written(asked.certified, DUCKDB)
        times = []
        for _ in range(3):
            start = time.process_time()
            session._engine.run(sql)  # type: ignore[attr-defined]
            times.append(time.process_time() - start)
        return min(times)


def test_sides_of_a_join_hold_no_longer_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB holds the whole dictionary once more with every two thousand rows that it keeps."""
    short, long = (joined(tmp_path, cell) for cell in ("x", "x" * 40_000_000))
    assert long < short + 1
    monkeypatch.setattr(DuckDBDialect, "beginning", lambda self, value, signs: value)
    assert joined(tmp_path, "x" * 40_000_000) > long + 1


def test_json_is_read_only_where_it_is_short(tmp_path: Path) -> None:
    """Its bytes are counted before anything parses them: of any longer cell nothing is looked at, valid or not."""
    escaped = "\\ud83d\\ude00"  # twelve bytes a sign
    cells = ['"' + escaped * 10 + '"', '"' + escaped * 11 + '"', "1" + " " * 200, "7", '"' + "x" * 10 + '"']
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (t JSON)")
        connection.executemany("INSERT INTO people VALUES (?)", [[cell] for cell in cells])
    assert held(path, Text(longest=10)) == ["😀" * 10, None, None, "7", "x" * 10]
    assert held(path, Category(["x" * 10, "7"])) == [None, None, None, "7", "x" * 10]
    written = canonical._valid_json("t", 10)
    assert written.startswith("CASE WHEN strlen(CAST(t AS VARCHAR)) <= 122 THEN CASE WHEN json_valid(t)")


def test_bytes_are_the_text_that_python_reads_or_missing() -> None:
    """Decided before anything is decoded: a cell that fails would be told by the time of all beside it."""
    chance = random.Random(3)
    edges = [
        0x00,
        0x41,
        0x7F,
        0x80,
        0x8F,
        0x90,
        0x9F,
        0xA0,
        0xBF,
        0xC1,
        0xC2,
        0xDF,
        0xE0,
        0xEC,
        0xED,
        0xEF,
        0xF0,
        0xF4,
        0xF5,
    ]
    cells = [bytes([one]) for one in range(256)] + [text.encode() for text in ("é", "中", "😀", "")]
    cells += [bytes(chance.choice(edges) for _ in range(chance.randrange(1, 6))) for _ in range(4_000)]

    def read(cell: bytes) -> str | None:
        try:
            return cell.decode()
        except UnicodeDecodeError:
            return None

    assert held(pa.table({"t": pa.array(cells, pa.binary())}), Text()) == [read(cell) for cell in cells]
    assert "TRY" not in canonical._text("t", "BLOB")


def test_numbers_are_not_looked_for_in_long_texts() -> None:
    table = pa.table({"t": ["7", " " * 2000 + "7", "0" * 2000 + "7"]})
    assert held(table, Int()) == [7, None, None]
    assert held(table, Float()) == [7.0, None, None]
    assert held(table, Category([7])) == [7, None, None]
    assert held(table, Category([True, False])) == [None, None, None]


def test_rows_of_a_person_with_a_long_id_are_nobodys() -> None:
    table = pa.table({"who": ["a", "b" * 1001, "c" * 1000], "t": ["1", "2", "3"]})
    engine = DuckDBEngine(table, Schema("people", Person("who", 1), {"t": Text()}))
    try:
        assert engine.run("SELECT t FROM people WHERE who IS NOT NULL ORDER BY t") == [("1",), ("3",)]
    finally:
        engine.close()


def test_how_long_a_text_may_be_is_declared_in_python_and_in_a_policy(tmp_path: Path) -> None:
    assert sf.Text().longest == 1000
    assert sf.Text(longest=5) == sf.Text(5)
    for longest in (0, 100_001, 1.5, "5", True, None):
        with pytest.raises(SfumatoError):
            sf.Text(longest)  # type: ignore[arg-type]
    policy = tmp_path / "people.toml"
    policy.write_text(
        '[data]\nsource = "people.csv"\n[unit]\nkind = "row"\n[budget]\nepsilon = 1\n'
        '[columns]\nzip = { type = "text", longest = 10 }\n',
        encoding="utf-8",
    )
    assert load_policy(policy).schema.columns == {"zip": Text(10)}


@pytest.mark.parametrize("pattern", ["%a_b%c", "_a%b%c", "%%_%a", "a" * 201, "%" * 17, "%" + "a" * 16 + "_"])
def test_patterns_whose_search_grows_faster_than_a_text_cannot_be_made(pattern: str) -> None:
    with pytest.raises(ValueError, match="short"):
        Matches("like", Column("t"), pattern)
    with pytest.raises(SfumatoError, match="pattern"):
        parse(f"SELECT COUNT(*) AS n FROM people WHERE t LIKE '{pattern}'")


@pytest.mark.parametrize(
    "pattern", ["%a_b%", "a_b%", "%a%b%c%", "_%_", "%a___b", "a" * 200, "%" + "a" * 15 + "_%", "_" + "a" * 100 + "%"]
)
def test_ordinary_patterns_can(pattern: str) -> None:
    Matches("like", Column("t"), pattern)
    parse(f"SELECT COUNT(*) AS n FROM people WHERE t LIKE '{pattern}'")


def test_texts_of_a_question_are_no_longer_than_those_of_a_table() -> None:
    parse(f"SELECT COUNT(*) AS n FROM people WHERE t = '{'x' * 1000}'")
    with pytest.raises(SfumatoError, match="more than 1000 characters"):
        parse(f"SELECT COUNT(*) AS n FROM people WHERE t = '{'x' * 1001}'")
    with pytest.raises(ValueError, match="short"):
        String("x" * 1001)
