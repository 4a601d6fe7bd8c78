"""laplace, geometric, gaussian: the law, the grid, the form of the answer, and fresh randomness."""

import math
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import sfumato.noise as noise
from sfumato.noise.calibration import Price, calibrated
from sfumato.noise.values import real_entries
from tests.noise.seeded import SeededEntropy

F = Fraction
LEAST_P = 1e-6

PRICES = {"laplace": {"epsilon": 1}, "gaussian": {"epsilon": 1, "delta": 1e-6}}
CALLS = {"laplace": noise.laplace, "gaussian": noise.gaussian}
VALUES = [42, 3.1, -1e300, 1e-300, [3.1, 4.1, -7], np.arange(6.0).reshape(2, 3), np.array(5, dtype=np.int8)]


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_the_answer_is_the_rounded_value_plus_the_kernels_noise(mechanism: str, value: object) -> None:
    entries = real_entries(value)
    setup = calibrated(mechanism, 2, price=Price(**PRICES[mechanism]), entries=len(entries.numbers))
    rounded = [math.floor(F(number) / setup.grid.step + F(1, 2)) for number in entries.numbers.tolist()]
    drawn = setup.law.draw(len(rounded), SeededEntropy(1)).tolist()
    expected = [float((a + b) * setup.grid.step) for a, b in zip(rounded, drawn, strict=True)]
    answer = CALLS[mechanism](value, sensitivity=2, **PRICES[mechanism], entropy=SeededEntropy(1))
    assert np.ravel(answer).tolist() == expected
    if isinstance(value, np.ndarray):
        assert isinstance(answer, np.ndarray)
        assert (answer.shape, answer.dtype) == (value.shape, np.float64)
    else:
        assert type(answer) is (list if isinstance(value, list) else float)


def steps_of(mechanism: str) -> np.ndarray:
    """Noise so narrow that its law shows in single steps of the grid: scale 1, variance 1."""
    entries = 1 << 16
    about = noise.describe(mechanism, sensitivity=1, **PRICES[mechanism], entries=entries)
    steps = int(about.event["sensitivity"])
    price = {"epsilon": steps} if mechanism == "laplace" else {"rho": F(steps**2, 2)}
    answer = CALLS[mechanism](np.zeros(entries), sensitivity=1, **price, entropy=SeededEntropy(5))
    return answer / float(about.step)


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize(("spread", "passes"), [(1.0, True), (0.9, False)])
def test_the_law_on_the_grid_is_the_claimed_one(mechanism: str, spread: float, passes: bool) -> None:
    """Chi-square against the exact probabilities; a law with 0.9 of the spread must fail."""
    steps = steps_of(mechanism)
    assert (steps == np.floor(steps)).all()
    reach = 5
    ks = np.arange(-200, 201)
    weights = np.exp(-np.abs(ks) / spread) if mechanism == "laplace" else np.exp(-(ks**2) / (2 * spread**2))
    inner = weights[np.abs(ks) < reach] / weights.sum()
    law = [*inner, 1 - inner.sum()]
    counts = [*(int((steps == k).sum()) for k in range(1 - reach, reach)), int((np.abs(steps) >= reach).sum())]
    p = stats.chisquare(counts, np.array(law) * len(steps)).pvalue
    assert p > LEAST_P if passes else p < LEAST_P


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("sensitivity", [1, 0.3, Decimal("1e-9"), 7])
def test_every_output_lies_on_the_declared_grid(mechanism: str, sensitivity: Decimal) -> None:
    about = noise.describe(mechanism, sensitivity=sensitivity, **PRICES[mechanism])
    entropy = SeededEntropy(3)
    for value in (0.0, float(sensitivity), math.pi * float(sensitivity), 1e-300, -1e-7 * float(sensitivity)):
        for _ in range(200):
            answer = CALLS[mechanism](value, sensitivity=sensitivity, **PRICES[mechanism], entropy=entropy)
            assert (F(answer) / about.step).denominator == 1


def test_broken_twin_noise_in_doubles_leaves_the_grid() -> None:
    step = noise.describe("laplace", sensitivity=1, epsilon=1).step
    uniform = np.random.default_rng(1).uniform(size=1000)
    naive = math.pi - np.log(uniform)
    assert sum((F(float(value)) / step).denominator != 1 for value in naive) > 990


def test_the_step_does_not_see_the_values() -> None:
    for scale in (0.0, 1e-300, 1.0, 1e15):
        answer = noise.laplace(np.full(8, scale), sensitivity=1, epsilon=1, entropy=SeededEntropy(2))
        assert (answer == np.ldexp(np.round(np.ldexp(answer, 23)), -23)).all()
    assert noise.describe("laplace", sensitivity=1, epsilon=1, entries=8).step == F(1, 2**23)


@pytest.mark.parametrize(
    "value", [3, [3, -4], np.array([[1], [2]], dtype=np.int16), np.full(20, 2**63 - 1), np.full(20, -(2**63))], ids=repr
)
def test_geometric_keeps_whole_numbers_and_their_form(value: object) -> None:
    answer = noise.geometric(value, sensitivity=3, epsilon=0.5, entropy=SeededEntropy(4))
    drawn = calibrated("geometric", 3, price=Price(0.5), entries=np.size(value)).law.draw(
        np.size(value), SeededEntropy(4)
    )
    expected = [int(a) + int(b) for a, b in zip(np.ravel(value).tolist(), drawn, strict=True)]
    assert np.ravel(answer).tolist() == expected
    assert type(answer) is (int if isinstance(value, int) else type(value))
    if isinstance(value, np.ndarray):
        assert answer.shape == value.shape
        assert answer.dtype == (np.int64 if max(map(abs, expected)) < 2**63 else object)


def test_geometric_takes_integers_of_any_size() -> None:
    huge = 10**400
    assert abs(noise.geometric(huge, sensitivity=1, epsilon=1) - huge) < 10**4
    assert abs(noise.geometric([huge, 1], sensitivity=1, epsilon=1)[0] - huge) < 10**4
    unsigned = np.array([2**64 - 1], dtype=np.uint64)
    assert abs(int(noise.geometric(unsigned, sensitivity=1, epsilon=1)[0]) - (2**64 - 1)) < 10**4
    boxes = np.array([huge], dtype=object)
    assert abs(noise.geometric(boxes, sensitivity=1, epsilon=1)[0] - huge) < 10**4


def test_geometric_follows_its_law() -> None:
    draws = noise.geometric(np.zeros(40_000, dtype=np.int64), sensitivity=2, epsilon=1, entropy=SeededEntropy(6))
    for scale, passes in ((2.0, True), (1.8, False)):
        ks = np.arange(-300, 301)
        weights = np.exp(-np.abs(ks) / scale)
        inner = weights[np.abs(ks) < 12] / weights.sum()
        counts = [*(int((draws == k).sum()) for k in range(-11, 12)), int((np.abs(draws) >= 12).sum())]
        p = stats.chisquare(counts, np.array([*inner, 1 - inner.sum()]) * len(draws)).pvalue
        assert p > LEAST_P if passes else p < LEAST_P


def test_a_vector_pays_by_zcdp_and_a_number_by_its_own_delta() -> None:
    one = noise.describe("gaussian", sensitivity=1, epsilon=1, delta=1e-6)
    two = noise.describe("gaussian", sensitivity=1, epsilon=1, delta=1e-6, entries=2)
    assert one.scale == pytest.approx(4.2247, rel=1e-4)
    assert one.scale < two.scale < 1.25 * one.scale
    assert noise.describe("gaussian", sensitivity=1, rho=0.5).scale == pytest.approx(1, rel=1e-12)
    assert noise.describe("gaussian", sensitivity=1, rho=0.5, entries=100).scale == pytest.approx(1, rel=1e-6)


def test_the_value_is_left_alone() -> None:
    values = np.arange(5.0)
    counts = np.arange(5)
    noise.laplace(values, sensitivity=1, epsilon=1)
    noise.geometric(counts, sensitivity=1, epsilon=1)
    assert values.tolist() == counts.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("value", [1.7976931348623157e308, -1e300, 1e-300, 5e-324, 0.0, 2**70])
def test_extreme_values_come_back_finite(value: float) -> None:
    for sensitivity, epsilon in ((1, 1), (1e100, 1e-100), (1e-100, 1e100)):
        answer = noise.laplace(value, sensitivity=sensitivity, epsilon=epsilon)
        assert math.isfinite(answer)
        assert abs(answer - value) <= 1000 * sensitivity / epsilon + sensitivity + abs(value) * 2**-53
    assert math.isfinite(noise.gaussian(value, sensitivity=1e100, epsilon=1e-100, delta=1e-100))


def test_draws_differ_between_calls_and_ignore_seeds() -> None:
    seen = set()
    for _ in range(100):
        np.random.seed(1)
        seen.add(noise.laplace(0, sensitivity=1, epsilon=1))
    assert len(seen) > 95


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_draw_apart() -> None:
    script = (
        "import os, sfumato.noise as noise\n"
        "noise.laplace(0, sensitivity=1, epsilon=1)\n"
        "for _ in range(8):\n"
        "    if os.fork() == 0:\n"
        "        os.write(1, f'{noise.gaussian(0, sensitivity=1, rho=0.001)}\\n'.encode())\n"
        "        os._exit(0)\n"
        "for _ in range(8):\n"
        "    os.wait()\n"
    )
    lines = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert len(lines) == len(set(lines)) == 8


def test_importing_noise_stays_light() -> None:
    script = (
        "import sys, sfumato.noise as noise; noise.gaussian(1.0, sensitivity=1, epsilon=1, delta=1e-6)\n"
        "print({'pandas', 'scipy', 'pyarrow', 'duckdb', 'typer', 'rich'} & set(sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "set()\n"
    )
