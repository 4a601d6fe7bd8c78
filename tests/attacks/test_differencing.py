import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pytest

from sfumato.attacks import differencing
from sfumato.datasets import population
from sfumato.errors import BudgetExceeded, Refused, UsageError
from sfumato.simulate import Simulator

WITH, WITHOUT = "everybody", "everybody but her"
PAY = (0.0, 200_000.0)


def noisy_totals(truths: list[float], *, scale: float) -> Callable[[str], float]:
    """Answers two questions for each truth in turn, with Laplace noise of the given scale."""
    share = Simulator(0).stream("noise").uniform(2 * len(truths)) - 0.5
    noise = iter((-scale * np.sign(share) * np.log1p(-2 * np.abs(share))).tolist())
    remaining = iter(truths)

    def ask(question: str) -> float:
        return 1_000_000 + (next(remaining) if question == WITH else 0.0) + next(noise)

    return ask


def hit_share(truths: list[float], *, scale: float, tolerance: float) -> float:
    ask = noisy_totals(truths, scale=scale)
    results = [
        differencing(ask, with_target=WITH, without_target=WITHOUT, truth=truth, tolerance=tolerance, plausible=PAY)
        for truth in truths
    ]
    return sum(result.success for result in results) / len(results)


def test_two_exact_totals_give_away_one_person() -> None:
    town = population(2_000)
    connection = duckdb.connect()
    connection.register("town", town)
    victim = town["person_id"][0].as_py()
    total = "SELECT SUM(cost) FROM town"
    truth = connection.execute(f"{total} WHERE person_id = {victim}").fetchone()[0]
    result = differencing(
        lambda question: connection.execute(question).fetchone()[0],
        with_target=total,
        without_target=f"{total} WHERE person_id <> {victim}",
        truth=truth,
        plausible=(0, 10_000),
    )
    assert result.success == 1
    assert abs(result.recovered[0] - truth) < 0.01
    assert (result.name, result.chance, result.bound, result.attempts) == ("differencing", 0.0001, None, 1)


def test_noise_of_the_right_size_leaves_no_more_than_chance() -> None:
    # Two sums of pay up to 200,000, each with epsilon 0.5.
    truths = Simulator(0).stream("pay").uniform(4_000) * PAY[1]
    share = hit_share(truths.tolist(), scale=PAY[1] / 0.5, tolerance=10_000)
    assert share < 0.1 + 6 * math.sqrt(0.09 / 4_000)


def test_noise_a_hundred_times_too_small_breaks_the_bound() -> None:
    truths = Simulator(0).stream("pay").uniform(4_000) * PAY[1]
    share = hit_share(truths.tolist(), scale=PAY[1] / 50, tolerance=10_000)
    assert share > math.e * 0.1 + 6 * math.sqrt(0.25 / 4_000)


def test_the_bound_holds_for_the_answer_best_for_the_attacker_and_is_nearly_met() -> None:
    # Ten-way randomised response on the tenth of the range: right with e / (e + 9) at epsilon 1.
    stream, rounds = Simulator(0).stream("response"), 20_000
    tenth = stream.integers(0, 9, rounds)
    honest = stream.uniform(rounds) < math.e / (math.e + 9)
    reported = np.where(honest, tenth, (tenth + stream.integers(1, 9, rounds)) % 10)
    hits = 0.0
    for truth, report in zip((tenth + 0.5).tolist(), (reported + 0.5).tolist(), strict=True):
        result = differencing(
            {WITH: report, WITHOUT: 0.0}.__getitem__,
            with_target=WITH,
            without_target=WITHOUT,
            truth=truth,
            plausible=(0, 10),
            epsilon=1,
        )
        hits += result.success
    assert result.bound == pytest.approx(math.e / 10)
    assert 0.8 * result.bound < hits / rounds < result.bound


def test_bound_is_a_multiple_of_chance_and_ignores_repeats() -> None:
    def bound(**promise: Any) -> float | None:
        return differencing(
            lambda _: 0, with_target=WITH, without_target=WITHOUT, tolerance=1, plausible=(0, 100), **promise
        ).bound

    assert bound() is None
    assert bound(epsilon=0) == 0.02
    assert bound(epsilon=1) == bound(epsilon=1, repeats=50) == pytest.approx(0.02 * math.e)
    assert bound(epsilon=1, delta=0.1) == pytest.approx(0.02 * math.e + 0.1)
    assert bound(epsilon=10) == bound(epsilon=1_000_000) == 1


def test_repeats_are_judged_one_by_one() -> None:
    answers = iter([10, 3, 10, 9, 10, 2.6])
    result = differencing(
        lambda _: next(answers), with_target=WITH, without_target=WITHOUT, truth=7, tolerance=0.5, repeats=3
    )
    assert result.recovered == [7, 1, 7.4]
    assert (result.attempts, result.success, result.chance) == (3, pytest.approx(2 / 3), 0)


@pytest.mark.parametrize(("granted", "attempts"), [(0, 0), (1, 0), (4, 2), (5, 2)])
def test_an_exhausted_budget_ends_the_attack(granted: int, attempts: int) -> None:
    asked = []

    def ask(question: str) -> float:
        if len(asked) == granted:
            raise BudgetExceeded("this question costs more than is left.")
        asked.append(question)
        return 5.0 if question == WITH else 0.0

    result = differencing(ask, with_target=WITH, without_target=WITHOUT, truth=5, repeats=100)
    assert result.attempts == len(result.recovered) == attempts
    assert result.success == (1 if attempts else 0)


def test_other_refusals_are_passed_on() -> None:
    def ask(question: str) -> float:
        raise Refused("no.")

    with pytest.raises(Refused):
        differencing(ask, with_target=WITH, without_target=WITHOUT)


def test_without_the_truth_success_is_unknown() -> None:
    result = differencing(lambda _: Decimal("1.5"), with_target=WITH, without_target=WITHOUT)
    assert result.recovered == [0]
    assert math.isnan(result.success)


@pytest.mark.parametrize("answer", [None, "12", (12,), True, float("nan"), float("inf")])
def test_an_answer_that_is_no_number_is_refused(answer: Any) -> None:
    with pytest.raises(UsageError, match="not a finite number"):
        differencing(lambda _: answer, with_target=WITH, without_target=WITHOUT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tolerance": 0}, "tolerance must be greater than 0"),
        ({"tolerance": "1"}, "tolerance must be a number"),
        ({"truth": math.nan}, "truth must be a finite number"),
        ({"plausible": (5, 5)}, "plausible range is empty"),
        ({"plausible": (0, math.inf)}, "plausible must be a finite number"),
        ({"plausible": (0, 5), "truth": 6}, "outside the plausible range"),
        ({"epsilon": 1}, "chance needs the plausible range"),
        ({"epsilon": -1, "plausible": (0, 5)}, "epsilon must lie between"),
        ({"epsilon": math.nan, "plausible": (0, 5)}, "epsilon must be a finite number"),
        ({"epsilon": 1, "delta": 2, "plausible": (0, 5)}, "delta must lie between"),
        ({"delta": 0.1}, "delta is given without epsilon"),
        ({"repeats": 0}, "repeats must be greater than 0"),
        ({"repeats": 1.5}, "repeats must be a whole number"),
    ],
)
def test_mistakes_are_named_before_anything_is_asked(arguments: dict[str, Any], message: str) -> None:
    def ask(question: str) -> float:
        raise AssertionError("asked")

    with pytest.raises(UsageError, match=message):
        differencing(ask, with_target=WITH, without_target=WITHOUT, **arguments)
