"""What a right answer to each task is."""

import math
from functools import cache, partial

import numpy as np
from scipy import stats

from sfumato.labs import judge, laws
from sfumato.labs.answers import Table
from sfumato.labs.content.lab01_response.numbers import DOMAINS, tables, truth
from sfumato.labs.verdict import PASSED, StudentError, Verdict

DRAWS = 10_000


def shaped(result, *shape):
    """A verdict on the shape of an array, before anything else is asked of it."""
    got = np.shape(result)
    if got == shape:
        return PASSED
    return Verdict(
        False, "wrong_shape", {"got": " × ".join(map(str, got)) or "1", "expected": " × ".join(map(str, shape))}
    )


def t1(answers, v):
    files = tables(v, "en")
    small, full = truth(v, files["f1000"]), truth(v, files["main"])
    bits = np.asarray(answers.call("true_bits", Table("f1000")))
    verdict = shaped(bits, 1000)
    if not verdict.passed:
        return verdict
    wrong = int(np.sum(bits != np.array(small)))
    if wrong:
        code = "turned" if wrong == 1000 else "rows_differ"
        return Verdict(False, code, {"wrong": wrong})
    shares = [answers.call("true_share", Table(key)) for key in ("main", "f100")]
    right = [np.mean(full), np.mean(full[:100])]
    return judge.exact(
        shares, right, causes={"in_percent": [100 * one for one in right], "counts": [np.sum(full), np.sum(full[:100])]}
    )


def t2(answers, v):
    chance = {0: 0.25, 1: 0.75}
    verdicts = []
    for bit in (1, 0):
        causes = {
            "truth_told": laws.binomial(bit),
            "coin_only": laws.binomial(0.5),
            "turned": laws.binomial(1 - chance[bit]),
        }
        verdicts.append(
            partial(
                judge.law,
                lambda seed, bit=bit: answers.draw("rr", bit, n=DRAWS, seed=seed),
                laws.every(coins_differ=laws.binomial(chance[bit])),
                causes,
            )
        )
    column = [1, 0, 1, 1, 0]

    @cache
    def draw(seed):
        return answers.draw("rr_column", column, n=4000, seed=seed)

    verdict = shaped(answers.call("rr_column", column, seed=judge.seeds()[0]), len(column))
    if not verdict.passed:
        return verdict
    return judge.all_of(
        *verdicts,
        lambda: judge.repeatable(lambda seed: answers.draw("rr", 1, n=20, seed=seed)),
        lambda: judge.repeatable(lambda seed: np.asarray(answers.call("rr_column", column, seed=seed))),
        lambda: judge.law(draw, laws.every(column_differs=laws.binomial([chance[bit] for bit in column]))),
        lambda: judge.law(draw, laws.every(shared_coins=laws.uncorrelated())),
    )


def t3(answers, v):
    cases = [[1, 0, 0, 1, 1], [0] * 10, [1] * 7, [1, 0, 0, 0], list(map(int, v.stream("check/t3").uniform(40) < 0.6))]
    means = [float(np.mean(case)) for case in cases]
    return judge.all_of(
        judge.exact(
            [answers.call("naive", case) for case in cases],
            means,
            causes={"counts": [float(np.sum(case)) for case in cases]},
        ),
        judge.exact(
            [answers.call("debias", case) for case in cases],
            [2 * one - 0.5 for one in means],
            causes={
                "not_corrected": means,
                "clipped": [min(1.0, max(0.0, 2 * one - 0.5)) for one in means],
                "half_corrected": [2 * one for one in means],
                "quarter_taken": [2 * (one - 0.5) for one in means],
            },
        ),
    )


def t4(answers, v):
    cases = [(0.5, 0.4), (0.2, 0.5), (4, 3), (0.25, 0.25), (0.1, -0.3)]
    right = [abs(guess - true) / true for true, guess in cases]
    verdict = judge.all_of(
        judge.exact(
            [answers.call("relative_error", *case) for case in cases],
            right,
            causes={
                "signed": [(guess - true) / true for true, guess in cases],
                "difference": [abs(guess - true) for true, guess in cases],
                "signed_difference": [true - guess for true, guess in cases],
                "in_percent": [100 * one for one in right],
                "wrong_denominator": [abs(guess - true) / abs(guess) for true, guess in cases],
            },
        ),
        judge.exact(answers.call("relative_error", 0, 0.2), float("nan")),
    )
    return verdict if not verdict.passed else file_errors(answers, v)


def file_errors(answers, v):
    """Errors of the small file: values that its own truth can give, spread as two coins spread them."""
    bits = truth(v, tables(v, "en")["f100"])
    n, ones = len(bits), sum(bits)
    share = ones / n
    counts = np.arange(n + 1)
    law = np.convolve(
        stats.binom.pmf(range(ones + 1), ones, 0.75), stats.binom.pmf(range(n - ones + 1), n - ones, 0.25)
    )
    steps = np.rint(np.abs(2 * counts / n - 0.5 - share) * 2 * n).astype(int)  # the error in units of 1 / 2n
    values, places = np.unique(steps, return_inverse=True)
    chances = np.bincount(places, law)
    first = judge.seeds()[0]
    got = laws.numbers(answers.draw("file_error", Table("f100"), n=20, seed=first))
    whole = got * share * 2 * n
    if not np.allclose(whole, np.rint(whole), atol=1e-6):
        return Verdict(False, "truth_of_another_file", {"got": float(got[0])})

    def draw(seed):
        return np.rint(laws.numbers(answers.draw("file_error", Table("f100"), n=2000, seed=seed)) * share * 2 * n)

    return judge.all_of(
        judge.repeatable(lambda seed: answers.draw("file_error", Table("f100"), n=3, seed=seed)),
        lambda: judge.law(draw, steps_law(values, chances / chances.sum())),
    )


def steps_law(values, chances):
    def test(draws):
        stray = ~np.isin(draws, values)
        if stray.any():
            return 0.0
        return laws.categories(list(values), list(chances))(draws)

    return laws.every(errors_differ=test)


def t5(answers, v):
    sizes, runs = [40, 160, 640], 300
    bits = [int(place % 10 < 6) for place in range(40)]
    bits += [int(place % 10 < 4) for place in range(120)] + [int(place % 10 < 2) for place in range(480)]
    shares = [float(np.mean(bits[:size])) for size in sizes]
    sd = np.array([math.sqrt(3 / (4 * size)) / share for size, share in zip(sizes, shares, strict=True)])
    verdict = PASSED
    for seed in judge.seeds():
        made = answers.call("error_table", bits, sizes, runs, seed=seed)
        verdict = shaped(made, len(sizes), 3)
        if not verdict.passed:
            return verdict
        made = np.asarray(made, dtype=float)
        verdict = judge.all_of(
            judge.exact(made[:, 0], np.array(sizes)),
            # Within six standard errors of what two coins give: 26 % for the mean, 33 % for the quantile.
            judge.between(made[:, 1] / (sd * math.sqrt(2 / math.pi)), 0.74, 1.26, "mean_differs"),
            judge.between(made[:, 2] / (sd * 1.96), 0.67, 1.33, "quantile_differs"),
        )
        if verdict.passed:
            break
    return judge.all_of(
        verdict,
        lambda: judge.repeatable(lambda seed: np.asarray(answers.call("error_table", bits, [40], 3, seed=seed))),
    )


def t6(answers, v):
    budgets = sorted({0.5, 2.0, v.eps})
    verdicts = []
    for eps in (2.0, 0.7):
        p = math.exp(eps) / (1 + math.exp(eps))
        for bit in (1, 0):
            chance = p if bit else 1 - p
            causes = {
                "truth_told": laws.binomial(bit),
                "always_two_coins": laws.binomial(0.75 if bit else 0.25),
                "turned": laws.binomial(1 - chance),
                "eps_halved": laws.binomial(_keep(eps / 2) if bit else 1 - _keep(eps / 2)),
            }
            verdicts.append(
                partial(
                    judge.law,
                    lambda seed, bit=bit, eps=eps: answers.draw("rr_eps", bit, eps, n=DRAWS, seed=seed),
                    laws.every(response_differs=laws.binomial(chance)),
                    causes,
                )
            )
    case = [1, 0, 0, 1, 1, 0, 0, 0]
    mean = float(np.mean(case))
    right = [(mean - (1 - _keep(eps))) / (2 * _keep(eps) - 1) for eps in budgets]
    return judge.all_of(
        *verdicts,
        lambda: judge.repeatable(lambda seed: answers.draw("rr_eps", 1, 1.0, n=20, seed=seed)),
        judge.exact(
            [answers.call("debias_eps", case, eps) for eps in budgets],
            right,
            causes={
                "not_corrected": [mean] * len(budgets),
                "always_two_coins": [2 * mean - 0.5] * len(budgets),
                "clipped": [min(1.0, max(0.0, one)) for one in right],
            },
        ),
        judge.exact(
            answers.call("eps_two_coins"),
            math.log(3),
            causes={"ratio_not_log": 3.0, "log_of_share": math.log(0.75), "one_coin": math.log(2)},
        ),
    )


def _keep(eps):
    return math.exp(eps) / (1 + math.exp(eps))


def t7(answers, v):
    cases = [(0.5, 1, 0), (v.prior, 1, 0), (v.prior, 0, 1), (0.01, 8, 2), (0.3, 0, 0), (0.3, 20, 30)]
    right = [1 / (1 + (1 - prior) / prior * 3.0 ** (no - yes)) for prior, yes, no in cases]
    rounds, people = 50, [1, 0, 1]

    @cache
    def first_rounds(seed):
        made = answers.draw("survey_rounds", people, 3, n=4000, seed=seed)
        if made.shape[1:] != (3, len(people)):
            raise StudentError(
                "wrong_shape", {"got": " × ".join(map(str, made.shape[1:])) or "1", "expected": f"3 × {len(people)}"}
            )
        return made[:, 0]

    made = np.asarray(answers.call("survey_rounds", people, rounds, seed=judge.seeds()[0]))
    verdict = judge.all_of(
        judge.exact(
            [answers.call("posterior", *case) for case in cases],
            right,
            causes={
                "always_three_quarters": [0.75] * len(cases),
                "prior_forgotten": [1 / (1 + 3.0 ** (no - yes)) for _, yes, no in cases],
                "no_ignored": [1 / (1 + (1 - prior) / prior * 3.0 ** (-yes)) for prior, yes, _ in cases],
                "odds_not_chance": [prior / (1 - prior) * 3.0 ** (yes - no) for prior, yes, no in cases],
            },
        ),
        shaped(made, rounds, len(people)),
    )
    if not verdict.passed:
        return verdict
    if np.any(made != made[0]):
        return Verdict(False, "fresh_coins", {"rounds": rounds})
    return judge.all_of(
        judge.repeatable(lambda seed: np.asarray(answers.call("survey_rounds", people, 2, seed=seed))),
        lambda: judge.law(
            first_rounds,
            laws.every(rounds_differ=laws.binomial([0.75, 0.25, 0.75])),
            {"truth_told": laws.binomial([1.0, 0.0, 1.0])},
        ),
        lambda: judge.law(first_rounds, laws.every(shared_coins=laws.uncorrelated())),
    )


def t8(answers, v):
    domain, eps = ["a", "b", "c", "d", "e"], 1.5
    k = len(domain)

    def law_of(value, keep):
        return laws.categories(domain, [keep if one == value else (1 - keep) / (k - 1) for one in domain])

    def draw(value):
        return lambda seed: answers.draw("krr", value, domain, eps, n=DRAWS, seed=seed)

    p = math.exp(eps) / (math.exp(eps) + k - 1)
    coin = math.exp(eps) / (math.exp(eps) + 1)
    causes = {
        "truth_told": law_of("b", 1.0),
        "two_values": law_of("b", coin),
        "own_value_again": law_of("b", p + (1 - p) / k),
        "uniform_choice": law_of("b", 1 / k),
    }
    verdict = judge.all_of(
        judge.law(draw("b"), laws.every(categories_differ=law_of("b", p)), causes),
        lambda: judge.law(draw("e"), laws.every(categories_differ=law_of("e", p))),
        lambda: judge.audit(draw("a"), draw("c"), eps),
        lambda: judge.repeatable(lambda seed: answers.draw("krr", "a", domain, eps, n=20, seed=seed)),
    )
    return verdict if not verdict.passed else shares_of_categories(answers, v)


def shares_of_categories(answers, v):
    values = list(DOMAINS[v.categories])
    k = len(values)
    weights = 1 + np.floor(v.stream("check/t8").uniform(k) * 9).astype(int)
    weights[1] = 0  # nobody reported it
    reports = [one for one, weight in zip(values, weights, strict=True) for _ in range(weight)]
    shares = weights / weights.sum()
    p, q = (odds / (math.exp(v.eps) + k - 1) for odds in (math.exp(v.eps), 1.0))
    right = (shares - q) / (p - q)
    got = answers.call("krr_estimate", reports, values, v.eps)
    return judge.exact(
        np.asarray(got, dtype=float) if isinstance(got, list) and len(got) == k else got,
        right,
        causes={
            "not_corrected": shares,
            "clipped": np.clip(right, 0, 1),
            "two_values": (shares - (1 - _keep(v.eps))) / (2 * _keep(v.eps) - 1),
            "order_of_counts": np.sort(right)[::-1],
        },
    )
