"""Judges of lab 3. Exact numbers where there are some; laws at delta 0.5, where forgetting 1.25 is far from right."""

import math
from functools import partial

import numpy as np

from sfumato.accounting import gaussian_sigma as exact_sigma
from sfumato.labs import judge, laws
from sfumato.labs.answers import Table
from sfumato.labs.content.lab03_gauss import numbers
from sfumato.labs.verdict import PASSED, StudentError, Verdict

DRAWS = 5000


def first_that_fails(verdicts):
    """Judges one by one, stopping at the first failure."""
    last = PASSED
    for verdict in verdicts:
        if not verdict.passed:
            return verdict
        last = verdict
    return last


def t1(answers, v):
    def judged():
        for eps, k, delta in ((v.eps, v.k_max, v.delta), (0.5, 30, 1e-5), (1.0, 200, 1e-6)):
            root = eps * math.sqrt(2 * k * math.log(1 / delta))
            ten = eps * math.sqrt(2 * k * math.log10(1 / delta))
            yield judge.exact(answers.call("seq", eps, k), k * eps)
            yield judge.exact(
                answers.call("adv", eps, k, delta),
                numbers.advanced(eps, k, delta),
                causes={
                    "decimal_log": ten + k * eps * math.expm1(eps),
                    "simple_form": 2 * root,
                    "first_term_only": root,
                    "no_minus_one": root + k * eps * math.exp(eps),
                },
            )
            yield judge.exact(
                answers.call("zcdp", eps, k, delta),
                numbers.concentrated(eps, k, delta),
                causes={
                    "decimal_log": ten + k * eps**2 / 2,
                    "no_half_square": root + k * eps**2,
                    "first_term_only": root,
                },
            )

    return first_that_fails(judged())


def t2(answers, v):
    def judged():
        for eps, k, delta in ((v.eps, 7, v.delta), (1.0, 50, 1e-3)):
            yield judge.exact(answers.call("simple", eps, k, delta), numbers.simplified(eps, k, delta))
        for eps, delta, most in ((v.eps, v.delta, v.k_max), (0.5, 1e-5, 300), (0.9, 1e-5, 200), (0.1, 1e-3, 20)):
            for name in ("simple", "adv", "zcdp"):
                right = numbers.crossing(name, eps, delta, most)
                causes = {"one_early": right - 1} if right else {"never": most}
                yield judge.exact(answers.call("crossing", name, eps, delta, most), right, causes=causes)

    return first_that_fails(judged())


def t3(answers, v):
    def judged():
        for d2, eps, delta in ((1.0, v.eps_query, v.delta), (4.5, 0.25, 0.5), (10440.0, 0.99, 1e-6)):
            right = numbers.classical(d2, eps, delta)
            yield judge.exact(
                answers.call("gaussian_sigma", d2, eps, delta),
                right,
                causes={
                    "variance": right**2,
                    "decimal_log": d2 * math.sqrt(2 * math.log10(1.25 / delta)) / eps,
                    "binary_log": d2 * math.sqrt(2 * math.log2(1.25 / delta)) / eps,
                    "no_125": d2 * math.sqrt(2 * math.log(1 / delta)) / eps,
                    "analytic_here": d2 * exact_sigma(eps, delta),
                },
            )
        for eps in (1.0, 5, 0):
            yield _refuses(answers, "gaussian_sigma", 1.0, eps, 1e-5)

    return first_that_fails(judged())


def _refuses(answers, function, *arguments):
    try:
        answers.call(function, *arguments)
    except StudentError as error:
        named = str(error.values.get("error", ""))
        return PASSED if error.code == "raised" and named.startswith("ValueError") else error.verdict
    return Verdict(False, "not_refused", {"eps": arguments[1]})


def t4(answers, v):
    def judged():
        for sigma, d2, eps in ((1.0, 1.0, 1.0), (3.0, 2.0, 0.5), (0.7, 1.0, 4.0)):
            a, b = d2 / (2 * sigma), eps * sigma / d2
            right = _phi(a - b) - math.exp(eps) * _phi(-a - b)
            yield judge.exact(
                answers.call("gaussian_delta", sigma, d2, eps), right, 1e-7, causes={"one_tail": _phi(a - b)}
            )
        own = (v.gain_clip, v.eps_query, v.delta)
        for d2, eps, delta in ((1.0, 1.0, 1e-5), own, (2.5, 6.0, 1e-3), (1.0, 0.05, 0.01)):
            right = d2 * exact_sigma(eps, delta)
            yield judge.exact(
                answers.call("analytic_sigma", d2, eps, delta),
                right,
                1e-6,
                causes={"classical_here": numbers.classical(d2, eps, delta)},
            )

    return first_that_fails(judged())


def _phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def t5(answers, v):
    vector = [1.0, -20.0, 300.0, 4.0, 5.0]
    d2, eps, delta = 3.0, 0.8, 0.5
    sd = numbers.classical(d2, eps, delta)

    def draw(seed, n=DRAWS):
        return answers.draw("gaussian_mech_vec", vector, d2, eps, delta, n=n, seed=seed)

    return judge.all_of(
        judge.law(
            draw,
            laws.gaussian(vector, sd),
            {
                "variance_for_scale": sd**2,
                "no_125": d2 * math.sqrt(2 * math.log(1 / delta)) / eps,
                "decimal_log": d2 * math.sqrt(2 * math.log10(1.25 / delta)) / eps,
                "analytic_here": d2 * exact_sigma(eps, delta),
                "laplace_noise": laws.laplace(vector, d2 / eps),
            },
        ),
        lambda: judge.law(draw, laws.every(correlated=laws.uncorrelated())),
        lambda: judge.repeatable(partial(draw, n=20)),
    )


def t6(answers, v):
    table = numbers.tables(v, "en")["main"]

    def judged():
        for gain, years, age in ((v.gain_clip, v.education_below, v.age_clip), (500, 4, 30), (10**9, 17, 200)):
            right = numbers.answers_of(table, gain, years, age)
            plain = numbers.answers_of(table, 10**9, years, 10**9)
            at_most = [right[0], numbers.answers_of(table, gain, years + 1, age)[1], right[2]]
            causes = {} if plain == right else {"not_clipped": plain}
            yield judge.exact(
                answers.call("queries", Table("main"), gain, years, age),
                right,
                causes={**causes, "at_most": at_most, "dropped": _dropped(table, gain, years, age)},
            )
        for gain, age in ((v.gain_clip, v.age_clip), (10000, 3000), (3, 4)):
            one, two = gain + 1 + age, math.hypot(gain, 1, age)
            yield judge.exact(
                answers.call("l1_sensitivity", gain, age),
                one,
                causes={"largest_only": max(gain, 1, age), "replaced": 2 * one, "count_forgotten": gain + age},
            )
            yield judge.exact(
                answers.call("l2_sensitivity", gain, age),
                two,
                causes={"l1_for_l2": one, "no_root": two**2, "count_forgotten": math.hypot(gain, age)},
            )

    return first_that_fails(judged())


def _dropped(table, gain, years, age):
    """The sums when values above the bound are left out instead of lowered to it."""
    gains, ages = (np.array(table[name].to_pylist(), dtype=float) for name in ("Capital Gain", "Age"))
    count = numbers.answers_of(table, gain, years, age)[1]
    return [float(gains[gains <= gain].sum()), count, float(ages[ages <= age].sum())]


def t7(answers, v):
    def judged():
        true, runs = [10.0, 0.0, -4.0], [[11.0, -3.0, -4.0], [7.0, 1.0, -8.0]]
        yield judge.exact(
            answers.call("mean_error", true, runs),
            [2.0, 2.0, 2.0],
            causes={"signed": [-1.0, -1.0, -2.0], "signed_other": [1.0, 1.0, 2.0], "one_number": 2.0},
        )
        for size, eps, delta in ((5.0, 0.5, 1e-5), (1.0, v.eps_query, v.delta)):
            yield judge.exact(
                answers.call("laplace_error", size, eps), size / eps, causes={"deviation": math.sqrt(2) * size / eps}
            )
            sd = numbers.classical(size, eps, delta)
            yield judge.exact(
                answers.call("gauss_error", size, eps, delta), sd * math.sqrt(2 / math.pi), causes={"deviation": sd}
            )
        for delta in (v.delta, 1e-5, 1e-3):
            right = numbers.count_crossings(delta)
            yield judge.exact(
                list(answers.call("count_crossings", delta)), list(right), causes={"swapped_order": list(right)[::-1]}
            )

    return first_that_fails(judged())


def t8(answers, v):
    domain = list(numbers.DOMAINS[v.column])[:5]
    people = [domain[0]] * 12 + [domain[1]] * 5 + [domain[3]]
    held = [people.count(one) for one in domain]
    eps = 0.7

    def judged():
        for relation, scale in (("add", 1 / eps), ("replace", 2 / eps)):

            def draw(seed, relation=relation, n=DRAWS):
                return answers.draw("histogram", people, domain, eps, relation, n=n, seed=seed)

            other = {"add": {"replace_for_add": 2 / eps}, "replace": {"add_for_replace": 1 / eps}}[relation]
            causes = {"budget_divided": len(domain) * scale, "swapped_eps_delta": eps, **other}
            yield judge.law(draw, laws.laplace(held, scale), causes)
            yield judge.law(draw, laws.every(correlated=laws.uncorrelated()))
            yield judge.repeatable(partial(draw, n=20))

    return first_that_fails(judged())


def projected(noisy, total):
    """The nearest vector of numbers from 0 on with this sum; of a table, row by row."""
    noisy = np.asarray(noisy, dtype=float)
    ordered = np.sort(noisy)[..., ::-1]
    shifts = (np.cumsum(ordered, axis=-1) - total) / np.arange(1, noisy.shape[-1] + 1)
    last = (ordered > shifts).sum(axis=-1, keepdims=True) - 1  # those that stay above 0 come first
    return np.maximum(noisy - np.take_along_axis(shifts, last, axis=-1), 0.0)


def t9(answers, v):
    domain = list(numbers.DOMAINS[v.column])[:5]
    people = [domain[0]] * 20 + [domain[1]] * 6 + [domain[3]]
    other = [domain[0]] * 19 + [domain[1]] * 6 + [domain[3], domain[4]]
    eps = 1.0

    def draw(table, n=4000):
        return lambda seed: answers.draw("consistent_histogram", table, domain, eps, n=n, seed=seed)

    def judged():
        vectors = ([5.0, -1.0, 2.0], [3.0, 3.0, 3.0, 3.0], [10.0, 1.0, -20.0, 0.5], [1, 2])
        for noisy, total in zip(vectors, (6, 4, 9, 30), strict=True):
            right = projected(noisy, total)
            clipped = np.maximum(np.asarray(noisy, dtype=float), 0)
            yield judge.exact(
                answers.call("project", noisy, total),
                right,
                1e-6,
                absolute=1e-6,
                causes={
                    "only_clipped": clipped,
                    "rescaled": clipped * total / clipped.sum(),
                    "may_be_negative": np.asarray(noisy) + (total - sum(noisy)) / len(noisy),
                },
            )
        source = np.random.default_rng(judge.seeds()[0] + 10**7)
        noise = source.laplace(0, 2 / eps, size=(20_000, 5))
        held = [people.count(one) for one in domain]
        expected = projected(held + noise, len(people))
        half = projected(held + noise / 2, len(people))
        yield judge.law(draw(people), laws.same_law(expected), {"add_for_replace": laws.same_law(half)})
        yield judge.audit(draw(people), draw(other), eps)
        yield judge.repeatable(draw(people, 20))

    return first_that_fails(judged())


def t10(answers, v):
    def judged():
        for eps, k, total in ((1.0, 3, 1.5), (0.5, 40, 9.0), (1.0, 200, 150.0), (0.1, 100, 4.0)):
            yield judge.exact(
                answers.call("optimal_delta", eps, k, total), numbers.optimal_delta(eps, k, total), 1e-6, absolute=1e-13
            )
        yield judge.exact(answers.call("optimal_delta", 0.3, 4, 1.2), 0.0, absolute=1e-12)
        for eps, delta, most in ((1.0, v.delta, numbers.FIRST_FAILURE_MAX), (1.0, v.delta, 50)):
            right = numbers.first_failure(eps, delta, most)
            causes = {"validity_limit": math.floor(8 * math.log(1 / delta)) + 1}
            if right:
                causes["one_early"] = right - 1
            yield judge.exact(answers.call("first_failure", eps, delta, most), right, causes=causes)

    return first_that_fails(judged())
