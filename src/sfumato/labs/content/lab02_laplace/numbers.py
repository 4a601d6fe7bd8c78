"""Every number that the hand-out prints, and the tables that go with it."""

import math

from sfumato.labs.data import DAWN, patients, substance_table

D = len(DAWN)
THESIS_N = 30_000


def files(v):
    return {"main": f"data_for_lab2_var{v.number}.csv", "probabilities": "data_for_lab2.csv"}


def tables(v, lang):
    return {"main": patients(v, v.n), "probabilities": substance_table()}


def central_sd(n, d, eps):
    return math.sqrt(2) * d / (n * eps)


def local_sd(n, d, eps):
    return math.sqrt(2) * d / (eps * math.sqrt(n))


def response_sd(n, eps):
    """Randomised response with eps for each answer, about a rare attribute."""
    p = math.exp(eps) / (1 + math.exp(eps))
    return math.sqrt(p * (1 - p)) / (2 * p - 1) / math.sqrt(n)


def one_seed_correlation(high, low):
    """The correlation of two bits made from the same uniform number."""
    return math.sqrt(low * (1 - high) / (high * (1 - low)))


def laplace_beyond(t, b=1.0):
    return math.exp(-t / b)


def numbers(v):
    scale2, scale3 = D / (v.n * v.eps), D / v.eps
    return {
        "d": D,
        "thesis_n": THESIS_N,
        "scale2": (scale2, 5),
        "sd2": (math.sqrt(2) * scale2, 5),
        "scale3": (scale3, 2),
        "sd3": (local_sd(v.n, D, v.eps), 3),
        "bound_one": (scale2 * math.log(1 / v.beta), 5),
        "bound_all": (scale2 * math.log(D / v.beta), 5),
        "sampling_sd": (math.sqrt(0.1 * 0.9 / THESIS_N), 4),
        "central_sd": (central_sd(THESIS_N, D, 1.0), 4),
        "local_sd": (local_sd(THESIS_N, D, 1.0), 2),
        "local_sd_100": (local_sd(100, D, 1.0), 1),
        "split_sd": (response_sd(THESIS_N, 1.0 / D), 3),
        "one_sd": (math.sqrt(D) * response_sd(THESIS_N, 1.0), 3),
        "one_gain": (local_sd(THESIS_N, D, 1.0) / (math.sqrt(D) * response_sd(THESIS_N, 1.0)), 1),
        "broken_corr": (one_seed_correlation(DAWN["Cocaine"], DAWN["Marijuana"]), 2),
        "cocaine": (DAWN["Cocaine"], 3),
        "alcohol_no": (1 - DAWN["Alcohol"], 3),
        "ln20": (math.log(20), 3),
        "smokers_bound": (math.log(20), 1),
        "beyond_20": (laplace_beyond(20) * 1e9, 1),
        "eps_ratio": round(1.1 / 0.1),
        "lsd_expected": (DAWN["LSD"] * v.n, 1),
        "lsd_relative": (100 * scale2 / DAWN["LSD"], 0),
        "alcohol_relative": (100 * scale2 / DAWN["Alcohol"], 2),
        "limited_3": (2 * 3 / v.n, 5),
        "limited_gain": (D / 6, 1),
        "geometric_variance": (2 * math.exp(-1) / (1 - math.exp(-1)) ** 2, 3),
        "clip_bias_zero": (scale2 / 2 * (1 - math.exp(-1 / scale2)), 5),
    }
