"""Every number that the hand-out prints, and the tables that go with it."""

import math

import numpy as np
import pyarrow as pa

from sfumato.datasets.tables import released
from sfumato.datasets.variables import EDUCATION, MARITAL_STATUS
from sfumato.labs.data import census

DOMAINS = {"Education": EDUCATION, "Marital Status": MARITAL_STATUS}
UTILITY_EPSILON = 1.0  # the figure of three utilities is drawn at this price
RUNS = 300

# The result of 300 runs as the thesis prints it (its figure 24).
THESIS_RUNS = {
    "HS-grad": 230,
    "Some-college": 34,
    "Bachelors": 20,
    "Doctorate": 3,
    "11th": 2,
    "Prof-school": 2,
    "9th": 2,
    "10th": 2,
    "Masters": 1,
    "Assoc-acdm": 1,
    "12th": 1,
    "Preschool": 1,
    "5th-6th": 1,
}


def files(v):
    return {"main": f"data_for_lab4_var{v.number}.csv", "bids": f"bids_for_lab4_var{v.number}.csv"}


def tables(v, lang):
    return {"main": census(v, lang, rows=v.rows), "bids": pa.table({"bid": bids(v)})}


def bids(v):
    """What each person asked would pay: whole amounts around the typical one."""
    spread = v.typical_price * 0.35
    drawn = v.typical_price + spread * v.stream("bids").normal(v.people)
    return [max(0, round(float(bid))) for bid in drawn]


def column(v):
    return census(v, "en", rows=v.rows).column(v.column).to_pylist()


def probabilities(scores, du, eps):
    exponents = eps * np.asarray(scores, dtype=float) / (2 * du)
    weights = np.exp(exponents - exponents.max())
    return weights / weights.sum()


def counts(values, domain):
    return np.array([values.count(one) for one in domain])


def town_counts():
    """The education of the census town as released (a private release of the 1994 census extract)."""
    held = np.maximum(released()["education"].reshape(-1, len(EDUCATION)).sum(axis=0), 0)
    return dict(zip(EDUCATION, held.tolist(), strict=True))


def thesis_fit():
    """The epsilon that explains the printed 300 runs best with u = count / max and du = 1, and a 95 % interval."""
    town = np.array(list(town_counts().values()))
    shares = town / town.max()
    seen = np.array([THESIS_RUNS.get(one, 0) for one in EDUCATION])
    candidates = np.arange(0.5, 20, 0.001)
    logs = np.array([np.sum(seen * (eps * shares / 2 - np.log(np.exp(eps * shares / 2).sum()))) for eps in candidates])
    inside = candidates[logs >= logs.max() - 1.920729]  # half the 95 % quantile of chi-square with one degree
    return float(candidates[logs.argmax()]), float(inside[0]), float(inside[-1])


def thesis_chance():
    """The chance of HS-grad at epsilon 1 with u = count / max, and log10 of the chance of 230 of 300."""
    chance = probabilities(np.array(list(town_counts().values())) / max(town_counts().values()), 1, 1.0).max()
    lead = THESIS_RUNS["HS-grad"]
    log = (
        math.lgamma(RUNS + 1)
        - math.lgamma(lead + 1)
        - math.lgamma(RUNS - lead + 1)
        + lead * math.log(chance)
        + (RUNS - lead) * math.log1p(-chance)
    )
    return float(chance), log / math.log(10)


def permute_and_flip_chances(scores, du, eps):
    """The exact law of permute-and-flip: P(i) is the mean over subsets of the others that came before and lost."""
    flips = np.exp(eps * (np.asarray(scores, dtype=float) - max(scores)) / (2 * du))
    total = len(flips)
    made = []
    for mine in range(total):
        lost = np.delete(1 - flips, mine)
        # elementary symmetric sums: how likely it is that the first m came before and all lost
        sums = np.array([1.0])
        for one in lost:
            sums = np.append(sums, 0.0) + np.append(0.0, sums * one)
        orders = [math.factorial(m) * math.factorial(total - 1 - m) / math.factorial(total) for m in range(total)]
        made.append(flips[mine] * float(np.dot(sums, orders)))
    return np.array(made)


def numbers(v):
    domain = DOMAINS[v.column]
    values = column(v)
    held = counts(values, domain)
    order = np.argsort(-held, kind="stable")
    chance = {
        "ratio": probabilities(held / held.max(), 1, UTILITY_EPSILON).max(),
        "hundredth": probabilities(held / 100, 1, UTILITY_EPSILON).max(),
        "count": probabilities(held, 1, UTILITY_EPSILON).max(),
    }
    scores = {"ratio": held / held.max(), "count": held}
    own = {name: probabilities(score, 1, v.eps).max() for name, score in scores.items()}
    fit, fit_low, fit_high = thesis_fit()
    thesis, thesis_log = thesis_chance()
    named = bids(v)
    revenues = np.array([price * sum(bid >= price for bid in named) for price in v.prices])
    chosen = probabilities(revenues, max(v.prices), v.eps_price)
    example = np.array([60, 50, 30, 10])
    example_p = probabilities(example, 1, 0.1)
    without = [value for value in values if value != v.rare][:200]
    attacked = [*without, v.rare]
    found = sorted(set(attacked))
    shares = counts(attacked, found) / counts(attacked, found).max()
    leak = probabilities(shares, 1, v.eps)[found.index(v.rare)]
    return {
        "domain": repr(list(domain)),
        "domain_size": len(domain),
        "rows": len(values),
        "best": domain[order[0]],
        "best_count": int(held[order[0]]),
        "second": domain[order[1]],
        "second_count": int(held[order[1]]),
        "gap": int(held[order[0]] - held[order[1]]),
        "rare_count": values.count(v.rare),
        "uniform_percent": (100 / len(domain), 1),
        "ratio_percent": (100 * chance["ratio"], 1),
        "ratio_runs": round(RUNS * chance["ratio"]),
        "hundredth_percent": (100 * chance["hundredth"], 1),
        "count_percent": (100 * chance["count"], 1),
        "own_ratio_percent": (100 * own["ratio"], 1),
        "own_count_percent": (100 * own["count"], 1),
        "thesis_percent": (100 * thesis, 1),
        "thesis_runs": round(RUNS * thesis),
        "thesis_exponent": round(thesis_log),
        "fit": (fit, 1),
        "fit_low": (fit_low, 1),
        "fit_high": (fit_high, 1),
        "thesis_printed": repr(THESIS_RUNS),
        "thesis_listed": ", ".join(f"{name} {runs}" for name, runs in THESIS_RUNS.items()),
        "town_counts": repr(town_counts()),
        "most_ratio_factor": (math.exp(0.5), 2),
        "example_first": (float(example_p[0]), 3),
        "example_second": (float(example_p[1]), 3),
        "example_third": (float(example_p[2]), 3),
        "example_fourth": (float(example_p[3]), 3),
        "example_flip": (float(permute_and_flip_chances(example, 1, 0.1)[0]), 3),
        "bound_95": (2 / v.eps * (math.log(len(domain)) + math.log(20)), 0),
        "bound_16_eps1": (2 * (math.log(16) + math.log(20)), 1),
        "prices_code": repr(list(v.prices)),
        "price_du": max(v.prices),
        "price_best": v.prices[int(revenues.argmax())],
        "price_best_revenue": int(revenues.max()),
        "price_best_percent": (100 * float(chosen[revenues.argmax()]), 1),
        "price_expected_percent": (100 * float(chosen @ revenues) / float(revenues.max()), 1),
        "leak_percent": (100 * leak, 1),
        "leak_runs_95": math.ceil(math.log(0.05) / math.log1p(-leak)),
        "quantile_percent": round(100 * v.quantile),
        "quantile_du": max(v.quantile, 1 - v.quantile),
    }
