"""Membership in means, floating point and timing: both halves of each."""

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import floating_point, looping_geometric, membership, textbook_laplace, timing
from sfumato.attacks.floating_point import reachable
from sfumato.attacks.shows import Case
from sfumato.errors import UsageError
from sfumato.simulate import Simulator
from tests.statistics.evidence import ERROR, between

# ---- membership


def genomes(
    people: int, facts: int, *, seed: int = 0, rarest: float = 0.05
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Members, as many outsiders, and how common each fact is."""
    draw = Simulator(seed)
    common = rarest + (1 - 2 * rarest) * draw.stream("common").uniform(facts)
    both = draw.stream("facts").uniform(2 * people * facts).reshape(2 * people, facts) < common
    return both[:people], both[people:], common


def test_exact_means_of_many_facts_tell_who_was_in_them() -> None:
    """The figure to reach: an area of 0.989 for 100 members and 1000 facts; one draw of the people spreads by 0.005."""
    truth, areas = [1] * 100 + [0] * 100, []
    for seed in range(40):
        members, outsiders, common = genomes(100, 1_000, seed=seed, rarest=0.01)
        result = membership(members.mean(axis=0), np.vstack([members, outsiders]), common, truth=truth)
        areas.append(result.success)
    assert (result.chance, result.attempts, result.bound) == (0.5, 10_000, None)
    error = np.std(areas) / math.sqrt(len(areas))
    assert 0.9885 - 3 * error < np.mean(areas) < 0.989 + 3 * error
    assert error < 0.0015


def test_the_likelihood_of_exact_means_is_the_best_score() -> None:
    """Bayes by hand for one fact and three people, each with it at 1/4: c of them have it."""
    for count in (1, 2):
        scores = membership([count / 3], [[1], [0]], [0.25]).recovered
        have = (math.comb(2, count - 1) / math.comb(3, count)) / 0.25
        lack = (math.comb(2, count) / math.comb(3, count)) / 0.75
        assert scores == pytest.approx([math.log(have), math.log(lack)])
    assert np.argmax(membership([0.0], [[1], [0]], [0.25]).recovered) == 1
    # Means that noise has pushed out of the range are scored by how far they lean.
    assert membership([1.25], [[1], [0]], [0.25]).recovered == pytest.approx([0.75 / 0.1875, -0.25 / 0.1875])


def test_private_means_do_not() -> None:
    members, outsiders, common = genomes(100, 1_000)
    # One person moves each of the thousand sums by at most 1.
    sums = members.sum(axis=0).astype(float)
    private = np.array(sf.noise.laplace(sums, sensitivity=1_000, epsilon=1)) / 100
    truth = [1] * 100 + [0] * 100
    result = membership(private, np.vstack([members, outsiders]), common, truth=truth, epsilon=1)
    assert result.bound == pytest.approx(1 - math.exp(-1) / 2)
    # Between 100 and 100 people the area of a coin has the deviation 0.041: the bound lies seven of them away.
    assert result.success < result.bound


def test_means_through_a_session_do_not(tmp_path: Path) -> None:
    members, outsiders, common = genomes(60, 30)
    names = [f"f{place}" for place in range(30)]
    rows = [dict(zip(names, map(int, row), strict=True)) for row in members]
    with sf.protect(
        pa.Table.from_pylist(rows),
        unit=sf.Row(),
        columns={name: sf.Int(0, 1) for name in names},
        budget=sf.Budget(epsilon=1),
        ledger=tmp_path / "g.ledger",
    ) as session:
        answer = session.ask("SELECT " + ", ".join(f"SUM({n}) AS {n}" for n in names) + " FROM data", spend=1).rows[0]
    means = np.array([answer[name] for name in names]) / 60
    truth = [1] * 60 + [0] * 60
    private = membership(means, np.vstack([members, outsiders]), common, truth=truth, epsilon=1)
    bare = membership(members.mean(axis=0), np.vstack([members, outsiders]), common, truth=truth)
    assert private.success < private.bound
    assert bare.success > 0.6


def test_the_area_is_counted_by_pairs_with_ties_halved() -> None:
    result = membership([1.0], [[1.0], [0.0], [0.0], [-1.0]], [0.0], truth=[1, 1, 0, 0])
    assert result.success == (2 + 0.5 + 1) / 4
    assert math.isnan(membership([1.0], [[1.0]], [0.0]).success)


def test_luck_of_areas_is_known() -> None:
    """Scores that say nothing: areas spread as so many coins do, and no case of the demonstration alarms."""
    stream, truth = Simulator(3).stream("nothing"), [1] * 40 + [0] * 60
    found = [membership([1.0], stream.normal(100)[:, None], [0.0], truth=truth, epsilon=0.01) for _ in range(2_000)]
    wanted = math.sqrt(0.25 / found[0].measures["tosses"])
    assert np.std([each.success for each in found]) == pytest.approx(wanted, rel=0.1)
    assert not any(Case("x", each).works for each in found)


def test_membership_says_what_is_wrong() -> None:
    with pytest.raises(UsageError, match="published has 2"):
        membership([1.0, 2.0], [[1.0]], [0.0])
    with pytest.raises(UsageError, match="members only"):
        membership([1.0], [[1.0]], [0.0], truth=[1])


# ---- floating point


def exact_laplace(epsilon: float) -> Callable[[np.ndarray], list[float]]:
    return lambda values: [sf.noise.laplace(float(value), sensitivity=1, epsilon=epsilon) for value in values]


def test_textbook_noise_tells_the_value_from_a_few_outputs() -> None:
    one = floating_point(textbook_laplace(10.0), scale=10.0, epsilon=0.1)
    assert one.bound == pytest.approx(math.exp(0.1) / (1 + math.exp(0.1)))
    assert one.success > 0.75
    five = floating_point(textbook_laplace(10.0), scale=10.0, draws=5, epsilon=0.5)
    assert five.success > 0.98 > five.bound
    assert five.measures["nearer"] < 0.65


def test_the_true_value_always_reaches_its_output() -> None:
    for value in (0.0, 1.0, 1e6):
        outputs = textbook_laplace(3.0)(np.full(5_000, value))
        assert reachable(outputs, value, 3.0).mean() > 0.999


def test_exact_noise_tells_no_more_than_promised() -> None:
    result = floating_point(exact_laplace(0.1), scale=10.0, attempts=2_000, epsilon=0.1)
    low, _ = between(round(result.success * 2_000), 2_000, ERROR)
    assert low <= result.bound
    assert result.success < 0.6


def test_floating_point_says_what_is_wrong() -> None:
    with pytest.raises(UsageError, match="scale"):
        floating_point(textbook_laplace(1.0), scale=0)


# ---- timing


class Worked:
    """A clock that counts coins instead of time, so that the test does not depend on the machine."""

    def __init__(self, release: Callable[[int], int]) -> None:
        self.release, self.now, self.last = release, 0, 0

    def __call__(self, value: int) -> int:
        output = self.release(value)
        self.now += 10 + abs(output - value)
        return output

    def clock(self) -> int:
        return self.now


def test_a_loop_tells_the_value_by_its_work() -> None:
    looping = Worked(looping_geometric(10.0))
    result = timing(looping, clock=looping.clock, epsilon=0.1)
    assert result.success > 0.95 > result.bound
    assert result.measures["rank_correlation"] > 0.99


def test_noise_in_constant_work_tells_no_more_than_promised() -> None:
    steady = [0]

    def release(value: int) -> int:
        steady[0] += 10
        return sf.noise.geometric(value, sensitivity=1, epsilon=0.1)

    result = timing(release, clock=lambda: steady[0], practice=100, attempts=2_000, epsilon=0.1)
    low, _ = between(round(result.success * 2_000), 2_000, ERROR)
    assert low <= result.bound


def test_a_machine_that_slows_down_does_not_save_the_loop() -> None:
    """Work takes three times as long in the middle of the run, and a tenth of the answers are held up."""
    looping, turns = Worked(looping_geometric(10.0)), Simulator(5).stream("turns").uniform(6_000)
    seen = iter(range(6_000))

    def release(value: int) -> int:
        before, turn = looping.now, next(seen)
        output = looping(value)
        looping.now = before + (looping.now - before) * (30 if 2_000 < turn < 4_000 else 10)
        looping.now += 10_000 if turns[turn] < 0.1 else 0
        return output

    result = timing(release, clock=looping.clock, attempts=2_000, practice=4_000, epsilon=0.1)
    assert result.success > 0.7 > result.bound


@pytest.mark.slow
def test_a_loop_tells_the_value_by_the_clock_and_exact_noise_does_not() -> None:
    """A sum of sensitivity 10 at epsilon 1.

    The clock counts the time of this program alone, so that others on the machine do not matter.
    """
    found = timing(looping_geometric(10.0), candidates=(0, 10), attempts=2_000, epsilon=1, clock=time.process_time_ns)
    assert found.measures["rank_correlation"] > 0.8
    assert found.success > 0.8 > found.bound
    safe = timing(
        lambda value: sf.noise.geometric(value, sensitivity=10, epsilon=1),
        candidates=(0, 10),
        attempts=2_000,
        epsilon=1,
        clock=time.process_time_ns,
    )
    low, _ = between(round(safe.success * safe.attempts), safe.attempts, ERROR)
    assert low <= safe.bound


def test_the_looping_sampler_has_the_right_law() -> None:
    release = looping_geometric(2.0)
    draws = np.array([release(0) for _ in range(8_000)])
    ratio = math.exp(-0.5)
    assert abs(np.mean(draws == 0) - (1 - ratio) / (1 + ratio)) < 6 * math.sqrt(0.25 / 8_000)
    assert abs(draws.mean()) < 6 * draws.std() / math.sqrt(8_000)
