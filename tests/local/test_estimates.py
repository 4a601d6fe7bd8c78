"""Estimates: without bias, with the variance that theory says, consistent, and with error bars that hold the truth."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from sfumato.local.estimate import consistent
from sfumato.local.finite_fields import Field
from sfumato.local.frequency import choices
from sfumato.local.hashing import Hashing
from sfumato.local.oracle import variance
from sfumato.local.trial import trial, zipf_counts
from tests.entropy import SeededEntropy

F = Fraction
NAMES = ["grr", "sue", "oue", "olh", "hadamard", "subset"]
ERROR = 1e-6


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(3)])
def test_supports_have_the_chances_of_the_estimator(name: str, epsilon: Fraction) -> None:
    """With all users holding one value, supports are binomial: this fixes both the mean and the variance."""
    users, size = 100_000, 12
    oracle = choices(size, epsilon)[name]
    codes = np.full(users, 5)
    supports = oracle.supports(oracle.count(oracle.draw(codes, SeededEntropy(f"{name} {epsilon}"))))
    for value, found in enumerate(supports.tolist()):
        chance = oracle.keep if value == 5 else oracle.stray
        assert stats.binomtest(found, users, chance).pvalue > ERROR / size
    off = oracle.keep * 0.9
    assert stats.binomtest(int(supports[5]), users, off).pvalue < ERROR, "a chance 10 % off would be seen"


@pytest.mark.parametrize("name", NAMES)
def test_variance_of_whole_collections(name: str) -> None:
    """100 collections of 1,000 users: the mean square error is that of theory, and error bars hold."""
    protocol = sf.local.protocol(name, domain=range(8), epsilon=1)
    found = trial(protocol, zipf_counts(8, 1000), rounds=100, entropy=SeededEntropy(f"trial {name}"))
    # The mean of 800 squared errors, correlated within a round: its deviation is below √(2/100).
    assert 0.55 < (found.error / found.expected) ** 2 < 1.6
    assert found.consistent <= found.error
    assert found.covered > 0.9


def test_table_of_variances() -> None:
    """ALGORITHMS: k = 16 and 74 at ε = 1."""
    table = {
        16: {"grr": 5.66, "sue": 3.92, "oue": 3.68, "olh": 3.69, "subset": 3.11, "hadamard": 4.68},
        74: {"grr": 25.3, "sue": 3.92, "oue": 3.68, "olh": 3.69, "subset": 3.56, "hadamard": 4.68},
    }
    for size, row in table.items():
        for name, expected in row.items():
            assert variance(choices(size, F(1))[name]) == pytest.approx(expected, rel=0.002), (size, name)
    sixteen = choices(16, F(1))
    assert variance(sixteen["subset"]) / variance(sixteen["sue"]) == pytest.approx(0.79, abs=0.005)


@pytest.mark.parametrize(
    ("size", "epsilon", "name"), [(2, 1, "grr"), (4, 0.5, "grr"), (16, 1, "subset"), (10**5, 1, "olh")]
)
def test_auto_takes_the_least_variance(size: int, epsilon: float, name: str) -> None:
    assert sf.local.protocol("auto", domain=range(size), epsilon=epsilon).name == name


@pytest.mark.parametrize("size", [2, 3, 5, 17, 128, 1000])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(4)])
def test_nothing_beats_auto_by_more_than_half_a_percent(size: int, epsilon: Fraction) -> None:
    found = {one["protocol"]: one for one in sf.local.compare(size, epsilon)}
    (best,) = [one for one in found.values() if one["best"]]
    assert best["variance"] <= 1.005 * min(one["variance"] for one in found.values())


@pytest.mark.parametrize("cells", [2, 3, 4, 7, 8, 16])
@pytest.mark.parametrize("size", [3, 16, 61])
def test_counting_by_transforms_is_counting_one_by_one(cells: int, size: int) -> None:
    oracle = Hashing(size, F(1), cells)
    reports = oracle.draw(np.arange(500) % size, SeededEntropy("transform"))
    assert oracle.supports(oracle.count(reports)).tolist() == oracle.compare(reports, np.arange(size)).tolist()


@pytest.mark.parametrize("g", [3, 5, 53, 101, 1009, 4093])
def test_zeros_are_counted_exactly_also_where_single_precision_ends(g: int) -> None:
    rng = np.random.default_rng(g)
    first, second = rng.integers(0, g, (6, 400)), rng.integers(0, g, (6, 60))
    first[:, :50], second[:, :9] = g - 1, g - 1  # the largest products
    exact = (first.T.astype(object) @ second.astype(object)) % g == 0
    assert Field(g).zeros(first, second).tolist() == exact.sum(axis=0).tolist()


def test_two_coins_as_in_the_sources() -> None:
    """P' = 2P - ½, ε = ln 3."""
    protocol = sf.local.protocol("rr", domain=["no", "yes"])
    assert protocol.epsilon == pytest.approx(np.log(3))
    assert exp(protocol.epsilon) >= 3
    answers = np.array(["yes"] * 300 + ["no"] * 700)
    reports = protocol.randomise(answers, entropy=SeededEntropy("coins"))
    share = np.mean([row["report"] for row in reports.rows])
    yes = protocol.estimate(reports, 0.999999).rows[1]
    assert yes["unbiased"] / 1000 == pytest.approx(2 * share - 0.5)
    assert yes["low"] < 300 < yes["high"]


def test_consistent_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        raw = rng.normal(100 / 6, 40, 6)
        near = consistent(raw, 100)
        assert near.min() >= 0
        assert near.sum() == pytest.approx(100)
        for _ in range(20):
            other = rng.dirichlet(np.ones(6)) * 100
            assert np.sum((near - raw) ** 2) <= np.sum((other - raw) ** 2) + 1e-9
    assert consistent(np.array([-5.0, -7.0]), 10).tolist() == [6.0, 4.0]


@pytest.mark.parametrize("name", ["duchi", "piecewise", "hybrid", "laplace"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_means_have_no_bias_and_the_variance_of_theory(name: str, share: float) -> None:
    protocol = sf.local.mean(name, lower=-10, upper=30, epsilon=1)
    law: Any = protocol.scheme.law  # type: ignore[attr-defined]
    users = 60_000
    reports = protocol.randomise(np.full(users, -10 + 40 * share), entropy=SeededEntropy(f"{name} {share}"))
    decoded = law.decode(reports.columns)
    expected = law.variance(share)
    assert abs(decoded.mean() - share) < 5.5 * (expected / users) ** 0.5
    spread = np.sqrt(np.mean((decoded - decoded.mean()) ** 4) / users)  # the error of a variance, at most
    assert abs(decoded.var() - expected) < 6 * spread
    found = protocol.estimate(reports)
    low, high = found.interval(0.999999)
    assert low <= -10 + 40 * share <= high


def test_sampling_one_of_27_attributes_beats_splitting_and_the_laplace_of_the_thesis() -> None:
    """1458 against 25: 58 times."""
    thesis = sf.local.mean("laplace", lower=0, upper=1, epsilon=F(1, 27)).scheme.law.variance(0)  # type: ignore[attr-defined]
    sampled = 27 * variance(choices(2, F(1))["grr"])
    assert thesis == pytest.approx(1458, rel=1e-6)
    assert thesis / sampled == pytest.approx(58.6, abs=0.3)


@pytest.mark.parametrize("way", ["sample", "split"])
def test_attributes_hold_the_truth(way: str) -> None:
    protocol = sf.local.attributes(
        {"smokes": [False, True], "age": (0, 100), "town": ["x", "y", "z"]}, epsilon=2, way=way
    )
    users = 30_000
    table = {
        "smokes": np.arange(users) % 4 == 0,
        "age": np.full(users, 40.0),
        "town": np.array(["x", "x", "y", "z"])[np.arange(users) % 4],
    }
    found = protocol.estimate(protocol.randomise(table, entropy=SeededEntropy(way)), 0.99999)
    truths = [22_500, 7_500, 40, 15_000, 7_500, 7_500]
    for row, truth in zip(found.rows, truths, strict=True):
        assert row["low"] <= truth <= row["high"], row
    assert found["age"].mean == pytest.approx(40, abs=8)


def test_heavy_hitters() -> None:
    protocol = sf.local.heavy_hitters(alphabet="abcdefgh ", length=4, epsilon=3)
    texts = ["abba"] * 9000 + ["bad"] * 6000 + ["h"] * 4000 + ["cafe", "face"] * 30
    found = protocol.estimate(protocol.randomise(texts, entropy=SeededEntropy("hitters")))
    assert [row["value"] for row in found.rows] == ["abba", "bad", "h"]
    for row, truth in zip(found.rows, (9000, 6000, 4000), strict=True):
        assert row["low"] * 0.9 <= truth <= row["high"] * 1.1
    nobody = sf.local.heavy_hitters(alphabet="ab", length=3, epsilon=1)
    assert nobody.estimate(nobody.randomise(["a", "b"], entropy=SeededEntropy("few"))).rows == []


@pytest.mark.parametrize("size", [10, 300])
def test_rappor_decodes(size: int) -> None:
    """300 values are more than the 8 · 32 bits tell apart: then values are selected first."""
    words = [f"site{place}" for place in range(size)]
    protocol = sf.local.protocol("rappor", domain=words, epsilon=8, bits=32, cohorts=8)
    users = 60_000
    people = ["site1"] * (users // 2) + ["site5"] * (users // 3) + ["site7"] * (users // 6)
    found = protocol.estimate(protocol.randomise(people, entropy=SeededEntropy(f"rappor {size}")), 0.99999)
    rows = {row["value"]: row for row in found.rows}
    for name, truth in (("site1", users / 2), ("site5", users / 3), ("site7", users / 6)):
        assert rows[name]["low"] <= truth <= rows[name]["high"], name
        assert rows[name]["count"] == pytest.approx(truth, rel=0.25)


def test_rappor_error_bars_are_those_of_many_collections() -> None:
    protocol = sf.local.protocol("rappor", domain=list("abcd"), epsilon=6, bits=16, cohorts=4)
    people = ["a"] * 500 + ["b"] * 300 + ["c"] * 200
    runs = [protocol.estimate(protocol.randomise(people, entropy=SeededEntropy(f"r{i}"))) for i in range(120)]
    measured = np.std([run.unbiased for run in runs], axis=0)
    promised = np.mean([run.deviations for run in runs], axis=0)
    assert np.all(np.abs(measured / promised - 1) < 0.4)
    assert (
        np.abs(np.mean([run.unbiased for run in runs], axis=0) - [500, 300, 200, 0]).max()
        < 6 * promised.max() / 120**0.5
    )
