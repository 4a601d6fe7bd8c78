"""The people of a made-up town, one row each, with names and identity numbers of a language."""

import numpy as np
import pyarrow as pa

from sfumato.datasets.naming import NAMINGS, names_of, numbers_of
from sfumato.datasets.people import draw_people
from sfumato.datasets.town import need_rows, person_columns
from sfumato.errors import UsageError, did_you_mean, quoted
from sfumato.simulate import Simulator


def census(rows: int = 32_561, seed: int = 0, lang: str = "en") -> pa.Table:
    """A town as a table of its people, one row per person, every identity number different.

    Claim: the same rows, seed and language give the same table; all columns but name and national_id are the same in
    every language. `age` is the age on REFERENCE_DATE and agrees with birth_date. Nobody in it exists: it is made from
    a release with epsilon 1 (see `sfumato.datasets.tables`), and no identity number was ever issued.
    """
    need_rows(rows, "people")
    if lang not in NAMINGS:
        raise UsageError(
            f'nobody in the town has a name in "{lang}".{did_you_mean(str(lang), list(NAMINGS))}',
            f"The languages are {quoted(list(NAMINGS))}.",
        )
    simulator = Simulator(seed)
    people = draw_people(simulator, int(rows))
    columns = person_columns(people, np.arange(int(rows)))
    sex = people.codes["sex"]
    return pa.table(
        {
            "person_id": columns.pop("person_id"),
            "name": pa.array(names_of(simulator, sex, lang)),
            "national_id": pa.array(numbers_of(simulator, sex, people.birth_day, lang)),
            **{name: column for name, column in columns.items() if name != "name"},
        }
    )
