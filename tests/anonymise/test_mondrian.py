"""Mondrian: every part is large and diverse enough, no allowed cut is left, and labels cover their values."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.anonymise.mondrian import _ordered as ordered
from sfumato.errors import Refused
from tests.anonymise import oracle
from tests.anonymise.adult import QUASI, adult, hierarchies


def people(seed: int, count: int = 400) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": source.integers(18, 80, count),
            "pay": np.round(source.lognormal(10, 1, count), 2),
            "town": source.choice(["aa", "ab", "ba", "bb"], count),
            "ill": source.choice(["flu", "cold", "gout", "none"], count, p=[0.5, 0.3, 0.1, 0.1]),
        }
    )


@pytest.mark.parametrize("k", [1, 2, 5, 50, 400])
def test_the_promise_and_the_labels_hold(k: int) -> None:
    table = people(k)
    result = sf.anonymise.mondrian(table, ["age", "pay", "town"], k=k)
    rows = result.to_arrow().to_pylist()
    assert result.k == oracle.k_of(rows, ["age", "pay", "town"]) >= k
    for row, (_, original) in zip(rows, table.iterrows(), strict=True):
        for name in ("age", "pay"):
            ends = row[name].strip("[]").split(", ")
            assert row[name] == "*" or float(ends[0]) <= original[name] <= float(ends[-1])
        assert row["town"] == "*" or original["town"] in row["town"].split(" | ")
    assert 0 <= result.loss <= 1
    if k == 1:
        assert result.loss == 0


@pytest.mark.parametrize("k", [3, 10])
def test_no_part_could_be_cut_further(k: int) -> None:
    """Strict Mondrian: in no column is there a value that leaves k rows on both sides."""
    table = people(7)
    result = sf.anonymise.mondrian(table, ["age", "pay"], k=k)
    labels = result.to_pandas()
    for _, part in table.groupby([labels["age"].to_numpy(), labels["pay"].to_numpy()]):
        for name in ("age", "pay"):
            for value in part[name].unique():
                below = int((part[name] < value).sum())
                assert not (below >= k and len(part) - below >= k)


@pytest.mark.parametrize(
    "wish",
    [{"l": 2}, {"l": 3}, {"l": 2, "diversity": "entropy"}, {"l": 2, "diversity": "recursive", "c": 3}, {"t": 0.3}],
    ids=str,
)
def test_diversity_and_closeness_hold_in_every_part(wish: dict[str, Any]) -> None:
    table = people(3)
    result = sf.anonymise.mondrian(table, ["age", "pay", "town"], k=4, sensitive="ill", **wish)
    found = sf.anonymise.verify(result.table, ["age", "pay", "town"], sensitive="ill")
    assert found.k == result.k >= 4
    assert (found.l, found.t) == (result.l, result.t)
    if "t" in wish:
        assert found.t <= wish["t"] + 1e-12
    match wish.get("diversity", "distinct" if "l" in wish else ""):
        case "distinct":
            assert found.l >= wish["l"]
        case "entropy":
            assert found.entropy_l >= wish["l"] - 1e-9
        case "recursive":
            assert found.recursive_c < wish["c"]
    plain = sf.anonymise.mondrian(table, ["age", "pay", "town"], k=4)
    assert result.lost.groups <= plain.lost.groups
    assert result.lost.groups > 1


def test_what_the_whole_table_lacks_is_refused() -> None:
    with pytest.raises(Refused, match="no generalisation reaches"):
        sf.anonymise.mondrian(people(1), ["age"], k=2, sensitive="ill", l=9)


def test_a_hierarchy_gives_the_lowest_common_group() -> None:
    rows = [{"town": town} for town in ["aa"] * 3 + ["ab"] * 3 + ["ba"] * 2]
    rule = {"town": [("aa", "a", "*"), ("ab", "a", "*"), ("ba", "b", "*")]}
    result = sf.anonymise.mondrian(rows, ["town"], k=5, hierarchies=rule)
    assert {row["town"] for row in result.table} == {"*"}
    finer = sf.anonymise.mondrian(rows + rows, ["town"], k=4, hierarchies=rule)
    assert {row["town"] for row in finer.table} == {"aa", "ab", "ba"}


def test_blanks_sort_last_and_hide_the_range_they_meet() -> None:
    table = pd.DataFrame({"age": [20.0, 21.0, 22.0, 23.0, np.nan, np.nan, np.nan, np.nan]})
    result = sf.anonymise.mondrian(table, ["age"], k=4)
    assert result.to_arrow().column("age").to_pylist() == ["[20, 23]"] * 4 + [None] * 4
    whole = sf.anonymise.mondrian(table, ["age"], k=5)
    assert set(whole.to_arrow().column("age").to_pylist()) == {"*"}


def test_adult() -> None:
    result = sf.anonymise.mondrian(adult(), QUASI, k=5, hierarchies=hierarchies())
    assert result.k == 5
    assert result.loss < 0.1, "far below the 0.625 of full-domain generalisation"


@pytest.mark.parametrize("most", [1000, 1 << 60])
def test_keys_are_ordered_with_their_places_however_large_they_may_be(most: int) -> None:
    keys = np.random.default_rng(1).integers(0, 1000, 500)
    order, values = ordered(keys, most)
    assert sorted(order.tolist()) == list(range(500))
    assert values.tolist() == sorted(keys.tolist()) == keys[order].tolist()
