"""Answers that must fail, and other answers that are right."""

_MEAN = "def mean_age(df):\n    return {}\n"
_MECH = "def laplace_mech(value, sensitivity, eps, rng):\n    {}\n"
_COUNT = "def count(df, place):\n    return int((df['place'] == place).sum())\n\n\n"
_COUNTS = _COUNT + "def noisy_counts(df, places, eps, rng):\n    {}\n"
_CHOOSE = "def choose(scores, eps, rng):\n    {}\n"

MUTANTS = {
    "t1": {
        "median": _MEAN.format("float(df['age'].median())"),
        "rounded": _MEAN.format("round(df['age'].mean())"),
        "total": _MEAN.format("float(df['age'].sum())"),
        "nothing": "def mean_age(df):\n    df['age'].mean()\n",
    },
    "t2": {
        "no_noise": _MECH.format("return value"),
        "swapped": _MECH.format("return value + rng.laplace(0.0, eps / sensitivity)"),
        "squared": _MECH.format("return value + rng.laplace(0.0, (sensitivity / eps) ** 2)"),
        "halved": _MECH.format("return value + rng.laplace(0.0, sensitivity / eps / 2)"),
        "gaussian": _MECH.format("return value + rng.normal(0.0, 1.4142 * sensitivity / eps)"),
        "one_sided": _MECH.format("return value + rng.exponential(sensitivity / eps)"),
        "constant_seed": _MECH.format("return value + np.random.default_rng(0).laplace(0.0, sensitivity / eps)"),
        "shifted": _MECH.format("return value + sensitivity / eps + rng.laplace(0.0, sensitivity / eps)"),
    },
    "t3": {
        "shared": _COUNTS.format(
            "noise = rng.laplace(0.0, 1 / eps)\n    return [count(df, place) + noise for place in places]"
        ),
        "divided": _COUNTS.format("return [laplace_mech(count(df, place), 1, eps / 3, rng) for place in places]"),
        "no_noise": _COUNTS.format("return [count(df, place) for place in places]"),
        "too_few": _COUNTS.format("return [laplace_mech(count(df, place), 1, eps, rng) for place in places[:2]]"),
    },
    "t4": {
        "greedy": _CHOOSE.format("return int(np.argmax(scores))"),
        "uniform": _CHOOSE.format("return int(rng.integers(len(scores)))"),
        "forgot_half": _CHOOSE.format(
            "w = np.exp(eps * np.asarray(scores))\n    return int(rng.choice(len(scores), p=w / w.sum()))"
        ),
        "scores_as_weights": _CHOOSE.format(
            "w = np.asarray(scores)\n    return int(rng.choice(len(scores), p=w / w.sum()))"
        ),
        "from_one": _CHOOSE.format(
            "w = np.exp(eps * np.asarray(scores) / 2)\n    return 1 + int(rng.choice(len(scores), p=w / w.sum()))"
        ),
    },
}
OTHERS = {
    "t1": {"by_hand": _MEAN.format("sum(df['age']) / len(df)")},
    "t2": {
        "inverse": _MECH.format(
            "u = rng.random() - 0.5\n    return value - sensitivity / eps * np.sign(u) * np.log1p(-2 * abs(u))"
        ),
        "difference": _MECH.format("b = sensitivity / eps\n    return value + rng.exponential(b) - rng.exponential(b)"),
    },
    "t3": {
        "array": _COUNTS.format(
            "return np.array([count(df, one) for one in places]) + rng.laplace(0.0, 1 / eps, len(places))"
        ),
    },
    "t4": {
        "gumbel": _CHOOSE.format("return int(np.argmax(eps * np.asarray(scores) / 2 + rng.gumbel(size=len(scores))))")
    },
}
NAMED = {
    ("t1", "median"): "median",
    ("t1", "nothing"): "returned_nothing",
    ("t2", "no_noise"): "not_random",
    ("t2", "swapped"): "swapped_eps_delta",
    ("t2", "halved"): "scale_too_small",
    ("t2", "one_sided"): "one_sided",
    ("t2", "constant_seed"): "not_random",
    ("t2", "shifted"): "biased",
    ("t3", "shared"): "correlated",
    ("t3", "too_few"): "wrong_shape",
    ("t4", "forgot_half"): "forgot_half",
    ("t4", "greedy"): "not_random",
    ("t4", "from_one"): "outside_range",
}
