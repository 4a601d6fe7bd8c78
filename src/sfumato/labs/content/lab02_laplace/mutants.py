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


_T4 = "def laplace_mech(value, sensitivity, eps, rng):\n"
_T5 = "def alg2(data, eps, rng):\n    n, d = np.shape(data)\n    mean = np.mean(data, axis=0)\n"
_T6 = "def alg3(data, eps, rng):\n    data = np.asarray(data)\n    n, d = data.shape\n"
_T7 = (
    "def comparison(data, probs, eps, rng):\n"
    "    a, b, c, p = alg1(data), alg2(data, eps, rng), alg3(data, eps, rng), np.asarray(probs)\n"
)
_T8 = (
    "def measured_errors(data, sizes, eps, runs, rng):\n"
    "    rows = []\n"
    "    for size in sizes:\n"
    "        part = np.asarray(data)[:size]\n"
    "        exact = alg1(part)\n"
    "        two = np.array([alg2(part, eps, rng) - exact for _ in range(runs)])\n"
    "        three = np.array([alg3(part, eps, rng) - exact for _ in range(runs)])\n"
)
_T10 = (
    "def one_attribute(data, eps, rng):\n"
    "    n, d = np.shape(data)\n"
    "    p = math.exp(eps) / (1 + math.exp(eps))\n"
    "    asked, ones = np.zeros(d), np.zeros(d)\n"
    "    for row in data:\n"
    "        j, bit = report_one(row, eps, rng)\n"
    "        asked[j] += 1\n"
    "        ones[j] += bit\n"
)

MUTANTS = _whole(
    {
        "t1": {
            "one_seed_for_all": (
                "def model_dataset(probs, n, rng):\n"
                "    seed = int(rng.integers(1 << 30))\n"
                "    columns = [np.random.default_rng(seed).random(n) < p for p in probs]\n"
                "    return np.column_stack(columns).astype(int)\n"
            ),
            "constant_seed": (
                "def model_dataset(probs, n, rng):\n"
                "    rng = np.random.default_rng(7)\n"
                "    return (rng.random((n, len(probs))) < np.asarray(probs)).astype(int)\n"
            ),
            "global_generator": (
                "def model_dataset(probs, n, rng):\n"
                "    return (np.random.random((n, len(probs))) < np.asarray(probs)).astype(int)\n"
            ),
            "complement": (
                "def model_dataset(probs, n, rng):\n"
                "    return (rng.random((n, len(probs))) > np.asarray(probs)).astype(int)\n"
            ),
            "transposed": (
                "def model_dataset(probs, n, rng):\n"
                "    return (rng.random((len(probs), n)) < np.asarray(probs)[:, None]).astype(int)\n"
            ),
            "exact_counts": (
                "def model_dataset(probs, n, rng):\n"
                "    columns = [rng.permutation(np.arange(n) < round(p * n)) for p in probs]\n"
                "    return np.column_stack(columns).astype(int)\n"
            ),
            "same_people": (
                "def model_dataset(probs, n, rng):\n"
                "    return np.tile((rng.random(len(probs)) < np.asarray(probs)).astype(int), (n, 1))\n"
            ),
            "uniform_numbers": (
                "def model_dataset(probs, n, rng):\n    return rng.random((n, len(probs))) * 2 * np.asarray(probs)\n"
            ),
        },
        "t2": {
            "over_people": "def alg1(data):\n    return np.mean(data, axis=1)\n",
            "sums": "def alg1(data):\n    return np.sum(data, axis=0)\n",
            "one_number": "def alg1(data):\n    return float(np.mean(data))\n",
            "median": "def alg1(data):\n    return np.median(data, axis=0)\n",
            "off_by_one": "def alg1(data):\n    return np.sum(data, axis=0) / (len(data) - 1)\n",
        },
        "t3": {
            "upside_down": "def sens_mean(n, d):\n    return n / d\n",
            "one_coordinate": "def sens_mean(n, d):\n    return 1 / n\n",
            "euclidean": "def sens_mean(n, d):\n    return d**0.5 / n\n",
            "row": "def sens_mean(n, d):\n    return d\n",
            "constant": "def sens_mean(n, d):\n    return 27 / n\n",
            "count_forgotten": "def sens_sums(d):\n    return d\n",
            "replaced": "def sens_sums(d):\n    return 2 * d\n",
        },
        "t4": {
            "no_noise": _T4 + "    return value\n",
            "swapped": _T4 + "    return value + rng.laplace(0, eps / sensitivity)\n",
            "variance_for_scale": _T4 + "    return value + rng.laplace(0, (sensitivity / eps) ** 2)\n",
            "scale_as_sd": _T4 + "    return value + rng.laplace(0, sensitivity / eps / 2**0.5)\n",
            "gaussian": _T4 + "    return value + rng.normal(0, 2**0.5 * sensitivity / eps)\n",
            "one_sided": _T4 + "    return value + rng.exponential(sensitivity / eps)\n",
            "constant_seed": _T4 + "    return value + np.random.default_rng(1).laplace(0, sensitivity / eps)\n",
            "seed_from_data": _T4
            + "    return value + np.random.default_rng(int(abs(value) * 100)).laplace(0, sensitivity / eps)\n",
            "global_generator": _T4 + "    return value + np.random.laplace(0, sensitivity / eps)\n",
            "sensitivity_forgotten": _T4 + "    return value + rng.laplace(0, 1 / eps)\n",
            "noise_alone": _T4 + "    return rng.laplace(0, sensitivity / eps)\n",
            "half_the_noise": _T4 + "    return value + rng.laplace(0, sensitivity / (2 * eps))\n",
            "uniform": _T4 + "    return value + rng.uniform(-sensitivity / eps, sensitivity / eps)\n",
            "rounded": _T4 + "    return round(value + rng.laplace(0, sensitivity / eps))\n",
        },
        "t5": {
            "no_noise": _T5 + "    return mean\n",
            "one_coordinate": _T5 + "    return mean + rng.laplace(0, 1 / (n * eps), d)\n",
            "shared_noise": _T5 + "    return mean + rng.laplace(0, d / (n * eps))\n",
            "constant_seed": _T5 + "    return mean + np.random.default_rng(3).laplace(0, d / (n * eps), d)\n",
            "row_sensitivity": _T5 + "    return mean + rng.laplace(0, d / eps, d)\n",
            "swapped": _T5 + "    return mean + rng.laplace(0, n * eps / d, d)\n",
            "budget_divided_again": _T5 + "    return mean + rng.laplace(0, d * d / (n * eps), d)\n",
            "constants_of_the_table": _T5 + "    return mean + rng.laplace(0, 27 / (n * eps), d)\n",
            "clipped": _T5 + "    return np.clip(mean + rng.laplace(0, d / (n * eps), d), 0, 1)\n",
            "sensitivity_from_data": _T5
            + "    return mean + rng.laplace(0, np.sum(data, axis=1).max() / n / n / eps, d)\n",
        },
        "t6": {
            "no_noise": _T6 + "    return data.mean(axis=0)\n",
            "budget_not_divided": _T6 + "    return (data + rng.laplace(0, 1 / eps, (n, d))).mean(axis=0)\n",
            "central": _T6 + "    return data.mean(axis=0) + rng.laplace(0, d / (n * eps), d)\n",
            "same_noise_for_all": _T6 + "    return (data + rng.laplace(0, d / eps, d)).mean(axis=0)\n",
            "one_number_a_person": _T6 + "    return (data + rng.laplace(0, d / eps, (n, 1))).mean(axis=0)\n",
            "constant_seed": _T6
            + "    return (data + np.random.default_rng(5).laplace(0, d / eps, (n, d))).mean(axis=0)\n",
            "swapped": _T6 + "    return (data + rng.laplace(0, eps / d, (n, d))).mean(axis=0)\n",
            "clipped": _T6 + "    return np.clip(data + rng.laplace(0, d / eps, (n, d)), 0, 1).mean(axis=0)\n",
            "summed": _T6 + "    return (data + rng.laplace(0, d / eps, (n, d))).sum(axis=0)\n",
        },
        "t7": {
            "errors_mixed": _T7 + "    return np.column_stack([p, a, b, c, a - p, b - p, c - p]).tolist()\n",
            "signs_turned": _T7 + "    return np.column_stack([p, a, b, c, p - a, a - b, a - c]).tolist()\n",
            "absolute": _T7 + "    return np.column_stack([p, a, b, c, abs(a - p), abs(b - a), abs(c - a)]).tolist()\n",
            "columns_of_means": _T7 + "    return np.column_stack([p, a, c, b, a - p, c - a, b - a]).tolist()\n",
            "drawn_twice": _T7
            + "    return np.column_stack([p, a, b, c, a - p, alg2(data, eps, rng) - a, c - a]).tolist()\n",
            "too_few": _T7 + "    return np.column_stack([p, a, b, c]).tolist()\n",
            "no_noise": _T7 + "    return np.column_stack([p, a, a, a, a - p, a - a, a - a]).tolist()\n",
        },
        "t8": {
            "central_scale": "def rmse_central(n, d, eps):\n    return d / (n * eps)\n",
            "central_local": "def rmse_central(n, d, eps):\n    return 2**0.5 * d / (eps * n**0.5)\n",
            "local_scale": "def rmse_local(n, d, eps):\n    return d / (eps * n**0.5)\n",
            "local_central": "def rmse_local(n, d, eps):\n    return 2**0.5 * d / (eps * n)\n",
            "local_alone": "def rmse_local(n, d, eps):\n    return 2**0.5 * d / eps\n",
            "mean_absolute": _T8 + "        rows.append([size, abs(two).mean(), abs(three).mean()])\n    return rows\n",
            "no_root": _T8 + "        rows.append([size, (two**2).mean(), (three**2).mean()])\n    return rows\n",
            "mean_error": _T8 + "        rows.append([size, two.mean(), three.mean()])\n    return rows\n",
            "all_rows": _T8.replace("[:size]", "")
            + "        rows.append([size, (two**2).mean() ** 0.5, (three**2).mean() ** 0.5])\n    return rows\n",
            "formula_not_measured": (
                "def measured_errors(data, sizes, eps, runs, rng):\n    d = np.shape(data)[1]\n"
                "    return [[size, d / (size * eps), d / eps] for size in sizes]\n"
            ),
        },
        "t9": {
            "no_logarithm": "def bound(sensitivity, eps, beta, k):\n    return sensitivity / eps * k / beta\n",
            "answers_forgotten": (
                "def bound(sensitivity, eps, beta, k):\n    return sensitivity / eps * math.log(1 / beta)\n"
            ),
            "one_sided": (
                "def bound(sensitivity, eps, beta, k):\n    return sensitivity / eps * math.log(k / (2 * beta))\n"
            ),
            "log10": "def bound(sensitivity, eps, beta, k):\n    return sensitivity / eps * math.log10(k / beta)\n",
            "swapped": "def bound(sensitivity, eps, beta, k):\n    return eps / sensitivity * math.log(k / beta)\n",
            "coverage_typed_in": "def coverage(sensitivity, eps, beta, k, runs, rng):\n    return 1 - beta\n",
            "coverage_of_one": (
                "def coverage(sensitivity, eps, beta, k, runs, rng):\n"
                "    limit = bound(sensitivity, eps, beta, k)\n"
                "    noise = rng.laplace(0, sensitivity / eps, runs)\n"
                "    return float(np.mean(abs(noise) <= limit))\n"
            ),
            "coverage_any": (
                "def coverage(sensitivity, eps, beta, k, runs, rng):\n"
                "    limit = bound(sensitivity, eps, beta, k)\n"
                "    noise = rng.laplace(0, sensitivity / eps, (runs, k))\n"
                "    return float(np.mean((abs(noise) <= limit).any(axis=1)))\n"
            ),
            "coverage_one_sided": (
                "def coverage(sensitivity, eps, beta, k, runs, rng):\n"
                "    limit = bound(sensitivity, eps, beta, k)\n"
                "    noise = rng.laplace(0, sensitivity / eps, (runs, k))\n"
                "    return float(np.mean((noise <= limit).all(axis=1)))\n"
            ),
            "coverage_in_percent": (
                "def coverage(sensitivity, eps, beta, k, runs, rng):\n"
                "    limit = bound(sensitivity, eps, beta, k)\n"
                "    noise = rng.laplace(0, sensitivity / eps, (runs, k))\n"
                "    return 100 * float(np.mean((abs(noise) <= limit).all(axis=1)))\n"
            ),
        },
        "t10": {
            "truth": "def report_one(row, eps, rng):\n    j = int(rng.integers(len(row)))\n    return j, int(row[j])\n",
            "budget_split": (
                "def report_one(row, eps, rng):\n"
                "    j = int(rng.integers(len(row)))\n"
                "    keep = rng.random() < 1 / (1 + math.exp(-eps / len(row)))\n"
                "    return j, int(row[j]) if keep else 1 - int(row[j])\n"
            ),
            "two_coins": (
                "def report_one(row, eps, rng):\n"
                "    j = int(rng.integers(len(row)))\n"
                "    return j, int(row[j]) if rng.random() < 0.5 else int(rng.integers(2))\n"
            ),
            "turned": (
                "def report_one(row, eps, rng):\n"
                "    j = int(rng.integers(len(row)))\n"
                "    keep = rng.random() < 1 / (1 + math.exp(eps))\n"
                "    return j, int(row[j]) if keep else 1 - int(row[j])\n"
            ),
            "always_the_first": (
                "def report_one(row, eps, rng):\n"
                "    keep = rng.random() < 1 / (1 + math.exp(-eps))\n"
                "    return 0, int(row[0]) if keep else 1 - int(row[0])\n"
            ),
            "chosen_by_the_data": (
                "def report_one(row, eps, rng):\n"
                "    taken = np.flatnonzero(row)\n"
                "    j = int(rng.choice(taken)) if len(taken) else int(rng.integers(len(row)))\n"
                "    keep = rng.random() < 1 / (1 + math.exp(-eps))\n"
                "    return j, int(row[j]) if keep else 1 - int(row[j])\n"
            ),
            "constant_seed": (
                "def report_one(row, eps, rng):\n"
                "    rng = np.random.default_rng(11)\n"
                "    j = int(rng.integers(len(row)))\n"
                "    keep = rng.random() < 1 / (1 + math.exp(-eps))\n"
                "    return j, int(row[j]) if keep else 1 - int(row[j])\n"
            ),
            "no_debiasing": _T10 + "    return ones / np.maximum(asked, 1)\n",
            "divided_by_all": _T10 + "    return (ones / n - (1 - p)) / (2 * p - 1)\n",
            "exact_means": "def one_attribute(data, eps, rng):\n    return np.mean(data, axis=0)\n",
            "asked_all_at_full_price": (
                "def one_attribute(data, eps, rng):\n"
                "    data = np.asarray(data)\n"
                "    p = 1 / (1 + math.exp(-eps))\n"
                "    flipped = np.where(rng.random(data.shape) < 0.999, data, 1 - data)\n"
                "    return (flipped.mean(axis=0) - 0.001) / 0.998\n"
            ),
            "still_laplace": (
                "def one_attribute(data, eps, rng):\n"
                "    data = np.asarray(data)\n"
                "    return (data + rng.laplace(0, data.shape[1] / eps, data.shape)).mean(axis=0)\n"
            ),
            "clipped": _T10 + "    return np.clip((ones / np.maximum(asked, 1) - (1 - p)) / (2 * p - 1), 0, 1)\n",
        },
        "t11": {
            "lower_end_only": "def clip01(values):\n    return np.maximum(values, 0)\n",
            "upper_end_only": "def clip01(values):\n    return np.minimum(values, 1)\n",
            "thrown_away": "def clip01(values):\n    return [one for one in values if 0 <= one <= 1]\n",
            "absolute": "def clip01(values):\n    return np.minimum(np.abs(values), 1)\n",
            "no_bias": "def clip_bias(mean, scale):\n    return 0.0\n",
            "sign": (
                "def clip_bias(mean, scale):\n"
                "    return scale / 2 * (math.exp(-(1 - mean) / scale) - math.exp(-mean / scale))\n"
            ),
            "one_end": "def clip_bias(mean, scale):\n    return scale / 2 * math.exp(-mean / scale)\n",
        },
    }
)

OTHERS = _whole(
    {
        "t1": {
            "column_by_column": (
                "def model_dataset(probs, n, rng):\n"
                "    return np.column_stack([rng.binomial(1, p, n) for p in probs])\n"
            ),
            "loops": (
                "def model_dataset(probs, n, rng):\n"
                "    return [[1 if rng.random() < p else 0 for p in probs] for _ in range(n)]\n"
            ),
        },
        "t2": {
            "lists": "def alg1(data):\n    return [float(sum(column)) / len(column) for column in zip(*data)]\n",
        },
        "t4": {
            "inverse_cdf": (
                "def laplace_mech(value, sensitivity, eps, rng):\n"
                "    u = rng.random() - 0.5\n"
                "    return value - sensitivity / eps * np.sign(u) * math.log(1 - 2 * abs(u))\n"
            ),
            "difference_of_exponentials": (
                "def laplace_mech(value, sensitivity, eps, rng):\n"
                "    b = sensitivity / eps\n"
                "    return value + rng.exponential(b) - rng.exponential(b)\n"
            ),
            "sign_and_exponential": _T4
            + "    return value + rng.choice([-1, 1]) * rng.exponential(sensitivity / eps)\n",
        },
        "t5": {
            "in_one_call": _T5 + "    return mean + rng.laplace(0, d / (n * eps), d)\n",
            "at_the_mean": _T5 + "    return [float(one) for one in rng.laplace(mean, d / (n * eps))]\n",
        },
        "t6": {
            "person_by_person": _T6
            + "    total = np.zeros(d)\n"
            + "    for row in data:\n"
            + "        total += [rng.laplace(one, d / eps) for one in row]\n"
            + "    return total / n\n",
        },
        "t7": {
            "columns": _T7 + "    return np.column_stack([p, a, b, c, a - p, b - a, c - a])\n",
        },
        "t8": {
            "arrays": _T8
            + "        rows.append((size, (two**2).mean() ** 0.5, (three**2).mean() ** 0.5))\n    return rows\n",
        },
        "t9": {
            "in_one_call": (
                "def coverage(sensitivity, eps, beta, k, runs, rng):\n"
                "    noise = rng.laplace(0, sensitivity / eps, (runs, k))\n"
                "    return np.mean(np.abs(noise).max(axis=1) <= sensitivity / eps * (np.log(k) - np.log(beta)))\n"
            ),
        },
        "t10": {
            "weighted": _T10 + "    return d / n * (ones - asked * (1 - p)) / (2 * p - 1)\n",
            "at_once": (
                "def one_attribute(data, eps, rng):\n"
                "    data = np.asarray(data)\n"
                "    n, d = data.shape\n"
                "    p = 1 / (1 + math.exp(-eps))\n"
                "    chosen = rng.integers(d, size=n)\n"
                "    answers = data[np.arange(n), chosen] ^ (rng.random(n) >= p)\n"
                "    result = np.zeros(d)\n"
                "    for j in range(d):\n"
                "        if (chosen == j).any():\n"
                "            result[j] = (answers[chosen == j].mean() - (1 - p)) / (2 * p - 1)\n"
                "    return result\n"
            ),
        },
        "t11": {
            "loops": "def clip01(values):\n    return [min(1.0, max(0.0, one)) for one in values]\n",
            "integral": (
                "def clip_bias(mean, scale):\n"
                "    from scipy.integrate import quad\n"
                "    low = mean / scale\n"
                "    below_shift = quad(lambda z: 0.5 * (z - low) * math.exp(-z), low, low + 60)[0]\n"
                "    top = (1 - mean) / scale\n"
                "    above_shift = quad(lambda z: 0.5 * (z - top) * math.exp(-z), top, top + 60)[0]\n"
                "    return scale * (below_shift - above_shift)\n"
            ),
        },
    }
)

NAMED = {
    ("t1", "one_seed_for_all"): "one_source",
    ("t1", "global_generator"): "not_repeatable",
    ("t2", "over_people"): "mean_of_people",
    ("t3", "one_coordinate"): "one_coordinate",
    ("t3", "count_forgotten"): "count_forgotten",
    ("t4", "no_noise"): "not_random",
    ("t4", "one_sided"): "one_sided",
    ("t4", "half_the_noise"): "scale_too_small",
    ("t5", "no_noise"): "not_random",
    ("t5", "shared_noise"): "shared_noise",
    ("t5", "one_coordinate"): "one_coordinate",
    ("t6", "same_noise_for_all"): "noise_once",
    ("t6", "budget_not_divided"): "local_not_divided",
    ("t7", "errors_mixed"): "parts_mixed",
    ("t8", "central_scale"): "scale_is_not_sd",
    ("t9", "no_logarithm"): "no_logarithm",
    ("t9", "answers_forgotten"): "answers_forgotten",
    ("t10", "truth"): "truth_told",
    ("t10", "no_debiasing"): "not_debiased",
    ("t10", "still_laplace"): "not_better",
    ("t11", "sign"): "sign_turned",
}
