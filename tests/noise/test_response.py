"""Randomised response: the exact law by exhaustion, the loss, the forms it takes, and time that tells nothing."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp, log
from time import process_time
from typing import Any

import numpy as np
import pytest

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.noise import response
from sfumato.noise.response import RandomisedResponse
from tests.entropy import ChoiceTape, SeededEntropy, every_choice
from tests.kernel.laws import PRECISE, chi_square, decimal, exp_minus, mutant

F = Fraction
EPSILONS = [F(1, 10), F(1), F(7, 2)]
CATEGORIES = [2, 3, 7]
DRINKS = ["tea", "coffee", "water"]


def law(epsilon: Fraction, categories: int, code: int) -> list[Decimal]:
    """e^ε / (e^ε + k - 1) for the truth, 1 / (e^ε + k - 1) for each other answer."""
    with localcontext(PRECISE):
        growth = decimal(epsilon).exp()
        return [(growth if i == code else 1) / (growth + categories - 1) for i in range(categories)]


class IdealCoin:
    def __init__(self, weight: Fraction, gamma: Fraction) -> None:
        with localcontext(PRECISE):
            self.chance = 1 / (1 + decimal(weight) * exp_minus(gamma))

    def draw(self, count: int, tape: ChoiceTape) -> np.ndarray[Any, Any]:
        return np.array([tape.coin(self.chance) for _ in range(count)])


def exhausted(module: Any, epsilon: Fraction, categories: int, code: int, monkeypatch: Any) -> list[Decimal]:
    monkeypatch.setattr(module, "Odds", IdealCoin)
    monkeypatch.setattr(module, "uniform_below", lambda bound, count, tape: np.array([tape.below(bound)] * count))
    mechanism = module.RandomisedResponse(epsilon, categories)
    with localcontext(PRECISE):
        masses, left = every_choice(lambda tape: int(mechanism.draw(np.array([code]), tape)[0]), undecided=1e-60)
        assert abs(left) < Decimal(10) ** -50
        return [decimal(masses[i]) if isinstance(masses[i], Fraction) else masses[i] for i in range(categories)]


@pytest.mark.parametrize("categories", CATEGORIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_law_by_exhaustion(epsilon: Fraction, categories: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in range(categories):
        found = exhausted(response, epsilon, categories, code, monkeypatch)
        for p, q in zip(found, law(epsilon, categories, code), strict=True):
            assert abs(p - q) < Decimal(10) ** -50


def loss(laws: list[list[Decimal]]) -> Decimal:
    with localcontext(PRECISE):
        return max((p / q).ln() for a, b in product(laws, repeat=2) for p, q in zip(a, b, strict=True))


@pytest.mark.parametrize("categories", CATEGORIES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_loss_is_epsilon(epsilon: Fraction, categories: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [exhausted(response, epsilon, categories, code, monkeypatch) for code in range(categories)]
    assert abs(loss(found) - decimal(epsilon)) < Decimal(10) ** -25


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Odds(Fraction(others), self.epsilon)", "Odds(Fraction(1), self.epsilon)"),  # the binary coin for many answers
        ("lies * (1 + uniform_below", "lies * (2 + 0 * uniform_below"),  # always the same lie
        ("Odds(Fraction(others), self.epsilon)", "Odds(Fraction(others), self.epsilon * 10 / 9)"),  # 0.9 of the noise
    ],
)
def test_twins_are_caught(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = mutant(response, old, new)
    found = [exhausted(twin, F(1), 4, code, monkeypatch) for code in range(4)]
    with localcontext(PRECISE):
        impossible = any(0 in chances for chances in found)
        assert impossible or loss(found) > Decimal("1.05")


def test_two_fair_coins_are_randomised_response_at_ln_3() -> None:
    """Heads: the truth. Tails: a second coin answers. The truth in 3 of 4, ε = ln 3."""
    assert RandomisedResponse(F(log(3))).truth() == pytest.approx(0.75)
    assert RandomisedResponse(F(1), 5).truth() == pytest.approx(float(law(F(1), 5, 0)[0]))


@pytest.mark.parametrize("categories", CATEGORIES)
def test_draws_follow_the_law_and_not_one_of_less_noise(categories: int) -> None:
    codes = np.full(200_000, categories - 1)
    chances = [float(p) for p in law(F(1), categories, categories - 1)]
    for epsilon, passes in ((F(1), True), (F(10, 9), False)):
        drawn = RandomisedResponse(epsilon, categories).draw(codes, SeededEntropy("response"))
        p = chi_square(np.bincount(drawn, minlength=categories), chances)
        assert p > 1e-6 if passes else p < 1e-6


def test_price_and_record() -> None:
    assert RandomisedResponse(F(1, 3), 4).event() == {
        "mechanism": "randomised_response",
        "epsilon": "1/3",
        "categories": "4",
    }
    assert RandomisedResponse(F(1, 3)).rho() == F(1, 18)
    for bad in ((F(0), 2), (F(-1), 2), (F(1), 1), (F(1), 2**63)):
        with pytest.raises(ValueError, match="randomised response"):
            RandomisedResponse(*bad)


def test_the_noise_does_not_see_the_answers() -> None:
    """Same words, other answers: the same places are changed, and as many words are read."""
    for categories in CATEGORIES:
        mechanism, reads, moved = RandomisedResponse(F(1), categories), [], []
        for code in range(categories):
            entropy = SeededEntropy("blind")
            drawn = mechanism.draw(np.full(500, code), entropy)
            reads.append((entropy.words_read, entropy.extensions))
            moved.append(((drawn - code) % categories).tolist())
        assert len(set(reads)) == 1
        assert all(shifts == moved[0] for shifts in moved)


def test_a_million_answers_take_well_under_a_second() -> None:
    truths, drinks = np.zeros(10**6, dtype=bool), np.full(10**6, "water")
    for call in (
        lambda: noise.randomised_response(truths, epsilon=1),
        lambda: noise.randomised_response(drinks, epsilon=1, categories=DRINKS),
    ):
        before = process_time()
        call()
        assert process_time() - before < 0.9


# ---- forms -------------------------------------------------------------------------------------------------


def test_booleans_come_back_in_their_form() -> None:
    assert type(noise.randomised_response(True, epsilon=1)) is bool
    assert noise.randomised_response(np.bool_(True), epsilon=100) is True
    assert noise.randomised_response([True, False, np.bool_(True)], epsilon=100) == [True, False, True]
    grid = np.array([[True, False], [False, False]])
    answer = noise.randomised_response(grid, epsilon=100)
    assert (answer.dtype, answer.tolist()) == (np.bool_, grid.tolist())
    assert grid.tolist() == [[True, False], [False, False]]


def test_categories_come_back_as_they_were_listed() -> None:
    assert noise.randomised_response("tea", epsilon=100, categories=DRINKS) == "tea"
    assert noise.randomised_response(["tea", "water"], epsilon=100, categories=DRINKS) == ["tea", "water"]
    answer = noise.randomised_response(np.array([["tea"], ["water"]]), epsilon=100, categories=DRINKS)
    assert (answer.tolist(), answer.dtype) == ([["tea"], ["water"]], np.dtype("<U6"))
    answer = noise.randomised_response(np.array([3, 1]), epsilon=100, categories=np.array([1, 2, 3]))
    assert (answer.tolist(), answer.dtype) == ([3, 1], np.int64)
    mixed = noise.randomised_response(np.array([1, "a"], dtype=object), epsilon=100, categories=[1, "a", None])
    assert (mixed.tolist(), mixed.dtype) == ([1, "a"], object)
    pairs = [(0, 1), (2, 3)]
    assert noise.randomised_response((2, 3), epsilon=100, categories=pairs) == (2, 3)
    boxed = np.empty(1, dtype=object)
    boxed[0] = (0, 1)
    assert noise.randomised_response(boxed, epsilon=100, categories=pairs)[0] == (0, 1)
    ends = noise.randomised_response(np.array(["a"]), epsilon=100, categories=["a", "b\0"])
    assert (ends.tolist(), ends.dtype) == (["a"], object)


def test_longer_names_than_the_array_holds_are_not_cut() -> None:
    answers = noise.randomised_response(
        np.full(200, "tea"), epsilon=0.01, categories=DRINKS, entropy=SeededEntropy("cut")
    )
    assert set(answers.tolist()) == set(DRINKS)


def test_every_answer_may_become_every_other() -> None:
    entropy = SeededEntropy("other")
    for drink in DRINKS:
        answers = noise.randomised_response([drink] * 300, epsilon=0.5, categories=DRINKS, entropy=entropy)
        assert set(answers) == set(DRINKS)
        assert answers.count(drink) / 300 == pytest.approx(exp(0.5) / (exp(0.5) + 2), abs=0.17)


NO_TRUTHS = [1, 0, "True", None, 1.0, float("nan"), [1], [True, None], np.array([1]), np.array([True], dtype=object)]


@pytest.mark.parametrize("value", NO_TRUTHS, ids=repr)
def test_only_booleans_are_booleans(value: object) -> None:
    with pytest.raises(UsageError, match="True or False") as caught:
        noise.randomised_response(value, epsilon=1)
    assert "categories" in caught.value.hint


@pytest.mark.parametrize("value", ["milk", ["tea", "milk"], np.array(["milk"]), [["tea"]], None, {"tea"}], ids=repr)
def test_an_answer_outside_the_categories_is_refused_and_not_shown(value: object) -> None:
    with pytest.raises(UsageError, match="not one of the categories") as caught:
        noise.randomised_response(value, epsilon=1, categories=DRINKS)
    assert "milk" not in str(caught.value)


@pytest.mark.parametrize("value", [[], np.array([], dtype=bool)])
def test_no_answers(value: object) -> None:
    with pytest.raises(UsageError, match="no answer"):
        noise.randomised_response(value, epsilon=1)
    with pytest.raises(UsageError, match="no answer"):
        noise.randomised_response([], epsilon=1, categories=DRINKS)


@pytest.mark.parametrize(
    ("categories", "says"),
    [
        ("tea", "categories must"),
        (["tea"], "categories must"),
        ([], "categories must"),
        ({"tea", "milk"}, "categories must"),
        ([["tea"], ["milk"]], "categories must"),
        (3, "categories must"),
        (["tea", "tea"], "twice"),
        ([1, True], "twice"),
    ],
)
def test_categories_that_are_refused(categories: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        noise.randomised_response("tea", epsilon=1, categories=categories)


@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), 0, -1, None])
def test_epsilons_that_are_refused(bad: object) -> None:
    for given in ({}, {"categories": [True, False]}):
        with pytest.raises(UsageError, match="epsilon"):
            noise.randomised_response(True, epsilon=bad, **given)
