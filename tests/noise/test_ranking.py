"""noisy_max and top_k: the law by its integral and by its rounds, the loss by exact probabilities, price and error."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product
from math import exp, inf
from random import Random

import numpy as np
import pytest
from scipy.integrate import quad

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.choice import Exponential, PermuteAndFlip
from sfumato.noise import ranking
from sfumato.noise.ranking import NoisyMax, TopK
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, exp_minus, mutant

F = Fraction
ONE = F(1)
NAMES = ["tea", "coffee", "water", "milk"]
SCORES = [3, 5, 4, -2]


def winner_law(scores: Sequence[Fraction | int], rate: Fraction) -> list[Decimal]:
    """P(i) = w_i ∫ Π (1 - w_j v) dv over [0, 1] and j ≠ i: the polynomial, term by term."""
    with localcontext(PRECISE):
        best = max(scores)
        weights = [exp_minus(rate * (best - score)) for score in scores]
        chances = []
        for i, weight in enumerate(weights):
            coefficients = [Decimal(1)]
            for j, other in enumerate(weights):
                if j != i:
                    shifted = [Decimal(0), *(-other * c for c in coefficients)]
                    coefficients = [a + b for a, b in zip([*coefficients, Decimal(0)], shifted, strict=True)]
            chances.append(weight * sum(c / (power + 1) for power, c in enumerate(coefficients)))
        return chances


def list_law(law: TopK, scores: Sequence[Fraction | int]) -> dict[tuple[int, ...], Decimal]:
    """Of every ordered list: the chance of each pick among those left, multiplied."""
    result = {}
    with localcontext(PRECISE):
        for order in permutations(range(len(scores)), law.picks):
            left, chance = list(range(len(scores))), Decimal(1)
            for pick in order:
                among = winner_law([scores[i] for i in left], law.round.rate)
                chance *= among[left.index(pick)]
                left.remove(pick)
            result[order] = chance
    return result


# ---- noisy max ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [[0.0, 1.0, 2.5, 2.5, 4.0], [0.0, 0.0], [7.0], [-30.0, 0.0, 0.5]])
def test_exponential_noise_and_permute_and_flip_have_one_law(scores: list[float]) -> None:
    """The integral over the noisy score of the winner, by quadrature; and the average over all orders."""
    rate = 0.5
    claimed = winner_law([F(score) for score in scores], F(1, 2))
    weights = [exp(rate * (score - max(scores))) for score in scores]
    orders = list(permutations(range(len(scores))))
    for i, chance in enumerate(claimed):

        def density(t: float, i: int = i) -> float:
            value = rate * exp(-rate * (t - scores[i]))
            for j, score in enumerate(scores):
                value *= 1.0 if j == i else 1 - exp(-rate * (t - score))
            return value

        assert float(chance) == pytest.approx(quad(density, max(scores), inf, epsabs=1e-12)[0], abs=1e-9)
        flipped = 0.0
        for order in orders:
            before = order[: order.index(i)]
            flipped += weights[i] * np.prod([1 - weights[j] for j in before]) / len(orders)
        assert float(chance) == pytest.approx(flipped, abs=1e-12)


@pytest.mark.parametrize("monotone", [False, True])
def test_noisy_max_draws_as_permute_and_flip_does(monotone: bool) -> None:
    ours, theirs = SeededEntropy("same"), SeededEntropy("same")
    for _ in range(300):
        given = {"sensitivity": 2, "epsilon": 1, "monotone": monotone}
        first = noise.noisy_max(NAMES, SCORES, **given, entropy=ours)
        assert first == noise.permute_and_flip(NAMES, SCORES, **given, entropy=theirs)


def test_noisy_max_follows_its_law() -> None:
    entropy = SeededEntropy("law")
    draws = Counter(noise.noisy_max(NAMES, SCORES, sensitivity=2, epsilon=2, entropy=entropy) for _ in range(20_000))
    for rate, passes in ((F(1, 2), True), (F(9, 20), False)):
        p = chi_square([draws[name] for name in NAMES], [float(chance) for chance in winner_law(SCORES, rate)])
        assert p > 1e-6 if passes else p < 1e-6


def neighbours(random: Random, monotone: bool, size: int) -> tuple[list[Fraction], list[Fraction]]:
    spread = random.choice([1, 4, 12])
    scores = [F(random.randrange(0, 8 * spread), 8) for _ in range(size)]
    low = 0 if monotone else -1
    return scores, [score + random.choice([F(low), ONE, F(random.randint(8 * low, 8), 8)]) for score in scores]


def loss_of_max(rate: Fraction, monotone: bool, pairs: int = 150) -> Decimal:
    random, worst = Random(f"max {monotone}"), Decimal(0)
    with localcontext(PRECISE):
        for _ in range(pairs):
            scores, other = neighbours(random, monotone, random.randint(2, 5))
            for p, q in zip(winner_law(scores, rate), winner_law(other, rate), strict=True):
                worst = max(worst, abs((p / q).ln()))
    return worst


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [F(1, 10), ONE, F(4)])
def test_noisy_max_loses_at_most_epsilon(epsilon: Fraction, monotone: bool) -> None:
    share = loss_of_max(NoisyMax(epsilon, ONE, monotone).rate, monotone) / decimal(epsilon)
    assert Decimal("0.7") < share <= 1 + Decimal(10) ** -25


def test_twins_of_noisy_max_are_caught() -> None:
    """Scale Δ/ε where 2Δ/ε is due; and 0.9 of the noise."""
    assert loss_of_max(NoisyMax(ONE, ONE, monotone=True).rate, monotone=False) > 1
    assert loss_of_max(NoisyMax(F(10, 9), ONE).rate, monotone=False) > 1


def test_the_price_of_the_exponential_mechanism_would_be_four_times_too_low() -> None:
    """(1, 0) against (0, 1) needs more than ε²/8 in zCDP, and not more than the ε²/2 that is charged."""
    law = NoisyMax(ONE, ONE)
    with localcontext(PRECISE):
        p, q = winner_law([1, 0], law.rate), winner_law([0, 1], law.rate)
        divergence = sum(a * (a / b).ln() for a, b in zip(p, q, strict=True))
        assert decimal(Exponential(ONE, ONE).rho()) < divergence <= decimal(law.rho())
    assert law.rho() == 4 * Exponential(ONE, ONE).rho() == PermuteAndFlip(ONE, ONE).rho()


def test_records() -> None:
    assert NoisyMax(F(1, 2), F(3), monotone=True).event() == {
        "mechanism": "noisy_max",
        "noise": "exponential",
        "epsilon": "1/2",
        "sensitivity": "3",
        "monotone": "true",
    }
    law = TopK(F(1, 2), F(3), 4)
    assert law.event() == {
        "mechanism": "top_k",
        "epsilon": "1/2",
        "sensitivity": "3",
        "picks": "4",
        "monotone": "false",
    }
    assert (law.round.epsilon, law.rho()) == (F(1, 8), F(1, 32))
    for bad in ((F(0), ONE, 1), (ONE, F(0), 1), (ONE, ONE, 0), (F(-1), ONE, 1)):
        with pytest.raises(ValueError, match="positive"):
            TopK(*bad)


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.999])
def test_the_winner_stays_within_the_error(confidence: float) -> None:
    random, law = Random("error"), NoisyMax(F(3, 2), ONE)
    for _ in range(60):
        scores = [F(random.randrange(0, 240), 8) for _ in range(random.randint(1, 6))]
        gap = law.error(confidence, len(scores))
        chances = winner_law(scores, law.rate)
        missed = sum(p for p, score in zip(chances, scores, strict=True) if max(scores) - score > gap)
        assert missed <= 1 - confidence
    # Two candidates at that very distance: the bound is nearly reached.
    gap = law.error(0.95, 2)
    assert float(winner_law([F(gap), 0], law.rate)[1]) == pytest.approx(0.05, rel=1e-9)
    assert (law.error(0.3, 2), law.error(0.999, 1)) == (0, 0)


# ---- top k -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("picks", [1, 2, 4])
def test_top_k_follows_its_law_in_order(picks: int) -> None:
    entropy, law = SeededEntropy(f"top {picks}"), TopK(F(4), ONE, picks)
    drawn = Counter(
        tuple(noise.top_k(NAMES, SCORES, picks, sensitivity=1, epsilon=4, entropy=entropy)) for _ in range(6_000)
    )
    for right, chances in ((True, list_law(law, SCORES)), (False, list_law(TopK(F(3), ONE, picks), SCORES))):
        assert abs(sum(chances.values()) - 1) < Decimal(10) ** -25
        counts = [drawn[tuple(NAMES[i] for i in order)] for order in chances]
        p = chi_square(counts, [float(chance) for chance in chances.values()])
        assert p > 1e-6 if right else p < 1e-6


def loss_of_list(law: TopK, claimed: bool) -> Decimal:
    """The largest loss over all whole scores from 0 to 2 of three candidates and all neighbours."""
    worst = Decimal(0)
    laws = {scores: list_law(law, scores) for scores in product(range(4), repeat=3)}
    steps = (0, 1) if claimed else (-1, 0, 1)
    with localcontext(PRECISE):
        for scores in product(range(3), repeat=3):
            for changes in product(steps, repeat=3):
                other = tuple(a + b for a, b in zip(scores, changes, strict=True))
                if other in laws:
                    losses = (abs((laws[scores][order] / laws[other][order]).ln()) for order in laws[scores])
                    worst = max(worst, *losses)
    return worst


@pytest.mark.parametrize("picks", [1, 2, 3])
@pytest.mark.parametrize("monotone", [False, True])
def test_a_list_loses_at_most_epsilon(monotone: bool, picks: int) -> None:
    worst = loss_of_list(TopK(ONE, ONE, picks, monotone), monotone)
    assert Decimal("0.35") < worst <= 1 + Decimal(10) ** -25


def test_a_twin_that_spends_epsilon_in_every_round_is_caught() -> None:
    twin = mutant(ranking, "NoisyMax(self.epsilon / self.picks,", "NoisyMax(self.epsilon,").TopK
    assert loss_of_list(twin(ONE, ONE, 2), False) > 1


def test_a_twin_with_replacement_is_caught() -> None:
    twin = mutant(ranking, "left = np.delete(left, place)", "pass").TopK
    entropy = SeededEntropy("twin")
    assert any(len(set(twin(ONE, ONE, 3).draw(np.zeros(3), entropy))) < 3 for _ in range(20))
    assert sorted(TopK(ONE, ONE, 3).draw(np.zeros(3), SeededEntropy("all"))) == [0, 1, 2]


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_every_pick_stays_within_the_error(confidence: float) -> None:
    random = Random("list")
    for picks in (1, 2, 3):
        law = TopK(F(5), ONE, picks)
        for _ in range(8):
            scores = [F(random.randrange(0, 160), 8) for _ in range(4)]
            gap, missed = law.error(confidence, 4), Decimal(0)
            for order, chance in list_law(law, scores).items():
                left, bad = set(range(4)), False
                for pick in order:
                    bad = bad or max(scores[i] for i in left) - scores[pick] > gap
                    left.remove(pick)
                missed += chance if bad else 0
            assert missed <= 1 - confidence


def test_clear_winners_come_back_in_order_as_they_are() -> None:
    assert noise.top_k(range(5), [0, 10**6, 2 * 10**6, -5, 7], 2, sensitivity=1, epsilon=1) == [2, 1]
    assert noise.top_k("ab", [1e308, -1e308], 2, sensitivity=1, epsilon=1) == ["a", "b"]
    assert noise.noisy_max([["x"], ["y"]], [-(2**63), 2**63 - 1], sensitivity=1, epsilon=1) == ["y"]
    assert noise.noisy_max("ab", [1e308, -1e308], sensitivity=1, epsilon=1) == "a"
    tenths = [Decimal("0.1"), Decimal("90.3"), F(1, 3)]
    assert noise.top_k("abc", tenths, 1, sensitivity=Decimal("0.1"), epsilon=1, monotone=True) == ["b"]


# ---- refusals ----------------------------------------------------------------------------------------------

CALLS = {
    "noisy_max": lambda names, scores, **given: noise.noisy_max(names, scores, **given),
    "top_k": lambda names, scores, **given: noise.top_k(names, scores, given.pop("k", 1), **given),
}


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), 0, -1, None])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon"])
def test_parameters_that_are_refused(mechanism: str, bad: object, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        CALLS[mechanism](NAMES, SCORES, **({"sensitivity": 1, "epsilon": 1} | {name: bad}))


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize(
    ("names", "scores", "says"),
    [([], [], "no candidate"), (["a"], [1, 2], "1 candidates"), (["a"], [True], "finite"), ({"a"}, [1], "fixed order")],
)
def test_candidates_that_are_refused(mechanism: str, names: object, scores: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        CALLS[mechanism](names, scores, sensitivity=1, epsilon=1)


@pytest.mark.parametrize("mechanism", CALLS)
def test_monotone_is_a_boolean(mechanism: str) -> None:
    with pytest.raises(UsageError, match="monotone"):
        CALLS[mechanism](NAMES, SCORES, sensitivity=1, epsilon=1, monotone=1)


@pytest.mark.parametrize("k", [0, -1, 5, 1.0, True, "abc", None, float("nan")])
def test_k_is_a_number_of_candidates(k: object) -> None:
    with pytest.raises(UsageError, match="k must"):
        noise.top_k(NAMES, SCORES, k, sensitivity=1, epsilon=1)
