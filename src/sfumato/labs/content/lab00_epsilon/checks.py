"""Judges of lab 0: exact numbers."""

import math

from sfumato.labs import judge
from sfumato.labs.content.lab00_epsilon import numbers
from sfumato.labs.verdict import PASSED


def first_that_fails(verdicts):
    for verdict in verdicts:
        if not verdict.passed:
            return verdict
    return PASSED


def bounds(prior, eps):
    return [prior / (prior + (1 - prior) * math.exp(eps)), prior / (prior + (1 - prior) * math.exp(-eps))]


def t1(answers, v):
    def judged():
        for prior, eps in ((v.prior, 1.0), (0.5, 0.1), (0.3, 2.0), (0.9, 5.0), (0.0, 1.0), (1.0, 3.0), (0.4, 0.0)):
            low, high = bounds(prior, eps)
            got = answers.call("posterior_bounds", prior, eps)
            causes = {}
            if 0 < prior < 1 and eps:
                causes = {
                    "order": [high, low],
                    "not_odds": [prior * math.exp(-eps), prior * math.exp(eps)],
                    "cut_not_odds": [prior * math.exp(-eps), min(1.0, prior * math.exp(eps))],
                    "odds_themselves": [prior / (1 - prior) * math.exp(-eps), prior / (1 - prior) * math.exp(eps)],
                }
            yield judge.exact(list(got) if isinstance(got, tuple) else got, [low, high], causes=causes)

    return first_that_fails(judged())


def t2(answers, v):
    def judged():
        for eps in (1.0, 0.1, *v.eps_list, 0.0):
            right = math.tanh(eps / 2)
            causes = {}
            if eps:
                causes = {
                    "chance_not_advantage": 1 / (1 + math.exp(-eps)),
                    "no_half": math.tanh(eps),
                    "denominator": (math.exp(eps) - 1) / math.exp(eps),
                }
            yield judge.exact(answers.call("advantage", eps), right, causes=causes)

    return first_that_fails(judged())


def t3(answers, v):
    def judged():
        for prior, eps_list in ((v.prior, list(v.eps_list)), (0.25, [0.1, 10.0])):
            right = [[eps, math.exp(eps), *bounds(prior, eps), math.tanh(eps / 2)] for eps in eps_list]
            got = answers.call("odds_table", prior, eps_list)
            if isinstance(got, list | tuple):
                got = [list(row) if isinstance(row, tuple) else row for row in got]
            yield judge.exact(got, right)

    return first_that_fails(judged())


def t4(answers, v):
    def judged():
        own_first, own_second = numbers.boxes(v)
        cases = (
            ([200, 100, 100], [100, 100, 200], 10),
            ([2000, 1000, 3000], [3000, 1000, 1000], 100),
            ([40, 50, 3], [400, 500, 90], 10),
            ([5000, 4900, 1], [5000, 4800, 9], 50),
            ([500, 500, 0], [400, 500, 100], 50),
            ([500, 500, 0], [490, 505, 5], 50),
            ([10, 990], [10, 990], 5),
            (own_first, own_second, numbers.LEAST),
        )
        for first, second, least in cases:
            right = numbers.estimate(first, second, least)
            causes = _causes(first, second, least, right)
            yield judge.exact(answers.call("estimate_eps", first, second, least), right, causes=causes)

    return first_that_fails(judged())


def _causes(first, second, least, right):
    shares = [(one / sum(first), other / sum(second)) for one, other in zip(first, second, strict=True)]
    most = [max(one, other) for one, other in zip(first, second, strict=True)]
    kept = [pair for pair, seen in zip(shares, most, strict=True) if seen >= least and min(pair) > 0]
    wrong = {
        **({"zero_left_out": max(abs(math.log(one / other)) for one, other in kept)} if math.isinf(right) else {}),
        "not_shares": max(abs(math.log(one / other * sum(first) / sum(second))) for one, other in kept),
        "one_direction": max(math.log(one / other) for one, other in kept),
        "other_direction": max(math.log(other / one) for one, other in kept),
        "ratio_not_log": max(max(one / other, other / one) for one, other in kept),
        "difference": max(abs(one - other) for one, other in shares),
        "rare_outcomes": numbers.estimate(first, second, 1),
    }
    return {code: value for code, value in wrong.items() if not (value == right or abs(value - right) < 1e-9)}


def t5(answers, v):
    def judged():
        for eps in (1.0, 0.1, 5.0, 0.0):
            right = 1 / (1 + math.exp(-eps))
            causes = {"advantage_not_chance": math.tanh(eps / 2), "odds_themselves": math.exp(eps)} if eps else {}
            yield judge.exact(answers.call("answer_chance", eps), right, causes=causes)
        for eps, sd in ((1.0, v.sd), (0.1, v.sd), (3.0, 0.05), (0.013, 0.01)):
            exact = 1 / (2 * sd * math.tanh(eps / 2)) ** 2
            verdict = judge.exact(
                answers.call("people_needed", eps, sd),
                math.ceil(exact),
                causes={
                    "not_whole": exact,
                    "rounded_down": math.floor(exact),
                    "no_quarter": math.ceil(4 * exact),
                    "no_advantage": math.ceil(1 / (2 * sd) ** 2),
                },
            )
            yield verdict
        yield judge.exact(answers.call("people_needed", 0, v.sd), math.inf)

    return first_that_fails(judged())
