"""A first fit of `Synthetic` at ε = 1, since it was started; `benchmarks.learn_mst` starts it."""

import json
import sys
from pathlib import Path
from time import time

from benchmarks.learn_synthetic import DELTA, fitted, whole_census


def main(place: Path) -> None:
    begin = json.loads((place / "order.json").read_text())["begin"]
    model, _ = fitted(*whole_census(), 1.0, DELTA)
    model.sample()
    (place / "learn_synthetic.json").write_text(json.dumps({"seconds": [time() - begin]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
