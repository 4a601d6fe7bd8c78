"""Averaging and tracker, on a bare table, on a table with the old rules, and through a session."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attacks import averaging, session_desk, table_desk, tracker
from sfumato.errors import BudgetExceeded, EngineFailed, Refused, UsageError
from tests.attacks.town import PEOPLE, behind, conditions, persons, secrets
from tests.statistics.evidence import ERROR, between

BITS = secrets()


def within(result, error: float = ERROR) -> bool:
    """Not proved to hit more often than the promise allows."""
    low, _ = between(round(result.success * result.attempts), result.attempts, error)
    return low <= result.bound


# ---- desks


def test_a_table_desk_answers_counts_and_sums() -> None:
    assert table_desk(persons())("district = 0") == PEOPLE / 2
    assert table_desk(persons(), measure="SUM(secret)")("pid >= 0") == BITS.sum()
    assert table_desk(persons(), measure="SUM(secret)")("pid < 0") == 0


@pytest.mark.parametrize("condition", ["pid < 4", "pid >= 4", "pid < 0"])
def test_a_minimum_size_refuses_small_groups_and_their_opposites(condition: str) -> None:
    ask = table_desk(persons(), minimum=5)
    with pytest.raises(Refused, match="fewer than 5"):
        ask(condition)
    assert ask("pid < 5") == 5


def test_a_table_desk_rounds_and_adds_noise() -> None:
    assert table_desk(persons(), rounding=5)("pid < 13") == 15
    noisy = table_desk(persons(), noise=10.0)
    answers = [noisy("pid < 100") for _ in range(400)]
    assert len(set(answers)) == 400
    assert abs(np.mean(answers) - 100) < 6 * 14.2 / 20
    assert 10 < np.std(answers) < 19


def test_a_desk_says_nothing_about_data_when_the_condition_is_wrong() -> None:
    with pytest.raises(EngineFailed):
        table_desk(persons())("nothing = 1")


# ---- averaging


def test_fresh_noise_averages_out() -> None:
    result = averaging(table_desk(persons(), noise=1.0), conditions(40), repeats=60, truth=BITS[:40])
    assert result.success >= 0.92
    assert result.chance <= 0.75
    assert result.bound is None
    assert result.measures["answers"] == 2_400


def test_one_answer_is_not_enough() -> None:
    result = averaging(table_desk(persons(), noise=20.0), conditions(), repeats=1, truth=BITS)
    assert result.success < 0.68


def test_the_ledger_ends_the_averaging(tmp_path: Path) -> None:
    with behind(persons(), tmp_path, epsilon=4) as session:
        # Ten answers at 0.1 about each person: epsilon 1 for what is guessed about her.
        ask = session_desk(session, spend=0.1)
        result = averaging(ask, conditions(), repeats=10, truth=BITS, epsilon=1)
        with pytest.raises(BudgetExceeded):
            ask("pid = 0")
    assert (result.attempts, result.measures["answers"]) == (4, 40)


def test_averaging_stays_within_the_promise(tmp_path: Path) -> None:
    with behind(persons(), tmp_path, epsilon=1000) as session:
        result = averaging(session_desk(session, spend=0.5), conditions(120), repeats=2, truth=BITS[:120], epsilon=1)
    assert result.attempts == 120
    assert result.bound == pytest.approx(1 - (1 - result.chance) / np.e)
    assert within(result)


def test_the_store_of_answers_ends_the_averaging_at_no_cost(tmp_path: Path) -> None:
    with behind(persons(), tmp_path, epsilon=1) as session:
        ask = session_desk(session, spend=1, fresh=False)
        averaging(ask, conditions(1), repeats=50, truth=BITS[:1], epsilon=1)
        assert len(session.history()) == 1


def test_noise_too_small_for_the_promise_is_seen() -> None:
    """The twin: noise for epsilon 2 each, twelve times, sold as epsilon 1 in all."""
    result = averaging(table_desk(persons(), noise=0.5), conditions(), repeats=12, truth=BITS, epsilon=1)
    assert not within(result)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"questions": "pid = 1"}, "list"),
        ({"questions": []}, "no question"),
        ({"questions": ["pid = 1"], "repeats": 0}, "repeats"),
        ({"questions": ["pid = 1"], "truth": [1, 0]}, "2 entries"),
        ({"questions": ["pid = 1"], "candidates": [1, 1]}, "two possible"),
        ({"questions": ["pid = 1"], "delta": 0.1}, "without epsilon"),
    ],
)
def test_averaging_says_what_is_wrong(arguments: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        averaging(lambda question: 0.0, **arguments)


# ---- tracker


def test_the_tracker_passes_a_minimum_size() -> None:
    ask = table_desk(persons(), minimum=20)
    with pytest.raises(Refused):
        ask(conditions()[0])
    result = tracker(ask, conditions(), padding="district = 0", truth=BITS)
    assert result.success == 1
    assert result.recovered == BITS.tolist()
    assert result.chance < 0.6


def test_the_tracker_recovers_sums_too() -> None:
    pay = pa.table({"pid": range(50), "half": [row % 2 for row in range(50)], "pay": [100 + row for row in range(50)]})
    ask = table_desk(pay, measure="SUM(pay)", minimum=10)
    result = tracker(ask, ["pid = 7", "pid = 8"], padding="half = 0", truth=[107, 108], candidates=range(200))
    assert (result.success, result.recovered) == (1, [107, 108])


def test_the_tracker_stays_within_the_promise(tmp_path: Path) -> None:
    with behind(persons(), tmp_path, epsilon=1000) as session:
        ask = session_desk(session, spend=0.25)
        result = tracker(ask, conditions(100), padding="district = 0", truth=BITS[:100], epsilon=1)
    assert result.attempts == 100
    assert within(result)


def test_the_tracker_ends_with_the_budget(tmp_path: Path) -> None:
    with behind(persons(), tmp_path, epsilon=1) as session:
        result = tracker(session_desk(session, spend=0.25), conditions(), padding="district = 0", truth=BITS, epsilon=1)
    assert result.attempts == 1
    assert tracker(lambda c: 1 / 0 if not c else 0.0, conditions(2), padding="district = 0").attempts == 2


@pytest.mark.parametrize(("targets", "says"), [("pid = 1", "list"), ([], "no target")])
def test_the_tracker_says_what_is_wrong(targets, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        tracker(lambda condition: 0.0, targets, padding="district = 0")
