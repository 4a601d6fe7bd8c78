"""Formulas and numbers that lab 2 prints, each computed in another way than numbers.py does."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from sfumato.labs.content.lab02_laplace import numbers as printed
from sfumato.labs.data import DAWN
from sfumato.labs.source import load

LAB = load(2)


def value(name: str, variant: int = 1) -> float:
    given = printed.numbers(LAB.variant(variant))[name]
    return round(given[0], given[1]) if isinstance(given, tuple) else given


def test_errors_of_the_models_at_the_size_of_the_thesis() -> None:
    """E-22, E-23, E-24 of the list of errors."""
    assert value("sampling_sd") == 0.0017
    assert value("central_sd") == 0.0013
    assert value("local_sd") == 0.22
    assert value("local_sd_100") == 3.8
    assert value("split_sd") == 0.156
    assert value("one_sd") == 0.029
    assert value("one_gain") == 7.7


def test_standard_deviations_by_experiment() -> None:
    rng = np.random.default_rng(1)
    noise = rng.laplace(0, 27, (2000, 900)).mean(axis=1)
    assert noise.std() == pytest.approx(printed.local_sd(900, 27, 1.0), rel=0.1)
    keep = math.e / (1 + math.e)
    reports = rng.random((4000, 900)) > keep  # the truth is 0
    estimates = (reports.mean(axis=1) - (1 - keep)) / (2 * keep - 1)
    assert estimates.std() == pytest.approx(printed.response_sd(900, 1.0), rel=0.1)


def test_the_bound_has_a_logarithm() -> None:
    """E-31."""
    assert value("ln20") == 2.996
    assert value("smokers_bound") == 3.0
    assert stats.laplace.sf(math.log(20)) * 2 == pytest.approx(0.05)
    assert value("beyond_20") == round(2 * stats.laplace.sf(20) * 1e9, 1) == 2.1
    for variant, row in LAB.variants.items():
        scale = 27 / (row["n"] * row["eps"])
        one, every = (printed.numbers(LAB.variant(variant))[name][0] for name in ("bound_one", "bound_all"))
        assert 2 * stats.laplace.sf(one / scale) == pytest.approx(row["beta"])
        assert 27 * 2 * stats.laplace.sf(every / scale) == pytest.approx(row["beta"])


def test_error_falls_eleven_times() -> None:
    """E-9."""
    assert value("eps_ratio") == 11


def test_one_seed_for_all_columns() -> None:
    """E-21, with the library call of the thesis."""
    made = {
        name: stats.bernoulli.rvs(share, size=30_000, random_state=np.random.RandomState(seed=4))
        for name, share in DAWN.items()
    }
    found = float(np.corrcoef(made["Cocaine"], made["Marijuana"])[0, 1])
    assert found == pytest.approx(value("broken_corr"), abs=0.02)
    assert value("broken_corr") == 0.76
    assert made["Cocaine"][made["LSD"] == 1].all()
    assert not (made["Cocaine"] & made["Alcohol"]).any()
    assert value("cocaine") < value("alcohol_no")


def tables_of(values: tuple[float, ...], most: int) -> list[tuple[float, ...]]:
    return [rows for size in range(1, most + 1) for rows in itertools.product(values, repeat=size)]


def test_sensitivities_of_exercise_3_by_search() -> None:
    values = (0.0, 30.0, 100.0)
    queries = {
        "count": lambda rows: [sum(one > 50 for one in rows)],
        "sum": lambda rows: [sum(rows)],
        "mean": lambda rows: [sum(rows) / len(rows)],
        "histogram": lambda rows: [sum(one == cell for one in rows) for cell in values],
        "maximum": lambda rows: [max(rows)],
    }
    right = {"count": (1, 1), "sum": (100, 100), "mean": (50, 25), "histogram": (1, 2), "maximum": (100, 100)}
    for name, query in queries.items():

        def gap(one: tuple[float, ...], two: tuple[float, ...], query=query) -> float:  # type: ignore[no-untyped-def]
            return sum(abs(a - b) for a, b in zip(query(one), query(two), strict=True))

        added = max(gap(rows, (*rows, new)) for rows in tables_of(values, 3) for new in values)
        four = list(itertools.product(values, repeat=4))
        replaced = max(gap(rows, (*rows[:-1], new)) for rows in four for new in values)
        assert (added, replaced) == pytest.approx(right[name]), name


def test_sensitivity_with_a_limit_on_contributions() -> None:
    """Exercise 4: min(d, 2m) / N."""
    d = 5
    rows = list(itertools.product((0, 1), repeat=d))
    for m in range(1, d + 1):
        allowed = [row for row in rows if sum(row) <= m]
        found = max(sum(abs(a - b) for a, b in zip(one, two, strict=True)) for one in allowed for two in allowed)
        assert found == min(d, 2 * m)
    assert value("limited_3") == round(6 / 30_000, 5)
    assert value("limited_gain") == 27 / 6


def test_geometric_noise() -> None:
    z = np.arange(-400, 401)
    law = np.exp(-np.abs(z)) * (1 - math.exp(-1)) / (1 + math.exp(-1))
    assert law.sum() == pytest.approx(1)
    assert (law * z**2).sum() == pytest.approx(value("geometric_variance"), abs=5e-4)


@pytest.mark.parametrize("variant", range(1, 8))
def test_bias_of_clipping(variant: int) -> None:
    row = LAB.variants[variant]
    scale = 27 / (row["n"] * row["eps"])
    expected, _ = integrate.quad(lambda y: y * stats.laplace.pdf(y, 0, scale), 0, 1, points=[scale, 5 * scale])
    expected += stats.laplace.sf(1, 0, scale)
    assert value("clip_bias_zero", variant) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("variant", range(1, 8))
def test_scales_of_a_variant(variant: int) -> None:
    row = LAB.variants[variant]
    assert value("scale2", variant) == round(27 / row["n"] / row["eps"], 5)
    assert value("sd2", variant) == round(stats.laplace.std(scale=27 / row["n"] / row["eps"]), 5)
    assert value("scale3", variant) == round(27 / row["eps"], 2)
    assert value("sd3", variant) == round(stats.laplace.std(scale=27 / row["eps"]) / math.sqrt(row["n"]), 3)
    assert value("alcohol_relative", variant) == round(100 * 27 / row["n"] / row["eps"] / 0.530527, 2)
    assert value("lsd_relative", variant) == round(100 * 27 / row["n"] / row["eps"] / 0.001503)
    assert value("lsd_expected", variant) == round(0.001503 * row["n"], 1)
    assert (value("d"), value("thesis_n")) == (27, 30_000)


def test_variants_are_those_of_the_design() -> None:
    rows = LAB.variants.values()
    assert {row["eps"] for row in rows} == {0.1, 0.2, 0.5, 1, 1.5, 2, 3}
    assert {row["n"] for row in rows} == {100, 300, 1000, 3000, 10_000, 20_000, 30_000}
    assert len({tuple(row["substances"]) for row in rows}) == 7
    assert all(set(row["substances"]) <= set(DAWN) for row in rows)
