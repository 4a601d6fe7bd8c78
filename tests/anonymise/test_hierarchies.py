"""What a value is called at each level."""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sfumato.anonymise import Hierarchy
from sfumato.anonymise.columns import code
from sfumato.anonymise.hierarchies import hierarchy, levels
from sfumato.anonymise.spelling import skeleton, skeletons
from sfumato.errors import UsageError


def climbed(values: list[Any], rule: object) -> list[list[str | None]]:
    """For each value its labels from level 0 up."""
    column = code(pa.table({"x": values}), "x")
    found = levels(column, hierarchy(rule, "x"))
    return [
        [names[table[place]] for table, names in zip(found.tables, found.labels, strict=True)] for place in column.codes
    ]


def test_intervals() -> None:
    assert climbed([7, 12, -1], Hierarchy.intervals(5, 10)) == [
        ["7", "[5, 10[", "[0, 10[", "*"],
        ["12", "[10, 15[", "[10, 20[", "*"],
        ["-1", "[-5, 0[", "[-10, 0[", "*"],
    ]
    assert climbed([0.25], "intervals:0.1")[0][1] == "[0.2, 0.3["
    assert climbed([17], Hierarchy.intervals(5, origin=17))[0][1] == "[17, 22["


@pytest.mark.parametrize("widths", [(), (0,), (-5,), (10, 5), (5, 12)])
def test_intervals_that_are_not_nested_are_refused(widths: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="multiple of the one before"):
        Hierarchy.intervals(*widths)


def test_dates() -> None:
    days = pd.to_datetime(["2024-05-17", "1999-12-31"]).to_list()
    assert climbed(days, Hierarchy.dates("month", "quarter", "year", "decade", "century")) == [
        ["2024-05-17", "2024-05", "2024 Q2", "2024", "2020s", "2000–2099", "*"],
        ["1999-12-31", "1999-12", "1999 Q4", "1999", "1990s", "1900–1999", "*"],
    ]
    assert climbed(["2024-05-17T08:30"], "dates")[0][1:] == ["2024-05", "2024", "2020s", "*"]
    with pytest.raises(UsageError, match="fine to coarse"):
        Hierarchy.dates("year", "month")
    with pytest.raises(UsageError, match="dates need dates"):
        climbed(["2024-13-41"], "dates")


def test_prefixes() -> None:
    assert climbed(["12345", "12999"], "prefixes")[0] == ["12345", "1234*", "123**", "12***", "1****", "*"]
    assert climbed(["12345"], "prefixes:2")[0] == ["12345", "12***", "*"]


def test_automatic_follows_what_the_column_holds() -> None:
    assert climbed(["1999-12-31"], "automatic")[0] == ["1999-12-31", "1999-12", "1999", "1990s", "*"]
    assert climbed(["A12", "B34"], "automatic")[0] == ["A12", "A1*", "A**", "*"]
    assert climbed(["red", "green"], "automatic")[0] == ["red", "*"]
    ages = climbed(list(range(17, 91)), "automatic")
    assert ages[0][:3] == ["17", "[15, 20[", "[10, 20["]
    assert ages[0][-1] == "*"
    assert climbed([1, 1], "automatic") == [["1", "*"], ["1", "*"]]


def test_csv_with_commas_or_semicolons(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('17,"[15, 20[",*\n18,"[15, 20[",*\n', encoding="utf-8")
    (tmp_path / "b.csv").write_text("17;[15, 20[;*\n18;[15, 20[;*\n", encoding="utf-8")
    for name in ("a.csv", "b.csv"):
        assert climbed([17, 18.0], str(tmp_path / name)) == [["17", "[15, 20[", "*"], ["18", "[15, 20[", "*"]]
    assert climbed([17], tmp_path / "a.csv")[0][1] == "[15, 20["


def test_tables_rows_and_trees() -> None:
    frame = pd.DataFrame({"value": ["a", "b"], "group": ["x", "x"]})
    assert climbed(["a", "b"], frame) == [["a", "x", "*"], ["b", "x", "*"]]
    assert climbed(["A ", "b"], [("a", "x"), ("b", "y")]) == [["A ", "x", "*"], ["b", "y", "*"]]
    tree = {"Bern": "Swiss", "Swiss": "Europe", "Kiev": "Europe", "Europe": "*"}
    assert climbed(["Bern", "Kiev"], tree) == [["Bern", "Swiss", "Europe", "*"], ["Kiev", "Europe", "*", "*"]]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ([("a", "x"), ("b", "x", "y")], "same number of levels"),
        ([("a", "x"), ("A", "y")], "lists a value twice"),
        ([("a",)], "no levels"),
        ([], "no levels"),
        ([("a", "b"), ("b", "a")], "in a circle"),
        ([("a", "b", "a")], "in a circle"),
        ({"a": "b", "b": "c", "c": "a"}, "in a circle"),
    ],
)
def test_hierarchies_that_cannot_be(rule: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        climbed(["a"], rule)


def test_loss_counts_the_values_under_a_label() -> None:
    column = code(pa.table({"x": ["a", "b", "c"]}), "x")
    found = levels(column, hierarchy([("a", "v"), ("b", "v"), ("c", "w"), ("d", "w"), ("e", "w")]))
    assert [list(loss) for loss in found.loss] == [[0, 0, 0], [1 / 4, 0], [1]]


def test_columns_of_texts_are_spelt_as_one_text_is() -> None:
    source = random.Random(0)
    signs = "aB \t\n\x0b\x1c\x1f\r\f é\u200bА0'İ\u00a0\u3000"
    texts = ["".join(source.choice(signs) for _ in range(source.randrange(7))) for _ in range(5_000)]
    assert skeletons(pa.array([*texts, None])).to_pylist() == [*map(skeleton, texts), None]


def test_edges_of_intervals_are_exact() -> None:
    numbers = [0.1 * step for step in range(-30, 31)] + [float(2**53 - 1), -7, 7]
    for width in ("0.1", "0.3", "1", "7"):
        for number, (_, label, _) in zip(numbers, climbed(numbers, f"intervals:{width}"), strict=True):
            low, high = (Fraction(end) for end in str(label)[1:-1].split(", "))
            if number < 2**50:
                assert low <= Fraction(repr(number)) < high


def test_real_numbers_are_written_with_their_shortest_digits() -> None:
    source = random.Random(5)
    sizes = [10 ** source.uniform(-8, 20) * source.choice([-1, 1]) for _ in range(5000)]
    numbers = [*sizes, 0.0, 0.1, 39.0, 1e-4, 9.999999e-5, 1e9, 999999999.5, 1e16, 1e22, 5e-324, 1.7e308, 2.5, None]
    coded = code(pa.table({"x": pa.array(numbers, pa.float64())}), "x")
    expected = [repr(number).removesuffix(".0") for number in sorted(set(numbers) - {None})]
    assert list(coded.texts) == [*expected, None]
