"""Wrong answers that the judges of lab 4 must fail, and other right ones that they must pass."""


def _defined(*lines):
    return "\n".join(lines) + "\n"


MUTANTS = {
    "t1": {
        "counts_found_only": _defined(
            "def utility_count(d, r):",
            "    return int(pd.Series(d).value_counts()[r])",
        ),
        "share": _defined(
            "def utility_ratio(d, r):",
            "    return d.count(r) / len(d) if d else 0.0",
        ),
        "whole_hundreds": _defined(
            "def utility_hundredth(d, r):",
            "    return d.count(r) // 100",
        ),
        "times_hundred": _defined(
            "def utility_hundredth(d, r):",
            "    return d.count(r) * 100",
        ),
        "empty_divides": _defined(
            "def utility_ratio(d, r):",
            "    return d.count(r) / max(d.count(one) for one in set(d))",
        ),
    },
    "t2": {
        "hundredth_is_one": _defined(
            "def sensitivity(utility):",
            "    return 1",
        ),
        "ratio_small": _defined(
            "def sensitivity(utility):",
            "    return {'count': 1, 'ratio': 0.5, 'hundredth': 0.01}[utility]",
        ),
        "one_size": _defined(
            "def search_sensitivity(utility, R, n):",
            "    u, worst = UTILITIES[utility], 0.0",
            "    for table in itertools.product(R, repeat=n):",
            "        for i in range(n):",
            "            smaller = list(table[:i] + table[i + 1 :])",
            "            worst = max([worst] + [abs(u(list(table), r) - u(smaller, r)) for r in R])",
            "    return worst",
        ),
        "no_absolute": _defined(
            "def search_sensitivity(utility, R, n):",
            "    u, worst = UTILITIES[utility], 0.0",
            "    for size in range(1, n + 1):",
            "        for table in itertools.product(R, repeat=size):",
            "            for i in range(size):",
            "                smaller = list(table[:i] + table[i + 1 :])",
            "                worst = max([worst] + [u(smaller, r) - u(list(table), r) for r in R])",
            "    return worst",
        ),
        "mean_change": _defined(
            "def search_sensitivity(utility, R, n):",
            "    u, seen = UTILITIES[utility], []",
            "    for size in range(1, n + 1):",
            "        for table in itertools.product(R, repeat=size):",
            "            for i in range(size):",
            "                smaller = list(table[:i] + table[i + 1 :])",
            "                seen += [abs(u(list(table), r) - u(smaller, r)) for r in R]",
            "    return sum(seen) / len(seen)",
        ),
        "constants": _defined(
            "def search_sensitivity(utility, R, n):",
            "    return {'count': 1, 'ratio': 1, 'hundredth': 0.01, 'square': 1}[utility]",
        ),
    },
    "t3": {
        "no_half": _defined(
            "def exp_probs(scores, du, eps):",
            "    e = eps * np.asarray(scores, dtype=float) / du",
            "    w = np.exp(e - e.max())",
            "    return w / w.sum()",
        ),
        "not_normalised": _defined(
            "def exp_probs(scores, du, eps):",
            "    return np.exp(eps * np.asarray(scores, dtype=float) / (2 * du))",
        ),
        "overflows": _defined(
            "def exp_probs(scores, du, eps):",
            "    with np.errstate(all='ignore'):",
            "        w = np.exp(eps * np.asarray(scores, dtype=float) / (2 * du))",
            "        return w / w.sum()",
        ),
        "du_forgotten": _defined(
            "def exp_probs(scores, du, eps):",
            "    e = eps * np.asarray(scores, dtype=float) / 2",
            "    w = np.exp(e - e.max())",
            "    return w / w.sum()",
        ),
        "proportional_to_score": _defined(
            "def exp_probs(scores, du, eps):",
            "    s = np.asarray(scores, dtype=float)",
            "    return s / s.sum()",
        ),
        "euclidean_norm": _defined(
            "def exp_probs(scores, du, eps):",
            "    e = eps * np.asarray(scores, dtype=float) / (2 * du)",
            "    w = np.exp(e - e.max())",
            "    return w / np.linalg.norm(w)",
        ),
    },
    "t4": {
        "argmax": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    return max(R, key=lambda r: UTILITIES[utility](d, r))",
        ),
        "uniform": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    return R[rng.integers(len(R))]",
        ),
        "no_half": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], du, 2 * eps)",
            "    return R[rng.choice(len(R), p=p)]",
        ),
        "du_is_one": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], 1, eps)",
            "    return R[rng.choice(len(R), p=p)]",
        ),
        "range_from_data": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    R = sorted(set(d))",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], du, eps)",
            "    return R[rng.choice(len(R), p=p)]",
        ),
        "constant_seed": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    rng = np.random.default_rng(1)",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], du, eps)",
            "    return R[rng.choice(len(R), p=p)]",
        ),
        "own_generator": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], du, eps)",
            "    return R[np.random.default_rng().choice(len(R), p=p)]",
        ),
        "always_count": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    p = exp_probs([utility_count(d, r) for r in R], du, eps)",
            "    return R[rng.choice(len(R), p=p)]",
        ),
        "index": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], du, eps)",
            "    return int(rng.choice(len(R), p=p))",
        ),
    },
    "t5": {
        "only_found": _defined(
            "def tally(d, R, utility, du, eps, n, rng):",
            "    runs = [exp_mech(d, R, utility, du, eps, rng) for _ in range(n)]",
            "    return {r: runs.count(r) for r in set(runs)}",
        ),
        "shares": _defined(
            "def tally(d, R, utility, du, eps, n, rng):",
            "    runs = [exp_mech(d, R, utility, du, eps, rng) for _ in range(n)]",
            "    return {r: runs.count(r) / n for r in R}",
        ),
        "one_run_repeated": _defined(
            "def tally(d, R, utility, du, eps, n, rng):",
            "    run = exp_mech(d, R, utility, du, eps, rng)",
            "    return {r: n * (r == run) for r in R}",
        ),
        "uniform": _defined(
            "def tally(d, R, utility, du, eps, n, rng):",
            "    runs = [R[rng.integers(len(R))] for _ in range(n)]",
            "    return {r: runs.count(r) for r in R}",
        ),
        "budget_divided": _defined(
            "def tally(d, R, utility, du, eps, n, rng):",
            "    runs = [exp_mech(d, R, utility, du, eps / n, rng) for _ in range(n)]",
            "    return {r: runs.count(r) for r in R}",
        ),
        "promised": _defined(
            "def effective_eps(utility, du, eps):",
            "    return eps",
        ),
        "upside_down": _defined(
            "def effective_eps(utility, du, eps):",
            "    return eps * du / sensitivity(utility)",
        ),
        "best_score": _defined(
            "def chance_best(d, R, utility, du, eps):",
            "    return max(UTILITIES[utility](d, r) for r in R) / sum(UTILITIES[utility](d, r) for r in R)",
        ),
    },
    "t6": {
        "no_two": _defined(
            "def error_bound(du, eps, size, t):",
            "    return du / eps * (math.log(size) + t)",
        ),
        "log10": _defined(
            "def error_bound(du, eps, size, t):",
            "    return 2 * du / eps * (math.log10(size) + t)",
        ),
        "log2": _defined(
            "def error_bound(du, eps, size, t):",
            "    return 2 * du / eps * (math.log2(size) + t)",
        ),
        "complement": _defined(
            "def exceeds(d, R, utility, du, eps, t, n, rng):",
            "    scores = [UTILITIES[utility](d, r) for r in R]",
            "    bound = error_bound(du, eps, len(R), t)",
            "    runs = [exp_mech(d, R, utility, du, eps, rng) for _ in range(n)]",
            "    return sum(max(scores) - UTILITIES[utility](d, r) < bound for r in runs) / n",
        ),
        "bound_itself": _defined(
            "def exceeds(d, R, utility, du, eps, t, n, rng):",
            "    return math.exp(-t)",
        ),
        "count_not_share": _defined(
            "def exceeds(d, R, utility, du, eps, t, n, rng):",
            "    scores = [UTILITIES[utility](d, r) for r in R]",
            "    bound = error_bound(du, eps, len(R), t)",
            "    runs = [exp_mech(d, R, utility, du, eps, rng) for _ in range(n)]",
            "    return sum(max(scores) - UTILITIES[utility](d, r) >= bound for r in runs)",
        ),
        "constant_seed": _defined(
            "def exceeds(d, R, utility, du, eps, t, n, rng):",
            "    rng = np.random.default_rng(3)",
            "    scores = [UTILITIES[utility](d, r) for r in R]",
            "    bound = error_bound(du, eps, len(R), t)",
            "    runs = [exp_mech(d, R, utility, du, eps, rng) for _ in range(n)]",
            "    return sum(max(scores) - UTILITIES[utility](d, r) >= bound for r in runs) / n",
        ),
        "doubled_epsilon": _defined(
            "def exceeds(d, R, utility, du, eps, t, n, rng):",
            "    scores = [UTILITIES[utility](d, r) for r in R]",
            "    bound = error_bound(du, eps, len(R), t)",
            "    runs = [exp_mech(d, R, utility, du, 2 * eps, rng) for _ in range(n)]",
            "    return sum(max(scores) - UTILITIES[utility](d, r) >= bound for r in runs) / n",
        ),
    },
    "t7": {
        "strictly_more": _defined(
            "def revenue(bids, price):",
            "    return price * sum(bid > price for bid in bids)",
        ),
        "sum_of_bids": _defined(
            "def revenue(bids, price):",
            "    return sum(bid for bid in bids if bid >= price)",
        ),
        "sensitivity_one": _defined(
            "def revenue_sensitivity(prices):",
            "    return 1",
        ),
        "noise_on_price": _defined(
            "def private_price(bids, prices, eps, rng):",
            "    best = max(prices, key=lambda price: revenue(bids, price))",
            "    return best + rng.laplace(0, max(prices) / eps)",
        ),
        "argmax": _defined(
            "def private_price(bids, prices, eps, rng):",
            "    return max(prices, key=lambda price: revenue(bids, price))",
        ),
        "du_is_one": _defined(
            "def private_price(bids, prices, eps, rng):",
            "    p = exp_probs([revenue(bids, price) for price in prices], 1, eps)",
            "    return prices[rng.choice(len(prices), p=p)]",
        ),
        "no_half": _defined(
            "def private_price(bids, prices, eps, rng):",
            "    p = exp_probs([revenue(bids, price) for price in prices], max(prices), 2 * eps)",
            "    return prices[rng.choice(len(prices), p=p)]",
        ),
        "du_from_data": _defined(
            "def private_price(bids, prices, eps, rng):",
            "    scores = [revenue(bids, price) for price in prices]",
            "    p = exp_probs(scores, max(scores), eps)",
            "    return prices[rng.choice(len(prices), p=p)]",
        ),
    },
    "t8": {
        "ties": _defined(
            "def quantile_score(values, q, x):",
            "    return -abs(sum(value < x for value in values) - q * len(values))",
        ),
        "sign": _defined(
            "def quantile_score(values, q, x):",
            "    wanted = q * len(values)",
            "    below = sum(value < x for value in values)",
            "    up_to = sum(value <= x for value in values)",
            "    return max(below - wanted, wanted - up_to, 0.0)",
        ),
        "distance_in_years": _defined(
            "def quantile_score(values, q, x):",
            "    return -abs(x - np.quantile(values, q))",
        ),
        "sensitivity_half": _defined(
            "def quantile_sensitivity(q):",
            "    return 0.5",
        ),
        "exact": _defined(
            "def private_quantile(values, q, grid, eps, rng):",
            "    return min(grid, key=lambda x: abs(x - np.quantile(values, q)))",
        ),
        "laplace_on_value": _defined(
            "def private_quantile(values, q, grid, eps, rng):",
            "    return np.quantile(values, q) + rng.laplace(0, 1 / eps)",
        ),
        "grid_from_data": _defined(
            "def private_quantile(values, q, grid, eps, rng):",
            "    grid = sorted(set(values))",
            "    p = exp_probs([quantile_score(values, q, x) for x in grid], quantile_sensitivity(q), eps)",
            "    return grid[rng.choice(len(grid), p=p)]",
        ),
        "no_half": _defined(
            "def private_quantile(values, q, grid, eps, rng):",
            "    p = exp_probs([quantile_score(values, q, x) for x in grid], quantile_sensitivity(q), 2 * eps)",
            "    return grid[rng.choice(len(grid), p=p)]",
        ),
    },
    "t9": {
        "no_half": _defined(
            "def gumbel_max(scores, du, eps, rng):",
            "    e = eps * np.asarray(scores, dtype=float) / du",
            "    return int(np.argmax(e + rng.gumbel(size=len(e))))",
        ),
        "laplace_noise": _defined(
            "def gumbel_max(scores, du, eps, rng):",
            "    e = eps * np.asarray(scores, dtype=float) / (2 * du)",
            "    return int(np.argmax(e + rng.laplace(size=len(e))))",
        ),
        "one_noise": _defined(
            "def gumbel_max(scores, du, eps, rng):",
            "    e = eps * np.asarray(scores, dtype=float) / (2 * du)",
            "    return int(np.argmax(e + rng.gumbel()))",
        ),
        "gumbel_minus": _defined(
            "def gumbel_max(scores, du, eps, rng):",
            "    e = eps * np.asarray(scores, dtype=float) / (2 * du)",
            "    return int(np.argmax(e - rng.gumbel(size=len(e))))",
        ),
        "no_permutation": _defined(
            "def permute_and_flip(scores, du, eps, rng):",
            "    best = max(scores)",
            "    for i in range(len(scores)):",
            "        if rng.random() < math.exp(eps * (scores[i] - best) / (2 * du)):",
            "            return i",
        ),
        "flip_no_half": _defined(
            "def permute_and_flip(scores, du, eps, rng):",
            "    best = max(scores)",
            "    for i in rng.permutation(len(scores)):",
            "        if rng.random() < math.exp(eps * (scores[i] - best) / du):",
            "            return int(i)",
        ),
        "gumbel_again": _defined(
            "def permute_and_flip(scores, du, eps, rng):",
            "    return gumbel_max(scores, du, eps, rng)",
        ),
        "with_replacement": _defined(
            "def permute_and_flip(scores, du, eps, rng):",
            "    best = max(scores)",
            "    while True:",
            "        i = rng.integers(len(scores))",
            "        if rng.random() < math.exp(eps * (scores[i] - best) / (2 * du)):",
            "            return int(i)",
        ),
    },
    "t10": {
        "public_range": _defined(
            "def leaky_mech(d, utility, du, eps, rng):",
            "    schools, ties = ['1st-4th', '5th-6th', '9th'], ['Married-AF-spouse', 'Married-spouse-absent']",
            "    R = sorted({*d, *(ties if d[0].startswith('Married') else schools)})",
            "    return R[rng.choice(len(R), p=exp_probs([UTILITIES[utility](d, r) for r in R], du, eps))]",
        ),
        "always_first": _defined(
            "def leaky_mech(d, utility, du, eps, rng):",
            "    return max(set(d), key=d.count)",
        ),
        "uniform": _defined(
            "def leaky_mech(d, utility, du, eps, rng):",
            "    found = sorted(set(d))",
            "    return found[rng.integers(len(found))]",
        ),
        "constant_seed": _defined(
            "def leaky_mech(d, utility, du, eps, rng):",
            "    found, rng = sorted(set(d)), np.random.default_rng(5)",
            "    return found[rng.choice(len(found), p=exp_probs([UTILITIES[utility](d, r) for r in found], du, eps))]",
        ),
        "no_half": _defined(
            "def leaky_mech(d, utility, du, eps, rng):",
            "    found = sorted(set(d))",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in found], du, 2 * eps)",
            "    return found[rng.choice(len(found), p=p)]",
        ),
        "majority_vote": _defined(
            "def attack(outputs, value):",
            "    return outputs.count(value) > len(outputs) / 2",
        ),
        "all_of_them": _defined(
            "def attack(outputs, value):",
            "    return all(output == value for output in outputs)",
        ),
        "chances_added": _defined(
            "def leak_chance(d, value, utility, du, eps, n):",
            "    found = sorted(set(d))",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in found], du, eps)[found.index(value)]",
            "    return float(n * p)",
        ),
    },
}

OTHERS = {
    "t1": {
        "pandas": _defined(
            "def utility_count(d, r):",
            "    return int((pd.Series(d, dtype=object) == r).sum())",
            "def utility_ratio(d, r):",
            "    counts = pd.Series(d, dtype=object).value_counts()",
            "    return counts.get(r, 0) / counts.max() if len(counts) else 0",
            "def utility_hundredth(d, r):",
            "    return 0.01 * sum(1 for value in d if value == r)",
        ),
    },
    "t2": {
        "by_counts": _defined(
            "def search_sensitivity(utility, R, n):",
            "    u, worst = UTILITIES[utility], 0.0",
            "    for size in range(0, n):",
            "        for table in itertools.combinations_with_replacement(R, size):",
            "            for new in R:",
            "                for r in R:",
            "                    change = u(list(table) + [new], r) - u(list(table), r)",
            "                    worst = max(worst, abs(change))",
            "    return worst",
        ),
    },
    "t3": {
        "plain_python": _defined(
            "def exp_probs(scores, du, eps):",
            "    top = max(scores)",
            "    w = [math.exp(eps * (s - top) / (2 * du)) for s in scores]",
            "    return [x / sum(w) for x in w]",
        ),
        "log_sum": _defined(
            "def exp_probs(scores, du, eps):",
            "    e = (eps / (2 * du)) * np.array(scores, dtype=float)",
            "    return np.exp(e - np.logaddexp.reduce(e))",
        ),
    },
    "t4": {
        "inverse_cdf": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in R], du, eps)",
            "    return R[min(int(np.searchsorted(np.cumsum(p), rng.random(), side='right')), len(R) - 1)]",
        ),
        "gumbel": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    e = [eps * UTILITIES[utility](d, r) / (2 * du) for r in R]",
            "    return R[int(np.argmax(np.array(e) + rng.gumbel(size=len(R))))]",
        ),
        "choice_of_names": _defined(
            "def exp_mech(d, R, utility, du, eps, rng):",
            "    return rng.choice(R, p=exp_probs([UTILITIES[utility](d, r) for r in R], du, eps))",
        ),
    },
    "t5": {
        "run_by_run": _defined(
            "def tally(d, R, utility, du, eps, n, rng):",
            "    counts = {r: 0 for r in R}",
            "    for _ in range(n):",
            "        counts[exp_mech(d, R, utility, du, eps, rng)] += 1",
            "    return counts",
        ),
    },
    "t6": {
        "run_by_run": _defined(
            "def exceeds(d, R, utility, du, eps, t, n, rng):",
            "    best = max(UTILITIES[utility](d, r) for r in R)",
            "    missed = 0",
            "    for _ in range(n):",
            "        gap = best - UTILITIES[utility](d, exp_mech(d, R, utility, du, eps, rng))",
            "        missed += gap >= error_bound(du, eps, len(R), t)",
            "    return missed / n",
        ),
    },
    "t7": {
        "gumbel": _defined(
            "def private_price(bids, prices, eps, rng):",
            "    e = np.array([eps * revenue(bids, price) / (2 * max(prices)) for price in prices])",
            "    return prices[int(np.argmax(e + rng.gumbel(size=len(prices))))]",
        ),
    },
    "t8": {
        "sorted": _defined(
            "def quantile_score(values, q, x):",
            "    ordered, wanted = np.sort(values), q * len(values)",
            "    low, high = np.searchsorted(ordered, x, 'left'), np.searchsorted(ordered, x, 'right')",
            "    return -float(np.clip(wanted, low, high) != wanted) * abs(float(np.clip(wanted, low, high)) - wanted)",
        ),
    },
    "t9": {
        "own_gumbel_and_exponential_noise": _defined(
            "def gumbel_max(scores, du, eps, rng):",
            "    e = [eps * s / (2 * du) - math.log(-math.log(1 - rng.random())) for s in scores]",
            "    return e.index(max(e))",
            "def permute_and_flip(scores, du, eps, rng):",
            "    e = np.array(scores) + rng.exponential(2 * du / eps, size=len(scores))",
            "    return int(np.argmax(e))",
        ),
    },
    "t10": {
        "inverse_cdf": _defined(
            "def leaky_mech(d, utility, du, eps, rng):",
            "    found = list(dict.fromkeys(d))",
            "    p = exp_probs([UTILITIES[utility](d, r) for r in found], du, eps)",
            "    return found[min(int(np.searchsorted(np.cumsum(p), rng.random(), side='right')), len(found) - 1)]",
        ),
    },
}

NAMED = {
    ("t1", "share"): "share_not_ratio",
    ("t2", "hundredth_is_one"): "hundredth_one",
    ("t3", "no_half"): "no_half",
    ("t3", "not_normalised"): "not_normalised",
    ("t3", "overflows"): "overflow",
    ("t4", "argmax"): "not_random",
    ("t4", "uniform"): "uniform_choice",
    ("t4", "no_half"): "no_half",
    ("t4", "du_is_one"): "du_ignored",
    ("t4", "range_from_data"): "range_from_data",
    ("t4", "constant_seed"): "not_random",
    ("t5", "only_found"): "tally_keys",
    ("t5", "promised"): "promised_not_real",
    ("t6", "no_two"): "bound_no_two",
    ("t6", "complement"): "complement",
    ("t7", "strictly_more"): "strictly_more",
    ("t7", "sensitivity_one"): "price_one",
    ("t8", "ties"): "quantile_ties",
    ("t9", "no_half"): "no_half",
    ("t9", "gumbel_again"): "exponential_law",
    ("t10", "public_range"): "not_leaky",
    ("t10", "chances_added"): "leak_added",
}
