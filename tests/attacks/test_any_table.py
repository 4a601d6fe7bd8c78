"""Attacks on tables as they come: sorted, with gaps, lopsided; and the yardstick, people who are not in the table."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import comparison
from sfumato.attacks.baseline import LEAST, beyond, margin, outsiders, unclear
from sfumato.attacks.comparison import compare
from sfumato.attacks.comparison.setting import setting
from sfumato.attacks.drawn import drawn, numeric_columns
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.scene import FEWEST_OF_A_KIND
from sfumato.datasets import population
from sfumato.errors import UsageError
from sfumato.simulate import Simulator

PEOPLE = 2_400


def by_age(people: int = PEOPLE) -> pa.Table:
    """Sorted by age; whoever is old is ill, so the first rows all have the same secret."""
    draw = Simulator(7)
    age = np.sort(draw.stream("age").integers(18, 90, people))
    return pa.table(
        {
            "age": age,
            "hours": draw.stream("hours").integers(0, 60, people),
            "ill": np.where(age > 70, "yes", "no"),
            "income": np.round(draw.stream("income").uniform(people) * 90_000, 2),
        }
    )


@pytest.mark.parametrize("name", ["averaging", "tracker", "reconstruction"])
def test_a_sorted_table_is_drawn_from_and_balanced(name: str) -> None:
    bare = sf.attacks.demonstrate(name, by_age(), sensitive="ill").cases[0]
    assert bare.result.success == 1
    assert bare.result.chance == 0.5
    assert bare.works


def test_rows_that_are_known_are_no_neighbours_in_a_sorted_table() -> None:
    town = population(3_000).select(["age", "education_num", "hours_per_week", "income"]).sort_by("age")
    for name in ("known_sample", "input_output", "known_distribution"):
        turned = sf.attacks.demonstrate(name, town, columns=town.column_names).cases[1]
        assert turned.works, name


def test_the_seed_decides_which_rows() -> None:
    first, again, other = (drawn(by_age(), "attacked", 30, {"quasi": ["age"]}, seed=seed).table for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert sorted(first["age"].to_pylist()) == by_age()["age"].to_pylist()


def test_a_secret_that_too_few_have_is_refused_before_any_work() -> None:
    rare = pa.table({"age": range(500), "ill": ["yes"] * (FEWEST_OF_A_KIND - 1) + ["no"] * (501 - FEWEST_OF_A_KIND)})
    with pytest.raises(UsageError, match="told from luck"):
        sf.attacks.demonstrate("tracker", rare, sensitive="ill")


def with_gaps() -> pa.Table:
    """Every tenth age is missing, every seventh income is no number, every fiftieth secret is missing."""
    table = by_age()
    age = [None if place % 10 == 0 else value for place, value in enumerate(table["age"].to_pylist())]
    income = [float("nan") if place % 7 == 0 else value for place, value in enumerate(table["income"].to_pylist())]
    ill = [None if place % 50 == 0 else value for place, value in enumerate(table["ill"].to_pylist())]
    return pa.table({"age": age, "hours": table["hours"], "ill": ill, "income": income})


ROLES = {"quasi": ["age", "hours"], "sensitive": "ill", "value": "income"}


def test_rows_with_gaps_are_left_out_with_a_note() -> None:
    found = compare(with_gaps(), **ROLES, epsilons=[1])
    complete = sum(bool(place % 10 and place % 7) for place in range(PEOPLE))
    assert found.people + found.outsiders == complete
    assert found.notes == (
        f"{PEOPLE - complete:,} of {PEOPLE:,} rows are left out for want of a value in age, ill, income.",
    )
    assert found.notes[0] in found.page()
    only_hours = sf.attacks.demonstrate("known_sample", with_gaps(), columns=["hours", "income"])
    assert "rows are left out" in only_hours.notes[0]
    assert "age" not in only_hours.notes[0]


def test_columns_with_gaps_that_nobody_named_are_left_aside() -> None:
    assert numeric_columns(with_gaps()) == (["hours"], ["age", "income"])
    assert "age, income left aside" in sf.attacks.demonstrate("denoise_additive", with_gaps()).notes[0]
    # A rotation turns two columns at least; then the rows with gaps go instead.
    assert "want of a value in age, income" in sf.attacks.demonstrate("known_sample", with_gaps()).notes[0]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            by_age()
            .append_column("note", pa.array(["a"] * PEOPLE))
            .drop(["income"])
            .rename_columns(["age", "hours", "ill", "income"]),
            "finite numbers",
        ),
        (by_age().set_column(1, "hours", pa.array([40] * PEOPLE)), "one value in all rows"),
        (by_age().set_column(2, "ill", pa.array([str(place) for place in range(PEOPLE)])), "2,400 values"),
        (by_age().set_column(3, "income", pa.array([None] * PEOPLE, pa.float64())), 'leave out "income"'),
        (by_age(99), "too few"),
        (by_age().drop(["ill"]), 'no column "ill"'),
    ],
)
def test_columns_are_checked_before_anything_is_published(
    table: pa.Table, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: Any) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr(comparison, "publications", begin)
    with pytest.raises(UsageError, match=says):
        compare(table, **ROLES)


def predictable(people: int = 3_000) -> pa.Table:
    """Whoever is in group 1 has the secret in 87 of 100 cases, and seven other facts say nothing of it."""
    draw = Simulator(3)
    group = draw.stream("group").integers(0, 1, people)
    secret = np.where(draw.stream("same").uniform(people) < 0.87, group, 1 - group)
    facts = {f"fact{place}": draw.stream(f"fact{place}").uniform(people) for place in range(7)}
    value = draw.stream("value").normal(people)
    return pa.table({"group": group, **facts, "secret": secret, "value": value})


def test_what_is_learnt_from_others_breaks_nothing_and_what_is_learnt_from_her_record_does() -> None:
    table = predictable()
    quasi = [name for name in table.column_names if name not in ("secret", "value")]
    found = compare(table, quasi=quasi, sensitive="secret", value="value", epsilons=[1])
    lines = {line.method: line for line in found.lines}
    private, noisy = lines["differential privacy"], lines["additive noise"]
    assert private.secret.success == pytest.approx(0.87, abs=0.04)
    assert outsiders(private.secret) == pytest.approx(private.secret.success, abs=margin(private.secret))
    assert private.secret.success > private.secret.chance + margin(private.secret), "far above chance, and yet"
    assert private.broken_by == []
    assert noisy.secret.success == pytest.approx(0.87, abs=0.04), "as often, and yet"
    assert noisy.secret.success > outsiders(noisy.secret) + margin(noisy.secret)
    assert "guessing the secret" in noisy.broken_by


def test_nobody_held_out_is_published() -> None:
    found = setting(by_age(), quasi=["age", "hours"], sensitive="ill", value="income")
    published = set(found.table["income"].to_pylist())
    assert not published & set(found.outsiders.values.tolist())
    assert len(published) + len(found.outsiders.values) == PEOPLE
    assert (found.outsiders.own == -1).all()


def tried(
    success: float, outside: float, *, chance: float = 0.5, people: int = 1_000, **more: float
) -> AttackResult[Any]:
    measures = {"outsiders": outside, "outsiders_tried": float(people), **more}
    return AttackResult("secret", [], success, chance, more.get("bound"), people, measures)


def test_the_verdict_needs_more_than_outsiders_than_chance_and_than_luck() -> None:
    assert beyond(tried(0.8, 0.6))
    assert not beyond(tried(0.8, 0.79))
    assert not beyond(tried(0.8, 0.6, chance=0.8))
    assert not beyond(tried(0.8, 0.6, people=20))
    assert unclear(tried(0.8, 0.6, people=100))
    assert not unclear(tried(0.8, 0.8 - LEAST / 4))
    # An attack that may pass: right about a tenth of both, but about members whenever it speaks.
    assert beyond(tried(0.1, 0.07, chance=0.05, claimed=0.1, outsiders_claimed=0.1))
    assert not beyond(tried(0.1, 0.1, chance=0.05, claimed=0.1, outsiders_claimed=0.1))
