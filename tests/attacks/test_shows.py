"""Every attack, one call: on a table of one's own, as a page, and with what is missing named."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.shows.pages import report, save_plot
from sfumato.attacks.shows.release import general
from sfumato.datasets import population
from sfumato.errors import UsageError


def test_the_release_by_halves_keeps_its_k() -> None:
    town = population(3_000).select(["age", "sex", "zip", "education"])
    released = general(town, ["age", "sex", "zip"], 7)
    sizes = released.group_by(["age", "sex", "zip"]).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(sizes) >= 7
    assert max(sizes) < 500
    assert released["education"] == town["education"]


def table(people: int = 200) -> pa.Table:
    town = population(people)
    return town.select(["age", "sex", "income", "marital_status"])


def test_a_table_of_ones_own() -> None:
    shown = sf.attacks.demonstrate("homogeneity", table(), quasi=["age", "sex"], sensitive="marital_status", k=3)
    assert shown.cases[1].protection == "k-anonymous, k = 3"
    assert shown.cases[0].result.attempts == 200
    assert sf.attacks.demonstrate("known-sample", table()).cases[1].result.success > 0.99
    assert sf.attacks.demonstrate("membership", table(), quasi=["age", "sex"]).cases[-1].result.bound < 0.82


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "lnking"}, "Did you mean"),
        ({"name": "linking", "table": table()}, "quasi-identifiers"),
        ({"name": "homogeneity", "table": table(), "quasi": ["age"]}, "sensitive column"),
        ({"name": "averaging", "table": table().slice(0, 3), "sensitive": "sex"}, "too few"),
        ({"name": "homogeneity", "table": table(), "quasi": ["aeg"]}, "Did you mean"),
        ({"name": "known_sample", "table": table().select(["sex"] * 1)}, "numeric columns"),
        ({"name": "linking", "epsilon": 0}, "epsilon"),
        ({"name": "linking", "table": table(), "quasi": ["age", "sex"], "sensitive": "sex"}, "as quasi and as"),
        ({"name": "linking", "k": 1}, "k must"),
    ],
)
def test_what_is_missing_is_named(arguments: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sf.attacks.demonstrate(**arguments)


def test_a_table_with_null() -> None:
    odd = population(1_500).select(["age", "sex", "income", "marital_status", "hours_per_week"])
    ages = [None if place % 7 == 0 else age for place, age in enumerate(odd["age"].to_pylist())]
    incomes = [None if place % 5 == 0 else income for place, income in enumerate(odd["income"].to_pylist())]
    odd = odd.set_column(0, "age", pa.array(ages)).set_column(2, "income", pa.array(incomes))
    for name in ("linking", "homogeneity", "skewness", "intersection", "marginals"):
        for secret in ("income", "marital_status"):
            shown = sf.attacks.demonstrate(name, odd, quasi=["age", "sex", "hours_per_week"], sensitive=secret, k=3)
            assert shown.cases[0].works
            assert not shown.cases[-1].works
            assert "rows are left out for want of a value in age" in shown.notes[0]


def test_pages_and_pictures(tmp_path: Path) -> None:
    shown = [sf.attacks.demonstrate("known_sample"), sf.attacks.demonstrate("denoise_additive")]
    text = report(shown)
    assert "held: no more than promised" in text
    assert "known sample" in text
    for name in ("a.html", "a.png", "a.svg"):
        save_plot(shown, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000
    with pytest.raises(UsageError, match=r"neither \.html"):
        save_plot(shown, tmp_path / "a.pdf")


def test_an_unknown_success_never_alarms() -> None:
    result = sf.attacks.AttackResult("x", [], math.nan, 0.5, None, 3)
    assert not sf.attacks.shows.Case("bare", result).works
    assert np.isnan(sf.attacks.shows.Demonstration("x", "y", [sf.attacks.shows.Case("b", result)]).rows[0]["success"])
