"""Formulas and numbers that lab 1 prints, each computed in another way than numbers.py does."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sfumato.labs.content.lab01_response import numbers as printed
from sfumato.labs.source import load

LAB = load(1)
COINS = list(itertools.product((0, 1), repeat=2))


def value(name: str, variant: int = 1) -> float:
    given = printed.numbers(LAB.variant(variant))[name]
    return round(given[0], given[1]) if isinstance(given, tuple) else given


def said(bit: int) -> float:
    """The chance of a yes by going through all throws of two coins."""
    return sum(bit if first else second for first, second in COINS) / len(COINS)


def test_the_coins() -> None:
    assert (said(1), said(0)) == (0.75, 0.25)
    assert value("ln3") == round(math.log(said(1) / said(0)), 4) == 1.0986
    assert value("times_10") == round(10 * 1.0986122886681098, 2)


def exact_relative_error(n: int, share: float) -> float:
    """The mean relative error without any approximation: all numbers of yes, with their probabilities."""
    ones = round(share * n)
    law = np.convolve(
        stats.binom.pmf(range(ones + 1), ones, 0.75), stats.binom.pmf(range(n - ones + 1), n - ones, 0.25)
    )
    return float((law * abs(2 * np.arange(n + 1) / n - 0.5 - ones / n)).sum() / (ones / n))


def test_errors_for_a_share_of_a_third() -> None:
    """E-18. The design notes print 21.1 and 6.7; the exact values are 21.0 and 6.6."""
    assert [value(f"third_{n}") for n in (100, 1000, 10_000, 32_219)] == [20.9, 6.6, 2.1, 1.2]
    for n in (100, 1000, 10_000):
        assert exact_relative_error(n, 0.33) == pytest.approx(printed.mean_relative_error(n, 0.33), rel=0.004)
    assert [value(f"wrong_{n}") for n in (100, 1000, 10_000)] == [99.69, 96.9, 68.96]


def test_the_spread_does_not_depend_on_the_truth() -> None:
    for ones in (0, 10, 33, 100):
        variance = ones * 0.75 * 0.25 + (100 - ones) * 0.25 * 0.75
        assert 2 * math.sqrt(variance) == pytest.approx(math.sqrt(3 * 100 / 4))


def test_how_many_people() -> None:
    assert value("people_third") == 10_583
    for n, enough in ((10_583, True), (10_582, False)):
        assert (stats.norm.ppf(0.975) * math.sqrt(0.75 / n) <= 0.05 * 0.33) == enough


def test_what_an_answer_means() -> None:
    """E-36, by Bayes over all throws."""
    for name, prior, answer in (
        ("ill_1", 0.01, 1),
        ("ill_10", 0.10, 1),
        ("ill_50", 0.50, 1),
        ("ill_prior", LAB.variants[1]["prior"], 1),
        ("ill_prior_no", LAB.variants[1]["prior"], 0),
    ):
        likely = {bit: said(bit) if answer else 1 - said(bit) for bit in (0, 1)}
        believed = prior * likely[1] / (prior * likely[1] + (1 - prior) * likely[0])
        assert value(name) == pytest.approx(believed, abs=6e-3 if name in ("ill_10", "ill_50") else 6e-4)
    assert (value("ill_1"), value("ill_10"), value("ill_50")) == (0.029, 0.25, 0.75)


def test_uniform_noise_is_no_protection() -> None:
    """E-17: the supports differ, and the largest gap of two laws is the share that sticks out."""
    first, second = stats.uniform(-10_000, 20_000), stats.uniform(-9000, 20_000)
    assert first.pdf(10_500) == 0 < second.pdf(10_500)
    grid = np.linspace(-12_000, 13_000, 2501)
    assert np.max(first.cdf(grid) - second.cdf(grid)) == pytest.approx(value("salary_delta"))


def test_numbers_of_answers() -> None:
    assert value("sd_300") == round(100 * 2 * math.sqrt(300 * 3 / 16) / 300)
    assert value("liar") == pytest.approx(100 * 2 * (1 - said(0)) / 100)
    assert value("rare_factor") == round(printed.people_for(0.05, 0.01) / printed.people_for(0.05, 0.33))


@pytest.mark.parametrize("variant", range(1, 8))
def test_budget_of_a_variant(variant: int) -> None:
    eps, k = LAB.variants[variant]["eps"], {1: 7, 0: 16}[variant % 2]
    keep = value("keep", variant)
    assert keep / (1 - keep) == pytest.approx(math.exp(eps), rel=0.003)
    assert value("best_keep", variant) == keep
    kept = value("kary_keep", variant)
    assert kept / ((1 - kept) / (k - 1)) == pytest.approx(math.exp(eps), rel=0.003)
    exact = printed.response_sd(32_219, eps)
    assert exact == pytest.approx(0.5 / math.sinh(eps / 2) / math.sqrt(32_219))
    assert value("sd_eps", variant) == round(exact, 4)
    assert value("sd_two_coins", variant) == round(printed.response_sd(32_219, math.log(3)), 4)
    assert value("k", variant) == k


@pytest.mark.parametrize("variant", range(1, 8))
def test_the_truth_is_that_of_the_solution(variant: int) -> None:
    v = LAB.variant(variant, 5)
    table = printed.tables(v, "en")["f1000"]
    namespace = {"np": np, "pd": pd, "variant": variant}
    exec(LAB.cell("t1").source, namespace)  # noqa: S102 - the lab's own cell
    found = namespace["true_bits"](table.to_pandas())  # type: ignore[operator]
    assert list(found) == printed.truth(v, table)
    assert 0.02 < np.mean(found) < 0.6


@pytest.mark.parametrize("variant", range(1, 8))
def test_share_and_errors_of_a_variant(variant: int) -> None:
    v = LAB.variant(variant)
    share = np.mean(printed.truth(v, printed.town(v)))
    assert value("share", variant) == round(100 * share, 2)
    for n in (100, 1000, 10_000, 32_219):
        right = math.sqrt(2 / math.pi) * 2 * math.sqrt(3 / 16 / n) / share
        assert value(f"error_{n}", variant) == round(100 * right, 1)
    wanted = LAB.variants[variant]["wanted"]
    n = value("people_wanted", variant)
    assert 1.959964 * math.sqrt(0.75 / n) <= wanted * share < 1.959964 * math.sqrt(0.75 / (n - 2))
