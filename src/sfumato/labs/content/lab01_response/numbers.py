"""Every number that the hand-out prints, and the tables that go with it."""

import math
from functools import lru_cache

from sfumato.datasets.variables import EDUCATION, MARITAL_STATUS
from sfumato.labs.data import FULL_ROWS, census

SIZES = (100, 1000, 10_000)
DOMAINS = {"Marital Status": MARITAL_STATUS, "Education": EDUCATION}
NORMAL_95 = 1.959963984540054
SPREAD = 10_000  # of the salary example: uniform between minus and plus this


def files(v):
    name = f"data_for_lab1_var{v.number}"
    return {"main": f"{name}.csv", **{f"f{size}": f"{name}_{size}.csv" for size in SIZES}}


@lru_cache(maxsize=4)
def _town(slug, number, seed, row, lang):
    from sfumato.labs.variant import Variant

    return census(Variant(slug, number, seed, dict(row)), lang)


def town(v, lang="en"):
    """The full file of a student, drawn once."""
    return _town(v.lab, v.number, v.seed, tuple(v.row.items()), lang)


def tables(v, lang):
    """The small files are the first rows of the full one."""
    full = town(v, lang)
    return {"main": full, **{f"f{size}": full.slice(0, size) for size in SIZES}}


def truth(v, rows):
    """Yes or no of every row of a table to the variant's question."""
    column = {
        "income": "Target",
        "single": "Marital Status",
        "parted": "Marital Status",
        "government": "Workclass",
        "gain": "Capital Gain",
        "hours": "Hours per week",
        "abroad": "Country",
    }[v.question]
    says_yes = {
        "income": lambda value: value == ">50K",
        "single": lambda value: value == "Never-married",
        "parted": lambda value: value in ("Divorced", "Separated"),
        "government": lambda value: value in ("Federal-gov", "Local-gov", "State-gov"),
        "gain": lambda value: value > 0,
        "hours": lambda value: value > 45,
        "abroad": lambda value: value is not None and value != "United-States",
    }[v.question]
    return [int(says_yes(value)) for value in rows[column].to_pylist()]


def mean_relative_error(n, share):
    """Of the debiased share, in the normal limit: sd sqrt(3 / 4n), times sqrt(2 / pi), over the share."""
    return math.sqrt(2 / math.pi) * math.sqrt(3 / (4 * n)) / share


def people_for(error, share):
    """How many people two coins need for this relative error in 95 % of surveys."""
    return math.ceil(0.75 * (NORMAL_95 / (error * share)) ** 2)


def believed(prior, yes=1, no=0):
    return 1 / (1 + (1 - prior) / prior * 3.0 ** (no - yes))


def response_sd(n, eps):
    p = math.exp(eps) / (1 + math.exp(eps))
    return math.sqrt(p * (1 - p) / n) / (2 * p - 1)


def numbers(v):
    share = sum(truth(v, town(v))) / FULL_ROWS
    keep = math.exp(v.eps) / (1 + math.exp(v.eps))
    domain = DOMAINS[v.categories]
    k = len(domain)
    return {
        "rows": FULL_ROWS,
        "question": "{{s.question_" + v.question + "}}",
        "domain": repr(list(domain)),
        "k": k,
        "ln3": (math.log(3), 4),
        "keep": (keep, 4),
        "sd_two_coins": (math.sqrt(0.75 / FULL_ROWS), 4),
        "sd_eps": (response_sd(FULL_ROWS, v.eps), 4),
        "share": (100 * share, 2),
        **{f"error_{n}": (100 * mean_relative_error(n, share), 1) for n in (*SIZES, FULL_ROWS)},
        **{f"third_{n}": (100 * mean_relative_error(n, 0.33), 1) for n in (*SIZES, FULL_ROWS)},
        **{f"wrong_{n}": (100 * (1 - n / FULL_ROWS), 2) for n in SIZES},
        "people_third": people_for(0.05, 0.33),
        "people_wanted": people_for(v.wanted, share),
        "wanted": (100 * v.wanted, 0),
        "ill_1": (believed(0.01), 3),
        "ill_10": (believed(0.10), 2),
        "ill_50": (believed(0.50), 2),
        "ill_prior": (believed(v.prior), 3),
        "ill_prior_no": (believed(v.prior, 0, 1), 3),
        "spread": SPREAD,
        "salary_delta": (1000 / (2 * SPREAD), 2),
        "times_10": (10 * math.log(3), 2),
        "kary_keep": (math.exp(v.eps) / (math.exp(v.eps) + k - 1), 4),
        "best_keep": (keep, 4),
        "sd_300": (100 * math.sqrt(0.75 / 300), 0),
        "liar": (100 * 2 * 0.75 / 100, 1),
        "rare_factor": round((0.33 / 0.01) ** 2),
    }
