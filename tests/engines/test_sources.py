"""JSON lines, DuckDB, SQLite and directories of Parquet files: how a row is read, what is refused, what changes."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from sfumato.engines import wordings
from sfumato.engines.duckdb import files, sqlite
from sfumato.engines.duckdb.engine import DuckDBEngine, describe
from sfumato.errors import DataUnreadable, EngineFailed, SfumatoError, UsageError
from sfumato.schema.columns import Category, Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row
from tests.engines.stores import stored_as
from tests.engines.test_duckdb import CANARY, CROWD, XS, refusal, schema_of, stored


@contextlib.contextmanager
def opened(source: Any, schema: Schema, **settings: Any) -> Iterator[DuckDBEngine]:
    engine = DuckDBEngine(source, schema, **settings)
    try:
        yield engine
    finally:
        engine.close()


def refused(source: Any, schema: Schema, **settings: Any) -> str:
    with pytest.raises(SfumatoError) as caught:
        DuckDBEngine(source, schema, **settings)
    assert CANARY not in str(caught.value)
    return caught.value.message


# ---- JSON lines: each line for itself


def lines(folder: Path, *written: str | bytes, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in written))
    return path


def test_fields_are_texts_and_what_an_object_lacks_is_null(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        '{"x": 7, "s": "a"}',
        '{"s": null, "x": "8", "other": 1}',
        '{"x": 2.5, "s": true}',
        '{"x": "seven", "s": [1, {"a": 2}]}',
        '{"x": 99999999999999999999, "s": 1.50}',
        "{}",
    )
    assert stored(path, XS)[1] == [7, 8, 2, None, 2**63 - 1, None]
    assert stored(path, XS, "s")[1] == ["a", None, "true", '[1,{"a":2}]', "1.5", None]
    assert stored(path, schema_of(x=Float(0, 9)))[1] == [7.0, 8.0, 2.5, None, 1e20, None]


HOSTILE: list[str | bytes] = [
    "not JSON",
    "[1, 2]",
    "17",
    "null",
    '"text"',
    '{"x": 1',
    '{"x": "open',
    '{"x": 1}}',
    '{"x": 1} {"x": 2}',
    '{"x": 1},',
    '{"x": {"x": 1}}',
    '{"x": [[[[1]]]]}',
    '{"x": NaN}',
    '{"x": 1e400}',
    '{"x": "\\ud800"}',
    '{"x": "\\u0000"}',
    b'{"x": "caf\xe9"}',
    b"\xff\xfe",
    b'\xef\xbb\xbf{"x": 1}',
    '{"x": 1, "x": 2}',
    '{"X": 1}',
    '{"": 1}',
    '{"x": 1, "s": 2, "s2": 3, "s3": 4}',
    "{",
    "}",
    '{"x": "' + "a" * 100_000 + '"}',
    '{"x": ' + "[" * 10_000 + "]" * 10_000 + "}",
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=[repr(line)[:24] for line in HOSTILE])
@pytest.mark.parametrize("place", [0, 15, 30], ids=["first", "middle", "last"])
def test_one_line_changes_neither_how_the_others_are_read_nor_whether(
    hostile: str | bytes, place: int, tmp_path: Path
) -> None:
    ordinary: list[str | bytes] = [json.dumps({"x": i, "s": f"text {i}"}) for i in range(30)]
    path = lines(tmp_path, *ordinary[:place], hostile, *ordinary[place:])
    if place == 0 and isinstance(hostile, bytes) and hostile.startswith(b"\xef\xbb\xbf"):
        assert "byte order mark" in refused(path, XS)  # of the file, not of a row
        return
    with opened(path, schema_of(x=Int(), s=Text())) as engine:
        assert engine.run("SELECT COUNT(*) FROM data") == [(31,)]
        found = engine.run("SELECT s, x FROM data WHERE s IS NOT NULL AND s LIKE 'text %' ORDER BY x")
        assert found == [(f"text {i}", i) for i in range(30)]


@pytest.mark.parametrize("hostile", ["5", "[1, 2]", '"x"', "null", "no JSON"])
@pytest.mark.parametrize("place", [0, 30], ids=["first", "last"])
def test_a_line_that_is_no_object_is_a_row_of_nothing_beside_a_single_column(
    hostile: str, place: int, tmp_path: Path
) -> None:
    """An engine that is asked for one column takes such lines for its values, and then all lines."""
    written = [json.dumps({"s": "text", "other": i}) for i in range(30)]
    path = lines(tmp_path, *written[:place], hostile, *written[place:])
    with opened(path, schema_of(s=Text())) as engine:
        found = dict(engine.run("SELECT s, COUNT(*) FROM data GROUP BY s"))
    assert found == {"text": 30, None: 1}


def test_a_column_that_no_object_has_is_null_and_no_error(tmp_path: Path) -> None:
    """An error would tell whether the one person is there whose object has it."""
    path = lines(tmp_path, '{"x": 1}')
    assert stored(path, schema_of(rare=Int(0, 9)), "rare")[1] == [None]


def test_json_files_that_are_refused(tmp_path: Path) -> None:
    assert "16 MB" in refused(lines(tmp_path, '{"x": "' + "x" * 40_000_000 + '"}'), XS)
    assert "is one array" in refused(lines(tmp_path, " ", "[{}]", name="rows.json"), XS)
    same = schema_of(x=Int(), X=Int())
    assert "but for the case of letters" in refused(lines(tmp_path, "{}"), same)


def test_an_empty_json_file_is_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "rows.ndjson"
    path.touch()
    with opened(path, XS) as engine:
        assert engine.run("SELECT COUNT(*) FROM data") == [(0,)]


# ---- DuckDB files


def database(folder: Path, *statements: str, name: str = "people.duckdb") -> Path:
    with duckdb.connect(str(folder / name)) as connection:
        for statement in statements:
            connection.execute(statement)
    return folder / name


def test_the_table_is_named_or_the_only_one(tmp_path: Path) -> None:
    path = database(
        tmp_path,
        "CREATE TABLE first AS SELECT 1 AS x, 'a' AS s",
        "CREATE SCHEMA other",
        "CREATE TABLE other.second AS SELECT 2 AS x, 'b' AS s",
        'CREATE TABLE "odd.na""me\'s" AS SELECT 3 AS x, \'c\' AS s',
        "CREATE VIEW seen AS SELECT * FROM first",
    )
    for table, x in (("first", 1), ("other.second", 2), ("odd.na\"me's", 3)):
        with opened(path, XS, source_table=table) as engine:
            assert engine.run("SELECT x FROM data") == [(x,)]
    assert "holds several tables." in refused(path, XS)
    assert refused(path, XS, source_table="frist").endswith('has no table "frist". Did you mean "first"?')
    assert "is a view" in refused(path, XS, source_table="seen")
    for name in ("main.first", "sfumato_file data.main.first", "information_schema.tables", "duckdb_tables", ""):
        assert "has no table" in refused(path, XS, source_table=name)
    assert "holds no table" in refused(database(tmp_path, name="empty.duckdb"), XS)


def test_a_collation_does_not_let_different_texts_fall_together(tmp_path: Path) -> None:
    """Which of 'a' and 'A' names their group would depend on a single row, and their whole count with it."""
    path = database(
        tmp_path,
        "CREATE TABLE t (who VARCHAR COLLATE NOCASE, s VARCHAR COLLATE NOCASE.NOACCENT)",
        "INSERT INTO t VALUES ('ann', 'a'), ('ANN', 'A'), ('bob', 'á'), ('bob', 'a')",
    )
    with opened(path, schema_of(Person("who", 2, 1), s=Text())) as engine:
        assert engine.run("SELECT s, COUNT(*) FROM data GROUP BY s ORDER BY 1") == [("A", 1), ("a", 2), ("á", 1)]
        assert engine.run("SELECT COUNT(DISTINCT who) FROM data") == [(3,)]
        assert engine.run("SELECT COUNT(*) FROM data WHERE s = 'A'") == [(1,)]
    with duckdb.connect(str(path), read_only=True) as twin:
        assert len(twin.execute("SELECT CAST(s AS VARCHAR) AS k FROM t GROUP BY k").fetchall()) == 1


def test_a_computed_column_is_refused_if_it_is_declared(tmp_path: Path) -> None:
    """What it computes is somebody's SQL, which nobody has proved to be total."""
    path = database(
        tmp_path,
        "CREATE TABLE t (s VARCHAR, x AS (CAST(s AS INTEGER)))",
        "INSERT INTO t (s) VALUES ('1'), ('2')",
    )
    assert 'the column "x" is computed' in refused(path, XS)
    with opened(path, schema_of(s=Text())) as engine:
        assert engine.run("SELECT COUNT(s) FROM data") == [(2,)]


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"


@contextlib.contextmanager
def held(path: Path, program: str) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        yield
        other.communicate()


def test_a_file_that_somebody_writes_to_is_refused(tmp_path: Path) -> None:
    path = stored_as("duckdb", CROWD, tmp_path)
    with held(path, HOLD):
        assert "is in use by a program" in refused(path, schema_of(age=Int(0, 9)))
    with duckdb.connect(str(path)):
        assert "is in use by a program" in refused(path, schema_of(age=Int(0, 9)))
    with opened(path, schema_of(age=Int(0, 9))), opened(path, schema_of(age=Int(0, 9))) as second:
        assert second.run("SELECT COUNT(*) FROM data") == [(6,)]


def test_nobody_writes_to_a_file_that_is_open_and_a_new_one_is_another_version(tmp_path: Path) -> None:
    path = stored_as("duckdb", CROWD, tmp_path)
    with opened(path, schema_of(age=Int(0, 9))) as engine:
        before = engine.version()
        for sql in (
            'INSERT INTO "sfumato_file data".main.kept DEFAULT VALUES',
            'DROP TABLE "sfumato_file data".main.kept',
            'CREATE TABLE "sfumato_file data".main.more (x INTEGER)',
        ):
            with pytest.raises(EngineFailed):
                engine.run(sql)
        with pytest.raises(duckdb.Error):
            duckdb.connect(str(path))
        stored_as("duckdb", CROWD.slice(0, 2), tmp_path, "newer").replace(path)
        assert engine.version() == before
        assert engine.run("SELECT COUNT(*) FROM data") == [(6,)]
    with opened(path, schema_of(age=Int(0, 9))) as engine:
        assert engine.version() != before


@pytest.mark.parametrize("name", ["bad.duckdb", "bad.db", "bad.sqlite"])
def test_a_damaged_database_is_refused(name: str, tmp_path: Path) -> None:
    table = pa.table({"x": list(range(2000)), "s": [CANARY] * 2000})
    whole = stored_as("sqlite" if name == "bad.sqlite" else "duckdb", table, tmp_path).read_bytes()
    path = tmp_path / name
    for content in (b"", CANARY.encode() * 100, whole[:3000], whole[:40] + b"\xff" * 4000 + whole[4040:]):
        path.write_bytes(content)
        if name == "bad.sqlite" and not content:
            assert "holds no table" in refusal(path, XS).message  # how SQLite begins
        else:
            assert "is damaged or of another kind" in refusal(path, XS).message


def test_a_sqlite_file_damaged_inside_is_refused(tmp_path: Path) -> None:
    path = stored_as("sqlite", pa.table({"x": list(range(9000)), "s": [CANARY] * 9000}), tmp_path)
    content = bytearray(path.read_bytes())
    content[-40_000:] = b"\xff" * 40_000
    path.write_bytes(content)
    assert isinstance(refusal(path, XS), DataUnreadable)


# ---- SQLite files


def kept(folder: Path, *statements: str, name: str = "people.sqlite") -> Path:
    with contextlib.closing(sqlite3.connect(folder / name)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return folder / name


def test_cells_of_every_type_become_texts_first(tmp_path: Path) -> None:
    """A column of SQLite holds whatever was put there."""
    path = kept(
        tmp_path,
        "CREATE TABLE t (x, s TEXT)",
        "INSERT INTO t VALUES (7, 'a'), (2.5, 7), ('8', x'63e9'), (NULL, NULL), (x'00ff', x'c3a9'), (9e999, 0.1)",
        "INSERT INTO t VALUES (9223372036854775807, 'it''s'), ('seven', '')",
    )
    with opened(path, schema_of(x=Int(), s=Text())) as engine:
        assert engine.run("SELECT * FROM data") == [
            (7, "a"),
            (2, "7"),
            (8, None),
            (None, None),
            (None, "é"),
            (2**63 - 1, "0.1"),
            (2**63 - 1, "it's"),
            (None, ""),
        ]
    assert stored(path, schema_of(x=Float(0, 9)))[1][:6] == [7.0, 2.5, 8.0, None, None, float("inf")]


def test_the_table_of_a_sqlite_file(tmp_path: Path) -> None:
    path = kept(tmp_path, "CREATE TABLE one (x, s)", "CREATE TABLE two (x, s)", "CREATE VIEW seen AS SELECT * FROM one")
    with opened(path, XS, source_table="two") as engine:
        assert engine.run("SELECT COUNT(*) FROM data") == [(0,)]
    assert refused(path, XS) == "people.sqlite holds several tables."
    assert "is a view" in refused(path, XS, source_table="seen")
    assert 'Did you mean "two"?' in refused(path, XS, source_table="twoo")
    assert "no table" in refused(path, XS, source_table="sqlite_master")
    assert "holds no table" in refused(kept(tmp_path, name="none.sqlite"), XS)


def test_a_large_sqlite_file_comes_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "ROWS_AT_ONCE", 7)
    path = stored_as("sqlite", pa.table({"x": list(range(100)), "s": ["a"] * 100}), tmp_path)
    with opened(path, schema_of(x=Int(), s=Text())) as engine:
        assert engine.run("SELECT COUNT(*), SUM(x), COUNT(s) FROM data") == [(100, 4950, 100)]


LOCK = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN EXCLUSIVE'); print(1, flush=True); "
    "sys.stdin.read()"
)


def test_a_locked_sqlite_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE_SECONDS", 0.1)
    path = stored_as("sqlite", CROWD, tmp_path)
    with held(path, LOCK):
        assert "is in use by a program" in refused(path, schema_of(age=Int(0, 9)))


def test_rows_in_the_log_of_a_sqlite_file_count(tmp_path: Path) -> None:
    """A program that keeps such a log may go on writing to it."""
    path = tmp_path / "people.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (x, s)")
        writer.execute("INSERT INTO t VALUES (1, 'a')")
        writer.commit()
        writer.execute("INSERT INTO t VALUES (2, 'not yet')")
        with opened(path, XS) as engine:
            assert engine.run("SELECT x, s FROM data") == [(1, "a")]
            first = engine.version()
        writer.commit()
        with opened(path, XS) as engine:
            assert engine.run("SELECT COUNT(*) FROM data") == [(2,)]
            assert engine.version() != first


def test_a_sqlite_file_is_only_read(tmp_path: Path) -> None:
    path = stored_as("sqlite", CROWD, tmp_path)
    before = path.read_bytes()
    with opened(path, schema_of(age=Int(0, 9))) as engine:
        version = engine.version()
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["people.sqlite"]
    os.utime(path, ns=(1, 1))
    with opened(path, schema_of(age=Int(0, 9))) as engine:
        assert engine.version() == version  # its content, not its date
    kept(tmp_path, "DELETE FROM kept WHERE age = 30", name="people.sqlite")
    with opened(path, schema_of(age=Int(0, 9))) as engine:
        assert engine.version() != version


# ---- directories


def test_files_of_a_directory_must_have_the_same_columns(tmp_path: Path) -> None:
    place = stored_as("directory", CROWD, tmp_path)
    others = {
        "another type": CROWD.set_column(1, "age", CROWD["age"].cast(pa.int32())),
        "another name": CROWD.rename_columns(["who", "years", "pay", "kind", "code", "flag"]),
        "one less": CROWD.drop_columns(["flag"]),
        "one more": CROWD.append_column("more", CROWD["age"]),
        "another order": CROWD.select(["age", "who", "pay", "kind", "code", "flag"]),
    }
    for table in others.values():
        pyarrow.parquet.write_table(table, place / "part-99999.parquet")
        assert refused(place, schema_of(age=Int(0, 9))).startswith("part-99999.parquet of the directory people")
    pyarrow.parquet.write_table(CROWD, place / "part-99999.parquet", compression="zstd", use_dictionary=False)
    with opened(place, schema_of(age=Int(0, 9))) as engine:
        assert engine.run("SELECT COUNT(*) FROM data") == [(12,)]


def test_a_directory_may_be_called_like_a_file(tmp_path: Path) -> None:
    place = stored_as("directory", CROWD, tmp_path).rename(tmp_path / "people.parquet")
    with opened(place, schema_of(age=Int(0, 9))) as engine:
        assert engine.run("SELECT COUNT(*) FROM data") == [(6,)]


def test_directories_that_are_refused(tmp_path: Path) -> None:
    schema = schema_of(age=Int(0, 9))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no .parquet file" in refused(empty, schema)
    (empty / "people.csv").write_text(f"age\n{CANARY}\n")
    assert "holds no .parquet file" in refused(empty, schema)
    place = stored_as("directory", CROWD, tmp_path)
    (place / "year=2026").mkdir()
    assert "holds directories" in refused(place, schema)
    (place / "year=2026").rmdir()
    outside = tmp_path / "outside.parquet"
    pyarrow.parquet.write_table(CROWD, outside)
    for target in (outside, place / "part-00000.parquet", tmp_path / "nowhere.parquet"):
        (place / "link.parquet").symlink_to(target)
        assert "holds a link" in refused(place, schema)
        (place / "link.parquet").unlink()
    (place / "a*.parquet").write_bytes(outside.read_bytes())
    assert "read as a pattern" in refused(place, schema)
    (place / "a*.parquet").unlink()
    (place / "part-99999.parquet").write_text(CANARY)
    assert "is damaged" in refused(place, schema)


@pytest.mark.parametrize(
    ("form", "asked", "name"),
    [
        ("directory", "iterdir", ""),
        ("directory", "is_dir", ""),
        ("directory", "is_symlink", "part-00000.parquet"),
        ("csv", "is_file", ""),
        ("duckdb", "is_file", ".wal"),
        ("json lines", "open", ""),
    ],
)
def test_what_may_not_be_looked_at_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, asked: str, name: str
) -> None:
    """The system's own error names the path, also to analysts."""
    place, schema = stored_as(form, CROWD, tmp_path), schema_of(age=Int(0, 9))
    real = getattr(Path, asked)

    def forbidden(path: Path, *given: Any) -> Any:
        if path.is_relative_to(tmp_path) and path.name.endswith(name or place.name):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *given)

    with opened(place, schema) as engine:
        monkeypatch.setattr(Path, asked, forbidden)
        if form == "directory":
            with pytest.raises(DataUnreadable, match="it may not be opened"):
                engine.version()
    assert "it may not be opened" in refused(place, schema)


def test_a_text_file_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = stored_as("csv", CROWD, tmp_path)

    def forbidden(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr(files, "_lines", forbidden)
    assert "it may not be opened" in refused(place, schema_of(age=Int(0, 9)))


def test_the_version_of_a_directory_covers_its_files(tmp_path: Path) -> None:
    place = stored_as("directory", CROWD, tmp_path)
    with opened(place, schema_of(age=Int(0, 9))) as engine:
        first = engine.version()
        assert engine.version() == first
        os.utime(place / "part-00003.parquet", ns=(1, 1))
        second = engine.version()
        pyarrow.parquet.write_table(CROWD.slice(0, 3), place / "part-00003.parquet")
        assert len({first, second, engine.version()}) == 3
        assert engine.run("SELECT COUNT(*) FROM data") == [(8,)]
        (place / "notes.txt").touch()
        engine.version()
        for change in (lambda: (place / "part-00000.parquet").unlink(), lambda: as_more(place)):
            change()
            with pytest.raises(DataUnreadable, match=r"added to the directory .* or removed"):
                engine.version()


def as_more(place: Path) -> None:
    pyarrow.parquet.write_table(CROWD, place / "part-00000.parquet")
    pyarrow.parquet.write_table(CROWD, place / "part-99999.parquet")


# ---- texts that are none


def not_utf_8(values: list[bytes]) -> pa.Array:
    """A text column as careless programs write it."""
    _, offsets, content = pa.array(values, pa.binary()).buffers()
    return pa.StringArray.from_buffers(len(values), offsets, content)


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}], ids=["dictionary", "plain"])
@pytest.mark.parametrize(
    "schema",
    [XS, schema_of(s=Category(["ok"])), schema_of(s=Int(0, 9)), schema_of(Person("s", 1, 1), x=Int(0, 9))],
    ids=["text", "category", "number", "id"],
)
def test_a_parquet_file_with_texts_that_are_none_is_refused_as_a_whole(
    options: dict[str, Any], schema: Schema, tmp_path: Path
) -> None:
    table = pa.table({"s": not_utf_8([b"ok"] * 5000 + [CANARY.encode() + b"\xe9", b"ok"]), "x": list(range(5002))})
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=1000, **options)
    assert "are not valid UTF-8" in refusal(path, schema).message
    place = tmp_path / "people"
    place.mkdir()
    pyarrow.parquet.write_table(table.slice(0, 10), place / "a.parquet")
    path.rename(place / "b.parquet")
    assert "are not valid UTF-8" in refusal(place, schema).message


def test_without_the_look_at_texts_one_row_would_answer_a_question(tmp_path: Path) -> None:
    """The twin: a failure that depends on whose rows a question reads."""
    path = tmp_path / "people.parquet"
    table = pa.table({"s": not_utf_8([b"ok", b"caf\xe9", b"ok"]), "x": [1, 2, 3]})
    pyarrow.parquet.write_table(table, path, use_dictionary=False)
    with duckdb.connect(":memory:") as twin:
        question = f"SELECT COUNT(*) FROM '{path}' WHERE x = {{}} AND s = 'ok'"
        assert twin.execute(question.format(1)).fetchall() == [(1,)]
        with pytest.raises(duckdb.Error):
            twin.execute(question.format(2)).fetchall()


def test_undeclared_texts_and_later_files(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    bad = pa.table({"s": not_utf_8([b"ok", b"caf\xe9"]), "x": [1, 2]})
    pyarrow.parquet.write_table(bad, path)
    with opened(path, schema_of(x=Int(0, 9))) as engine:
        assert engine.run("SELECT COUNT(x) FROM data") == [(2,)]
    pyarrow.parquet.write_table(pa.table({"s": ["a"], "x": [1]}), path)
    with opened(path, XS) as engine:
        engine.version()
        pyarrow.parquet.write_table(bad, path)
        with pytest.raises(DataUnreadable, match="not valid UTF-8"):
            engine.version()


def test_a_frame_with_texts_that_are_none_is_refused() -> None:
    table = pa.table({"s": not_utf_8([CANARY.encode(), b"caf\xe9"]), "x": [1, 2]})
    assert isinstance(refusal(table, XS), DataUnreadable)


# ---- describing, for a draft


DESCRIBED: dict[str, tuple[Callable[[Path], Path], dict[str, str]]] = {
    "json": (
        lambda folder: lines(folder, '{"x": 1, "s": "a"}', "nothing", '{"y": 2.5}'),
        {"x": "BIGINT", "s": "VARCHAR", "y": "DOUBLE"},
    ),
    "duckdb": (lambda folder: database(folder, "CREATE TABLE t (x SMALLINT, s VARCHAR)"), {"x": "SMALLINT"}),
    "sqlite": (lambda folder: kept(folder, "CREATE TABLE t (x INT, s)"), {"x": "INT", "s": "TEXT"}),
    "directory": (lambda folder: stored_as("directory", CROWD, folder), {"age": "BIGINT", "pay": "DOUBLE"}),
}


@pytest.mark.parametrize("kind", DESCRIBED)
def test_describe_names_columns_and_types(kind: str, tmp_path: Path) -> None:
    make, expected = DESCRIBED[kind]
    assert expected.items() <= describe(make(tmp_path)).items()


@pytest.mark.parametrize("make", [database, kept], ids=["duckdb", "sqlite"])
def test_describe_lists_the_tables_to_choose_from(make: Callable[..., Path], tmp_path: Path) -> None:
    path = make(tmp_path, "CREATE TABLE one (x INT)", "CREATE TABLE two (y INT)")
    with pytest.raises(DataUnreadable, match="several tables: one, two"):
        describe(path)
    assert list(describe(path, "two")) == ["y"]


def test_a_source_table_is_for_databases(tmp_path: Path) -> None:
    path = lines(tmp_path, "{}")
    for source in (path, CROWD):
        with pytest.raises(UsageError, match="names a table of a DuckDB or SQLite file"):
            DuckDBEngine(source, schema_of(age=Int(0, 9)), source_table="people")
    with pytest.raises(UsageError):
        describe(path, "people")


def test_every_wording_says_what_happened_and_what_to_do() -> None:
    samples: dict[str, Any] = {
        "tables": ["a"],
        **dict.fromkeys(("name", "table", "path", "view", "file", "kind", "column"), "people"),
    }
    for name, wording in vars(wordings).items():
        if callable(wording) and getattr(wording, "__module__", "") == wordings.__name__:
            names = wording.__code__.co_varnames[: wording.__code__.co_argcount]
            error = wording(*(samples[argument] for argument in names))
            assert isinstance(error, SfumatoError), name
            assert error.message[-1] in ".?"
            assert error.hint[-1] == "."


def test_rows_stay_rows_whatever_the_unit() -> None:
    with opened(CROWD, Schema("data", Row(), {"age": Int(0, 9)})) as engine:
        assert engine.run("SELECT COUNT(*) FROM data") == [(6,)]
