"""The town looks like a census: no impossible people, and pairs of columns that go together as in the real extract."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import csv

from sfumato.datasets import population
from sfumato.datasets.clinic import DIAGNOSES
from sfumato.datasets.names import FEMALE_NAMES, MALE_NAMES
from sfumato.datasets.tables import PEOPLE, SHAPE, released, weights
from sfumato.datasets.variables import (
    AGE_BANDS,
    COUNTRY_GROUPS,
    EDUCATION,
    GAIN_BANDS,
    HOURS_BANDS,
    INCOME_CLASS,
    LOSS_BANDS,
    MARITAL_STATUS,
    OCCUPATION,
    RACE,
    RELATIONSHIP,
    SEX,
    SIZES,
    WORKCLASS,
    Band,
)
from tests.tables import adult

LABELS = {
    "sex": SEX,
    "relationship": RELATIONSHIP,
    "marital_status": MARITAL_STATUS,
    "income_class": INCOME_CLASS,
    "occupation": OCCUPATION,
    "workclass": WORKCLASS,
    "education": EDUCATION,
    "race": RACE,
}
BANDS = {
    "age": AGE_BANDS,
    "hours_per_week": HOURS_BANDS,
    "capital_gain": GAIN_BANDS,
    "capital_loss": LOSS_BANDS,
}
SPOUSE = ("Married-civ-spouse", "Married-AF-spouse")


@pytest.mark.parametrize("seed", [0, 5, 6])
def test_impossible_people_do_not_exist(seed: int) -> None:
    for person in population(seed=seed).to_pylist():
        sex, tie, status = person["sex"], person["relationship"], person["marital_status"]
        assert (tie, sex) not in (("Husband", "Female"), ("Wife", "Male"))
        if tie in ("Husband", "Wife"):
            assert status in SPOUSE
        if tie in ("Unmarried", "Not-in-family"):
            assert status not in SPOUSE
        assert status == "Never-married" or person["age"] >= 18
        assert person["education_num"] == EDUCATION.index(person["education"]) + 1
        assert person["education_num"] < 13 or person["age"] >= 20
        assert person["education_num"] < 15 or person["age"] >= 25
        assert (person["occupation"] is None) == (person["workclass"] is None)
        assert person["occupation"] != "Armed-Forces" or person["workclass"] == "Federal-gov"
        assert (person["income"] > 50_000) == (person["income_class"] == ">50K")
        assert person["income"] == 0 or 1_200 <= person["income"] <= 500_000
        assert (person["income"] == 0) == (person["workclass"] == "Without-pay")
        assert person["income_class"] == "<=50K" or person["age"] >= 20
        assert person["name"].split()[0] in (FEMALE_NAMES if sex == "Female" else MALE_NAMES)
        if person["diagnosis"] == "Pregnancy":
            assert sex == "Female"
            assert person["age"] < 45
        if person["diagnosis"] == "Prostate cancer":
            assert sex == "Male"
            assert person["age"] >= 45


def test_money_has_whole_cents(town: pa.Table) -> None:
    for column in ("income", "cost"):
        values = town[column].to_numpy()
        assert np.all(values == np.rint(values * 100) / 100)
    assert pc.min(town["cost"]).as_py() > 0


def test_pay_rises_with_schooling_and_hours(persons: pa.Table) -> None:
    income = persons["income"].to_numpy()
    schooling, hours = persons["education_num"].to_numpy(), persons["hours_per_week"].to_numpy()
    assert income[schooling >= 13].mean() > 1.4 * income[schooling <= 9].mean()
    assert income[hours >= 45].mean() > 1.4 * income[hours <= 30].mean()
    assert 0.22 < np.mean(income > 50_000) < 0.26


def test_every_diagnosis_occurs_and_conditions_last(town: pa.Table) -> None:
    assert set(town["diagnosis"].to_pylist()) == {entry.name for entry in DIAGNOSES}
    pairs = town.group_by("person_id").aggregate([("diagnosis", "count"), ("diagnosis", "count_distinct")])
    twice = pairs.filter(pc.equal(pairs["diagnosis_count"], 2))
    assert np.mean(twice["diagnosis_count_distinct"].to_numpy() == 1) > 0.35


def test_the_tables_are_thirteen_and_as_released() -> None:
    tables = released()
    assert len(tables) == 13
    assert sum(table.size for table in tables.values()) < 2_200
    assert min(table.min() for table in tables.values()) < 0
    for table in tables.values():
        # The noise of a whole table: discrete Laplace of scale 13 has a variance just below 2 * 13^2.
        assert abs(int(table.sum()) - PEOPLE) < 6 * np.sqrt(table.size * 2 * 13**2)


def test_impossible_combinations_weigh_nothing_and_no_row_is_empty() -> None:
    drawn_from = weights(released())
    assert list(drawn_from) == list(SHAPE)
    for variable, (parents, table) in drawn_from.items():
        assert table.shape == (*(SIZES[parent] for parent in parents), SIZES[variable])
        assert table.min() >= 0
        impossible_parents = variable == "age"  # a husband who never married has no age
        assert impossible_parents or np.all(table.sum(axis=-1) > 0)
    assert drawn_from["relationship"][1][SEX.index("Female"), RELATIONSHIP.index("Husband")] == 0
    doctorate = drawn_from["education"][1][:, :, 0, EDUCATION.index("Doctorate")]
    assert np.all(doctorate == 0)


def test_a_table_emptied_by_noise_still_draws_possible_people() -> None:
    emptied = {variable: np.full_like(table, -50) for variable, table in released().items()}
    for variable, table in emptied.items():
        table.flat[0] = PEOPLE if variable != "relationship" else -50
        if variable == "relationship":
            table[SEX.index("Female"), RELATIONSHIP.index("Wife")] = PEOPLE
    relationship = weights(emptied)["relationship"][1]
    assert relationship[SEX.index("Male"), RELATIONSHIP.index("Wife")] == 0
    assert relationship[SEX.index("Male")].sum() > 0


def test_pairs_of_columns_go_together_as_in_the_census(persons: pa.Table) -> None:
    real = csv.read_csv(adult() / "train.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True))
    real = real.rename_columns(["income_class" if name == "income" else name for name in real.column_names])
    census, town = coded(real), coded(persons)
    distances = two_way_distances(census, town)
    assert len(distances) == 78
    assert np.mean(distances) < 0.042
    assert np.max(distances) < 0.17
    # Columns shuffled apart keep their own frequencies but lose each other: the measure must see that.
    generator = np.random.default_rng(0)
    shuffled = {name: generator.permutation(column) for name, column in census.items()}
    assert np.mean(two_way_distances(census, shuffled)) > 0.06


def coded(table: pa.Table) -> dict[str, np.ndarray]:
    return {name: code_column(table[name], name) for name in SIZES}


def code_column(column: pa.ChunkedArray, name: str) -> np.ndarray:
    if name in BANDS:
        bands: tuple[Band, ...] = BANDS[name]
        return np.searchsorted([band.low for band in bands], column.to_numpy(), side="right") - 1
    if name == "native_country":
        places = {country: group for group, members in enumerate(COUNTRY_GROUPS) for country, _ in members}
    else:
        places = {label: position for position, label in enumerate(LABELS[name])}
    return np.array([places[value] for value in column.to_pylist()])


def two_way_distances(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> list[float]:
    """Total-variation distance of the joint frequencies, for each pair of variables."""

    def frequencies(codes: dict[str, np.ndarray], first: str, second: str) -> np.ndarray:
        cells = codes[first] * SIZES[second] + codes[second]
        return np.bincount(cells, minlength=SIZES[first] * SIZES[second]) / len(cells)

    return [
        float(np.abs(frequencies(left, *pair) - frequencies(right, *pair)).sum() / 2)
        for pair in itertools.combinations(SIZES, 2)
    ]
