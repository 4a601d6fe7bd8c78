"""Above-threshold: the exact law of all answer patterns, its loss, and the famous ways to get it wrong."""

import inspect
import multiprocessing
import types
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.noise import sparse_vector
from sfumato.noise.sparse_vector import SparseVector
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal, laplace_law, laplace_tail

F = Fraction
Pattern = tuple[Any, ...]


# ---- the law -----------------------------------------------------------------------------------------------


def patterns(values: int, count: int) -> list[Pattern]:
    """Every list of answers that may come out of so many values."""
    lists: list[Pattern] = [()]
    done: list[Pattern] = []
    for _ in range(values):
        grown = [(*answers, above) for answers in lists for above in (False, True)]
        done += [answers for answers in grown if sum(answers) == count]
        lists = [answers for answers in grown if sum(answers) < count]
    return done + lists


def pattern_law(law: Any, values: Sequence[int], kept: Sequence[Pattern] = ()) -> dict[Pattern, Decimal]:
    """Σ over the noise z of the threshold of P(z) · Π P(answer given z), to 25 digits and more."""
    first, scale = law.threshold_noise.scale, law.value_noise.scale
    reach = int(75 * first) + 1
    result: dict[Pattern, Decimal] = dict.fromkeys(kept or patterns(len(values), law.count), Decimal(0))
    with localcontext(PRECISE):
        for z in range(-reach, reach + 1):
            chance = laplace_law(first, z)
            above = [laplace_tail(scale, z - value) for value in values]
            for answers in result:
                term = chance
                for answer, p in zip(answers, above, strict=False):
                    term *= p if answer else 1 - p
                result[answers] += term
    return result


def loss_of(law: Any, pattern: Pattern, values: Sequence[int], other: Sequence[int]) -> Decimal:
    """The loss of one pattern, as a share of ε."""
    with localcontext(PRECISE):
        one, two = (pattern_law(law, given, [pattern])[pattern] for given in (values, other))
        return abs((one / two).ln()) / decimal(law.epsilon)


def worst_loss(law: SparseVector, length: int, changes: Sequence[int]) -> Decimal:
    """Over all values from -1 to 1 and all changes, the largest loss of any pattern, as a share of ε."""
    laws = {values: pattern_law(law, values) for values in product((-2, -1, 0, 1, 2), repeat=length)}
    worst = Decimal(0)
    with localcontext(PRECISE):
        for values in product((-1, 0, 1), repeat=length):
            for moved in product(changes, repeat=length):
                other = tuple(a + b for a, b in zip(values, moved, strict=True))
                losses = (abs((p / laws[other][answers]).ln()) for answers, p in laws[values].items())
                worst = max(worst, *losses)
    return worst / decimal(law.epsilon)


@pytest.mark.parametrize(("count", "length"), [(1, 1), (1, 2), (1, 3), (2, 3)])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_is_at_most_epsilon(count: int, length: int, monotone: bool) -> None:
    law = SparseVector(F(3), 1, count, monotone)
    worst = worst_loss(law, length, (0, 1) if monotone else (-1, 0, 1))
    assert worst <= 1 + Decimal(10) ** -20
    if length == 3:
        assert worst > Decimal("0.4")


HARD = [False] * 12 + [True], [6] * 12 + [-6], [7] * 12 + [-7]  # noes far above the threshold, a yes far below
UPWARD = [False] * 12 + [True], [6] * 12 + [-6], [7] * 12 + [-6]


def test_the_loss_comes_close_to_epsilon_on_a_long_stream() -> None:
    """Twelve values rise, and the last one falls; where all must move one way, it stays."""
    assert Decimal("0.98") < loss_of(SparseVector(F(3), 1), tuple(HARD[0]), *HARD[1:]) <= 1
    assert Decimal("0.98") < loss_of(SparseVector(F(3), 1, 1, True), tuple(UPWARD[0]), *UPWARD[1:]) <= 1


def test_nine_tenths_of_the_noise_are_caught() -> None:
    twin = SparseVector(F(10, 3), 1)
    assert loss_of(twin, tuple(HARD[0]), *HARD[1:]) * twin.epsilon.numerator / twin.epsilon.denominator > 3


# ---- the code, over every combination of noise -------------------------------------------------------------


class Drawn:
    def __init__(self, noises: Sequence[int]) -> None:
        self.noises = list(noises)

    def __getitem__(self, place: int) -> int:
        return self.noises[place]

    def tolist(self) -> list[int]:
        return self.noises


def mutated(*changes: tuple[str, str]) -> Any:
    """The module with these lines changed: a broken twin (or, without changes, a copy)."""
    source = inspect.getsource(sparse_vector)
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    twin = types.ModuleType("sparse_vector_twin")
    exec(compile(source, "<twin of sparse_vector>", "exec"), twin.__dict__)  # noqa: S102
    return twin


def answers_of(module: Any, law: Any, values: Sequence[int], z: int, noises: Sequence[int]) -> Pattern:
    """What the module answers when the threshold gets noise z and the values get `noises`."""
    module.discrete_laplace = lambda scale, count, entropy: Drawn([z] if count == 1 else noises)
    return tuple(law.answers(iter(values), 0, None))


def reference(values: Sequence[int], z: int, noises: Sequence[int], count: int) -> Pattern:
    answers: list[bool] = []
    for value, fresh in zip(values, noises, strict=True):
        answers.append(value + fresh >= z)
        if sum(answers) == count:
            break
    return tuple(answers)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_code_compares_as_the_definition_says(count: int) -> None:
    module = mutated()
    law = module.SparseVector(F(1), 1, count)
    for z, *noises in product(range(-2, 3), repeat=4):
        assert answers_of(module, law, [0, 1, -1], z, noises) == reference([0, 1, -1], z, noises, count)


def cut_law(scale: Fraction, reach: int) -> dict[int, float]:
    """Discrete Laplace with both tails gathered at the ends."""
    chances = {k: float(laplace_law(scale, k)) for k in range(1 - reach, reach)}
    chances[reach] = chances[-reach] = float(laplace_tail(scale, reach))
    return chances


def enumerated(module: Any, law: Any, values: Sequence[int], reach: int) -> dict[Pattern, float]:
    """The law of what the module says, over every combination of noise up to `reach`."""
    first, fresh = cut_law(law.threshold_noise.scale, reach), cut_law(law.value_noise.scale, reach)
    result: dict[Pattern, float] = defaultdict(float)
    for z, *noises in product(range(-reach, reach + 1), repeat=len(values) + 1):
        chance = first[z]
        for one in noises:
            chance *= fresh[one]
        result[answers_of(module, law, values, z, noises)] += chance
    return result


def enumerated_loss(module: Any, law: Any, values: Sequence[int], other: Sequence[int], kept: Any) -> float:
    """The largest loss of the patterns that `kept` lets pass, as a share of ε."""
    one, two = enumerated(module, law, values, 4), enumerated(module, law, other, 4)
    worst = 0.0
    for pattern in filter(kept, one.keys() | two.keys()):
        p, q = one.get(pattern, 0.0), two.get(pattern, 0.0)
        worst = max(worst, abs(log(p / q)) if p and q else float("inf"))
    return worst / float(law.epsilon)


def likely(pattern: Pattern) -> bool:
    """Patterns without a noisy number, or with one that the cut tails do not touch."""
    return all(type(answer) is bool or abs(answer) <= 1 for answer in pattern)


REUSED = (
    "fresh = _stream(self.value_noise.scale, entropy)",
    "fresh = iter([next(_stream(self.value_noise.scale, entropy))] * 9)",
)
NO_THRESHOLD_NOISE = (
    "noisy_threshold = threshold + int(discrete_laplace(self.threshold_noise.scale, 1, entropy)[0])",
    "noisy_threshold = threshold",
)
TELLS_THE_VALUE = (
    ("above = value + next(fresh) >= noisy_threshold", "above = (noisy := value + next(fresh)) >= noisy_threshold"),
    ("yield above", "yield noisy if above else False"),
)
NEVER_STOPS = ("left -= above", "left -= 0")
NOT_SCALED = ("changes = self.count if self.monotone else 2 * self.count", "changes = 1")

TWINS = [
    ("reused noise", [REUSED], F(3), 1, True, (0, 1, 0), (1, 0, 1)),
    ("no noise on the threshold", [NO_THRESHOLD_NOISE], F(3), 1, True, (0, 0, 0), (1, 1, 1)),
    ("tells the noisy value", list(TELLS_THE_VALUE), F(3), 1, True, (0, 0, 0), (1, 1, 1)),
]


@pytest.mark.parametrize(("name", "changes", "epsilon", "count", "monotone", "values", "other"), TWINS)
def test_twins_of_the_literature_are_caught(
    name: str, changes: Any, epsilon: Fraction, count: int, monotone: bool, values: Any, other: Any
) -> None:
    twin, right = mutated(*changes), mutated()
    law = twin.SparseVector(epsilon, 1, count, monotone)
    assert enumerated_loss(twin, law, values, other, likely) > 1.1, name
    if name != "reused noise":  # its neighbours are not monotone
        honest = right.SparseVector(epsilon, 1, count, monotone)
        assert enumerated_loss(right, honest, values, other, likely) < 1.001


def test_reused_noise_makes_some_answers_impossible() -> None:
    twin = mutated(REUSED)
    law = twin.SparseVector(F(3), 1, 1)
    assert enumerated(twin, law, (0, 1), 4)[(False, True)] > 0.01
    assert enumerated(twin, law, (1, 0), 4)[(False, True)] == 0


UNLIKELY = (False, False, False, True, True, True), [5, 5, 5, -5, -5, -5], [5, 5, 5, -6, -6, -6]


def test_a_twin_that_never_stops_is_caught() -> None:
    """Noise for one yes, and three of them: each costs as much as one may. The code answers as this law says."""
    twin = mutated(NEVER_STOPS)
    law = twin.SparseVector(F(3), 1, 1, True)
    for z, *noises in product(range(-2, 3), repeat=4):
        assert answers_of(twin, law, [0, 1, -1], z, noises) == reference([0, 1, -1], z, noises, 9)
    assert loss_of(law, *UNLIKELY) > Decimal("1.4")


def test_a_twin_whose_noise_does_not_grow_with_the_count_is_caught() -> None:
    assert loss_of(mutated(NOT_SCALED).SparseVector(F(3), 1, 3, True), *UNLIKELY) > Decimal("1.5")
    assert loss_of(SparseVector(F(3), 1, 3, True), *UNLIKELY) <= 1


# ---- shares, price, record, error --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 10, 1000, 10**9])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_shares_add_up_to_epsilon_and_are_near_the_best(count: int, monotone: bool) -> None:
    for epsilon in (F(1), F(1, 10**50), F(22, 7)):
        law = SparseVector(epsilon, 3, count, monotone)
        first, second = law.shares
        changes = count if monotone else 2 * count
        assert first > 0
        assert first + second == epsilon
        assert float(second / first) == pytest.approx(changes ** (2 / 3), rel=1e-5)
        assert law.threshold_noise.scale == 3 / first
        assert law.value_noise.scale == changes * 3 / second


def test_the_best_split_has_the_least_variance() -> None:
    law = SparseVector(F(1), 1, 2)

    def spread(first: float) -> float:
        return 1 / first**2 + (4 / (1 - first)) ** 2

    best = min(spread(i / 1000) for i in range(1, 1000))
    assert spread(float(law.shares[0])) == pytest.approx(best, rel=1e-5)


def test_price_and_record() -> None:
    law = SparseVector(F(1, 2), 7, 3, True)
    assert law.rho() == F(1, 8)
    assert law.event() == {
        "mechanism": "sparse_vector",
        "epsilon": "1/2",
        "sensitivity": "7",
        "count": "3",
        "monotone": "true",
    }
    for bad in ((F(0), 1, 1), (F(-1), 1, 1), (F(1), 0, 1), (F(1), 1, 0)):
        with pytest.raises(ValueError, match="positive"):
            SparseVector(*bad)


def test_answers_are_right_outside_the_error() -> None:
    law, entropy = SparseVector(F(2), 1, 3), SeededEntropy("error")
    error = law.error(0.9, 5)
    values = [-error - 1, error + 1, -error - 1, error + 1, error + 1]
    runs = 2000
    right = sum(list(law.answers(values, 0, entropy)) == [False, True, False, True, True] for _ in range(runs))
    assert right / runs > 0.9
    nearer = [value // 3 for value in values]
    assert sum(list(law.answers(nearer, 0, entropy)) == [False, True, False, True, True] for _ in range(200)) < 180


# ---- the public call ---------------------------------------------------------------------------------------


def test_draws_follow_the_law_and_not_one_of_less_noise() -> None:
    law, values = SparseVector(F(2), 1, 2), [0, 1, -1]
    chances = pattern_law(law, values)
    for epsilon, passes in ((F(2), True), (F(3), False)):
        entropy, drawing = SeededEntropy("patterns"), SparseVector(epsilon, 1, 2)
        counts = Counter(tuple(drawing.answers(values, 0, entropy)) for _ in range(6000))
        p = chi_square([counts[pattern] for pattern in chances], [float(chance) for chance in chances.values()])
        assert p > 1e-6 if passes else p < 1e-6


@pytest.mark.parametrize(
    "values", [[0, 10**6, 0], (0, 10**6, 0), np.array([0.0, 1e6, 0.0]), iter([0, 10**6, 0]), [F(1, 3), 1e300, -1]]
)
def test_values_of_any_kind(values: Any) -> None:
    assert noise.above_threshold(values, 1000, sensitivity=1, epsilon=1) == [False, True]


def test_answers_stop_at_the_count_or_the_end() -> None:
    values = [0, 10**6, 0, 10**6, 10**6]
    assert noise.above_threshold(values, 1000, sensitivity=1, epsilon=1, count=2) == [False, True, False, True]
    assert noise.above_threshold(values, 1000, sensitivity=1, epsilon=1, count=9) == [False, True, False, True, True]
    assert noise.above_threshold([], 1000, sensitivity=1, epsilon=1) == []
    assert noise.above_threshold([-5], -1000, sensitivity=1, epsilon=1, monotone=True) == [True]
    assert all(type(answer) is bool for answer in noise.above_threshold(values, 10, sensitivity=1, epsilon=1))


def test_the_rest_of_a_stream_is_never_looked_at() -> None:
    def values() -> Iterator[int]:
        yield 0
        yield 10**6
        raise AssertionError("asked for more after the last answer")

    assert noise.above_threshold(values(), 1000, sensitivity=1, epsilon=1) == [False, True]


def test_a_stream_may_depend_on_the_answers_so_far() -> None:
    answers: list[bool] = []

    def search() -> Iterator[int]:
        """Rises while the answer is no."""
        step = 1
        while not any(answers):
            yield 10**5 * step
            step *= 2

    stream = noise.above_threshold_stream(search(), 10**6, sensitivity=1, epsilon=1)
    for answer in stream:
        answers.append(answer)  # noqa: PERF402 - the generator reads the list while it grows
    assert answers == [False, False, False, False, True]


def test_long_streams_get_fresh_noise_for_every_value() -> None:
    """Half of 20,000 values at the threshold would be above it; none is asked after the 10,000th that was."""
    answers = noise.above_threshold(
        np.zeros(40_000), 0, sensitivity=1, epsilon=10**9, count=10_000, entropy=SeededEntropy("long")
    )
    assert sum(answers) == 10_000
    assert len({tuple(answers[i : i + 40]) for i in range(0, len(answers) - 40, 40)}) > 10


def test_the_same_words_give_the_same_answers() -> None:
    def run(values: Any) -> list[bool]:
        return noise.above_threshold(values, 0, sensitivity=1, epsilon=1, count=40, entropy=SeededEntropy("again"))

    values = [(-1) ** i * 2.5 for i in range(100)]
    assert run(values) == run(iter(values)) == run(np.array(values))


def test_values_are_rounded_to_the_grid_of_the_sensitivity() -> None:
    """A value a hair below the threshold, less than half a step, is at the threshold."""
    step = noise.describe("laplace", sensitivity=1, epsilon=1).step
    for value in (F(5), 5 - step / 3, 5 + step / 3):
        answers = [
            noise.above_threshold([value], 5, sensitivity=1, epsilon=10**9, entropy=SeededEntropy(str(i)))
            for i in range(30)
        ]
        if value == 5:
            expected = answers
        assert answers == expected


@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), 0, -1, None])
@pytest.mark.parametrize("name", ["sensitivity", "epsilon", "count"])
def test_parameters_that_are_refused(bad: object, name: str) -> None:
    given = {"sensitivity": 1, "epsilon": 1, "count": 1} | {name: bad}
    for call in (noise.above_threshold, noise.above_threshold_stream):
        with pytest.raises(UsageError, match=name):
            call([1], 0, **given)


@pytest.mark.parametrize("bad", ["abc", True, float("nan"), float("inf"), None, [1]])
def test_thresholds_that_are_refused(bad: object) -> None:
    with pytest.raises(UsageError, match="threshold"):
        noise.above_threshold([1], bad, sensitivity=1, epsilon=1)


@pytest.mark.parametrize("values", ["12", b"1", {1: 2}, 5, None, np.zeros((2, 2))], ids=repr)
def test_streams_that_are_refused(values: object) -> None:
    with pytest.raises(UsageError, match="values must be"):
        noise.above_threshold(values, 0, sensitivity=1, epsilon=1)


@pytest.mark.parametrize("value", ["1", True, None, float("nan"), float("inf")], ids=repr)
def test_values_that_are_refused_and_not_shown(value: object) -> None:
    for values in ([31415, value], iter([value]), (value,)):
        with pytest.raises(UsageError) as caught:
            noise.above_threshold(values, 10**9, sensitivity=1, epsilon=1)
        assert "31415" not in str(caught.value)


def test_monotone_is_a_boolean() -> None:
    with pytest.raises(UsageError, match="monotone"):
        noise.above_threshold([1], 0, sensitivity=1, epsilon=1, monotone="yes")


def test_a_forked_child_cannot_go_on_with_the_same_noise() -> None:
    """Parent and child would each say yes `count` times, with the same noise for different values."""
    begun = noise.above_threshold_stream(iter([0] * 10), 10**6, sensitivity=1, epsilon=1)
    unbegun = noise.above_threshold_stream(iter([0] * 10), 10**6, sensitivity=1, epsilon=1)
    next(begun)
    told = multiprocessing.get_context("fork").SimpleQueue()

    def child() -> None:
        for stream in (begun, unbegun):
            try:
                told.put(str(next(stream)))
            except UsageError as error:
                told.put(error.message)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(20)
    for _ in range(2):
        assert told.get().startswith("this stream of answers was begun in another process")
    assert list(begun) == [False] * 9
    assert list(unbegun) == [False] * 10
