"""d_X-privacy: the law, the claim on every pair, words, and what is refused."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.geo.metric import _step
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square
from tests.statistics.evidence import ERROR, source

LINE = [0, 1, 2, 4, 7]


def line(epsilon: float = 1.0) -> sf.geo.Metric:
    return sf.geo.metric(LINE, lambda one, two: abs(one - two), epsilon=epsilon)


def test_a_loss_is_not_rounded_down() -> None:
    for epsilon in (Fraction(2, 3), Fraction(1, 10), Fraction(31, 11)):
        mechanism = sf.geo.metric(LINE, lambda one, two: abs(one - two), epsilon=epsilon)
        anywhere = sf.geo.planar(epsilon=epsilon)
        for distance in (1, 2, 4, 7):
            assert Fraction(repr(mechanism.loss(0, distance))) >= epsilon * distance
            assert Fraction(repr(anywhere.loss(distance))) >= epsilon * distance


def test_every_pair_keeps_the_claim() -> None:
    mechanism = line()
    laws = {item: mechanism.law(item) for item in LINE}
    for one, two in product(LINE, LINE):
        worst = max(abs(np.log(laws[one][out] / laws[two][out])) for out in LINE)
        assert worst <= mechanism.loss(one, two) + 1e-12
        assert mechanism.loss(one, two) == pytest.approx(abs(one - two))


def test_without_the_half_the_claim_breaks() -> None:
    """The twin exp(-ε d): the normalisers differ."""
    table = np.exp(-np.abs(np.subtract.outer(LINE, LINE)).astype(float))
    table /= table.sum(axis=1, keepdims=True)
    assert np.abs(np.log(table[3] / table[4])).max() > 1.05 * 3


@pytest.mark.parametrize("item", LINE)
def test_draws_follow_the_law(item: int) -> None:
    drawn = line().protect([item] * 100_000, entropy=source(f"metric {item}"))
    counts = [drawn.count(out) for out in LINE]
    assert chi_square(counts, list(line().law(item).values())) > ERROR
    assert chi_square(counts, list(line(1.2).law(item).values())) < ERROR


def test_a_single_item_and_a_table_of_distances() -> None:
    mechanism = sf.geo.metric(["a", "b"], [[0, 3], [3, 0]], epsilon=100)
    assert mechanism.protect("a") == "a"
    assert mechanism.protect(["b", "a"]) == ["b", "a"]
    assert mechanism.event()["mechanism"] == "metric"


@pytest.mark.parametrize(
    ("items", "table", "says"),
    [
        ([], [], "no place"),
        (["a", "a"], [[0, 1], [1, 0]], "twice"),
        (["a", "b"], [[0, 1]], "2 by 2"),
        (["a", "b"], [[0, -1], [-1, 0]], "negative"),
        (["a", "b"], [[0, float("nan")], [1, 0]], "not a number"),
        (["a", "b"], [[0, 1], [2, 0]], "there and back"),
        (["a", "b"], [[1, 1], [1, 0]], "distance 0"),
        (["a", "b", "c"], [[0, 1, 5], [1, 0, 1], [5, 1, 0]], "detour"),
    ],
)
def test_what_is_no_metric_is_refused(items: list[str], table: list[list[float]], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sf.geo.metric(items, table, epsilon=1)


def test_unknown_items_are_named_by_place() -> None:
    with pytest.raises(UsageError, match="item 2, 4 of the input"):
        line().protect([0, 3, 1, 9])


VECTORS = {"tea": [0.0, 0.1], "coffee": [0.1, 0.0], "war": [5.0, 5.0], "peace": [4.0, 5.0]}


def test_words() -> None:
    mechanism = sf.geo.words(VECTORS, epsilon=1000)
    assert mechanism.protect("Tea, coffee; war?") == "tea, coffee; war?"
    with pytest.raises(UsageError, match="item 2 of the input"):
        mechanism.protect("tea or coffee")
    assert mechanism.protect("tea or coffee", on_unknown="skip") == "tea  coffee"
    assert mechanism.unknown("tea or coffee") == [(2, "no vector")]


def test_near_words_are_likelier_than_far_ones() -> None:
    mechanism = sf.geo.words(VECTORS, epsilon=2).mechanism
    drawn = mechanism.protect(["tea"] * 5000, entropy=SeededEntropy("words"))
    assert drawn.count("coffee") > 5 * drawn.count("war")
    assert 0 < mechanism.loss("tea", "coffee") - 2 * 2**0.5 * 0.1 < 1e-9
    assert mechanism.law("tea")["tea"] / mechanism.law("tea")["war"] == pytest.approx(exp(np.hypot(5, 4.9)), rel=1e-9)


def test_steps_cover_the_largest_distance() -> None:
    assert _step(1.0) == Fraction(1, 1 << 40)
    assert _step(0.0) == Fraction(1, 1 << 40)
    assert 2**39 < 1000 / _step(1000.0) <= 2**40


@pytest.mark.parametrize(
    "vectors", [{}, {"a": [1], "A": [2]}, {"a": [1], "b": [1, 2]}, {"a": [float("nan")]}, {"a": "x"}]
)
def test_vectors_that_cannot_be_used(vectors: dict) -> None:
    with pytest.raises(UsageError, match="word vectors"):
        sf.geo.words(vectors, epsilon=1)
