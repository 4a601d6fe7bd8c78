"""The rules of the one reader: what a file is called, what its first line decides, what a bad row is told."""

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from sfumato.errors import DataUnreadable, UsageError
from sfumato.tables import texts
from sfumato.tables.kinds import LINES, PLACES, kind_called, kind_of
from sfumato.tables.objects import BROKEN, values
from sfumato.tables.reading import read, read_file
from tests.readers.files import MARK


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.CSV", "csv"), ("a.b.tsv.GZ", "csv"), ("a.json", "json"), ("a.feather", "arrow"), ("a.parquet", "parquet")],
)
def test_the_ending_says_what_a_file_holds(name: str, kind: str) -> None:
    assert kind_of(Path(name)) == kind


@pytest.mark.parametrize("name", ["a.txt", "a.geojson", "a.gz", "a.parquet.gz", "csv", ".csv", "a"])
def test_other_endings_are_refused_with_those_that_are_read(name: str) -> None:
    with pytest.raises(DataUnreadable, match="of no kind") as refused:
        kind_of(Path(name))
    assert ".csv.gz" in refused.value.hint
    assert ".geojson" not in refused.value.hint


def test_places_and_lines_know_more_endings() -> None:
    assert kind_of(Path("a.geojson"), PLACES) == "geojson"
    assert kind_of(Path("a.txt"), LINES) == "lines"
    assert [kind_called(name, PLACES) for name in ("ndjson", "JSONL", "geojson", ".csv")] == [
        *("json", "json", "geojson", "csv")
    ]
    with pytest.raises(UsageError, match=r'csvv is no format of a file. Did you mean "csv"'):
        kind_called("csvv")


def lines(text: bytes) -> io.BytesIO:
    return io.BytesIO(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", []),
        (b"\n \n", []),
        (b"1\n\n2", [1, 2]),
        (MARK + b'{"a": 1}\r\n{"a": 2}\r\n', [{"a": 1}, {"a": 2}]),
        (b'[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        (b'\n[\n{"a": 1}\n]\n', [{"a": 1}]),
        (b'{\n "a": 1\n}\n', [{"a": 1}]),
        (b"[1]\n[2]\n", [[1], [2]]),
        (b'{\n{"a": 1}\n', [BROKEN, {"a": 1}]),
        (b'1\n{\n"\xff"\n2', [1, BROKEN, BROKEN, 2]),
        (b"[" * 100_000, [BROKEN]),
    ],
)
def test_json_is_a_value_a_line_or_one_array(text: bytes, expected: list[object]) -> None:
    assert list(values(lines(text))) == expected


def test_a_line_of_json_comes_out_before_the_next_is_in() -> None:
    def coming() -> "object":
        yield b'{"a": 1}\n'
        raise AssertionError("read on")

    assert next(values(coming())) == {"a": 1}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "separator", "names"),
    [
        (b"a,b\n", ",", ["a", "b"]),
        (MARK + b"a;b;c,d\n", ";", ["a", "b", "c,d"]),
        (b'a|"x\ny"|b\r\n', "|", ["a", "x\ny", "b"]),
        (b"a\tb", "\t", ["a", "b"]),
        (b"a\n", ",", ["a"]),
    ],
)
def test_the_first_line_decides(first: bytes, separator: str, names: list[str]) -> None:
    stream = lines(first + (b"" if not first.endswith(b"\n") else b"1,2;3\n"))
    assert texts.header(stream, "a.csv") == (separator, names)
    assert stream.read() == (b"1,2;3\n" if first.endswith(b"\n") else b"")


def test_cells_are_texts_and_a_quoted_cell_may_hold_anything() -> None:
    stream = lines(b'a;b\n01;"x;""y""\n\nz"\n\n;\n')
    assert texts.table(stream, "a.csv").to_pylist() == [{"a": "01", "b": 'x;"y"\n\nz'}, {"a": "", "b": ""}]


def test_types_come_from_all_rows_and_not_from_the_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "BLOCK", 16)
    rows = "".join(f"{number}\n" for number in range(50)) + "x\n"
    assert texts.table(lines(b"a\n" + rows.encode()), "a.csv", typed=True).schema.types == [pa.string()]
    assert texts.table(lines(b"a\n" + rows[:-2].encode()), "a.csv", typed=True).schema.types == [pa.int64()]


def test_a_torn_row_is_named_and_left_out_where_that_is_asked() -> None:
    text, seen = b"a,b\n1,2\n3\n4,5,6\n7,8\n", []
    with pytest.raises(DataUnreadable, match="row 2 has 1 field, the header 2"):
        list(texts.batches(lines(text), "a.csv"))
    found = list(texts.batches(lines(text), "a.csv", lambda _: ["b"], lambda *tear: seen.append(tear) is None))
    assert [cell for batch in found for cell in batch.column("b").to_pylist()] == ["2", "8"]
    assert seen == [(2, 1, 2), (3, 3, 2)]


@pytest.mark.parametrize("typed", [True, False])
def test_other_encodings_are_refused_wherever_they_begin(typed: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 100_000 + "2,é\n".encode("latin-1"))
    with pytest.raises(DataUnreadable, match="not valid UTF-8"):
        read_file(path, typed=typed)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
    for broken in (whole[:-9], whole[:200], whole[:50] + b"\0" * 50 + whole[100:], b"", b"a,b\n1,2\n"):
        path.write_bytes(broken)
        with pytest.raises(DataUnreadable, match=r"damaged|empty"):
            read_file(path)


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;b\n")
    table = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        found, kind = read(tmp_path / name)
        assert (found.column_names, found.num_rows, kind) == (["a", "b"], 0, "arrow")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1}\n{\n', "row 2: this is not JSON"),
        ('{"a": 1}\n5\n', "row 2: this is no object"),
        ('[{"a": 1}, [2]]', "row 2: this is no object"),
        ('{"a": 1}\n{"a": "x"}\n', "mixed types"),
    ],
)
def test_json_that_is_no_table(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises((DataUnreadable, UsageError), match=says):
        read_file(tmp_path / "a.json")


def test_a_column_that_some_objects_lack_is_missing_there(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ({"a": 1}, {"b": "x"})))
    assert read_file(tmp_path / "a.jsonl").to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]
