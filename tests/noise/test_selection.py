"""exponential and permute_and_flip: the law, the scores they take, the candidates they return."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest
from scipy import stats

import sfumato.noise as noise
from sfumato.errors import UsageError
from tests.noise.seeded import SeededEntropy

F = Fraction
CALLS = {"exponential": noise.exponential, "permute_and_flip": noise.permute_and_flip}
NAMES = ["tea", "coffee", "water", "milk"]
SCORES = [3, 5, 4, -2]
LEAST_P = 1e-6


def law(mechanism: str, scores: list[float], rate: float) -> list[float]:
    weights = [exp(rate * (score - max(scores))) for score in scores]
    if mechanism == "exponential":
        return [weight / sum(weights) for weight in weights]
    result = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for place in order:
            result[place] += left * weights[place] / len(orders)
            left *= 1 - weights[place]
    return result


def p_value(mechanism: str, rate: float, **arguments: object) -> float:
    entropy = SeededEntropy(8)
    call, draws = CALLS[mechanism], 8000
    counts = Counter(call(NAMES, SCORES, **arguments, entropy=entropy) for _ in range(draws))
    expected = np.array(law(mechanism, SCORES, rate)) * draws
    return float(stats.chisquare([counts[name] for name in NAMES], expected).pvalue)


@pytest.mark.parametrize("mechanism", CALLS)
def test_the_law(mechanism: str) -> None:
    """ε/(2Δ) without, ε/Δ with monotone; a law with a rate 20 % off must fail."""
    assert p_value(mechanism, 0.5, sensitivity=2, epsilon=2) > LEAST_P
    assert p_value(mechanism, 0.4, sensitivity=2, epsilon=2) < LEAST_P
    assert p_value(mechanism, 1.0, sensitivity=2, epsilon=2, monotone=True) > LEAST_P


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize(
    "scores",
    [
        [3.0, 5.0, 4.0, -2.0],
        [3, 5.0, 4, -2],
        np.array(SCORES),
        np.array(SCORES, dtype=np.int8),
        np.array(SCORES, dtype=np.float32),
        np.array(SCORES, dtype=object),
        [Decimal(3), Decimal("5.0"), F(4), -2],
        [np.int64(3), np.float64(5), 4, -2],
        (3, 5, 4, -2),
    ],
    ids=lambda scores: type(scores[0]).__name__,
)
def test_scores_of_any_kind_give_the_same_draws(mechanism: str, scores: object) -> None:
    def run(given: object) -> list[str]:
        entropy = SeededEntropy(9)
        return [CALLS[mechanism](NAMES, given, sensitivity=1, epsilon=1, entropy=entropy) for _ in range(60)]

    assert run(scores) == run(SCORES)


@pytest.mark.parametrize("mechanism", CALLS)
def test_decimal_scores_are_exact(mechanism: str) -> None:
    """Tenths and a sensitivity of a tenth are whole numbers in a unit of their own."""
    tenths = [Decimal(score) / 10 for score in SCORES]

    def run(scores: object, sensitivity: object) -> list[str]:
        entropy = SeededEntropy(10)
        return [CALLS[mechanism](NAMES, scores, sensitivity=sensitivity, epsilon=1, entropy=entropy) for _ in range(60)]

    assert run(tenths, Decimal("0.1")) == run(SCORES, 1)


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize(
    ("candidates", "scores", "answer"),
    [
        (["only"], [0], "only"),
        (range(3), [0, 10**6, 0], 1),
        (np.array([1.5, 2.5]), [0.0, 1e6], 2.5),
        ("ab", [1e308, -1e308], "a"),
        ([None, None], [2**62, -(2**62)], None),
        ([["x"], ["y"]], [-(2**63), 2**63 - 1], ["y"]),
    ],
)
def test_a_clear_winner_is_returned_as_it_is(
    mechanism: str, candidates: object, scores: list[float], answer: object
) -> None:
    assert CALLS[mechanism](candidates, scores, sensitivity=1, epsilon=1) == answer


BAD = [
    ([], [], "no candidate"),
    (["a"], [1, 2], "1 candidates and 2 scores"),
    (["a"], [True], "finite numbers"),
    (["a"], ["1"], "finite numbers"),
    (["a"], "1", "finite numbers"),
    (["a"], [float("nan")], "finite numbers"),
    (["a"], [float("inf")], "finite numbers"),
    (["a"], [Decimal("nan")], "finite numbers"),
    (["a"], [None], "finite numbers"),
    (["a"], 1, "finite numbers"),
    (["a"], np.array([True]), "finite numbers"),
    (["a"], np.array([np.nan]), "finite numbers"),
    (["a"], np.array([[1.0]]), "finite numbers"),
    (["a"], np.array([1.0], dtype=np.longdouble), "finite numbers"),
    (["a"], [np.longdouble(1)], "finite numbers"),
    ({"a"}, [1], "fixed order"),
    ({"a": 1}, [1], "fixed order"),
    (["a"], [2**63], "64 bits"),
    (["a"], [-(2**63) - 1], "64 bits"),
    (["a", "b"], [2**60 + 1, 0.1], "64 bits"),
    (["a"], [10**400], "64 bits"),
    (["a", "b"], [10**400, 0.5], "64 bits"),
    (["a"], [Decimal("1e999999")], "64 bits"),
    (["a"], np.array([2**64 - 1], dtype=np.uint64), "64 bits"),
]


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize(("candidates", "scores", "says"), BAD)
def test_what_is_refused(mechanism: str, candidates: object, scores: object, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        CALLS[mechanism](candidates, scores, sensitivity=1, epsilon=1)
    assert caught.value.hint


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), 0, -1, None])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon"])
def test_parameters_that_are_refused(mechanism: str, bad: object, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        CALLS[mechanism](NAMES, SCORES, **({"sensitivity": 1, "epsilon": 1} | {name: bad}))


@pytest.mark.parametrize("mechanism", CALLS)
def test_monotone_is_a_boolean(mechanism: str) -> None:
    with pytest.raises(UsageError, match="monotone"):
        CALLS[mechanism](NAMES, SCORES, sensitivity=1, epsilon=1, monotone=1)
