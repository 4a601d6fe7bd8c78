"""Where the error bar of a quantile stops because there is nothing beyond, the notes say so, at every level."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sfumato as sf
from sfumato.answers.cells import at_ends, says_nothing
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Grid
from sfumato.query.bound import Quantile
from sfumato.query.rewrite import QuantileColumn

ALL = "because noise hides whether it could stop before."


def opened(folder: Path, groups: dict[str, int], delta: float, age: Any = None) -> sf.Session:
    rows = [(name, 20 + place % 60) for name, many in groups.items() for place in range(many)]
    return sf.protect(
        pd.DataFrame(rows, columns=["town", "age"]),
        unit=sf.Row(),
        columns={"town": sf.Category(sorted(groups)), "age": age or sf.Int(17, 90)},
        budget=sf.Budget(10**6, delta),
        ledger=folder / "people.ledger",
        table="people",
    )


def ends_told(answer: sf.Answer) -> list[str]:
    return [note for note in answer.notes if note.endswith(ALL)]


def sides_met(answer: sf.Answer, name: str, low: float = 17, high: float = 90) -> list[str]:
    """Each is met at a 20th of the cases less than always, where there are next to no rows."""
    bar = answer.interval()[0][name]
    return [end for end, met in (("lower", bar[0] == low), ("upper", bar[1] == high)) if met]


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("level", ["0.1", "0.5", "0.9"])
def test_a_bar_that_stops_at_a_declared_end_says_so_at_every_level(tmp_path: Path, level: str, delta: float) -> None:
    met = []
    with opened(tmp_path, {"few": 3, "many": 20_000}, delta) as session:
        asked = f"SELECT QUANTILE(age, {level}) AS q FROM people WHERE town = "
        for _ in range(12):
            few = session.ask(f"{asked}'few'", spend=0.1, fresh=True)
            ends = sides_met(few, "q")
            assert ends_told(few) == [
                f"q: the error bar goes to the {end} end of the declared bounds, {ALL}" for end in ends
            ]
            met += ends
        many = session.ask(f"{asked}'many'", spend=1)
    assert set(met) == {"lower", "upper"}
    assert sides_met(many, "q") == ends_told(many) == []


def test_of_several_groups_it_is_said_in_how_many(tmp_path: Path) -> None:
    question = "SELECT town, MEDIAN(age) AS q, QUANTILE(age, 0.9) AS r, COUNT(*) AS n FROM people GROUP BY town"
    with opened(tmp_path, {"a": 10, "b": 10, "c": 50_000}, 0) as session:
        answer = session.ask(question, spend=1)
        assert session.recall(answer.receipt)[0].notes == answer.notes
    bars = answer.interval()
    for name in ("q", "r"):
        for end, value in (("lower", 17), ("upper", 90)):
            many = sum(value in bar[name] for bar in bars)
            said = [note for note in ends_told(answer) if note.startswith(f"{name}: ") and f"the {end} end" in note]
            assert [re.findall(r"in (\d) groups? of 3 ", note) for note in said] == ([[str(many)]] if many else [])


def test_what_is_known_of_a_smallest_and_a_largest_value_is_not_said_again(tmp_path: Path) -> None:
    with opened(tmp_path, {"a": 5_000, "b": 1}, 1e-6) as session:
        found = [
            session.ask("SELECT MIN(age) AS low, MAX(age) AS high FROM people", spend=1, fresh=True) for _ in range(12)
        ]
    assert any("lower" in sides_met(answer, "low") and "upper" in sides_met(answer, "high") for answer in found)
    for answer in found:
        assert ends_told(answer) == []
        assert sum("known from the declared bounds alone" in note for note in answer.notes) == 2


def test_without_bounds_the_ends_are_those_of_all_numbers(tmp_path: Path) -> None:
    with opened(tmp_path, {"a": 5, "b": 5}, 0, sf.Int(private_bounds=0.3)) as session:
        answers = [session.ask("SELECT MEDIAN(age) AS q FROM people", spend=0.01, fresh=True) for _ in range(12)]
    told = {note for answer in answers for note in ends_told(answer)}
    assert told == {
        f"q: the error bar goes to the {end} end of all numbers there can be, {ALL}" for end in ("lower", "upper")
    }


def test_a_bar_says_nothing_where_it_meets_both_ends() -> None:
    column = QuantileColumn(
        "q", 0, 0, Quantile(Grid(Column("x"), Fraction(0), Fraction(10), 10), Fraction(1, 2), False)
    )
    for low, high in ((0.0, 10.0), (0.0, 9.0), (1.0, 10.0), (1.0, 9.0)):
        assert at_ends(column, (low, high)) == (low == 0, high == 10)
        assert says_nothing(column, (low, high)) == ((low, high) == (0.0, 10.0))
