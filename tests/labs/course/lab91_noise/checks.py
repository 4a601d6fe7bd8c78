"""Checks of the small lab that the grader is tested with."""

import numpy as np

from sfumato.labs import judge, laws
from sfumato.labs.answers import Table

PLACES = ["north", "south", "west"]


def ages(v):
    """Their mean lies a row's part above a whole number: neither rounded nor the median is it right by chance."""
    found = 19 + v.stream("people").integers(0, 62, v.rows)
    found[: (found.sum() - 1) % v.rows] -= 1
    return found


def places(v):
    return [PLACES[one] for one in v.stream("places").integers(0, 2, v.rows)]


def t1(answers, v):
    truth = float(ages(v).mean())
    return judge.exact(answers.call("mean_age", Table("main")), truth, causes={"median": float(np.median(ages(v)))})


def t2(answers, v):
    value, sensitivity = 10.0, 7.0

    def draw(seed):
        return answers.draw("laplace_mech", value, sensitivity, v.eps, n=5000, seed=seed)

    return judge.law(
        draw,
        laws.laplace(value, sensitivity / v.eps),
        {"swapped_eps_delta": v.eps / sensitivity},
        recorded=lambda seed: answers.record("laplace_mech", value, sensitivity, v.eps, seed=seed),
    )


def t3(answers, v):
    truth = [places(v).count(place) for place in PLACES]
    counted = [answers.call("count", Table("main"), place) for place in PLACES]

    def draw(seed):
        return answers.draw("noisy_counts", Table("main"), PLACES, v.eps, n=2000, seed=seed)

    law = laws.every(law_differs=laws.laplace(truth, 1 / v.eps), correlated=laws.uncorrelated())
    return judge.all_of(judge.exact(counted, truth), judge.law(draw, law))


def t4(answers, v):
    scores = [0.0, 1.0, 2.0, 4.0]
    weights = np.exp(v.eps * np.asarray(scores) / 2)
    law = laws.categories([0, 1, 2, 3], weights / weights.sum())
    doubled = np.exp(v.eps * np.asarray(scores))
    causes = {"forgot_half": laws.categories([0, 1, 2, 3], doubled / doubled.sum())}
    return judge.law(lambda seed: answers.draw("choose", scores, v.eps, n=20000, seed=seed), law, causes)
