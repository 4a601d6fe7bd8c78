"""Who stands out: against counting by hand, and the figures known of Adult."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from tests.tables import adult

ROWS = [
    {"age": 30, "zip": "a", "ill": "flu"},
    {"age": 30, "zip": "a", "ill": "flu"},
    {"age": 30, "zip": "b", "ill": "cold"},
    {"age": 40, "zip": "b", "ill": "cold"},
]


def test_by_hand() -> None:
    found = sf.anonymise.risk(ROWS, ["age", "zip"], sensitive="ill", threshold=0.5)
    assert (found.k, found.l) == (1, 1)
    assert found.unique == 0.5
    assert found.prosecutor == 1
    assert found.prosecutor_average == found.marketer == 3 / 4
    assert found.prosecutor_at_risk == 0.5
    assert found.smallest == (1, 1, 2)
    assert found.sizes == ((1, 2), (2, 1))
    assert [(one.columns, one.unique) for one in found.subsets] == [
        (("age", "zip"), 0.5),
        (("age",), 0.25),
        (("zip",), 0.0),
    ]
    assert [one.unique for one in found.growing] == [0.25, 0.5]


def test_a_population_lowers_the_journalists_risk() -> None:
    crowd = ROWS + [{"age": 30, "zip": "b", "ill": "flu"}] * 4 + [{"age": 40, "zip": "b", "ill": "flu"}] * 9
    found = sf.anonymise.risk(ROWS, ["age", "zip"], population=crowd)
    assert found.prosecutor == 1
    assert found.journalist == 1 / 2
    assert found.marketer == pytest.approx((1 / 2 + 1 / 2 + 1 / 5 + 1 / 10) / 4)
    assert found.population == len(crowd)


def test_null_is_a_value_and_look_alikes_are_one() -> None:
    rows = [{"zip": None}, {"zip": None}, {"zip": "a"}, {"zip": "A "}]
    assert sf.anonymise.risk(rows, ["zip"]).k == 2


def test_the_known_figures_of_adult() -> None:
    table = pd.concat([pd.read_csv(adult() / f"{part}.csv") for part in ("train", "test")])
    quasi = ["age", "sex", "race", "education", "marital_status", "occupation", "workclass", "native_country"]
    found = sf.anonymise.risk(table, [*quasi, "hours_per_week"])
    assert found.rows == 48_842
    shares = {one.columns[-1]: round(100 * one.unique, 1) for one in found.growing}
    assert shares["education"] == 2.7
    assert shares["occupation"] == 26.3
    assert shares["native_country"] == 42.2
    assert shares["hours_per_week"] == 67.7
    assert round(100 * found.below_small, 1) == 88.7


def test_zip_sex_and_birth_date_single_out_most_people() -> None:
    """The 87 % effect, on a made-up town."""
    source = np.random.default_rng(0)
    count = 3000
    weights = 1 / np.arange(1, 11) ** 0.6
    table = pd.DataFrame(
        {
            "zip": source.choice(10, count, p=weights / weights.sum()),
            "sex": source.choice(["f", "m"], count),
            "birth": pd.Timestamp("1940-01-01") + pd.to_timedelta(source.integers(0, 365 * 50, count), unit="D"),
        }
    )
    assert sf.anonymise.risk(table, ["zip", "sex", "birth"]).unique > 0.87
    table["birth"] = table["birth"].dt.year
    assert sf.anonymise.risk(table, ["zip", "sex", "birth"]).unique < 0.2


def test_the_report_shows_the_numbers_and_no_value(tmp_path: Path) -> None:
    rows = [{**row, "zip": f"<script>{row['zip']}"} for row in ROWS]
    found = sf.anonymise.risk(rows, ["age", "zip"], sensitive="ill")
    found.save(tmp_path / "risk.html")
    text = (tmp_path / "risk.html").read_text(encoding="utf-8")
    assert "50.0 %" in text
    assert "not differentially private" in text
    assert "Three attackers" in text
    assert "&lt;script&gt;a" not in text
    assert "<script>a" not in text
    assert json.loads(json.dumps(found.to_dict()))["k"] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"quasi": []}, "no quasi-identifier"),
        ({"quasi": ["zap"]}, 'no column "zap"'),
        ({"threshold": 0}, "threshold must lie"),
        ({"subset": 0}, "subset must be 1 or more"),
        ({"population": [{"age": 1}]}, 'no column "zip"'),
        ({"sensitive": "zip"}, "as quasi and as sensitive"),
    ],
)
def test_bad_input(change: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sf.anonymise.risk(**{"table": ROWS, "quasi": ["age", "zip"], **change})


def test_many_columns_do_not_explode() -> None:
    source = np.random.default_rng(1)
    table = pd.DataFrame({f"c{place}": source.integers(0, 3, 500) for place in range(40)})
    found = sf.anonymise.risk(table, list(table.columns))
    assert 0 < len(found.subsets) <= 512
