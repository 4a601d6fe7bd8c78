"""diffprivlib, DP-EBM and scikit-learn in a process of their own; `benchmarks.learn_peers` starts it.

Reads a folder with rows and an order, and writes shares.npz: for every peer the probabilities of the test rows, one row
a fit. All run at their defaults; those who take bins get ours, which come from declarations alone.
"""

import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from diffprivlib.models import DecisionTreeClassifier, GaussianNB, LogisticRegression, RandomForestClassifier
from interpret.privacy import DPExplainableBoostingClassifier
from sklearn.linear_model import LogisticRegression as PlainRegression
from sklearn.tree import DecisionTreeClassifier as PlainTree

DELTA = 1e-6


def main(place: Path) -> None:
    order = json.loads((place / "order.json").read_text())
    codes, y = {part: np.load(place / f"{part}.npy") for part in ("train", "test")}, np.load(place / "y.npy")
    frames = {part: pd.read_parquet(place / f"{part}.parquet") for part in ("train", "test")}
    wide = {
        part: np.hstack([np.eye(size)[own[:, i]] for i, size in enumerate(order["sizes"])])
        for part, own in codes.items()
    }
    shares = {
        "scikit-learn without privacy, logistic regression": _fitted(
            partial(PlainRegression, max_iter=300), wide, y, 1
        ),
        "scikit-learn without privacy, tree of depth 7": _fitted(partial(PlainTree, max_depth=7), codes, y, 1),
    }
    rows = {"one-hot": wide, "bins": codes, "raw": frames}
    for epsilon in order["epsilons"]:
        for name, (kind, make) in _private(epsilon, order).items():
            shares[f"{name}, ε = {epsilon:g}"] = _fitted(make, rows[kind], y, order["fits"])
    np.savez(place / "shares.npz", **shares)


def _private(epsilon: float, order: dict[str, Any]) -> dict[str, tuple[str, Callable[..., Any]]]:
    """By name: which rows it takes, and how it is made."""
    sizes = order["sizes"]
    bounds = np.zeros(len(sizes)), np.array(sizes) - 1.0
    divided = {"epsilon": epsilon, "bounds": bounds, "classes": [0, 1]}
    boosted = {"epsilon": epsilon, "delta": DELTA, "feature_types": order["kinds"], "n_jobs": 1}
    return {
        "diffprivlib, logistic regression": (
            "one-hot",
            partial(LogisticRegression, epsilon=epsilon, data_norm=len(sizes) ** 0.5),
        ),
        "diffprivlib, naive Bayes": ("bins", partial(GaussianNB, epsilon=epsilon, bounds=bounds)),
        "diffprivlib, tree": ("bins", partial(DecisionTreeClassifier, **divided)),
        "diffprivlib, forest": ("bins", partial(RandomForestClassifier, **divided)),
        "DP-EBM (δ = 1e-6)": ("raw", partial(DPExplainableBoostingClassifier, **boosted)),
    }


def _fitted(make: Callable[..., Any], rows: dict[str, Any], y: np.ndarray, fits: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [make(random_state=seed).fit(rows["train"], y) for seed in range(fits)]
        return np.array([np.nan_to_num(model.predict_proba(rows["test"])[:, 1], nan=0.5) for model in models])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
