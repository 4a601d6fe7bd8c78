"""Wrong answers that every check must refuse, and other right ones that it must not.

An answer here replaces one function of its task; the other functions of the task are those of the reference.
"""

from pathlib import Path

from sfumato.labs.source import read_cells

_CELLS = {cell.id: cell for cell in read_cells(Path(__file__).with_name("cells.py").read_text("utf-8"), "cells.py")}


def _whole(answers):
    """Each answer with the reference's other functions of the same task before it."""
    return {
        task: {
            name: source if len(_CELLS[task].defines) == 1 else f"{_CELLS[task].source}\n\n{source}"
            for name, source in named.items()
        }
        for task, named in answers.items()
    }


_T5 = (
    "def error_table(bits, sizes, runs, rng):\n"
    "    rows = []\n"
    "    for size in sizes:\n"
    "        part = np.asarray(bits)[:size]\n"
    "        true = part.mean()\n"
    "        guesses = np.array([debias(rr_column(part, rng)) for _ in range(runs)])\n"
    "        errors = np.abs(guesses - true) / true\n"
)
_KEEP = "    keep = rng.random() < math.exp(eps) / (1 + math.exp(eps))\n"
_T8 = (
    "def krr(value, domain, eps, rng):\n"
    "    k = len(domain)\n"
    "    keep = rng.random() < math.exp(eps) / (math.exp(eps) + k - 1)\n"
    "    others = [one for one in domain if one != value]\n"
)
_T8_SHARES = (
    "def krr_estimate(answers, domain, eps):\n"
    "    k = len(domain)\n"
    "    answers = list(answers)\n"
    "    shares = np.array([answers.count(one) / len(answers) for one in domain])\n"
)

MUTANTS = _whole(
    {
        "t1": {
            "another_column": "def true_bits(df):\n    return (df['Age'] > 40).astype(int).tolist()\n",
            "turned": (
                "_right = true_bits\n\n\ndef true_bits(df):\n    return 1 - np.asarray(_right(df))\n"
                "\n\ndef true_share(df):\n    return float(np.mean(true_bits(df)))\n"
            ),
            "counts": "def true_share(df):\n    return int(np.sum(true_bits(df)))\n",
            "percent": "def true_share(df):\n    return 100 * float(np.mean(true_bits(df)))\n",
            "fixed_size": "def true_share(df):\n    return float(np.sum(true_bits(df))) / 32219\n",
            "strings": "def true_bits(df):\n    return ['yes' if one else 'no' for one in df['Age'] > 40]\n",
        },
        "t2": {
            "truth": "def rr(bit, rng):\n    return bit\n",
            "coin_only": "def rr(bit, rng):\n    return int(rng.random() < 0.5)\n",
            "lie_on_tails": "def rr(bit, rng):\n    return bit if rng.random() < 0.5 else 1 - bit\n",
            "turned": "def rr(bit, rng):\n    return 1 - bit if rng.random() < 0.75 else bit\n",
            "yes_on_tails": "def rr(bit, rng):\n    return bit if rng.random() < 0.5 else 1\n",
            "one_coin_twice": (
                "def rr(bit, rng):\n    coin = rng.random()\n    return bit if coin < 0.5 else int(coin < 0.5)\n"
            ),
            "two_thirds": "def rr(bit, rng):\n    return bit if rng.random() < 2 / 3 else 1 - bit\n",
            "constant_seed": (
                "def rr(bit, rng):\n    rng = np.random.default_rng(4)\n"
                "    return bit if rng.random() < 0.5 else int(rng.random() < 0.5)\n"
            ),
            "global_generator": (
                "def rr(bit, rng):\n    return bit if np.random.random() < 0.5 else int(np.random.random() < 0.5)\n"
            ),
            "half_numbers": "def rr(bit, rng):\n    return bit if rng.random() < 0.5 else 0.5\n",
            "one_coin_for_all": (
                "def rr_column(bits, rng):\n    bits = np.asarray(bits)\n"
                "    return bits if rng.random() < 0.5 else rng.integers(2, size=len(bits))\n"
            ),
            "one_second_coin": (
                "def rr_column(bits, rng):\n    bits = np.asarray(bits)\n"
                "    return np.where(rng.random(len(bits)) < 0.5, bits, int(rng.random() < 0.5))\n"
            ),
            "same_coins_again": (
                "def rr_column(bits, rng):\n    bits = np.asarray(bits)\n"
                "    coins = np.random.default_rng(2).random((2, len(bits))) < 0.5\n"
                "    return np.where(coins[0], bits, coins[1]).astype(int)\n"
            ),
            "column_lies": (
                "def rr_column(bits, rng):\n    bits = np.asarray(bits)\n"
                "    return np.where(rng.random(len(bits)) < 0.5, bits, 1 - bits)\n"
            ),
        },
        "t3": {
            "naive_count": "def naive(answers):\n    return float(np.sum(answers))\n",
            "not_corrected": "def debias(answers):\n    return float(np.mean(answers))\n",
            "half_corrected": "def debias(answers):\n    return 2 * float(np.mean(answers))\n",
            "half_taken": "def debias(answers):\n    return 2 * (float(np.mean(answers)) - 0.5)\n",
            "clipped": "def debias(answers):\n    return min(1.0, max(0.0, 2 * float(np.mean(answers)) - 0.5))\n",
            "quarter_not_doubled": "def debias(answers):\n    return float(np.mean(answers)) - 0.25\n",
        },
        "t4": {
            "signed": (
                "def relative_error(true, estimate):\n    return (estimate - true) / true if true else float('nan')\n"
            ),
            "difference": "def relative_error(true, estimate):\n    return abs(true - estimate)\n",
            "thesis": "def relative_error(true, estimate):\n    return true - estimate\n",
            "by_estimate": (
                "def relative_error(true, estimate):\n"
                "    return abs(estimate - true) / abs(estimate) if true else float('nan')\n"
            ),
            "percent": (
                "def relative_error(true, estimate):\n"
                "    return 100 * abs(estimate - true) / true if true else float('nan')\n"
            ),
            "zero_is_fine": (
                "def relative_error(true, estimate):\n    return abs(estimate - true) / true if true else 0.0\n"
            ),
            "truth_of_the_full_file": (
                "full = df\n\n\ndef file_error(df, rng):\n"
                "    return relative_error(true_share(full), debias(rr_column(true_bits(df), rng)))\n"
            ),
            "count_of_the_full_file": (
                "full = df\n\n\ndef file_error(df, rng):\n"
                "    found = len(df) * debias(rr_column(true_bits(df), rng))\n"
                "    return relative_error(len(full) * true_share(full), found)\n"
            ),
            "not_debiased": (
                "def file_error(df, rng):\n"
                "    return relative_error(true_share(df), naive(rr_column(true_bits(df), rng)))\n"
            ),
            "no_coins": "def file_error(df, rng):\n    return relative_error(true_share(df), true_share(df))\n",
            "naive_truth": (
                "def file_error(df, rng):\n"
                "    answers = rr_column(true_bits(df), rng)\n"
                "    return relative_error(naive(answers), debias(answers))\n"
            ),
        },
        "t5": {
            "not_debiased": _T5.replace("debias(", "naive(")
            + "        rows.append([size, errors.mean(), np.quantile(errors, 0.95)])\n    return rows\n",
            "truth_of_all": _T5.replace("true = part.mean()", "true = np.mean(bits)")
            + "        rows.append([size, errors.mean(), np.quantile(errors, 0.95)])\n    return rows\n",
            "absolute": _T5
            + "        rows.append([size, true * errors.mean(), true * np.quantile(errors, 0.95)])\n    return rows\n",
            "signed": _T5
            + "        signed = (guesses - true) / true\n"
            + "        rows.append([size, signed.mean(), np.quantile(signed, 0.95)])\n    return rows\n",
            "percent": _T5
            + "        rows.append([size, 100 * errors.mean(), 100 * np.quantile(errors, 0.95)])\n    return rows\n",
            "largest": _T5 + "        rows.append([size, errors.mean(), errors.max()])\n    return rows\n",
            "one_run": _T5.replace("range(runs)", "range(1)")
            + "        rows.append([size, errors.mean(), errors.max()])\n    return rows\n",
            "all_rows": _T5.replace("[:size]", "")
            + "        rows.append([size, errors.mean(), np.quantile(errors, 0.95)])\n    return rows\n",
            "no_coins": _T5.replace("rr_column(part, rng)", "part").replace("debias(", "naive(")
            + "        rows.append([size, errors.mean(), np.quantile(errors, 0.95)])\n    return rows\n",
        },
        "t6": {
            "truth": "def rr_eps(bit, eps, rng):\n    return bit\n",
            "two_coins": (
                "def rr_eps(bit, eps, rng):\n    return bit if rng.random() < 0.5 else int(rng.random() < 0.5)\n"
            ),
            "turned": "def rr_eps(bit, eps, rng):\n" + _KEEP + "    return 1 - bit if keep else bit\n",
            "coin_for_lie": "def rr_eps(bit, eps, rng):\n"
            + _KEEP
            + "    return bit if keep else int(rng.random() < 0.5)\n",
            "half_budget": "def rr_eps(bit, eps, rng):\n"
            + _KEEP.replace("eps", "eps / 2")
            + "    return bit if keep else 1 - bit\n",
            "base_two": (
                "def rr_eps(bit, eps, rng):\n    keep = rng.random() < 2**eps / (1 + 2**eps)\n"
                "    return bit if keep else 1 - bit\n"
            ),
            "constant_seed": (
                "def rr_eps(bit, eps, rng):\n    rng = np.random.default_rng(9)\n"
                + _KEEP
                + "    return bit if keep else 1 - bit\n"
            ),
            "only_ones_protected": (
                "def rr_eps(bit, eps, rng):\n" + _KEEP + "    return bit if keep or bit == 0 else 1 - bit\n"
            ),
            "not_corrected": "def debias_eps(answers, eps):\n    return float(np.mean(answers))\n",
            "coins_corrected": "def debias_eps(answers, eps):\n    return 2 * float(np.mean(answers)) - 0.5\n",
            "sign": (
                "def debias_eps(answers, eps):\n    p = math.exp(eps) / (1 + math.exp(eps))\n"
                "    return (float(np.mean(answers)) + (1 - p)) / (2 * p - 1)\n"
            ),
            "ratio": "def eps_two_coins():\n    return 3.0\n",
            "ln_two": "def eps_two_coins():\n    return math.log(2)\n",
            "rounded": "def eps_two_coins():\n    return 1.1\n",
        },
        "t7": {
            "three_quarters": "def posterior(prior, yes, no):\n    return 0.75\n",
            "prior_forgotten": "def posterior(prior, yes, no):\n    return 1 / (1 + 3.0 ** (no - yes))\n",
            "no_ignored": "def posterior(prior, yes, no):\n    return 1 / (1 + (1 - prior) / prior * 3.0 ** (-yes))\n",
            "odds": "def posterior(prior, yes, no):\n    return prior / (1 - prior) * 3.0 ** (yes - no)\n",
            "turned": "def posterior(prior, yes, no):\n    return 1 / (1 + (1 - prior) / prior * 3.0 ** (yes - no))\n",
            "fresh_coins": (
                "def survey_rounds(bits, rounds, rng):\n"
                "    return np.array([rr_column(bits, rng) for _ in range(rounds)])\n"
            ),
            "truth": "def survey_rounds(bits, rounds, rng):\n    return np.array([bits for _ in range(rounds)])\n",
            "one_coin_for_all": (
                "def survey_rounds(bits, rounds, rng):\n"
                "    coins = rng.random(2) < 0.5\n"
                "    answers = [bit if coins[0] else int(coins[1]) for bit in bits]\n"
                "    return np.array([answers for _ in range(rounds)])\n"
            ),
            "transposed": (
                "def survey_rounds(bits, rounds, rng):\n"
                "    answers = rr_column(bits, rng)\n"
                "    return np.array([answers for _ in range(rounds)]).T\n"
            ),
            "constant_seed": (
                "def survey_rounds(bits, rounds, rng):\n"
                "    answers = rr_column(bits, np.random.default_rng(6))\n"
                "    return np.array([answers for _ in range(rounds)])\n"
            ),
        },
        "t8": {
            "truth": "def krr(value, domain, eps, rng):\n    return value\n",
            "uniform": "def krr(value, domain, eps, rng):\n    return domain[int(rng.integers(len(domain)))]\n",
            "two_values": (
                "def krr(value, domain, eps, rng):\n"
                + _KEEP
                + "    others = [one for one in domain if one != value]\n"
                + "    return value if keep else others[int(rng.integers(len(others)))]\n"
            ),
            "own_value_again": _T8 + "    return value if keep else domain[int(rng.integers(k))]\n",
            "first_other": _T8 + "    return value if keep else others[0]\n",
            "next_one": _T8 + "    return value if keep else domain[(domain.index(value) + 1) % k]\n",
            "constant_seed": _T8.replace(
                "    k = len(domain)\n", "    k = len(domain)\n    rng = np.random.default_rng(8)\n"
            )
            + "    return value if keep else others[int(rng.integers(k - 1))]\n",
            "positions": _T8 + "    return domain.index(value) if keep else int(rng.integers(k))\n",
            "not_corrected": _T8_SHARES + "    return shares.tolist()\n",
            "two_valued_correction": _T8_SHARES
            + "    p = math.exp(eps) / (1 + math.exp(eps))\n    return ((shares - (1 - p)) / (2 * p - 1)).tolist()\n",
            "clipped": _T8_SHARES
            + "    p, q = (odds / (math.exp(eps) + k - 1) for odds in (math.exp(eps), 1))\n"
            + "    return np.clip((shares - q) / (p - q), 0, 1).tolist()\n",
            "order_of_counts": _T8_SHARES
            + "    p, q = (odds / (math.exp(eps) + k - 1) for odds in (math.exp(eps), 1))\n"
            + "    return sorted(((shares - q) / (p - q)).tolist(), reverse=True)\n",
            "domain_from_data": (
                "def krr_estimate(answers, domain, eps):\n"
                "    counts = pd.Series(list(answers)).value_counts(sort=False)\n"
                "    k = len(counts)\n"
                "    p, q = (odds / (math.exp(eps) + k - 1) for odds in (math.exp(eps), 1))\n"
                "    return ((counts / counts.sum() - q) / (p - q)).tolist()\n"
            ),
        },
    }
)

OTHERS = _whole(
    {
        "t1": {
            "lists": "_bits = true_bits\n\n\ndef true_bits(df):\n    return [int(one) for one in _bits(df)]\n",
            "truth_values": "_bits = true_bits\n\n\ndef true_bits(df):\n    return pd.Series(_bits(df)).astype(bool)\n",
        },
        "t2": {
            "three_quarters": "def rr(bit, rng):\n    return bit if rng.random() < 0.75 else 1 - bit\n",
            "integers": (
                "def rr(bit, rng):\n"
                "    first, second = rng.integers(0, 2, 2)\n"
                "    return bit if first else int(second)\n"
            ),
            "loop": "def rr_column(bits, rng):\n    return [rr(bit, rng) for bit in bits]\n",
            "flips": ("def rr_column(bits, rng):\n    return np.asarray(bits) ^ (rng.random(len(bits)) < 0.25)\n"),
        },
        "t3": {
            "lists": "def debias(answers):\n    return (sum(answers) / len(answers) - 0.25) / 0.5\n",
        },
        "t4": {
            "ratio": (
                "def relative_error(true, estimate):\n    return abs(estimate / true - 1) if true != 0 else math.nan\n"
            ),
            "loop": (
                "def file_error(df, rng):\n"
                "    bits = list(true_bits(df))\n"
                "    answers = [rr(bit, rng) for bit in bits]\n"
                "    return relative_error(sum(bits) / len(bits), debias(answers))\n"
            ),
        },
        "t5": {
            "arrays": _T5
            + "        rows.append((size, errors.mean(), np.quantile(errors, 0.95)))\n    return np.array(rows)\n",
        },
        "t6": {
            "flip": ("def rr_eps(bit, eps, rng):\n    return int(bit) ^ int(rng.random() < 1 / (1 + math.exp(eps)))\n"),
            "tanh": (
                "def debias_eps(answers, eps):\n    return 0.5 + (float(np.mean(answers)) - 0.5) / math.tanh(eps / 2)\n"
            ),
        },
        "t7": {
            "bayes": (
                "def posterior(prior, yes, no):\n"
                "    one = prior * 0.75**yes * 0.25**no\n"
                "    zero = (1 - prior) * 0.25**yes * 0.75**no\n"
                "    return one / (one + zero)\n"
            ),
            "memory": (
                "def survey_rounds(bits, rounds, rng):\n"
                "    memory = {}\n"
                "    made = []\n"
                "    for _ in range(rounds):\n"
                "        for person, bit in enumerate(bits):\n"
                "            if person not in memory:\n"
                "                memory[person] = rr(bit, rng)\n"
                "        made.append([memory[person] for person in range(len(bits))])\n"
                "    return made\n"
            ),
        },
        "t8": {
            "choice": (
                "def krr(value, domain, eps, rng):\n"
                "    weights = np.array([math.exp(eps) if one == value else 1.0 for one in domain])\n"
                "    return str(rng.choice(domain, p=weights / weights.sum()))\n"
            ),
            "mixture": (
                "def krr(value, domain, eps, rng):\n"
                "    k = len(domain)\n"
                "    if rng.random() < k / (math.exp(eps) + k - 1):\n"
                "        return domain[int(rng.integers(k))]\n"
                "    return value\n"
            ),
        },
    }
)

NAMED = {
    ("t1", "turned"): "turned",
    ("t1", "percent"): "in_percent",
    ("t2", "truth"): "not_random",
    ("t2", "lie_on_tails"): "coin_only",
    ("t2", "one_second_coin"): "shared_coins",
    ("t3", "not_corrected"): "not_corrected",
    ("t4", "thesis"): "signed_difference",
    ("t4", "truth_of_the_full_file"): "truth_of_another_file",
    ("t5", "signed"): "mean_differs",
    ("t6", "two_coins"): "always_two_coins",
    ("t6", "ratio"): "ratio_not_log",
    ("t7", "three_quarters"): "always_three_quarters",
    ("t7", "fresh_coins"): "fresh_coins",
    ("t8", "own_value_again"): "own_value_again",
    ("t8", "not_corrected"): "not_corrected",
}
