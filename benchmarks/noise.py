"""Draws per second against OpenDP's exact and NumPy's inexact noise, and what a clock learns from one draw."""

import gc
import time
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
from scipy.stats import spearmanr

from benchmarks.measure import Report, Work, medians, ratios
from sfumato import noise
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.samplers import discrete_gaussian, discrete_laplace
from sfumato.noise.calibration import Price, gaussian_noise, laplace_noise

OURS = 2_000_000
THEIRS = 20_000
SCALES = (1, 100, 10**6)
SINGLE_DRAWS = 60_000
CANDIDATES = 1_000_000
ARRAY = 1_000_000


def run() -> list[Report]:
    dp.enable_features("contrib", "honest-but-curious")
    return [_throughput(), _arrays(), _choice(), _timing()]


def _throughput() -> Report:
    report = Report("Exact noise, one thread")
    entropy, inexact = SystemEntropy(), np.random.default_rng()
    zeros = np.zeros(THEIRS, dtype=np.int64)
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    for scale in SCALES:
        peer_laplace = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), float(scale))
        peer_gaussian = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), float(scale))
        success = -np.expm1(-1 / scale)
        seconds = medians(
            {
                "laplace": lambda s=scale: discrete_laplace(Fraction(s), OURS, entropy),
                "gaussian": lambda s=scale: discrete_gaussian(Fraction(s * s), OURS, entropy),
                "numpy": lambda p=success: inexact.geometric(p, OURS) - inexact.geometric(p, OURS),
                "opendp laplace": lambda m=peer_laplace: m(zeros),
                "opendp gaussian": lambda m=peer_gaussian: m(zeros),
            },
            repetitions=3,
        )
        rate = {name: (THEIRS if "opendp" in name else OURS) / value / 1e6 for name, value in seconds.items()}
        report.add(f"discrete Laplace, scale {scale:g}", rate["laplace"], "M/s", at_least=20)
        report.add("  against OpenDP", rate["laplace"] / rate["opendp laplace"], "times", at_least=200)
        report.add("  against NumPy (inexact)", rate["laplace"] / rate["numpy"], "times", at_least=0.5)
        report.add(f"discrete Gaussian, deviation {scale:g}", rate["gaussian"], "M/s", at_least=8)
        report.add("  against OpenDP", rate["gaussian"] / rate["opendp gaussian"], "times", at_least=200)
    return report


def _arrays() -> Report:
    """The public calls on an array against the kernel's draws alone: as many, of the very law that the calls use."""
    report = Report(f"Noise on an array of {ARRAY:,} numbers against the kernel's own rate")
    entropy, values = SystemEntropy(), np.random.default_rng(0).normal(0, 100, ARRAY)
    laplace = laplace_noise(1, price=Price(1), entries=ARRAY).law
    gaussian = gaussian_noise(1, price=Price(1, 1e-6), entries=ARRAY).law
    pairs: dict[str, tuple[Work, Work]] = {
        "laplace": (
            lambda: noise.laplace(values, sensitivity=1, epsilon=1),
            lambda: laplace.draw(ARRAY, entropy),
        ),
        "gaussian": (
            lambda: noise.gaussian(values, sensitivity=1, epsilon=1, delta=1e-6),
            lambda: gaussian.draw(ARRAY, entropy),
        ),
    }
    for name, (seconds, ratio) in ratios(pairs, repetitions=61).items():
        report.add(f"noise.{name}(array)", ARRAY / seconds / 1e6, "M/s")
        report.add("  of the kernel's rate, same law", 1 / ratio, "times", at_least=0.8)
    return report


def _choice() -> Report:
    """Both sides get an array and epsilon 1 for scores that may move by 1 in any direction; both have the same law."""
    report = Report("A private choice among a million candidates, permute-and-flip")
    names = range(CANDIDATES)
    domain = dp.vector_domain(dp.atom_domain(T="f64", nan=False))
    peer = dp.m.make_noisy_max(domain, dp.linf_distance(T="f64"), dp.max_divergence(), 2.0)
    assert peer.map(1.0) == 1.0
    inexact = np.random.default_rng(0)
    for kind, scores in (
        ("spread out", inexact.uniform(0, 1000, CANDIDATES)),
        ("all close", inexact.uniform(0, 1, CANDIDATES)),
    ):
        seconds = medians(
            {
                "ours": lambda s=scores: noise.permute_and_flip(names, s, sensitivity=1, epsilon=1),
                "opendp": lambda s=scores: peer(s),
            },
            repetitions=5,
        )
        report.add(f"Sfumato, scores {kind}", seconds["ours"], "s", at_most=0.2)
        report.add("  OpenDP", seconds["opendp"], "s")
        report.add("  against OpenDP", seconds["opendp"] / seconds["ours"], "times", at_least=1)
    return report


def _timing() -> Report:
    report = Report("What the time of a single draw tells about the noise")
    entropy = SystemEntropy()
    for name, draw in (
        ("discrete Laplace", lambda: discrete_laplace(Fraction(100), 1, entropy)),
        ("discrete Gaussian", lambda: discrete_gaussian(Fraction(10_000), 1, entropy)),
    ):
        times, sizes = np.empty(SINGLE_DRAWS), np.empty(SINGLE_DRAWS)
        gc.disable()
        for i in range(SINGLE_DRAWS):
            start = time.perf_counter_ns()
            value = draw()
            times[i] = time.perf_counter_ns() - start
            sizes[i] = abs(int(value[0]))
        gc.enable()
        report.add(f"|Spearman(time, |noise|)|, {name}", abs(spearmanr(times, sizes).statistic), "", at_most=0.03)
    return report
