import datetime
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.attacks import linking
from sfumato.datasets import deidentify, population, voter_list
from sfumato.errors import UsageError

ON = ["zip", "birth_date", "sex"]
CLINIC = [
    {"zip": "69901", "sex": "Female", "diagnosis": "Asthma"},
    {"zip": "69901", "sex": "Male", "diagnosis": "Injury"},
    {"zip": "69902", "sex": "Male", "diagnosis": "HIV"},
    {"zip": None, "sex": "Male", "diagnosis": "Epilepsy"},
]
VOTERS = [
    {"name": "Ada", "zip": "69901", "sex": "Female"},
    {"name": "Bob", "zip": "69901", "sex": "Male"},
    {"name": "Carl", "zip": "69901", "sex": "Male"},
    {"name": "Dean", "zip": "69902", "sex": "Male"},
    {"name": "Eve", "zip": None, "sex": "Male"},
]


@pytest.fixture(scope="module")
def town() -> pa.Table:
    return population()


def test_only_the_unique_are_named_and_null_matches_nothing() -> None:
    result = linking(CLINIC, VOTERS, ["zip", "sex"])
    assert result.recovered == [
        {"row": 0, "identity": "Ada", "zip": "69901", "sex": "Female", "diagnosis": "Asthma"},
        {"row": 2, "identity": "Dean", "zip": "69902", "sex": "Male", "diagnosis": "HIV"},
    ]
    assert (result.name, result.success, result.chance, result.bound, result.attempts) == ("linking", 0.5, 0.2, None, 4)


def test_truth_counts_the_rightly_named_only() -> None:
    result = linking(CLINIC, VOTERS, ["zip", "sex"], truth=["Ada", "Bob", "Zoe", "Eve"])
    assert len(result.recovered) == 2
    assert result.success == 0.25


def test_most_of_a_table_without_names_is_named_again(town: pa.Table) -> None:
    result = linking(deidentify(town), voter_list(town), ON, identity="name", truth=town["name"])
    assert result.success > 0.68
    assert result.success > 1_000 * result.chance
    # A fifth of the town is not listed, and now and then its double is: naming without the truth looks a little better.
    assert 0 < len(result.recovered) / result.attempts - result.success < 0.04
    first = result.recovered[0]
    assert first["diagnosis"] == town["diagnosis"][first["row"]].as_py()


def test_with_everybody_listed_every_name_is_right(town: pa.Table) -> None:
    result = linking(deidentify(town), voter_list(town, coverage=1), ON, truth=town["name"])
    assert result.success == len(result.recovered) / result.attempts
    assert 0.85 < result.success < 0.89


def test_birth_year_instead_of_date_defeats_it(town: pa.Table) -> None:
    def coarse(table: pa.Table) -> pa.Table:
        return table.append_column("birth_year", pc.year(table["birth_date"])).drop_columns(["birth_date"])

    result = linking(
        coarse(deidentify(town)), coarse(voter_list(town)), ["zip", "birth_year", "sex"], truth=town["name"]
    )
    assert result.success < 0.02


def test_quasi_identifiers_of_another_town_leave_chance(town: pa.Table) -> None:
    # What a synthetic release does: the same kind of people, drawn without looking at these.
    published = deidentify(town)
    for name in ON:
        published = published.set_column(published.column_names.index(name), name, population(seed=1)[name])
    result = linking(published, voter_list(town), ON, identity="name", truth=town["name"])
    expected = result.attempts * result.chance
    assert len(result.recovered) > 0
    assert abs(result.success * result.attempts - expected) < 6 * np.sqrt(expected)


def test_rows_with_the_same_identity_are_one_person() -> None:
    voters = [*VOTERS, {"name": "Ada", "zip": "69901", "sex": "Female"}]
    assert [found["identity"] for found in linking(CLINIC, voters, ["zip", "sex"]).recovered] == ["Dean"]
    by_name = linking(CLINIC, voters, ["zip", "sex"], identity="name")
    assert [found["identity"] for found in by_name.recovered] == ["Ada", "Dean"]
    assert by_name.chance == 0.2


def test_a_person_without_a_name_hides_others_but_is_not_named() -> None:
    voters = [*VOTERS, {"name": None, "zip": "69901", "sex": "Female"}]
    assert [found["identity"] for found in linking(CLINIC, voters, ["zip", "sex"], identity="name").recovered] == [
        "Dean"
    ]
    alone = [{"name": None, "zip": "69902", "sex": "Male"}]
    assert linking(CLINIC, alone, ["zip", "sex"], identity="name").recovered == []


def test_without_one_telling_column_a_person_is_a_row_number() -> None:
    voters = [voter | {"party": "green"} for voter in VOTERS]
    assert [found["identity"] for found in linking(CLINIC, voters, ["zip", "sex"]).recovered] == [0, 3]


def test_our_two_keys_win_over_released_columns_of_that_name() -> None:
    clinic = [{"zip": "69902", "row": "private ward", "identity": "?"}]
    voters = [{"zip": "69902", "name": "Dean"}]
    assert linking(clinic, voters, ["zip"]).recovered == [{"row": 0, "identity": "Dean", "zip": "69902"}]


@pytest.mark.parametrize("library", ["arrow", "pandas", "polars", "dicts"])
def test_every_kind_of_table_gives_the_same_names(town: pa.Table, library: str) -> None:
    convert: Any = {
        "arrow": lambda table: table,
        "pandas": lambda table: table.to_pandas(),
        "polars": polars.from_arrow,
        "dicts": lambda table: table.to_pylist(),
    }[library]
    part = town.slice(0, 3_000)
    expected = linking(deidentify(part), voter_list(part), ON, identity="name", truth=part["name"])
    names = convert(part)["name"] if library in ("pandas", "polars") else part["name"].to_pylist()
    got = linking(convert(deidentify(part)), convert(voter_list(part)), ON, identity="name", truth=names)
    assert (got.success, got.chance) == (expected.success, expected.chance)
    assert [found["identity"] for found in got.recovered] == [found["identity"] for found in expected.recovered]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pa.array([datetime.date(1970, 1, 2)]), pa.array(["1970-01-02"])),
        (pa.array([datetime.date(1970, 1, 2)]), pa.array([datetime.datetime(1970, 1, 2)])),
        (pa.array([7], pa.int8()), pa.array([7], pa.int64())),
        (pa.array([7]), pa.array([7.0])),
        (pa.array([69901]), pa.array(["69901"])),
        (pa.array(["x"]).dictionary_encode(), pa.array(["x"], pa.large_string())),
    ],
)
def test_equal_values_of_other_types_match(left: pa.Array, right: pa.Array) -> None:
    assert linking(pa.table({"key": left}), pa.table({"key": right, "name": ["Ada"]}), ["key"]).success == 1


def test_polars_categories_and_pandas_missing_values() -> None:
    clinic = polars.DataFrame({"ward": polars.Series(["a", "b"], dtype=polars.Categorical)})
    for table in (clinic, pa.table(clinic)):
        assert linking(table, [{"ward": "a", "name": "Ada"}], ["ward"]).success == 0.5
    voters = pandas.DataFrame({"age": [float("nan"), 40], "name": ["Ada", "Bob"]})
    assert linking([{"age": None}, {"age": 40}], voters, ["age"]).success == 0.5
    assert (
        linking(pa.table({"age": [float("nan")]}), pa.table({"age": [float("nan")], "name": ["Ada"]}), ["age"]).success
        == 0
    )


values = st.one_of(st.none(), st.integers(0, 2))


@given(
    st.lists(st.tuples(values, values), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 3), values, values), min_size=1, max_size=8),
)
def test_agrees_with_the_definition(released: list[tuple[Any, Any]], auxiliary: list[tuple[int, Any, Any]]) -> None:
    expected = []
    for row, record in enumerate(released):
        persons = {person for person, *known in auxiliary if tuple(known) == record and None not in record}
        if len(persons) == 1:
            expected.append((row, persons.pop()))
    result = linking(
        [{"a": a, "b": b} for a, b in released],
        [{"who": who, "a": a, "b": b} for who, a, b in auxiliary],
        ["a", "b"],
        identity="who",
    )
    assert [(found["row"], found["identity"]) for found in result.recovered] == expected
    assert result.chance == 1 / len({person for person, *_ in auxiliary})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((CLINIC, VOTERS, []), "no column to link by"),
        ((CLINIC, VOTERS, "zip"), r'Write on=\["zip"\]'),
        (([{"zpi": "1"}], VOTERS, ["zip"]), 'released table has no column "zip". Did you mean "zpi"'),
        ((CLINIC, VOTERS, ["diagnosis"]), 'auxiliary table has no column "diagnosis"'),
        (([], VOTERS, ["zip"]), "released table is empty"),
        ((CLINIC, pa.table({"zip": pa.array([], pa.string())}), ["zip"]), "auxiliary table is empty"),
        ((CLINIC, 3, ["zip"]), "auxiliary table: a int is not a table"),
        (([{"zip": 1}, {"zip": "x"}], VOTERS, ["zip"]), "mixed types"),
        ((pa.table({"zip": [[1]]}), pa.table({"zip": [[1]]}), ["zip"]), "cannot be compared"),
        ((pa.table([[1], [2]], names=["zip", "zip"]), VOTERS, ["zip"]), 'two columns "zip"'),
    ],
)
def test_mistakes_are_named(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        linking(*arguments)


def test_identity_and_truth_are_checked() -> None:
    with pytest.raises(UsageError, match=r'no column "nam"\. Did you mean "name"'):
        linking(CLINIC, VOTERS, ["zip"], identity="nam")
    with pytest.raises(UsageError, match="truth names 1 records, but 4 were released"):
        linking(CLINIC, VOTERS, ["zip"], truth=["Ada"])
