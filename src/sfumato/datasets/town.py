"""A made-up census town whose people visit a clinic."""

from datetime import date
from typing import Any, SupportsIndex

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.clinic import (
    AGE_GROUPS,
    COST_SPREAD,
    DIAGNOSES,
    SHARE_OF_LASTING_CONDITION,
    VISITS_A_PERSON,
    VISITS_A_WEEKDAY,
    YEAR,
)
from sfumato.datasets.people import COUNTRIES, ZIP_CODES, Integers, People, draw_people
from sfumato.datasets.variables import (
    EDUCATION,
    INCOME_CLASS,
    MARITAL_STATUS,
    OCCUPATION,
    RACE,
    RELATIONSHIP,
    SEX,
    WORKCLASS,
)
from sfumato.errors import UsageError, not_whole
from sfumato.simulate import Simulator

REFERENCE_DATE = date(YEAR, 12, 31)


def population(rows: int = 32_561, seed: int = 0) -> pa.Table:
    """A town as a table of clinic visits, one row per visit and about two visits per person, in order of date.

    Claim: the same rows and seed give the same table. `age` is the age on REFERENCE_DATE; every column but
    visit_date, diagnosis and cost is the same in all rows of a person. Nobody in it exists: it is made from a release
    with epsilon 1 (see `sfumato.datasets.tables`), so any number of towns costs nothing more.
    """
    need_rows(rows, "visits")
    simulator = Simulator(seed)
    visits = simulator.stream("visits of a person").categories(VISITS_A_PERSON, rows) + 1
    person = np.repeat(np.arange(rows), visits)[:rows]
    people = draw_people(simulator, int(person[-1]) + 1)
    day = _visit_days(simulator, rows)
    diagnosis = _diagnoses(simulator, people, person)
    by_date = np.argsort(day, kind="stable")
    whole = person_columns(people, person[by_date]) | {
        "visit_date": _dates(day[by_date]),
        "diagnosis": _labels(tuple(entry.name for entry in DIAGNOSES), diagnosis[by_date]),
        "cost": pa.array(_costs(simulator, diagnosis)[by_date]),
    }
    return pa.table(whole)


def need_rows(rows: int, of_what: str) -> None:
    """Refuse a number of rows that no table has."""
    if isinstance(rows, bool) or not isinstance(rows, SupportsIndex):
        raise not_whole("rows", repr(rows))
    if rows < 1:
        raise UsageError(f"rows must be 1 or greater, not {rows}.", f"Say how many {of_what} you want, e.g. rows=1000.")


def person_columns(people: People, person: Integers) -> dict[str, "pa.Array[Any]"]:
    """What is the same in all rows of a person; `person` holds positions among the people."""
    codes = {variable: column[person] for variable, column in people.codes.items()}
    return {
        "person_id": pa.array(people.person_id[person]),
        "name": pa.array(people.name).take(person),
        "birth_date": _dates(people.birth_day[person]),
        "age": pa.array(people.age[person]),
        "sex": _labels(SEX, codes["sex"]),
        "zip": _labels(ZIP_CODES, people.zip_code[person]),
        "race": _labels(RACE, codes["race"]),
        "native_country": _labels(COUNTRIES, people.country[person]),
        "education": _labels(EDUCATION, codes["education"]),
        "education_num": pa.array(codes["education"] + 1),
        "marital_status": _labels(MARITAL_STATUS, codes["marital_status"]),
        "relationship": _labels(RELATIONSHIP, codes["relationship"]),
        "workclass": _labels(WORKCLASS, codes["workclass"]),
        "occupation": _labels(OCCUPATION, codes["occupation"]),
        "hours_per_week": pa.array(people.hours_per_week[person]),
        "capital_gain": pa.array(people.capital_gain[person]),
        "capital_loss": pa.array(people.capital_loss[person]),
        "income": pa.array(people.income[person]),
        "income_class": _labels(INCOME_CLASS, codes["income_class"]),
    }


def _labels(labels: tuple[str | None, ...], codes: Integers) -> "pa.Array[Any]":
    return pa.array(labels, type=pa.string()).take(codes)


def _dates(days: Integers) -> "pa.Array[Any]":
    return pa.array(days.astype(np.int32)).cast(pa.date32())


def _visit_days(simulator: Simulator, count: int) -> Integers:
    """Days since 1970 in the year YEAR, fewer of them at weekends."""
    first = date(YEAR, 1, 1)
    length = (date(YEAR + 1, 1, 1) - first).days
    by_day = [VISITS_A_WEEKDAY[(first.weekday() + offset) % 7] for offset in range(length)]
    return (first - date(1970, 1, 1)).days + simulator.stream("visit date").categories(by_day, count)


def _diagnoses(simulator: Simulator, people: People, person: Integers) -> Integers:
    """One diagnosis a visit: often the person's lasting condition, else a new one, both by age and sex."""
    by_sex = {"Female": [entry.women for entry in DIAGNOSES], "Male": [entry.men for entry in DIAGNOSES]}
    table = np.concatenate([np.array(by_sex[sex]).T for sex in SEX])
    group = np.searchsorted(np.array(AGE_GROUPS), people.age, side="right") - 1
    kind = people.codes["sex"] * len(AGE_GROUPS) + group
    lasting = simulator.stream("lasting condition").conditional(table, kind)
    fresh = simulator.stream("diagnosis").conditional(table, kind[person])
    again = simulator.stream("same condition again").uniform(len(person)) < SHARE_OF_LASTING_CONDITION
    return np.where(again, lasting[person], fresh)


def _costs(simulator: Simulator, diagnosis: Integers) -> NDArray[np.float64]:
    median = np.array([entry.median_cost for entry in DIAGNOSES])[diagnosis]
    spread = np.exp(COST_SPREAD * simulator.stream("cost").normal(len(diagnosis)))
    return np.asarray(np.rint(median * spread * 100) / 100)
