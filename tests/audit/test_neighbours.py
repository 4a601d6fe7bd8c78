"""Local sensitivity beside the global one."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.audit import neighbours
from sfumato.errors import UsageError

TABLE = pd.DataFrame(
    {"who": pd.array([1, 1, 2, 3, None], dtype="Int64"), "age": [20, 25, 90, 30, 40], "sex": ["f", "f", "m", "f", "m"]}
)
COLUMNS = {"age": sf.Int(0, 120), "sex": sf.Category(["f", "m"])}


def test_a_sum_of_rows() -> None:
    found = sf.audit.sensitivity("SELECT SUM(age), COUNT(*) FROM data", TABLE, columns=COLUMNS)
    total, count = found.measured
    assert (total.local, total.most, total.unit) == (90, 120, "row 2")
    assert total.ratio == 0.75
    assert (count.local, count.most) == (1, 1)
    assert found.units == 5
    assert "local 90 (without row 2), global 120" in str(found)


def test_people_own_several_rows_and_rows_without_an_id_are_nobodys() -> None:
    found = sf.audit.sensitivity(
        "SELECT sex, COUNT(*) FROM data GROUP BY sex", TABLE, columns=COLUMNS, unit=sf.Person("who", 3, 1)
    )
    [count] = found.measured
    assert (count.local, count.most, found.units) == (2, 3, 3)


def test_an_average_is_measured_as_it_is_computed() -> None:
    found = sf.audit.sensitivity("SELECT AVG(age) FROM data", TABLE, columns=COLUMNS)
    around, count = found.measured
    assert around.name == "the sum around 60"
    assert (around.local, around.most, count.local) == (40, 60, 1)


def test_a_function_has_no_global_bound() -> None:
    def median(frame: pd.DataFrame) -> float:
        return float(frame["age"].median())

    for table in (TABLE, pl.from_pandas(TABLE), pa.Table.from_pandas(TABLE)):
        found = sf.audit.sensitivity(median, table)
        [one] = found.measured
        assert (one.local, one.most, one.ratio) == (5.0, None, None)
        assert "nothing bounds it" in str(found)
    several = sf.audit.sensitivity(lambda frame: [frame["age"].min(), frame["age"].max()], TABLE)
    assert [one.local for one in several.measured] == [5.0, 50.0]


def test_bad_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs columns"):
        sf.audit.sensitivity("SELECT COUNT(*) FROM data", TABLE)
    with pytest.raises(UsageError, match="nobody"):
        sf.audit.sensitivity(len, TABLE.head(0))
    with pytest.raises(UsageError, match="no column"):
        sf.audit.sensitivity(len, TABLE, unit=sf.Person("id", 1, 1))
    with pytest.raises(UsageError, match="is no table"):
        sf.audit.sensitivity(len, [1, 2])
    monkeypatch.setattr(neighbours, "MOST_UNITS", 4)
    with pytest.raises(UsageError, match="each is removed in turn"):
        sf.audit.sensitivity(len, TABLE)
