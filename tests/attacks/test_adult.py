"""The published figures on the census extract Adult."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pytest

from sfumato.attacks import homogeneity, linking
from tests import tables


@pytest.fixture(scope="module")
def adult() -> pa.Table:
    parts = [csv.read_csv(tables.adult() / f"{name}.csv") for name in ("train", "test")]
    return pa.concat_tables(parts, promote_options="default")


@pytest.mark.parametrize(
    ("columns", "share"),
    [
        (["age", "sex", "race", "education"], 0.027),
        (["age", "sex", "race", "education", "marital_status", "occupation"], 0.263),
        (
            [
                *("age", "sex", "race", "education", "marital_status", "occupation"),
                *("workclass", "native_country", "hours_per_week"),
            ],
            0.677,
        ),
    ],
)
def test_linking_names_whoever_stands_alone(adult: pa.Table, columns: list[str], share: float) -> None:
    assert adult.num_rows == 48_842
    everybody = list(range(adult.num_rows))
    register = adult.append_column("who", pa.array(everybody))
    result = linking(adult, register, columns, identity="who", truth=everybody)
    assert round(result.success, 3) == share


def test_homogeneous_classes(adult: pa.Table) -> None:
    quasi = ["age", "sex", "race", "education"]
    coarse = adult.set_column(0, "age", pc.divide(adult["age"], 10))
    coarse = coarse.set_column(coarse.column_names.index("income"), "income", pc.utf8_rtrim(coarse["income"], "."))
    large = coarse.group_by(quasi).aggregate([([], "count_all")]).filter(pc.field("count_all") >= 5)
    kept = coarse.join(large.drop_columns(["count_all"]), quasi, join_type="inner")
    result = homogeneity(kept, quasi, "income")
    assert (large.num_rows, len(result.recovered)) == (425, 132)
    assert round(result.success * kept.num_rows / adult.num_rows, 3) == 0.074
