import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import deidentify, voter_list
from sfumato.errors import UsageError


def test_deidentify_drops_name_and_id_and_nothing_else(town: pa.Table) -> None:
    published = deidentify(town)
    assert published.column_names == [name for name in town.column_names if name not in ("person_id", "name")]
    assert published["diagnosis"].equals(town["diagnosis"])


def test_a_voter_list_has_one_row_a_person(town: pa.Table, persons: pa.Table) -> None:
    listed = voter_list(town)
    assert listed.column_names == ["name", "zip", "birth_date", "sex"]
    assert listed.num_rows == round(0.8 * persons.num_rows)
    names = listed["name"].to_pylist()
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    known = {tuple(row.values()) for row in persons.select(listed.column_names).to_pylist()}
    assert {tuple(row.values()) for row in listed.to_pylist()} <= known


def test_a_full_voter_list_knows_everybody(town: pa.Table, persons: pa.Table) -> None:
    assert voter_list(town, coverage=1).num_rows == persons.num_rows


def test_the_seed_chooses_the_voters(town: pa.Table) -> None:
    assert voter_list(town, seed=4).equals(voter_list(town, seed=4))
    first, second = (set(voter_list(town, seed=seed)["name"].to_pylist()) for seed in (0, 1))
    # Two independent choices of 80 % share 80 % of each other.
    assert abs(len(first & second) / len(first) - 0.8) < 6 * np.sqrt(0.16 / len(first))


@pytest.mark.parametrize("coverage", [0, -0.1, 1.01, float("nan"), "all", True, None])
def test_coverage_is_a_share(town: pa.Table, coverage: object) -> None:
    with pytest.raises(UsageError, match="coverage"):
        voter_list(town, coverage=coverage)  # type: ignore[arg-type]


def test_a_bad_seed_is_refused(town: pa.Table) -> None:
    with pytest.raises(UsageError, match="seed"):
        voter_list(town, seed=-1)


def test_a_table_without_the_column_is_refused_by_name(town: pa.Table) -> None:
    with pytest.raises(UsageError, match='no column "person_id"'):
        deidentify(deidentify(town))
    renamed = town.rename_columns(["zip5" if name == "zip" else name for name in town.column_names])
    with pytest.raises(UsageError, match=r'no column "zip"\. Did you mean "zip5"'):
        voter_list(renamed)


def test_other_things_are_not_towns() -> None:
    with pytest.raises(UsageError, match="a list is not a town"):
        deidentify([])  # type: ignore[arg-type]
