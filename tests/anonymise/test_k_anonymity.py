"""k_anonymity on tables of every kind, on Adult, and on input that cannot work."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataUnreadable, Refused, UsageError
from tests.anonymise.adult import QUASI, adult, hierarchies

ROWS = [
    {
        "name": f"p{place}",
        "age": 20 + place % 7,
        "town": ["aa", "ab", "bb"][place % 3],
        "ill": ["flu", "cold"][place % 2],
    }
    for place in range(42)
]
RULES: dict[str, Any] = {"age": "intervals:5,10", "town": "prefixes"}
ASK: dict[str, Any] = {"k": 3, "hierarchies": RULES, "sensitive": "ill", "identifiers": ["name"]}


def released(result: sf.anonymise.AnonymisedTable) -> list[dict[str, Any]]:
    return result.to_arrow().to_pylist()


def test_every_kind_of_table_gives_the_same_release_in_its_own_kind(tmp_path: Path) -> None:
    expected = sf.anonymise.k_anonymity(ROWS, ["age", "town"], **ASK)
    assert isinstance(expected.table, list)
    arrow = pa.Table.from_pylist(ROWS)
    pq.write_table(arrow, tmp_path / "rows.parquet")
    pd.DataFrame(ROWS).to_csv(tmp_path / "rows.csv", index=False)
    categories = pd.DataFrame(ROWS).astype({"town": "category"})
    kinds: list[tuple[object, type]] = [
        (pd.DataFrame(ROWS), pd.DataFrame),
        (categories, pd.DataFrame),
        (pl.DataFrame(ROWS), pl.DataFrame),
        (pl.DataFrame(ROWS).lazy(), pl.DataFrame),
        (arrow, pa.Table),
        (tmp_path / "rows.parquet", pa.Table),
        (str(tmp_path / "rows.csv"), pa.Table),
    ]
    for table, kind in kinds:
        result = sf.anonymise.k_anonymity(table, ["age", "town"], **ASK)
        assert isinstance(result.table, kind)
        assert [{**row, "age": str(row["age"])} for row in released(result)] == [
            {**row, "age": str(row["age"])} for row in released(expected)
        ]
        assert (result.k, result.l, result.t) == (expected.k, expected.l, expected.t)
    assert isinstance(expected.to_pandas(), pd.DataFrame)
    assert isinstance(expected.to_polars(), pl.DataFrame)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_saved_table_is_what_was_measured(tmp_path: Path, ending: str) -> None:
    result = sf.anonymise.k_anonymity(ROWS, ["age", "town"], **ASK)
    result.save(tmp_path / f"out.{ending}")
    again = sf.anonymise.verify(tmp_path / f"out.{ending}", ["age", "town"], sensitive="ill")
    assert (again.k, again.l, again.t) == (result.k, result.l, pytest.approx(result.t))
    with pytest.raises(UsageError, match=r"neither .csv nor .parquet"):
        result.save(tmp_path / "out.xls")


def test_the_result_says_what_it_is_and_what_breaks_it() -> None:
    result = sf.anonymise.k_anonymity(ROWS, ["age", "town"], **ASK)
    assert result.notice.startswith("not differentially private")
    assert "homogeneity" in result.notice
    assert result.quasi_identifiers == ("age", "town")
    assert result.sensitive == ("ill",)
    assert "name" not in result.to_arrow().column_names
    assert result.lost.columns == ("name",)
    assert not isinstance(result, sf.Answer)
    assert result.to_dict()["notice"] == result.notice
    diverse = sf.anonymise.k_anonymity(ROWS, ["age", "town"], l=2, **ASK)
    assert diverse.method == "l-diversity"
    assert "homogeneity" not in diverse.attacks


def test_kept_points_at_the_original_rows() -> None:
    rows = [*ROWS, {"name": "far", "age": 99, "town": "zz", "ill": "flu"}]
    result = sf.anonymise.k_anonymity(rows, ["age", "town"], suppression=0.05, **ASK)
    assert result.lost.rows == 1
    assert 42 not in result.kept
    assert [rows[place]["ill"] for place in result.kept] == [row["ill"] for row in released(result)]


@pytest.mark.parametrize("search", ["flash", "exhaustive"])
def test_adult_with_its_hierarchies(search: str) -> None:
    result = sf.anonymise.k_anonymity(adult(), QUASI, k=5, hierarchies=hierarchies(), search=search)
    assert result.k == 5
    assert result.loss == pytest.approx(0.625)
    hidden = {"age": 6, "race": 1, "marital_status": 2, "education": 3, "native_country": 2}
    assert result.lost.levels == {"sex": 0, "workclass": 0, "income": 0, **hidden}


def test_null_and_blank_keep_themselves_and_become_a_star_above() -> None:
    rows = [{"zip": zip_code, "n": 1} for zip_code in ["1001", "1002", None, None, "", "", "  "]]
    low = sf.anonymise.k_anonymity(rows, ["zip"], k=1, hierarchies={"zip": "prefixes"})
    assert [row["zip"] for row in released(low)] == ["1001", "1002", None, None, "", "", ""]
    high = sf.anonymise.k_anonymity(rows, ["zip"], k=2, hierarchies={"zip": "prefixes:3"})
    assert [row["zip"] for row in released(high)] == ["100*"] * 2 + ["*"] * 5
    assert high.k == 2


def test_nan_is_null() -> None:
    table = pd.DataFrame({"age": [20.0, 20.0, np.nan, np.nan, 30.0, 30.0]})
    assert sf.anonymise.k_anonymity(table, ["age"], k=2, hierarchies={"age": "intervals:10"}).k == 2


def test_look_alikes_are_one_value_written_in_the_most_frequent_way() -> None:
    towns = ["Zürich", "Zürich", "ZÜRICH", "Zu\u0308rich ", "Bern", "bern", "B\u0435rn", "Be\u200brn"]
    ills = ["HIV", "hiv", "HIV ", "H\u0406V", "flu", "flu", "cold", "cold"]
    rows = [{"town": town, "ill": ill} for town, ill in zip(towns, ills, strict=True)]
    result = sf.anonymise.k_anonymity(rows, ["town"], k=4, sensitive="ill")
    assert {row["town"] for row in released(result)} == {"Zürich", "Bern"}
    assert result.k == 4
    assert result.l == 1, "four spellings of one disease are no diversity"
    assert result.lost.rewritten == 8
    assert any("look the same" in note for note in result.notes)


def test_numbers_are_not_merged() -> None:
    assert sf.anonymise.verify([{"n": 1}, {"n": 10}, {"n": 100}], ["n"]).groups == 3


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"quasi": []}, UsageError, "no quasi-identifier"),
    ({"quasi": "age"}, UsageError, "a list of columns, not one text"),
    ({"quasi": ["agee"]}, UsageError, 'no column "agee"'),
    ({"quasi": ["age", "age"]}, UsageError, "listed twice"),
    ({"quasi": ["age", "ill"]}, UsageError, "as quasi and as sensitive"),
    ({"k": 43}, Refused, "k=43, but the table has 42 rows"),
    ({"k": 0}, UsageError, "k must be 1 or more"),
    ({"k": 2.5}, UsageError, "whole number"),
    ({"k": True}, UsageError, "whole number"),
    ({"suppression": 1}, UsageError, "suppression must lie"),
    ({"suppression": -0.1}, UsageError, "suppression must lie"),
    ({"metric": "beauty"}, UsageError, "metric='beauty' is unknown"),
    ({"search": "flsh"}, UsageError, 'Did you mean "flash"'),
    ({"l": 0}, UsageError, "l must lie"),
    ({"l": 2, "diversity": "odd"}, UsageError, "diversity='odd'"),
    ({"l": 2, "diversity": "recursive"}, UsageError, "needs c"),
    ({"c": 2}, UsageError, "c belongs to recursive"),
    ({"t": 1.5}, UsageError, "t must lie"),
    ({"distance": "ordered", "t": 0.1}, UsageError, "needs numbers or dates"),
    ({"distance": "hierarchical", "t": 0.1}, UsageError, "needs a hierarchy for the sensitive"),
    ({"l": 3}, Refused, "no generalisation reaches k=3, distinct l=3"),
    ({"sensitive": (), "l": 2}, UsageError, "none is named"),
    ({"hierarchies": {"agee": "prefixes"}}, UsageError, 'hierarchy for "agee"'),
    ({"hierarchies": {"age": [("20", "*")]}}, UsageError, "misses 6 values"),
    ({"hierarchies": {"town": {"aa": "x", "x": "aa"}}}, UsageError, "in a circle"),
    ({"hierarchies": {"town": [("aa", "b", "x"), ("ab", "b", "y"), ("bb", "c", "y")]}}, UsageError, "not nested"),
    ({"hierarchies": {"town": 7}}, UsageError, "is a int"),
    ({"hierarchies": {"town": "nowhere.csv"}}, DataUnreadable, "no file nowhere.csv"),
    ({"hierarchies": {"town": "intervals:5"}}, UsageError, "intervals need numbers"),
    ({"identifiers": ["age"]}, UsageError, "as quasi and as identifiers"),
]


@pytest.mark.parametrize(("change", "kind", "says"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input_is_refused_in_words(change: dict[str, Any], kind: type[Exception], says: str) -> None:
    ask = {"table": ROWS, "quasi": ["age", "town"], **ASK, **change}
    with pytest.raises(kind, match=says) as error:
        sf.anonymise.k_anonymity(**ask)
    assert error.value.hint  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (pd.DataFrame({"a": [1, "x"]}), "mixed types"),
        ([{"a": 1}, {"a": "x"}], "mixed types"),
        (pd.DataFrame({"a": []}), "no rows"),
        ([], "no rows"),
        (7, "a int is not a table"),
        (pd.DataFrame({"a": [[1], [2]]}), "holds list values"),
        ("absent.csv", "no file absent.csv"),
        ("absent.xls", "no file absent.xls"),
    ],
)
def test_tables_that_are_none(table: object, says: str) -> None:
    with pytest.raises((UsageError, DataUnreadable), match=says):
        sf.anonymise.k_anonymity(table, ["a"], k=1)


def test_damaged_files(tmp_path: Path) -> None:
    for name, content, says in [
        ("a.csv", b"a,b\n1,2\n3\n", "row 2 has 1 field, the header 2"),
        ("b.csv", b"a,a\n1,2\n", "same name"),
        ("c.csv", b"a\n\xff\xfe\n", "UTF-8"),
        ("d.parquet", b"no parquet", "damaged"),
        ("e.txt", b"a\n1\n", "of no kind that is read here"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataUnreadable, match=says):
            sf.anonymise.verify(tmp_path / name, ["a"])


def test_a_csv_keeps_its_zeros_and_a_text_of_numbers_counts_as_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,age\n01234,5\n01235,12\n01299,7\n", encoding="utf-8")
    result = sf.anonymise.k_anonymity(tmp_path / "t.csv", ["age"], k=3, hierarchies={"age": "intervals:20"})
    assert [row["zip"] for row in released(result)] == ["01234", "01235", "01299"]
    assert {row["age"] for row in released(result)} == {"[0, 20["}


def test_a_million_rows() -> None:
    source = np.random.default_rng(0)
    count = 1_000_000
    table = pa.table(
        {
            "age": source.integers(18, 90, count),
            "zip": source.integers(10_000, 10_400, count),
            "sex": pa.array(np.array(["f", "m"])[source.integers(0, 2, count)]),
        }
    )
    rules = {"age": "intervals:5,10,20", "zip": "prefixes"}
    result = sf.anonymise.k_anonymity(table, ["age", "zip", "sex"], k=20, hierarchies=rules)
    assert result.k >= 20
    assert sf.anonymise.mondrian(table, ["age", "zip", "sex"], k=20).k >= 20
