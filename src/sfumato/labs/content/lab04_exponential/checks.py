"""Judges of lab 4. A law is drawn 2000 times; parameters are chosen where known mistakes are far apart."""

import itertools
import math
from functools import partial

import numpy as np

from sfumato.labs import judge, laws
from sfumato.labs.content.lab04_exponential import numbers
from sfumato.labs.verdict import PASSED, Verdict

DRAWS = 2000


def scores_of(d, domain, utility):
    held = np.array([d.count(one) for one in domain], dtype=float)
    most = max((d.count(one) for one in set(d)), default=1)
    return {"count": held, "ratio": held / most, "hundredth": held / 100, "square": held**2}[utility]


def crowd(v, *held):
    """A made-up table: so many people for each of the first values of the domain, and the domain itself."""
    domain = list(numbers.DOMAINS[v.column])[: len(held)]
    return [one for one, many in zip(domain, held, strict=True) for _ in range(many)], domain


def named_law(values, scores, du, eps, **others):
    """The law of the mechanism, and the laws that mistakes give."""
    right = laws.categories(values, numbers.probabilities(scores, du, eps))
    flat = np.full(len(values), 1 / len(values))
    causes = {
        "no_half": laws.categories(values, numbers.probabilities(scores, du, 2 * eps)),
        "uniform_choice": laws.categories(values, flat),
    }
    if du != 1:
        causes["du_ignored"] = laws.categories(values, numbers.probabilities(scores, 1, eps))
    causes.update({code: laws.categories(values, chances) for code, chances in others.items()})
    return right, causes


def judged(answers, function, arguments, law, n=DRAWS):
    def draw(seed, n=n):
        return answers.draw(function, *arguments, n=n, seed=seed)

    right, causes = law
    return judge.all_of(judge.law(draw, right, causes), lambda: judge.repeatable(partial(draw, n=20)))


def t1(answers, v):
    own, domain = numbers.column(v), list(numbers.DOMAINS[v.column])
    small = ["b", "a", "c", "b", "b", "a"]
    verdicts = []
    for d, values in ((small, ["a", "b", "c", "absent"]), (own, [*domain, "absent"]), ([], ["a"])):
        for r in values:
            held, most = d.count(r), max((d.count(one) for one in set(d)), default=1)
            verdicts += [
                judge.exact(answers.call("utility_count", d, r), held),
                judge.exact(
                    answers.call("utility_ratio", d, r),
                    held / most,
                    causes={"share_not_ratio": held / len(d)} if d else None,
                ),
                judge.exact(answers.call("utility_hundredth", d, r), held / 100),
            ]
            if not all(verdict.passed for verdict in verdicts[-3:]):
                return judge.all_of(*verdicts)
    return PASSED


def t2(answers, v):
    argued = [
        judge.exact(answers.call("sensitivity", "count"), 1),
        judge.exact(answers.call("sensitivity", "ratio"), 1, causes={"ratio_in_data": 1 / v.rows}),
        judge.exact(answers.call("sensitivity", "hundredth"), 0.01, causes={"hundredth_one": 1}),
    ]
    searched = [
        judge.exact(answers.call("search_sensitivity", utility, domain, n), expected)
        for domain, n in ((["a", "b"], 3), (["x", "y", "z"], 2), (["x", "y"], 5))
        for utility, expected in (("count", 1), ("ratio", 1), ("hundredth", 0.01), ("square", 2 * n - 1))
    ]
    return judge.all_of(*argued, *searched)


def t3(answers, v):
    cases = (
        ([3.0, 1.0, 0.0], 1, 1.0),
        ([0.2, 0.9, 0.4, 0.4], 0.5, 0.7),
        ([1e6, 1e6 - 3, 0.0], 1, 1.0),
        ([-1e6, -1e6 - 2], 2, 3.0),
        ([7.0, 7.0, 7.0, 7.0, 7.0], 1, 0.1),
        (np.asarray(scores_of(numbers.column(v), numbers.DOMAINS[v.column], "count")).tolist(), 1, v.eps),
    )
    for scores, du, eps in cases:
        got = answers.call("exp_probs", scores, du, eps)
        exponents = eps * np.asarray(scores) / (2 * du)
        causes = {"no_half": numbers.probabilities(scores, du, 2 * eps)}
        if exponents.max() < 600:
            causes["not_normalised"] = np.exp(exponents)
        listed = got if isinstance(got, list | tuple | np.ndarray) else []
        if any(isinstance(one, float) and not math.isfinite(one) for one in np.ravel(np.asarray(listed)).tolist()):
            return Verdict(False, "overflow", {"largest": float(max(map(abs, scores)))})
        verdict = judge.exact(got, numbers.probabilities(scores, du, eps), causes=causes)
        if not verdict.passed:
            return verdict
    return PASSED


def t4(answers, v):
    verdicts = []
    for held, utility, du, eps in (((6, 4, 2, 1, 0), "count", 1, 1.0), ((3, 2, 1, 0), "square", 5, 1.6)):
        d, domain = crowd(v, *held)
        scores = scores_of(d, domain, utility)
        inside = numbers.probabilities(np.where(scores > 0, scores, -1e9), du, eps)
        law = named_law(domain, scores, du, eps, range_from_data=inside)
        verdicts.append(judged(answers, "exp_mech", (d, domain, utility, du, eps), law))
        if not verdicts[-1].passed:
            return verdicts[-1]
    return judge.all_of(*verdicts)


def t5(answers, v):
    own, domain = numbers.column(v), list(numbers.DOMAINS[v.column])
    verdicts = []
    for utility, du, eps in (("ratio", 1, 1.0), ("hundredth", 1, 1.0), ("count", 1, v.eps), ("count", 2, 0.3)):
        scores = scores_of(own, domain, utility)
        verdicts.append(
            judge.exact(
                answers.call("chance_best", own, domain, utility, du, eps),
                numbers.probabilities(scores, du, eps).max(),
                causes={"no_half": numbers.probabilities(scores, du, 2 * eps).max()},
            )
        )
    true = {"count": 1, "ratio": 1, "hundredth": 0.01}
    for utility, du, eps in (("ratio", 1, 1.0), ("hundredth", 1, 1.0), ("hundredth", 0.01, v.eps), ("count", 4, v.eps)):
        wanted = eps * true[utility] / du
        verdicts.append(
            judge.exact(
                answers.call("effective_eps", utility, du, eps),
                wanted,
                causes={} if wanted == eps else {"promised_not_real": eps, "upside_down": eps * du / true[utility]},
            )
        )
    failed = judge.all_of(*verdicts)
    return judge.all_of(failed, _tally(answers, v)) if failed.passed else failed


def _tally(answers, v):
    d, domain = crowd(v, 5, 3, 1, 0)
    got = answers.call("tally", d, domain, "count", 1, 0.8, 300, seed=judge.seeds()[0])
    if not isinstance(got, dict):
        return Verdict(False, "wrong_type", {"got": type(got).__name__, "expected": "dict"})
    few = answers.call("tally", d, domain, "count", 1, 0.8, 2, seed=judge.seeds()[0])
    if set(got) != set(domain) or set(few) != set(domain):
        return Verdict(False, "tally_keys", {"got": min(len(got), len(few)), "expected": len(domain)})
    if sum(got.values()) != 300:
        return Verdict(False, "tally_total", {"got": sum(got.values()), "expected": 300})

    def draw(seed):
        made = answers.call("tally", d, domain, "count", 1, 0.8, DRAWS, seed=seed)
        return np.repeat(np.array(domain), [int(made[one]) for one in domain])

    return judge.law(draw, *named_law(domain, scores_of(d, domain, "count"), 1, 0.8))


def t6(answers, v):
    verdicts = []
    for du, eps, size, t in ((1, v.eps, len(numbers.DOMAINS[v.column]), 3.0), (0.5, 0.4, 10, 0.0), (30, 2.0, 7, 1.5)):
        right = 2 * du / eps * (math.log(size) + t)
        verdicts.append(
            judge.exact(
                answers.call("error_bound", du, eps, size, t),
                right,
                causes={
                    "bound_no_two": right / 2,
                    "bound_log10": 2 * du / eps * (math.log10(size) + t),
                    "bound_log2": 2 * du / eps * (math.log2(size) + t),
                },
            )
        )
    if not judge.all_of(*verdicts).passed:
        return judge.all_of(*verdicts)
    # One value is held by 24 people and the others by nobody, so a wrong value misses by exactly 24.
    d, domain = crowd(v, 24, 0, 0, 0, 0, 0)
    t = 1.0
    eps = 2 * (math.log(6) + t) / 24 * (1 + 1e-9)
    chance = 1 - float(numbers.probabilities(scores_of(d, domain, "count"), 1, eps)[0])

    def draw(seed):
        return answers.draw("exceeds", d, domain, "count", 1, eps, t, 1, n=2 * DRAWS, seed=seed)

    law = laws.binomial(chance)
    causes = {"complement": laws.binomial(1 - chance), "no_half": laws.binomial(_doubled(d, domain, eps))}
    share = answers.call("exceeds", d, domain, "count", 1, eps, t, 400, seed=judge.seeds()[0])
    never = answers.call("exceeds", d, domain, "count", 1, eps / 3, t, 400, seed=judge.seeds()[0])
    return judge.all_of(
        judge.law(draw, law, causes),
        judge.between(share, chance - 6 * math.sqrt(chance / 400), chance + 6 * math.sqrt(chance / 400)),
        judge.exact(never, 0.0),
    )


def _doubled(d, domain, eps):
    return 1 - float(numbers.probabilities(scores_of(d, domain, "count"), 1, 2 * eps)[0])


def t7(answers, v):
    named = numbers.bids(v)
    prices = list(v.prices)
    verdicts = [
        judge.exact(
            answers.call("revenue", named, price),
            price * sum(bid >= price for bid in named),
            causes={
                "strictly_more": price * sum(bid > price for bid in named),
                "revenue_of_bids": sum(bid for bid in named if bid >= price),
            },
        )
        for price in prices
    ]
    verdicts.append(judge.exact(answers.call("revenue", [prices[0], prices[1]], prices[0]), 2 * prices[0]))
    verdicts.append(
        judge.exact(
            answers.call("revenue_sensitivity", prices),
            max(prices),
            causes={"price_one": 1, "price_range": max(prices) - min(prices)},
        )
    )
    if not judge.all_of(*verdicts).passed:
        return judge.all_of(*verdicts)
    few = [price for price, many in zip(prices, itertools.cycle((2, 1, 3)), strict=False) for _ in range(many)]
    scores = [price * sum(bid >= price for bid in few) for price in prices]
    return judged(answers, "private_price", (few, prices, 2.0), named_law(prices, scores, max(prices), 2.0))


def quantile_scores(values, q, grid):
    wanted = q * len(values)
    below = [sum(value < x for value in values) for x in grid]
    up_to = [sum(value <= x for value in values) for x in grid]
    return [-max(low - wanted, wanted - high, 0.0) for low, high in zip(below, up_to, strict=True)]


def t8(answers, v):
    values, grid = [20, 20, 30, 30, 30, 41, 50, 62], [18, 20, 25, 30, 41, 55, 70]
    verdicts = []
    for q in sorted({0.5, 0.2, v.quantile}):
        right = quantile_scores(values, q, grid)
        got = [answers.call("quantile_score", values, q, x) for x in grid]
        plain = [-abs(sum(value < x for value in values) - q * len(values)) for x in grid]
        verdicts.append(judge.exact(got, right, causes={"quantile_ties": plain, "quantile_sign": [-s for s in right]}))
        verdicts.append(judge.exact(answers.call("quantile_sensitivity", q), max(q, 1 - q), causes={"quantile_one": 1}))
    if not judge.all_of(*verdicts).passed:
        return judge.all_of(*verdicts)
    q, eps = v.quantile, 0.6
    law = named_law(grid, quantile_scores(values, q, grid), max(q, 1 - q), eps)
    return judged(answers, "private_quantile", (values, q, grid, eps), law)


def t9(answers, v):
    scores, du, eps = [6.0, 4.0, 3.0, 3.0, 0.0], 1.5, 1.2
    indices = list(range(len(scores)))
    exponential = numbers.probabilities(scores, du, eps)
    flipped = numbers.permute_and_flip_chances(scores, du, eps)
    # One leader before fifteen equal values: there Laplace noise gives another law than Gumbel noise.
    wide = [4.0] + [0.0] * 15
    both = [
        partial(judged, answers, "gumbel_max", (wide, 1, 1.0), named_law(list(range(16)), wide, 1, 1.0), 4 * DRAWS),
        partial(
            judged,
            answers,
            "gumbel_max",
            (scores, du, eps),
            named_law(indices, scores, du, eps, flip_law=flipped),
            4 * DRAWS,
        ),
        partial(
            judged,
            answers,
            "permute_and_flip",
            (scores, du, eps),
            (
                laws.categories(indices, flipped),
                {
                    "exponential_law": laws.categories(indices, exponential),
                    "no_half": laws.categories(indices, numbers.permute_and_flip_chances(scores, du, 2 * eps)),
                },
            ),
            4 * DRAWS,
        ),
    ]
    return judge.all_of(*both)


def t10(answers, v):
    d, domain = crowd(v, 5, 3, 0, 1, 0)
    found = [one for one in domain if one in d]
    scores = scores_of(d, found, "ratio")
    caught = [
        judge.exact(bool(answers.call("attack", outputs, domain[3])), expected)
        for outputs, expected in (
            ([domain[0], domain[3], domain[1]], True),
            ([domain[0], domain[1]], False),
            ([domain[3]], True),
            ([], False),
        )
    ]
    chances = []
    for n, eps in ((1, 2.0), (20, 1.0), (60, v.eps)):
        p = float(numbers.probabilities(scores, 1, eps)[found.index(domain[3])])
        q = float(numbers.probabilities(scores_of(d, domain, "ratio"), 1, eps)[3])
        causes = {"leak_public_range": 1 - (1 - q) ** n}
        if n > 1:
            causes["leak_added"] = n * p
        chances.append(
            judge.exact(answers.call("leak_chance", d, domain[3], "ratio", 1, eps, n), 1 - (1 - p) ** n, causes=causes)
        )
    exact = judge.all_of(*caught, *chances)
    if not exact.passed:
        return exact

    def draw(seed, n=DRAWS):
        return answers.draw("leaky_mech", d, "ratio", 1, 2.0, n=n, seed=seed)

    seen = set(draw(judge.seeds()[0]).ravel().tolist())
    if seen & (set(domain) - set(found)):
        return Verdict(False, "not_leaky", {"got": sorted(seen - set(found))[0]})
    right = laws.categories(found, numbers.probabilities(scores, 1, 2.0))
    doubled = laws.categories(found, numbers.probabilities(scores, 1, 4.0))
    return judge.all_of(judge.law(draw, right, {"no_half": doubled}), lambda: judge.repeatable(partial(draw, n=20)))
