"""Wrong answers that the judges of lab 0 must fail, and other right ones that they must pass."""


def _defined(*lines):
    return "\n".join(lines) + "\n"


MUTANTS = {
    "t1": {
        "times_factor": _defined(
            "def posterior_bounds(prior, eps):",
            "    return prior * math.exp(-eps), prior * math.exp(eps)",
        ),
        "cut_at_one": _defined(
            "def posterior_bounds(prior, eps):",
            "    return prior * math.exp(-eps), min(1.0, prior * math.exp(eps))",
        ),
        "order": _defined(
            "def posterior_bounds(prior, eps):",
            "    a = prior / (prior + (1 - prior) * math.exp(eps))",
            "    return prior / (prior + (1 - prior) * math.exp(-eps)), a",
        ),
        "odds": _defined(
            "def posterior_bounds(prior, eps):",
            "    odds = prior / (1 - prior) if prior < 1 else 1.0",
            "    return odds * math.exp(-eps), odds * math.exp(eps)",
        ),
        "additive": _defined(
            "def posterior_bounds(prior, eps):",
            "    return max(0.0, prior - eps), min(1.0, prior + eps)",
        ),
    },
    "t2": {
        "chance": _defined("def advantage(eps):", "    return math.exp(eps) / (1 + math.exp(eps))"),
        "no_half": _defined("def advantage(eps):", "    return math.tanh(eps)"),
        "denominator": _defined("def advantage(eps):", "    return (math.exp(eps) - 1) / math.exp(eps)"),
        "small_eps": _defined("def advantage(eps):", "    return eps / 2"),
    },
    "t3": {
        "prior_half": _defined(
            "def odds_table(prior, eps_list):",
            "    return [[e, math.exp(e), *posterior_bounds(0.5, e), advantage(e)] for e in eps_list]",
        ),
        "one_row": _defined(
            "def odds_table(prior, eps_list):",
            "    e = eps_list[0]",
            "    return [[e, math.exp(e), *posterior_bounds(prior, e), advantage(e)]]",
        ),
        "no_factor": _defined(
            "def odds_table(prior, eps_list):",
            "    return [[e, *posterior_bounds(prior, e), advantage(e)] for e in eps_list]",
        ),
        "columns": _defined(
            "def odds_table(prior, eps_list):",
            "    rows = [[e, math.exp(e), *posterior_bounds(prior, e), advantage(e)] for e in eps_list]",
            "    return [list(column) for column in zip(*rows)]",
        ),
        "rounded": _defined(
            "def odds_table(prior, eps_list):",
            "    rows = [[e, math.exp(e), *posterior_bounds(prior, e), advantage(e)] for e in eps_list]",
            "    return [[round(cell, 2) for cell in row] for row in rows]",
        ),
    },
    "t4": {
        "not_shares": _defined(
            "def estimate_eps(first, second, least):",
            "    pairs = [(a, b) for a, b in zip(first, second) if max(a, b) >= least]",
            "    return max(abs(math.log(a / b)) if min(a, b) else math.inf for a, b in pairs)",
        ),
        "one_direction": _defined(
            "def estimate_eps(first, second, least):",
            "    n, m = sum(first), sum(second)",
            "    pairs = [(a, b) for a, b in zip(first, second) if max(a, b) >= least]",
            "    return max(math.log(a * m / (b * n)) if min(a, b) else math.inf for a, b in pairs)",
        ),
        "ratio": _defined(
            "def estimate_eps(first, second, least):",
            "    n, m = sum(first), sum(second)",
            "    pairs = [(a * m, b * n) for a, b in zip(first, second) if max(a, b) >= least]",
            "    return max(max(a / b, b / a) if min(a, b) else math.inf for a, b in pairs)",
        ),
        "rare_too": _defined(
            "def estimate_eps(first, second, least):",
            "    n, m = sum(first), sum(second)",
            "    pairs = [(a, b) for a, b in zip(first, second) if max(a, b) > 0]",
            "    return max(abs(math.log(a * m / (b * n))) if min(a, b) else math.inf for a, b in pairs)",
        ),
        "zero_left_out": _defined(
            "def estimate_eps(first, second, least):",
            "    n, m = sum(first), sum(second)",
            "    pairs = [(a, b) for a, b in zip(first, second) if max(a, b) >= least and min(a, b) > 0]",
            "    return max(abs(math.log(a * m / (b * n))) for a, b in pairs)",
        ),
        "mean": _defined(
            "def estimate_eps(first, second, least):",
            "    n, m = sum(first), sum(second)",
            "    pairs = [(a, b) for a, b in zip(first, second) if max(a, b) >= least]",
            "    found = [abs(math.log(a * m / (b * n))) if min(a, b) else math.inf for a, b in pairs]",
            "    return sum(found) / len(found)",
        ),
        "difference": _defined(
            "def estimate_eps(first, second, least):",
            "    n, m = sum(first), sum(second)",
            "    return max(abs(a / n - b / m) for a, b in zip(first, second))",
        ),
    },
    "t5": {
        "advantage": _defined("def answer_chance(eps):", "    return math.tanh(eps / 2)"),
        "rounded_down": _defined(
            "def people_needed(eps, sd):",
            "    return math.floor(1 / (2 * sd * advantage(eps)) ** 2) if eps else math.inf",
        ),
        "no_quarter": _defined(
            "def people_needed(eps, sd):",
            "    return math.ceil(1 / (sd * advantage(eps)) ** 2) if eps else math.inf",
        ),
        "exact_poll": _defined(
            "def people_needed(eps, sd):",
            "    return math.ceil(1 / (2 * sd) ** 2) if eps else math.inf",
        ),
        "zero_divides": _defined(
            "def people_needed(eps, sd):",
            "    return math.ceil(1 / (2 * sd * advantage(eps)) ** 2)",
        ),
        "zero_needs_nobody": _defined(
            "def people_needed(eps, sd):",
            "    return math.ceil(1 / (2 * sd * advantage(eps)) ** 2) if eps else 0",
        ),
    },
}

OTHERS = {
    "t1": {
        "by_odds": _defined(
            "def posterior_bounds(prior, eps):",
            "    e = math.exp(eps)",
            "    return [prior / (e + (1 - e) * prior), e * prior / (1 + (e - 1) * prior)]",
        ),
    },
    "t2": {
        "exponentials": _defined("def advantage(eps):", "    return (math.exp(eps) - 1) / (math.exp(eps) + 1)"),
    },
    "t3": {
        "tuples": _defined(
            "def odds_table(prior, eps_list):",
            "    table = []",
            "    for eps in eps_list:",
            "        low, high = posterior_bounds(prior, eps)",
            "        table.append((eps, np.exp(eps), low, high, advantage(eps)))",
            "    return table",
        ),
    },
    "t4": {
        "numpy": _defined(
            "def estimate_eps(first, second, least):",
            "    a, b = np.array(first, dtype=float), np.array(second, dtype=float)",
            "    keep = np.maximum(a, b) >= least",
            "    with np.errstate(divide='ignore'):",
            "        logs = np.log(a / a.sum()) - np.log(b / b.sum())",
            "    return float(np.abs(logs[keep]).max())",
        ),
    },
    "t5": {
        "by_tanh": _defined(
            "def answer_chance(eps):",
            "    return math.exp(eps) / (1 + math.exp(eps))",
            "def people_needed(eps, sd):",
            "    if eps <= 0:",
            "        return float('inf')",
            "    return int(np.ceil(0.25 / (sd * np.tanh(eps / 2)) ** 2))",
        ),
    },
}

NAMED = {
    ("t1", "times_factor"): "not_odds",
    ("t1", "order"): "order",
    ("t2", "chance"): "chance_not_advantage",
    ("t2", "no_half"): "no_half",
    ("t4", "not_shares"): "not_shares",
    ("t4", "rare_too"): "rare_outcomes",
    ("t4", "zero_left_out"): "zero_left_out",
    ("t5", "advantage"): "advantage_not_chance",
    ("t5", "rounded_down"): "rounded_down",
}
