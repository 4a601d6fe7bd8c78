"""The Adult table and its hierarchies, where they are at hand; they are never part of the repository."""

import os
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PLACES = [
    Path(os.environ.get("SFUMATO_DATA", "")),
    ROOT.parent / "shared" / "data",
    ROOT.parents[1] / "shared" / "data",
]
FOLDER = next((place / "adult" for place in PLACES if (place / "adult" / "train.csv").is_file()), None)
needs_adult = pytest.mark.skipif(FOLDER is None, reason="the Adult table is not at hand")
FILES = {
    "sex": "sex",
    "age": "age",
    "race": "race",
    "marital_status": "marital",
    "education": "education",
    "native_country": "country",
    "workclass": "workclass",
    "income": "salary",
}
QUASI = list(FILES)


def adult() -> pd.DataFrame:
    """The 30,162 rows without blanks."""
    return pd.read_csv(FOLDER / "train.csv").dropna().reset_index(drop=True)


def hierarchies() -> dict[str, str]:
    return {column: str(FOLDER / "hierarchies" / f"{name}.csv") for column, name in FILES.items()}
