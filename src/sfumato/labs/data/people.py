"""The people of a student's town, one row each, under the headings that the thesis' data files have."""

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from sfumato import datasets
from sfumato.labs.variant import Variant

FULL_ROWS = 32_219
# Heading of the file -> column of the town. The survey weight of the original extract means nothing here: left out.
HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "Name": "name",
        "DOB": "birth_date",
        "SSN": "national_id",
        "Zip": "zip",
        "Age": "age",
        "Workclass": "workclass",
        "Education": "education",
        "Education-Num": "education_num",
        "Marital Status": "marital_status",
        "Occupation": "occupation",
        "Relationship": "relationship",
        "Race": "race",
        "Sex": "sex",
        "Capital Gain": "capital_gain",
        "Capital Loss": "capital_loss",
        "Hours per week": "hours_per_week",
        "Country": "native_country",
        "Target": "income_class",
    }
)
_SEEDS = 2**53


def census(v: Variant, lang: str, rows: int = FULL_ROWS) -> pa.Table:
    """So many people of the town of a variant and seed; what is not stated is empty.

    Claim: names and numbers aside, every language has the same people. A shorter table is another draw of the same
    town, so take the first rows of the full one where files of several sizes must agree.
    """
    seed = int(v.stream("town").uniform(1)[0] * _SEEDS)
    town = datasets.census(rows, seed, lang)
    return pa.table({heading: town[column] for heading, column in HEADINGS.items()})
