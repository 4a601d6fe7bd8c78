"""Wrong answers that the judges of lab 3 must fail, and other right ones that they must pass."""


def _defined(*lines):
    return "\n".join(lines) + "\n"


MUTANTS = {
    "t1": {
        "simplified": _defined(
            "def adv(eps, k, delta0):",
            "    return 2 * eps * math.sqrt(2 * k * math.log(1 / delta0))",
        ),
        "decimal_log": _defined(
            "def adv(eps, k, delta0):",
            "    return eps * math.sqrt(2 * k * math.log10(1 / delta0)) + k * eps * (math.exp(eps) - 1)",
        ),
        "no_minus_one": _defined(
            "def adv(eps, k, delta0):",
            "    return eps * math.sqrt(2 * k * math.log(1 / delta0)) + k * eps * math.exp(eps)",
        ),
        "zcdp_no_half": _defined(
            "def zcdp(eps, k, delta0):",
            "    return k * eps**2 + eps * math.sqrt(2 * k * math.log(1 / delta0))",
        ),
        "largest": _defined("def seq(eps, k):", "    return eps"),
    },
    "t2": {
        "half": _defined(
            "def simple(eps, k, delta0):",
            "    return eps * math.sqrt(2 * k * math.log(1 / delta0))",
        ),
        "last_above": _defined(
            "def crossing(name, eps, delta0, k_max):",
            "    bound = {'simple': simple, 'adv': adv, 'zcdp': zcdp}[name]",
            "    below = [k for k in range(1, k_max + 1) if bound(eps, k, delta0) < seq(eps, k)]",
            "    return below[0] - 1 if below else 0",
        ),
        "never_is_k_max": _defined(
            "def crossing(name, eps, delta0, k_max):",
            "    bound = {'simple': simple, 'adv': adv, 'zcdp': zcdp}[name]",
            "    below = [k for k in range(1, k_max + 1) if bound(eps, k, delta0) < seq(eps, k)]",
            "    return below[0] if below else k_max",
        ),
        "same_for_all": _defined(
            "def crossing(name, eps, delta0, k_max):",
            "    k = math.floor(8 * math.log(1 / delta0)) + 1",
            "    return k if k <= k_max else 0",
        ),
    },
    "t3": {
        "variance": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    if not 0 < eps < 1:",
            "        raise ValueError('eps')",
            "    return 2 * d2**2 * math.log(1.25 / delta) / eps**2",
        ),
        "decimal_log": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    if not 0 < eps < 1:",
            "        raise ValueError('eps')",
            "    return d2 * math.sqrt(2 * math.log10(1.25 / delta)) / eps",
        ),
        "no_125": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    if not 0 < eps < 1:",
            "        raise ValueError('eps')",
            "    return d2 * math.sqrt(2 * math.log(1 / delta)) / eps",
        ),
        "no_refusal": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    return d2 * math.sqrt(2 * math.log(1.25 / delta)) / eps if eps else 0.0",
        ),
        "returns_none": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    return d2 * math.sqrt(2 * math.log(1.25 / delta)) / eps if 0 < eps < 1 else None",
        ),
        "one_allowed": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    if not 0 < eps <= 1:",
            "        raise ValueError('eps')",
            "    return d2 * math.sqrt(2 * math.log(1.25 / delta)) / eps",
        ),
    },
    "t4": {
        "one_tail": _defined(
            "def gaussian_delta(sigma, d2, eps):",
            "    return normal_cdf(d2 / (2 * sigma) - eps * sigma / d2)",
        ),
        "no_exponential": _defined(
            "def gaussian_delta(sigma, d2, eps):",
            "    a, b = d2 / (2 * sigma), eps * sigma / d2",
            "    return normal_cdf(a - b) - normal_cdf(-a - b)",
        ),
        "classical": _defined(
            "def analytic_sigma(d2, eps, delta):",
            "    return d2 * math.sqrt(2 * math.log(1.25 / delta)) / eps",
        ),
        "coarse": _defined(
            "def analytic_sigma(d2, eps, delta):",
            "    sigma = 0.01 * d2",
            "    while gaussian_delta(sigma, d2, eps) > delta:",
            "        sigma += 0.01 * d2",
            "    return sigma",
        ),
        "d2_forgotten": _defined(
            "def analytic_sigma(d2, eps, delta):",
            "    low, high = 0.0, 1000.0",
            "    for _ in range(100):",
            "        middle = (low + high) / 2",
            "        if gaussian_delta(middle, 1.0, eps) > delta:",
            "            low = middle",
            "        else:",
            "            high = middle",
            "    return high",
        ),
    },
    "t5": {
        "no_noise": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return list(vec)",
        ),
        "variance": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + rng.normal(0.0, gaussian_sigma(d2, eps, delta) ** 2) for x in vec]",
        ),
        "laplace": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + rng.laplace(0.0, d2 / eps) for x in vec]",
        ),
        "one_noise": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    noise = rng.normal(0.0, gaussian_sigma(d2, eps, delta))",
            "    return [x + noise for x in vec]",
        ),
        "no_125": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + rng.normal(0.0, d2 * math.sqrt(2 * math.log(1 / delta)) / eps) for x in vec]",
        ),
        "l1_for_l2": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + rng.normal(0.0, gaussian_sigma(d2 * math.sqrt(len(vec)), eps, delta)) for x in vec]",
        ),
        "divided": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + rng.normal(0.0, gaussian_sigma(d2, eps / len(vec), delta)) for x in vec]",
        ),
        "constant_seed": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    rng = np.random.default_rng(0)",
            "    return [x + rng.normal(0.0, gaussian_sigma(d2, eps, delta)) for x in vec]",
        ),
        "one_sided": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + abs(rng.normal(0.0, gaussian_sigma(d2, eps, delta))) for x in vec]",
        ),
        "own_generator": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return [x + np.random.normal(0.0, gaussian_sigma(d2, eps, delta)) for x in vec]",
        ),
    },
    "t6": {
        "not_clipped": _defined(
            "def queries(df, gain_clip, education_below, age_clip):",
            "    low = (df['Education-Num'] < education_below).sum()",
            "    return [float(df['Capital Gain'].sum()), float(low), float(df['Age'].sum())]",
        ),
        "clipped_sum": _defined(
            "def queries(df, gain_clip, education_below, age_clip):",
            "    low = (df['Education-Num'] < education_below).sum()",
            "    gains, ages = min(df['Capital Gain'].sum(), gain_clip), min(df['Age'].sum(), age_clip)",
            "    return [float(gains), float(low), float(ages)]",
        ),
        "dropped": _defined(
            "def queries(df, gain_clip, education_below, age_clip):",
            "    gains, ages = df['Capital Gain'], df['Age']",
            "    low = (df['Education-Num'] < education_below).sum()",
            "    return [float(gains[gains <= gain_clip].sum()), float(low), float(ages[ages <= age_clip].sum())]",
        ),
        "at_most": _defined(
            "def queries(df, gain_clip, education_below, age_clip):",
            "    low = (df['Education-Num'] <= education_below).sum()",
            "    gains, ages = df['Capital Gain'].clip(0, gain_clip).sum(), df['Age'].clip(0, age_clip).sum()",
            "    return [float(gains), float(low), float(ages)]",
        ),
        "largest_only": _defined("def l1_sensitivity(gain_clip, age_clip):", "    return max(gain_clip, 1, age_clip)"),
        "l1_for_l2": _defined("def l2_sensitivity(gain_clip, age_clip):", "    return gain_clip + 1 + age_clip"),
        "no_root": _defined("def l2_sensitivity(gain_clip, age_clip):", "    return gain_clip**2 + 1 + age_clip**2"),
    },
    "t7": {
        "signed": _defined(
            "def mean_error(true, runs):",
            "    return [float(np.mean([run[j] - true[j] for run in runs])) for j in range(len(true))]",
        ),
        "root_mean_square": _defined(
            "def mean_error(true, runs):",
            "    return [float(np.sqrt(np.mean([(run[j] - true[j]) ** 2 for run in runs]))) for j in range(len(true))]",
        ),
        "deviation": _defined("def laplace_error(d1, eps):", "    return math.sqrt(2) * d1 / eps"),
        "gauss_deviation": _defined(
            "def gauss_error(d2, eps, delta):",
            "    return gaussian_sigma(d2, eps, delta)",
        ),
        "swapped": _defined(
            "def count_crossings(delta):",
            "    square = 2 * math.log(1.25 / delta)",
            "    return math.floor(square * 2 / math.pi) + 1, math.floor(square / 2) + 1",
        ),
        "sensitivities_only": _defined("def count_crossings(delta):", "    return 2, 2"),
    },
    "t8": {
        "no_noise": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    return [float(values.count(one)) for one in domain]",
        ),
        "divided": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    scale = {'add': 1, 'replace': 2}[relation] * len(domain) / eps",
            "    return [values.count(one) + rng.laplace(0.0, scale) for one in domain]",
        ),
        "relation_ignored": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    return [values.count(one) + rng.laplace(0.0, 1 / eps) for one in domain]",
        ),
        "one_noise": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    noise = rng.laplace(0.0, {'add': 1, 'replace': 2}[relation] / eps)",
            "    return [values.count(one) + noise for one in domain]",
        ),
        "domain_from_data": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    scale = {'add': 1, 'replace': 2}[relation] / eps",
            "    return [values.count(one) + rng.laplace(0.0, scale) for one in domain if one in values]",
        ),
        "no_noise_on_zero": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    scale = {'add': 1, 'replace': 2}[relation] / eps",
            "    return [values.count(one) + (rng.laplace(0.0, scale) if one in values else 0.0) for one in domain]",
        ),
        "swapped": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    scale = eps / {'add': 1, 'replace': 2}[relation]",
            "    return [values.count(one) + rng.laplace(0.0, scale) for one in domain]",
        ),
        "constant_seed": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    rng, scale = np.random.default_rng(1), {'add': 1, 'replace': 2}[relation] / eps",
            "    return [values.count(one) + rng.laplace(0.0, scale) for one in domain]",
        ),
    },
    "t9": {
        "only_clipped": _defined(
            "def project(noisy, total):", "    return np.maximum(np.array(noisy, dtype=float), 0)"
        ),
        "rescaled": _defined(
            "def project(noisy, total):",
            "    kept = np.maximum(np.asarray(noisy, dtype=float), 0)",
            "    return kept * total / kept.sum()",
        ),
        "may_be_negative": _defined(
            "def project(noisy, total):",
            "    noisy = np.asarray(noisy, dtype=float)",
            "    return noisy + (total - noisy.sum()) / len(noisy)",
        ),
        "no_noise": _defined(
            "def consistent_histogram(values, domain, eps, rng):",
            "    return [float(values.count(one)) for one in domain]",
        ),
        "add_for_replace": _defined(
            "def consistent_histogram(values, domain, eps, rng):",
            "    return project(histogram(values, domain, eps, 'add', rng), len(values))",
        ),
        "noisy_total": _defined(
            "def consistent_histogram(values, domain, eps, rng):",
            "    noisy = histogram(values, domain, eps, 'replace', rng)",
            "    return project(noisy, max(sum(noisy), 0.0))",
        ),
        "true_zeros": _defined(
            "def consistent_histogram(values, domain, eps, rng):",
            "    made = project(histogram(values, domain, eps, 'replace', rng), len(values))",
            "    return [x if one in values else 0.0 for x, one in zip(made, domain)]",
        ),
        "constant_seed": _defined(
            "def consistent_histogram(values, domain, eps, rng):",
            "    return project(histogram(values, domain, eps, 'replace', np.random.default_rng(4)), len(values))",
        ),
    },
    "t10": {
        "no_second_term": _defined(
            "def optimal_delta(eps, k, total):",
            "    over = [i for i in range(k + 1) if (k - 2 * i) * eps > total]",
            "    return sum(math.comb(k, i) * math.exp((k - i) * eps) for i in over) / (1 + math.exp(eps)) ** k",
        ),
        "fair_coins": _defined(
            "def optimal_delta(eps, k, total):",
            "    losses = [((k - 2 * i) * eps, math.comb(k, i) / 2**k) for i in range(k + 1)]",
            "    return sum(p * (1 - math.exp(total - loss)) for loss, p in losses if loss > total)",
        ),
        "off_by_one": _defined(
            "def first_failure(eps, delta, k_max):",
            "    for k in range(1, k_max + 1):",
            "        if optimal_delta(eps, k, simple(eps, k, delta)) > delta:",
            "            return k - 1",
            "    return 0",
        ),
        "validity_limit": _defined(
            "def first_failure(eps, delta, k_max):",
            "    return math.floor(8 * math.log(1 / delta) / eps**2) + 1",
        ),
        "by_zcdp": _defined(
            "def first_failure(eps, delta, k_max):",
            "    for k in range(1, k_max + 1):",
            "        if simple(eps, k, delta) < k * eps**2 / 2 + eps * math.sqrt(2 * k * math.log(1 / delta)):",
            "            return k",
            "    return 0",
        ),
    },
}

OTHERS = {
    "t1": {
        "numpy": _defined(
            "def adv(eps, k, delta0):",
            "    return eps * np.sqrt(-2 * k * np.log(delta0)) + k * eps * (np.exp(eps) - 1)",
            "def zcdp(eps, k, delta0):",
            "    rho = k * eps**2 / 2",
            "    return rho + 2 * np.sqrt(rho * np.log(1 / delta0))",
        ),
    },
    "t2": {
        "closed_form": _defined(
            "def crossing(name, eps, delta0, k_max):",
            "    ks = np.arange(1, k_max + 1)",
            "    f = {'simple': simple, 'adv': adv, 'zcdp': zcdp}[name]",
            "    below = [f(eps, int(k), delta0) < k * eps for k in ks]",
            "    return int(ks[np.argmax(below)]) if any(below) else 0",
        ),
    },
    "t3": {
        "two_tests": _defined(
            "def gaussian_sigma(d2, eps, delta):",
            "    if eps <= 0:",
            "        raise ValueError('too small')",
            "    if eps >= 1:",
            "        raise ValueError('too large')",
            "    return np.sqrt(2 * np.log(1.25 / delta)) * d2 / eps",
        ),
    },
    "t4": {
        "own_search": _defined(
            "def analytic_sigma(d2, eps, delta):",
            "    step, sigma = d2 * 1.0, 0.0",
            "    while step > 1e-9 * max(sigma, d2):",
            "        while gaussian_delta(sigma + step, d2, eps) > delta:",
            "            sigma += step",
            "        step /= 2",
            "    return sigma + step",
        ),
    },
    "t5": {
        "at_once": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    return np.asarray(vec) + rng.normal(0.0, gaussian_sigma(d2, eps, delta), size=len(vec))",
        ),
        "polar": _defined(
            "def gaussian_mech_vec(vec, d2, eps, delta, rng):",
            "    sigma = gaussian_sigma(d2, eps, delta)",
            "    radius = [math.sqrt(-2 * math.log(1 - rng.random())) for _ in vec]",
            "    return [x + sigma * r * math.cos(2 * math.pi * rng.random()) for x, r in zip(vec, radius)]",
        ),
    },
    "t6": {
        "minimum": _defined(
            "def queries(df, gain_clip, education_below, age_clip):",
            "    gains, ages = np.minimum(df['Capital Gain'], gain_clip), np.minimum(df['Age'], age_clip)",
            "    return [gains.sum(), len(df[df['Education-Num'] < education_below]), ages.sum()]",
            "def l2_sensitivity(gain_clip, age_clip):",
            "    return float(np.linalg.norm([gain_clip, 1, age_clip]))",
        ),
    },
    "t7": {
        "arrays": _defined(
            "def mean_error(true, runs):",
            "    return np.abs(np.array(runs) - np.array(true)).mean(axis=0)",
            "def count_crossings(delta):",
            "    square = 2 * math.log(1.25 / delta)",
            "    return [math.floor(square / 2) + 1, math.floor(square * 2 / math.pi) + 1]",
        ),
    },
    "t8": {
        "difference_of_exponentials": _defined(
            "def histogram(values, domain, eps, relation, rng):",
            "    scale = (1 if relation == 'add' else 2) / eps",
            "    held = np.array([values.count(one) for one in domain])",
            "    return held + rng.exponential(scale, len(domain)) - rng.exponential(scale, len(domain))",
        ),
    },
    "t9": {
        "bisection": _defined(
            "def project(noisy, total):",
            "    noisy = np.asarray(noisy, dtype=float)",
            "    low, high = noisy.min() - total - 1, noisy.max()",
            "    for _ in range(70):",
            "        middle = (low + high) / 2",
            "        low, high = (middle, high) if np.maximum(noisy - middle, 0).sum() > total else (low, middle)",
            "    return np.maximum(noisy - high, 0)",
        ),
    },
    "t10": {
        "whole_numbers": _defined(
            "def optimal_delta(eps, k, total):",
            "    e = math.exp(eps)",
            "    made = 0.0",
            "    for i in range(k + 1):",
            "        inside = math.exp((k - i) * eps) - math.exp(total + i * eps)",
            "        made += math.comb(k, i) * max(inside, 0.0) / (1 + e) ** k",
            "    return made",
        ),
    },
}

NAMED = {
    ("t1", "simplified"): "simple_form",
    ("t1", "decimal_log"): "decimal_log",
    ("t2", "last_above"): "one_early",
    ("t3", "variance"): "variance",
    ("t3", "no_125"): "no_125",
    ("t3", "no_refusal"): "not_refused",
    ("t4", "classical"): "classical_here",
    ("t5", "no_noise"): "not_random",
    ("t5", "one_noise"): "correlated",
    ("t5", "no_125"): "no_125",
    ("t5", "laplace"): "laplace_noise",
    ("t6", "not_clipped"): "not_clipped",
    ("t6", "l1_for_l2"): "l1_for_l2",
    ("t7", "signed"): "signed",
    ("t7", "deviation"): "deviation",
    ("t8", "divided"): "budget_divided",
    ("t8", "relation_ignored"): "add_for_replace",
    ("t9", "only_clipped"): "only_clipped",
    ("t9", "add_for_replace"): "add_for_replace",
    ("t10", "off_by_one"): "one_early",
    ("t10", "by_zcdp"): "validity_limit",
}
