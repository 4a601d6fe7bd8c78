"""Every number that the hand-out prints, and the table that goes with it."""

import math

import numpy as np

from sfumato.accounting import gaussian_sigma as exact_sigma
from sfumato.datasets.variables import EDUCATION, MARITAL_STATUS, RACE, RELATIONSHIP
from sfumato.labs.data import census

DOMAINS = {"Education": EDUCATION, "Marital Status": MARITAL_STATUS, "Relationship": RELATIONSHIP, "Race": RACE}
FIRST_FAILURE_MAX = 400


def files(v):
    return {"main": f"data_for_lab3_var{v.number}.csv"}


def tables(v, lang):
    return {"main": census(v, lang, rows=v.rows)}


def sequential(eps, k):
    return k * eps


def advanced(eps, k, delta):
    return eps * math.sqrt(2 * k * math.log(1 / delta)) + k * eps * math.expm1(eps)


def concentrated(eps, k, delta):
    return k * eps**2 / 2 + eps * math.sqrt(2 * k * math.log(1 / delta))


def simplified(eps, k, delta):
    return 2 * eps * math.sqrt(2 * k * math.log(1 / delta))


BOUNDS = {"simple": simplified, "adv": advanced, "zcdp": concentrated}


def crossing(name, eps, delta, k_max):
    """The first k at which a bound lies below k times epsilon; 0 if none does."""
    return next((k for k in range(1, k_max + 1) if BOUNDS[name](eps, k, delta) < k * eps), 0)


def classical(d2, eps, delta):
    return d2 * math.sqrt(2 * math.log(1.25 / delta)) / eps


def optimal_delta(eps, k, total):
    """The exact delta of k mechanisms of which only epsilon is known (Kairouz, Oh, Viswanath 2015)."""
    places = np.arange(k + 1)
    losses = (k - 2 * places) * eps
    logs = np.array([math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1) for i in range(k + 1)])
    masses = np.exp(logs + (k - places) * eps - k * math.log1p(math.exp(eps)))
    over = losses > total
    return float(np.sum(masses[over] * -np.expm1(total - losses[over])))


def first_failure(eps, delta, k_max):
    """The first k at which the exact delta at the simplified epsilon exceeds the promised one."""
    return next((k for k in range(1, k_max + 1) if optimal_delta(eps, k, simplified(eps, k, delta)) > delta), 0)


def count_crossings(delta):
    """From how many counts on Gaussian noise is smaller: by standard deviation, and by mean absolute error."""
    square = 2 * math.log(1.25 / delta)
    return math.floor(square / 2) + 1, math.floor(square * 2 / math.pi) + 1


def first_false_classical(delta):
    """The epsilon from which on the classical deviation is too small, by bisection against the exact one."""
    low, high = 1.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if classical(1, middle, delta) >= exact_sigma(middle, delta) else (low, middle)
    return low


def true_answers(v):
    return answers_of(tables(v, "en")["main"], v.gain_clip, v.education_below, v.age_clip)


def answers_of(table, gain_clip, education_below, age_clip):
    gains = np.array(table["Capital Gain"].to_pylist(), dtype=float)
    years = np.array(table["Education-Num"].to_pylist(), dtype=float)
    ages = np.array(table["Age"].to_pylist(), dtype=float)
    return [
        float(np.minimum(gains, gain_clip).sum()),
        float((years < education_below).sum()),
        float(np.minimum(ages, age_clip).sum()),
    ]


def numbers(v):
    constant = math.sqrt(2 * math.log(1.25 / v.delta))
    book = math.sqrt(2 * math.log(1.25e5))
    by_deviation, by_mean = count_crossings(v.delta)
    d1, d2 = v.gain_clip + 1 + v.age_clip, math.hypot(v.gain_clip, 1, v.age_clip)
    laplace, gauss = d1 / v.eps_query, classical(d2, v.eps_query, v.delta) * math.sqrt(2 / math.pi)
    true = true_answers(v)
    failure = first_failure(1.0, v.delta, FIRST_FAILURE_MAX)
    return {
        "domain": repr(list(DOMAINS[v.column])),
        "domain_size": len(DOMAINS[v.column]),
        "constant": (constant, 2),
        "book_constant": (book, 2),
        "sigma_classical_1": (book, 3),
        "sigma_exact_1": (exact_sigma(1, 1e-5), 4),
        "waste_01": (book / 0.1 / exact_sigma(0.1, 1e-5), 2),
        "waste_1": (book / exact_sigma(1, 1e-5), 2),
        "false_5": (first_false_classical(1e-5), 2),
        "false_2": (first_false_classical(1e-2), 2),
        "false_1": (first_false_classical(1e-1), 2),
        "cross_simple": crossing("simple", v.eps, v.delta, 10_000),
        "cross_simple_real": (8 * math.log(1 / v.delta), 1),
        "cross_adv": crossing("adv", v.eps, v.delta, 10_000),
        "cross_zcdp": crossing("zcdp", v.eps, v.delta, 10_000),
        "cross_book_real": (8 * math.log(1e5), 1),
        "cross_01": crossing("adv", 0.1, 1e-5, 10_000),
        "cross_05": crossing("adv", 0.5, 1e-5, 10_000),
        "total_seq": (v.k_max * v.eps, 2),
        "total_adv": (advanced(v.eps, v.k_max, v.delta), 2),
        "total_zcdp": (concentrated(v.eps, v.k_max, v.delta), 2),
        "simple_valid": math.floor(8 * math.log(1e5)),
        "failure": failure,
        "failure_claim": (simplified(1.0, failure, v.delta), 1),
        "failure_delta": float(f"{optimal_delta(1.0, failure, simplified(1.0, failure, v.delta)):.3g}"),
        "failure_5": first_failure(1.0, 1e-5, FIRST_FAILURE_MAX),
        "failure_4": first_failure(1.0, 1e-4, FIRST_FAILURE_MAX),
        "claim_1000": (simplified(1.0, 1000, 1e-5), 1),
        "delta_1000": (optimal_delta(1.0, 1000, simplified(1.0, 1000, 1e-5)), 8),
        "by_deviation": by_deviation,
        "by_mean": by_mean,
        "d1": d1,
        "d2": (d2, 1),
        "sigma_query": (classical(d2, v.eps_query, v.delta), 0),
        "laplace_error": (laplace, 0),
        "gauss_error": (gauss, 0),
        "error_quotient": (gauss / laplace, 2),
        "three_quotient": (math.sqrt(2 / math.pi) * constant / math.sqrt(3), 2),
        "true_1": round(true[0]),
        "true_2": round(true[1]),
        "true_3": round(true[2]),
        "twenty_d2": (math.sqrt(20), 2),
        "twenty_gauss_sd": (math.sqrt(20) * book, 1),
        "twenty_laplace_sd": (20 * math.sqrt(2), 1),
        "twenty_gauss_mean": (math.sqrt(20) * book * math.sqrt(2 / math.pi), 1),
        "twenty_laplace_mean": (20.0, 1),
        "split_mean": (0.25 * (2 / 1**2 + 2 / 2**2), 3),
        "split_best": (1 / (1 / 2 + 2**2 / 2), 3),
        "split_one": (2 / 3**2, 3),
        "thousand_caught": (100 * (1 - (1 - 1 / 1000) ** 1000), 1),
        "group_3": (3 * v.eps_query, 2),
        "group_delta": float(f"{sum(math.exp(i * v.eps_query) for i in range(3)) * v.delta:.3g}"),
    }
