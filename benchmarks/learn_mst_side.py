"""MST (McKenna, Miklau, Sheldon 2021) on mbi, in a process of its own; `benchmarks.learn_mst` starts it.

The wheel of mbi has graphical models and no mechanism, so that the mechanism is written here as the paper has it: a
third of ρ for every column by itself, a third for the choice of a tree, a third for its pairs. Values below three
standard deviations are merged, a model of single columns says what is chosen against, mirror descent fits the tree.
Reads a folder with rows and an order, and writes tables.npz, one table a fit, and the seconds of each: of the
first since it was started.
"""

import json
import sys
import warnings
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from time import time
from typing import Any

import numpy as np
from mbi import Dataset, Domain, LinearMeasurement, estimation

CHOICE_STEPS, STEPS = 1000, 2500
SURE = 3


def main(place: Path) -> None:
    order, codes = json.loads((place / "order.json").read_text()), np.load(place / "codes.npy")
    names = [f"c{number}" for number in range(len(order["sizes"]))]
    data = Dataset(dict(zip(names, codes.T, strict=True)), Domain(names, order["sizes"]))
    ends, tables = [order["begin"]], []
    for fit in range(order["fits"]):
        made = mst(data, order["rho"], np.random.default_rng(fit)).to_dict()
        tables.append(np.column_stack([made[name] for name in names]).astype(np.int64))
        ends.append(time())
    np.savez(place / "tables.npz", *tables)
    (place / "learn_mst.json").write_text(json.dumps({"version": version("mbi"), "seconds": np.diff(ends).tolist()}))


def mst(data: Any, rho: float, coins: Any) -> Any:
    deviation = (3 * len(data.domain) / (2 * rho)) ** 0.5
    ones = [_measured(data, (name,), deviation, coins) for name in data.domain]
    total = _total(ones)
    merged = {one.clique[0]: _merged(one.noisy_measurement, deviation) for one in ones}
    small, ones = data.compress(merged), [one.compress(merged, data.domain) for one in ones]
    pairs = _tree(small, ones, total, rho / 3, coins)
    deviation = (3 * len(pairs) / (2 * rho)) ** 0.5
    both = [*ones, *(_measured(small, pair, deviation, coins) for pair in pairs)]
    model = estimation.MirrorDescent().estimate(small.domain, both, known_total=total, iters=STEPS)
    return model.synthetic_data().decompress(merged)


def _measured(data: Any, clique: tuple[str, ...], deviation: float, coins: Any) -> Any:
    counts = np.asarray(data.project(clique).datavector())
    return LinearMeasurement(counts + deviation * coins.normal(size=counts.size), clique, deviation)


def _total(ones: list[Any]) -> float:
    """How many rows there are. Of merged values mbi does not find it itself, and would take 1."""
    weights = np.array([1 / one.noisy_measurement.size for one in ones])
    return max(1.0, float(weights @ [one.noisy_measurement.sum() for one in ones] / weights.sum()))


def _merged(counts: Any, deviation: float) -> Any:
    """Each value that is surely there by itself, all others as one."""
    sure = counts >= SURE * deviation
    return np.where(sure, np.cumsum(sure) - 1, sure.sum())


def _tree(data: Any, ones: list[Any], total: float, rho: float, coins: Any) -> list[tuple[str, str]]:
    """Pairs that join all columns, each chosen by how far it is from independent columns."""
    model = estimation.MirrorDescent().estimate(data.domain, ones, known_total=total, iters=CHOICE_STEPS)
    gaps = {
        pair: float(np.abs(np.asarray(data.project(pair).datavector() - model.project(pair).datavector())).sum())
        for pair in combinations(data.domain.attributes, 2)
    }
    part, tree = {name: name for name in data.domain}, []
    epsilon = (8 * rho / (len(part) - 1)) ** 0.5
    while len(tree) < len(part) - 1:
        left = [pair for pair in gaps if part[pair[0]] != part[pair[1]]]
        scores = np.array([gaps[pair] for pair in left]) * epsilon / 2 + coins.gumbel(size=len(left))
        chosen = left[int(np.argmax(scores))]
        tree.append(chosen)
        kept, gone = (part[name] for name in chosen)
        part = {name: kept if own == gone else own for name, own in part.items()}
    return tree


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
