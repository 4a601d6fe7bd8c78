"""diffprivlib's linear regression in a process of its own; `benchmarks.learn_numbers` starts it.

Reads a folder with scaled rows and an order, and writes predicted.npz: for every ε the predictions of the test rows,
one row a fit.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from diffprivlib.models import LinearRegression


def main(place: Path) -> None:
    order = json.loads((place / "order.json").read_text())
    with np.load(place / "rows.npz") as told:
        train, test, y = told["train"], told["test"], told["y"]
    predicted = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for epsilon in order["epsilons"]:
            given = {"epsilon": epsilon, "bounds_X": (-1, 1), "bounds_y": (0, 1)}
            models = [LinearRegression(**given, random_state=seed).fit(train, y) for seed in range(order["fits"])]
            predicted[f"diffprivlib, ε = {epsilon:g}"] = np.array([model.predict(test) for model in models])
    np.savez(place / "predicted.npz", **predicted)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
