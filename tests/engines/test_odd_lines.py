"""Which single lines make a whole CSV file unreadable: the list of docs/reference/sources.md, held to the engine."""

import csv
import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import pyarrow as pa
import pytest

from sfumato.engines.duckdb import files, sources
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable
from sfumato.schema.columns import Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row
from tests.marks import few

SCHEMA = Schema("people", Row(), {"age": Int(0, 99), "town": Text()})
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sources.md"
HEADER = b"age,town\n"
NAMED = pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
READ = f"SELECT COALESCE(COLUMNS(*), '') FROM {sources.RAW}"
MANY = 3000  # more than DuckDB looks at to guess anything
OTHERS = b"".join(b"%d,Ulm\n" % (20 + i % 50) for i in range(MANY))
FIELDS, UTF_8 = "its rows do not all have as many fields as its header", "it is not valid UTF-8"

# As the page calls them, an example or several, and what is said.
ODD: dict[str, tuple[list[bytes], str]] = {
    "fewer fields than the header": ([b"30\n", b"  \n", b"30;Ulm\n"], FIELDS),
    "more fields than the header, empty ones at its end aside": ([b"30,Ulm,x\n", b"30,Ulm,,x\n"], FIELDS),
    "a quote that is never closed": ([b'30,"Ulm\n', b'30,"\n'], FIELDS),
    "text after a closing quote": ([b'30,"Ulm"x\n', b'30,"Ul\\"m"\n'], FIELDS),
    "bytes that are no UTF-8": ([b"30,Ul\xffm\n", b"30,\xed\xa0\x80\n"], UTF_8),
    "more than 2,000,000 bytes": ([b"30," + b"x" * 2_000_001 + b"\n"], FIELDS),
    "another line ending than the other lines": ([b"30,Ulm\r\n", b"30,Ulm\r"], FIELDS),
    "a carriage return outside quotes": ([b"30,Ul\rm\n"], FIELDS),
}
HARMLESS = {
    "an empty line": (b"\n", 0),
    "nothing in a cell": (b",\n", 1),
    "empty fields too many": (b"30,Ulm,,\n", 1),
    "a quote inside": (b'30,Ul"m\n', 1),
    "blanks around quotes": (b'30, "Ulm" \n', 1),
    "line breaks inside quotes": (b'30,"Ul\nm\r\n\r"\n', 1),
    "doubled quotes": (b'30,"Ul""m"\n', 1),
    "NUL and other controls": (b"30,Ul\0m\x1a\x0c\x1b\n", 1),
    "a byte order mark": (b"\xef\xbb\xbf30,Ulm\n", 1),
    "no number": (b"x,Ulm\n", 1),
    "2,000,000 bytes": (b"30," + b"x" * 1_999_996 + b"\n", 1),
}


def rows(folder: Path, *parts: bytes, name: str = "people.csv") -> int:
    path = folder / name
    content = b"".join(parts)
    path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    engine = DuckDBEngine(path, SCHEMA)
    try:
        return int(engine.run("SELECT COUNT(*) FROM people")[0][0])
    finally:
        engine.close()


@NAMED
@pytest.mark.parametrize("kind", ODD)
def test_one_such_line_refuses_the_file_wherever_it_stands(kind: str, name: str, tmp_path: Path) -> None:
    lines, said = ODD[kind]
    for line in lines:
        for parts in ((HEADER, line, OTHERS), (HEADER, OTHERS, line, OTHERS), (HEADER, OTHERS, line)):
            with pytest.raises(DataUnreadable, match=said) as refused:
                rows(tmp_path, *parts, name=name)
            assert "Ul" not in str(refused.value)


@NAMED
@pytest.mark.parametrize("kind", HARMLESS)
def test_other_lines_are_read_beside_the_others(kind: str, name: str, tmp_path: Path) -> None:
    line, counted = HARMLESS[kind]
    assert rows(tmp_path, HEADER, OTHERS, line, OTHERS, name=name) == 2 * MANY + counted
    assert rows(tmp_path, HEADER, line, OTHERS, name=name) == MANY + counted


@pytest.mark.parametrize(
    "broken",
    [
        lambda whole: whole[:-9],
        lambda whole: whole[:40],
        lambda whole: whole[:60] + b"\0" * 60 + whole[120:],
        lambda _: OTHERS,
    ],
    ids=["cut at its end", "cut early", "overwritten", "not compressed"],
)
def test_an_archive_that_is_damaged_is_refused_as_a_whole(broken: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(broken(gzip.compress(HEADER + OTHERS)))
    with pytest.raises(DataUnreadable, match="cannot be read") as refused:
        DuckDBEngine(path, SCHEMA)
    assert "Ul" not in str(refused.value)


def test_the_page_lists_these_and_no_others() -> None:
    section = PAGE.read_text(encoding="utf-8").split("**CSV.**")[1].split("\n\n**")[0]
    assert [line[2:] for line in section.splitlines() if line.startswith("- ")] == list(ODD)


def test_an_open_quote_and_a_fitting_cell_far_below_are_read_as_one(tmp_path: Path) -> None:
    """Why the page asks for a program that writes quotes in pairs: here one line hides three thousand."""
    fitting = b'31,"\n5,Ulm"\n'
    assert rows(tmp_path, HEADER, OTHERS, fitting) == MANY + 1
    assert rows(tmp_path, HEADER, b'30,"Ulm\n', OTHERS, fitting) == 2


@NAMED
@pytest.mark.parametrize("border", [8_000_000, 16_000_000])
def test_a_cell_in_quotes_is_one_wherever_in_a_file_it_stands(border: int, name: str, tmp_path: Path) -> None:
    """Readers that share a file among them begin at such bytes, and one would begin inside the quotes."""
    cell = b'41,"line one\nline two, and more\nline three, and more, of it\nbye"\n'
    filler, before = b"40," + b"x" * 150 + b"\n", border - 15 - len(HEADER)
    many, left = divmod(before, len(filler))
    first = b"40," + b"x" * (left - 4) + b"\n" if left >= 4 else b"\n" * left
    found = rows(tmp_path, HEADER, first, filler * many, cell, filler * 1000, name=name)
    assert found == (left >= 4) + many + 1 + 1000


def test_where_readers_cannot_share_a_file_one_reads_it(tmp_path: Path) -> None:
    """Whether they can depends on how many there are; here they never can."""
    path, schema = tmp_path / "people.csv", Schema("people", Row(), {"age": Int(0, 99)})
    path.write_text("age,town\n30,Ulm\n31,ab\n", newline="")
    with duckdb.connect() as connection:

        def execute(sql: str) -> Any:
            if "parallel = true" in sql:
                raise duckdb.Error("one begins inside of quotes")
            return connection.execute(sql)

        sources._csv(Mock(execute=execute, sql=connection.sql), path, schema)
        assert connection.execute("SELECT age FROM people ORDER BY age").fetchall() == [(30,), (31,)]


def test_an_open_quote_hides_nothing_where_empty_lines_make_up_for_its_rows(tmp_path: Path) -> None:
    """Empty lines of a file with one column are rows to one reader and none to the other."""
    path, schema = tmp_path / "one.csv", Schema("people", Row(), {"age": Int(0, 99)})
    path.write_bytes(b"age\n" + b"\n" * 50 + b"20\n" * 51 + b' "x\n' + b"30\n" * 49)
    with pytest.raises(DataUnreadable, match=FIELDS):
        DuckDBEngine(path, schema)


def test_long_cells_in_quotes_are_compared_like_others(tmp_path: Path) -> None:
    """Where several readers cannot share a file, each cell is compared with what Python reads, however long it is."""
    files.csv.field_size_limit(1 << 17)
    long = "Ulm\n" * 50_000
    (tmp_path / "people.csv").write_text(f'age,town\n30,"{long}"\n', newline="")
    for shown in (long, long[:-1]):
        found = pa.record_batch({"age": ["30"], "town": [shown]})
        assert files.holds_rows(tmp_path / "people.csv", ",", 2, [found]) == (shown == long)


# Whoever begins to read behind the line break inside takes each of the cells below for the end of a cell.
BREAKS = [b'41,"Call\n"\n', b'41,"Ca\r\n"\n', b'41,"a\nb\n"\n']
BELOW = b'31,", no note"\n31,",x"\n31,"\nHello, you"\n31,"\n"\n'


@NAMED
@pytest.mark.parametrize("width", few([1, 2, 3], lambda width: width == 2))
def test_no_row_hides_others_wherever_a_reader_begins(width: int, name: str, tmp_path: Path) -> None:
    """One note that ends with a line break, over the byte where the second of several readers begins."""
    path, schema = tmp_path / name, Schema("people", Row(), {"age": Int(0, 99)})
    first, more = (b"40,", b"age,town\n") if width == 2 else (b"40,y,", b"age,x,town\n")
    if width == 1:
        first, more, schema = b"40", b"town\n", Schema("people", Row(), {"town": Text()})
    filler = first + b"x" * 97 + b"\n"
    for shape in BREAKS:
        cell, below = shape, BELOW
        if width != 2:
            cell, below = (one.replace(b"41,", first[2:]).replace(b"31,", first[2:]) for one in (cell, below))
            cell, below = (one.replace(b",y,", b"4,y,") for one in (cell, below))
        for before in range(-1, len(cell) + 2) if name.endswith(".csv") else (len(cell) - 3, len(cell) - 2):
            many, left = divmod(8_000_000 - before - len(more), len(filler))
            begun = more + filler * (many - 1) + filler[:-1] + b"x" * left + b"\n"
            content = begun + cell + filler * 1000 + below + filler * 10
            path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
            engine = DuckDBEngine(path, schema)
            try:
                assert engine.run("SELECT COUNT(*) FROM people") == [(many + 1 + 1000 + 4 + 10,)], (shape, before)
            finally:
                engine.close()


IRREGULAR = [
    b"30,Ulm,x\n",
    b"30\n",
    b"30,Ulm\r\n",
    b"30,U\rlm\n",
    b'30,"Ulm"\n',
    b"30,Ulm,\n",
    b"30,%s\n" % (b"x" * 2_000_000),
]


def test_readers_share_only_plain_lines(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    for plain in (b"a,b\n1,2\n\n3,\n", b"a,b\r\n1,2\r\n3,4", b"\xef\xbb\xbfa,b\n1,\n\xff,2\n"):
        path.write_bytes(plain)
        assert files.plain_rows(path, ",", 2) == 2
    path.write_bytes(b"a\n\n1\n\n")
    assert files.plain_rows(path, ",", 1) == 3
    path.write_bytes(HEADER + OTHERS * 200)
    assert files.plain_rows(path, ",", 2) == MANY * 200
    for line in IRREGULAR:
        for parts in ((HEADER, line, OTHERS), (HEADER, OTHERS * 200, line), (HEADER, OTHERS, line[:-1])):
            path.write_bytes(b"".join(parts))
            assert files.plain_rows(path, ",", 2) is None, (line[:20], parts[-1][-9:])


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_of_reading_give_the_same_rows(seed: int, tmp_path: Path) -> None:
    """Where lines are plain, readers that share a file, and a single one beside Python's, agree on every row."""
    draw, path = random.Random(seed), tmp_path / "people.csv"
    for _ in range(20):
        width, end = draw.choice([1, 2, 3]), draw.choice(["\n", "\r\n"])
        cells = ["", "a", "b 1", " ", " x ", "\0", "é", "\t", "'", "\\", "#", "\u2028", "\x0b", "\x1c", "\x85"]
        lines = [",".join(draw.choices(cells, k=width)) for _ in range(draw.choice([1, 30, 300]))]
        lines = [",".join("abc"[:width]), *lines]
        path.write_text(end.join(lines) + draw.choice([end, ""]), encoding="utf-8", newline="")
        with path.open(encoding="utf-8", newline="") as content:
            kept = [tuple(row) or ("",) for row in csv.reader(content) if row or width == 1][1:]
        shown: list[Any] = []
        for plain in (True, False):
            with duckdb.connect() as connection:
                many = files.plain_rows(path, ",", width)
                with pytest.MonkeyPatch.context() as patched:
                    patched.setattr(sources, "plain_rows", lambda *_, given=many if plain else None: given)
                    patched.setattr(sources, "create", lambda c, *_, to=shown: to.append(c.sql(READ).fetchall()))
                    sources._csv(connection, path, SCHEMA)
        assert shown == [kept, kept]
