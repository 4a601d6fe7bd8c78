import hashlib
import subprocess
import sys
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.datasets import REFERENCE_DATE, population
from sfumato.errors import UsageError

COLUMNS = {
    "person_id": pa.int64(),
    "name": pa.string(),
    "birth_date": pa.date32(),
    "age": pa.int64(),
    "sex": pa.string(),
    "zip": pa.string(),
    "race": pa.string(),
    "native_country": pa.string(),
    "education": pa.string(),
    "education_num": pa.int64(),
    "marital_status": pa.string(),
    "relationship": pa.string(),
    "workclass": pa.string(),
    "occupation": pa.string(),
    "hours_per_week": pa.int64(),
    "capital_gain": pa.int64(),
    "capital_loss": pa.int64(),
    "income": pa.float64(),
    "income_class": pa.string(),
    "visit_date": pa.date32(),
    "diagnosis": pa.string(),
    "cost": pa.float64(),
}
OF_THE_VISIT = ("visit_date", "diagnosis", "cost")


def fingerprint(table: pa.Table) -> str:
    digest = hashlib.sha256()
    for name in table.column_names:
        digest.update("\n".join([name, *map(str, table[name].to_pylist()), ""]).encode())
    return digest.hexdigest()


def unique_share(table: pa.Table, columns: list[str]) -> float:
    groups = table.group_by(columns).aggregate([([], "count_all")])
    return int(np.sum(groups["count_all"].to_numpy() == 1)) / table.num_rows


def test_the_town_of_seed_zero_never_changes(town: pa.Table) -> None:
    assert fingerprint(town) == "6b0ae0b74e2d295052ad5278072e3d087bb0e7387ffd24a8f0e6b96d2e922c46"


def test_another_process_draws_the_same_town(town: pa.Table) -> None:
    code = "from sfumato.datasets import population; t = population(500, 3); print(t['name'][0], t['cost'][-1])"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    here = population(500, 3)
    assert text == f"{here['name'][0]} {here['cost'][-1]}"


def test_columns_and_types(town: pa.Table) -> None:
    assert dict(zip(town.column_names, town.schema.types, strict=True)) == COLUMNS
    assert town.num_rows == 32_561


def test_only_work_and_country_may_be_unstated(town: pa.Table) -> None:
    with_nulls = {name for name in town.column_names if town[name].null_count}
    assert with_nulls == {"workclass", "occupation", "native_country"}


def test_seeds_give_different_towns(town: pa.Table) -> None:
    other = population(seed=1)
    assert other.num_rows == town.num_rows
    assert all(not other[name].equals(town[name]) for name in town.column_names)


def test_age_is_the_age_on_the_reference_date(persons: pa.Table) -> None:
    assert date(2024, 12, 31) == REFERENCE_DATE
    for born, age in zip(persons["birth_date"].to_pylist(), persons["age"].to_pylist(), strict=True):
        had_birthday = (born.month, born.day) <= (REFERENCE_DATE.month, REFERENCE_DATE.day)
        assert age == REFERENCE_DATE.year - born.year - (not had_birthday)
    youngest, oldest = pc.min_max(persons["age"]).as_py().values()
    assert youngest == 17
    assert 85 <= oldest <= 90


def test_birthdays_fill_the_year_evenly(persons: pa.Table) -> None:
    months = np.bincount(pc.month(persons["birth_date"]).to_numpy(), minlength=13)[1:]
    days = np.array([31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    expected = persons.num_rows * days / days.sum()
    assert np.all(np.abs(months - expected) / np.sqrt(expected) < 6)


def test_several_visits_a_person_in_order_of_date(town: pa.Table, persons: pa.Table) -> None:
    visits = np.unique(town["person_id"].to_numpy(), return_counts=True)[1]
    assert visits.min() == 1
    assert 8 <= visits.max() <= 12
    assert 1.9 < visits.mean() < 2.1
    dates = town["visit_date"].to_pylist()
    assert dates == sorted(dates)
    assert {dates[0].year, dates[-1].year} == {REFERENCE_DATE.year}


def test_what_belongs_to_a_person_is_the_same_at_each_visit(town: pa.Table, persons: pa.Table) -> None:
    lasting = [name for name in town.column_names if name not in OF_THE_VISIT]
    assert town.group_by(lasting).aggregate([]).num_rows == persons.num_rows


def test_names_are_unique(persons: pa.Table) -> None:
    assert pc.count_distinct(persons["name"]).as_py() == persons.num_rows


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_zip_birth_date_and_sex_single_out_seven_persons_in_eight(seed: int) -> None:
    town = population(seed=seed)
    persons = town.take(np.unique(town["person_id"].to_numpy(), return_index=True)[1])
    by_year = persons.append_column("birth_year", pc.year(persons["birth_date"]))
    assert 0.86 < unique_share(persons, ["zip", "birth_date", "sex"]) < 0.885
    # It would be 0.3 % for 32,561 persons; with half as many, the old in small districts stand alone more often.
    assert unique_share(by_year, ["zip", "birth_year", "sex"]) < 0.015
    assert unique_share(persons, ["zip", "sex"]) == 0
    assert pc.count_distinct(persons["zip"]).as_py() == 10


def test_one_visit_is_a_town_too() -> None:
    assert population(1).num_rows == 1
    assert population(np.int64(7), seed=np.int64(2)).num_rows == 7


@pytest.mark.parametrize("rows", [0, -1, 2.5, "10", True, None])
def test_rows_is_a_whole_number_from_one(rows: object) -> None:
    with pytest.raises(UsageError, match="rows"):
        population(rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 0.5, "0", True, None])
def test_seed_is_a_whole_number_from_zero(seed: object) -> None:
    with pytest.raises(UsageError, match="seed"):
        population(10, seed)  # type: ignore[arg-type]
