"""Files and frames that cannot be read: each says so in words of our own, and shows nothing of what it holds."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from sfumato.engines.duckdb import in_place, sqlite
from sfumato.engines.duckdb.cells import text_of
from sfumato.engines.duckdb.engine import describe
from sfumato.engines.duckdb.files import beginning, header, listing
from sfumato.engines.duckdb.frames import typed
from sfumato.engines.duckdb.tables import unreadable
from sfumato.errors import DataUnreadable
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row

SECRET = "alice, 1815"


def test_what_may_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataUnreadable, match="it may not be opened"):
        beginning(tmp_path, 3)  # a directory
    with pytest.raises(DataUnreadable, match="it may not be opened"):
        sqlite.choose_table(tmp_path / "not there.sqlite", None)
    with pytest.raises(DataUnreadable, match="there is no file"):
        listing(tmp_path / "not there")


def test_a_file_that_sqlite_cannot_open_later(tmp_path: Path) -> None:
    class Gone:
        def execute(self, sql: str) -> Any:
            raise sqlite.sqlite3.OperationalError(f"unable to open database file {SECRET}")

    with pytest.raises(DataUnreadable, match="or the log beside it") as failed:
        sqlite._rows(Gone(), "SELECT 1", "people.sqlite")
    assert SECRET not in str(failed.value)


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"name,Name\n{SECRET}\n")
    with pytest.raises(DataUnreadable, match="two columns have the same name"):
        header(path)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (duckdb.OutOfMemoryException(SECRET), "does not fit into the memory"),
        (duckdb.InvalidInputException(f"Invalid unicode {SECRET}"), "not valid UTF-8"),
        (duckdb.InvalidInputException(f"CSV Error on Line {SECRET}"), "as many fields as its header"),
        (duckdb.IOException(SECRET), "damaged or of another kind"),
    ],
)
def test_the_engines_words_are_not_repeated(error: duckdb.Error, said: str) -> None:
    found = unreadable("people.csv", error)
    assert said in str(found)
    assert SECRET not in str(found)


def test_a_database_whose_table_cannot_be_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the file is cut off behind its first pages."""
    monkeypatch.setattr(in_place, "attach", lambda *_: ("nowhere.main.people", "people"))
    with duckdb.connect(":memory:") as connection, pytest.raises(DataUnreadable, match="damaged"):
        in_place.duckdb_file(connection, tmp_path / "a.duckdb", Schema("people", Row(), {"x": Int()}), None)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", "\n", "names no column"),
        ("lines.jsonl", "[1, 2]\n", "no JSON object"),
        ("odd.parquet", SECRET, "damaged"),
    ],
)
def test_what_cannot_be_described(name: str, content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataUnreadable, match=said) as failed:
        describe(path)
    assert SECRET not in str(failed.value)


def test_a_csv_file_with_bytes_that_are_no_text_is_not_described(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"x,s\n" + b"1,a\n" * 5000 + b"1,\xff" + SECRET.encode() + b"\n")
    with pytest.raises(DataUnreadable) as failed:
        describe(path)
    assert SECRET not in str(failed.value)


def test_a_frame_whose_converter_fails_is_not_quoted() -> None:
    class Failing(pd.DataFrame):
        @property
        def columns(self) -> Any:
            raise RuntimeError(SECRET)

    Failing.__module__, Failing.__name__ = "pandas.core", "DataFrame"
    with pytest.raises(DataUnreadable, match="of a kind DuckDB does not take") as failed:
        typed(Failing(), ["x"], None)
    assert SECRET not in str(failed.value)


def test_sparse_columns_read_like_dense_ones() -> None:
    frame = pd.DataFrame({"x": pd.arrays.SparseArray([0, 0, 7])})
    assert typed(frame, ["x"], None).column("x").to_pylist() == [0, 0, 7]


@pytest.mark.parametrize(("imaginary", "text"), [(0, "1.5"), (1, None)])
def test_a_complex_number_is_a_number_where_it_is_real(imaginary: int, text: str | None) -> None:
    for kind in (complex, np.complex128, np.clongdouble):
        assert text_of(kind(1.5 + 1j * imaginary)) == text
