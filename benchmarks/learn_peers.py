"""Other people's private classifiers on the same rows, in a process of their own: they need an older scikit-learn.

`make bench` unpacks them (learners.lock) beside the environment, and only that process looks there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sfumato as sf
from benchmarks.learn_tables import Data, scored
from sfumato.learn.frames import codes_of
from sfumato.learn.task import task_of
from sfumato.schema.table import Schema
from tests.tables import TableMissing

SIDE = Path(__file__).with_name("learn_side.py")
PACKAGES = Path(sys.prefix) / "data" / "learners"
FITS = 3


def beside(tables: Sequence[tuple[Data, tuple[float, ...]]]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """For every table and peer: AUC and accuracy of each fit. Raises TableMissing where the peers are not there."""
    if not PACKAGES.is_dir():
        raise TableMissing("Other classifiers are not at hand. make bench brings them.")
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    with TemporaryDirectory() as folder:
        for number, (data, epsilons) in enumerate(tables):
            place = Path(folder) / str(number)
            place.mkdir()
            _written(data, epsilons, place)
            surroundings = {**os.environ, "PYTHONPATH": str(PACKAGES)}
            subprocess.run([sys.executable, str(SIDE), str(place)], env=surroundings, check=True)
            with np.load(place / "shares.npz") as told:
                for name in told.files:
                    scores = [scored(shares, data.truth) for shares in told[name]]
                    found.setdefault(data.name, {})[name] = {
                        measure: [one[measure] for one in scores] for measure in ("AUC", "accuracy")
                    }
    return found


def _written(data: Data, epsilons: tuple[float, ...], place: Path) -> None:
    """Bins of our learners, from declarations, for those who take bins; raw columns for the one who makes its own."""
    task = task_of(Schema("people", sf.Row(), data.columns), "epsilon", target=data.target)
    features = [one.feature for one in task.columns]
    names = [feature.name for feature in features]
    kinds = ["nominal" if isinstance(data.columns[name], sf.Category) else "continuous" for name in names]
    numbers = {name: data.columns[name] for name, kind in zip(names, kinds, strict=True) if kind == "continuous"}
    middles = {name: float(one.lower + one.upper) / 2 for name, one in numbers.items()}  # it takes no missing values
    for part, frame in (("train", data.train), ("test", data.test)):
        np.save(place / f"{part}.npy", codes_of(frame, features))
        frame[names].fillna(middles).reset_index(drop=True).to_parquet(place / f"{part}.parquet")
    np.save(place / "y.npy", (data.train[data.target] == data.yes).to_numpy().astype(int))
    order = {"sizes": [one.size for one in task.columns], "kinds": kinds, "epsilons": epsilons, "fits": FITS}
    (place / "order.json").write_text(json.dumps(order))
