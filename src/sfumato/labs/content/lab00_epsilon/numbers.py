"""Every number that the hand-out prints, and the table that goes with it."""

import math

import numpy as np
import pyarrow as pa

from sfumato.accounting import membership_advantage, posterior

RUNS = (400_000, 600_000)  # of the black box on either table
TRUTHS = (10, 11)
OUTCOMES = range(5, 17)
LEAST = 5000


def files(v):
    return {"main": f"histograms_for_lab0_var{v.number}.csv"}


def tables(v, lang):
    first, second = boxes(v)
    return {"main": pa.table({"outcome": list(OUTCOMES), "first": first, "second": second})}


def boxes(v):
    """How often the black box gave each outcome: a count with two-sided geometric noise, its ends joined."""
    made = []
    for truth, runs, name in zip(TRUTHS, RUNS, ("first", "second"), strict=True):
        up, down = (np.floor(np.log1p(-v.stream(f"{name}/{way}").uniform(runs)) / -v.hidden) for way in ("up", "down"))
        outcome = np.clip(truth + up - down, OUTCOMES[0], OUTCOMES[-1]).astype(int)
        made.append([int(np.sum(outcome == one)) for one in OUTCOMES])
    return made


def estimate(first, second, least):
    worst = 0.0
    for one, other in zip(first, second, strict=True):
        if max(one, other) >= least:
            if min(one, other) == 0:
                return math.inf
            worst = max(worst, abs(math.log((one / sum(first)) / (other / sum(second)))))
    return worst


def people(eps, sd):
    return math.ceil(1 / (2 * sd * math.tanh(eps / 2)) ** 2)


def numbers(v):
    first, second = boxes(v)
    low, high = posterior(v.prior, 1)
    ill = [(3 * share / (1 + 2 * share)) for share in (0.01, 0.1, 0.5)]
    return {
        "eps_code": repr(list(v.eps_list)),
        "prior_percent": (100 * v.prior, 1),
        "low_1": (100 * low, 2),
        "high_1": (100 * high, 2),
        "half_high_1": (100 * posterior(0.5, 1)[1], 1),
        "half_low_1": (100 * posterior(0.5, 1)[0], 1),
        "half_high_01": (100 * posterior(0.5, 0.1)[1], 1),
        "half_high_5": (100 * posterior(0.5, 5)[1], 1),
        "factor_1": (math.e, 2),
        "factor_01": (math.exp(0.1), 2),
        "factor_10": round(math.exp(10)),
        "advantage_1": (membership_advantage(1), 3),
        "advantage_01": (membership_advantage(0.1), 3),
        "advantage_10": (membership_advantage(10), 5),
        "advantage_delta": (membership_advantage(1, 0.01), 3),
        "estimate": (estimate(first, second, LEAST), 2),
        "runs_first": RUNS[0],
        "runs_second": RUNS[1],
        "least": LEAST,
        "least_code": str(LEAST),
        "people_01": people(0.1, v.sd),
        "people_001": people(0.01, v.sd),
        "people_1": people(1.0, v.sd),
        "people_exact": math.ceil(1 / (2 * v.sd) ** 2),
        "chance_1": (100 / (1 + math.exp(-1)), 1),
        "ill_1": (ill[0], 3),
        "ill_10": (ill[1], 2),
        "ill_50": (ill[2], 2),
        "ln3": (math.log(3), 2),
        "group_5": (math.exp(5 * 0.2), 2),
        "group_1": (math.exp(0.2), 2),
    }
