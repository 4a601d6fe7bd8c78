"""mbi's MST on the same bins, in a process of its own, and a first fit of ours in another: nobody is warm there.

`make .venv/.synthesisers` unpacks it (synthesisers.lock) beside the environment, and only that process looks there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Any

import numpy as np

from sfumato.kernel.cost import rho_for
from sfumato.learn.bins import Codes
from tests.tables import TableMissing

SIDES = {name: Path(__file__).with_name(f"{name}_side.py") for name in ("learn_mst", "learn_synthetic")}
ROOT = Path(__file__).parent.parent
PACKAGES = Path(sys.prefix) / "data" / "synthesisers"
FITS = 5


@dataclass(frozen=True)
class Beside:
    """Tables that MST made, as the numbers of cells; seconds of its first fit, of later ones, and of our first."""

    version: str
    tables: list[Codes]
    cold: float
    warm: float
    ours: float


def beside(codes: Codes, sizes: Sequence[int], delta: float) -> Beside:
    """MST at ε = 1. Raises TableMissing where mbi is not there."""
    if not PACKAGES.is_dir():
        raise TableMissing("mbi is not at hand. make .venv/.synthesisers brings it.")
    with TemporaryDirectory() as folder:
        place = Path(folder)
        np.save(place / "codes.npy", codes)
        rho = float(rho_for(Fraction(1), Fraction(str(delta))))
        order = {"sizes": list(sizes), "rho": rho, "fits": FITS}
        theirs = _told("learn_mst", order, place, PACKAGES)
        ours = _told("learn_synthetic", order, place, ROOT / "src", ROOT)
        with np.load(place / "tables.npz") as told:
            tables = [told[name] for name in told.files]
    first, *later = theirs["seconds"]
    return Beside(theirs["version"], tables, first, float(np.median(later)), ours["seconds"][0])


def _told(name: str, order: dict[str, Any], place: Path, *paths: Path) -> dict[str, Any]:
    """What a process of its own says that it took, from now on."""
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "JAX_ENABLE_X64": "1"}
    (place / "order.json").write_text(json.dumps({**order, "begin": time()}))
    subprocess.run([sys.executable, str(SIDES[name]), str(place)], env=surroundings, check=True)
    found: dict[str, Any] = json.loads((place / f"{name}.json").read_text())
    return found
