"""The Adult table and its hierarchies as the anonymising tests ask for them."""

import pandas as pd

from tests.tables import adult as folder

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
    return pd.read_csv(folder() / "train.csv").dropna().reset_index(drop=True)


def hierarchies() -> dict[str, str]:
    return {column: str(folder() / "hierarchies" / f"{name}.csv") for column, name in FILES.items()}
