"""Noise, rotation, averaging, swapping, pseudonyms, suppression, totals, and what is left of use."""

import hashlib
import hmac
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymise.result import ATTACKS
from sfumato.errors import Refused, UsageError
from tests.anonymise import oracle

a = sf.anonymise


def people(count: int = 5000, seed: int = 1) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"n{place}" for place in range(count)],
            "age": source.integers(18, 90, count),
            "pay": source.lognormal(10, 0.5, count),
            "hours": source.normal(40, 8, count),
            "town": source.choice(["aa", "ab", "ba", "bb"], count, p=[0.6, 0.3, 0.08, 0.02]),
            "ill": source.choice(["flu", "cold", "gout"], count),
        }
    )


def test_additive_noise_has_the_deviation_asked_for() -> None:
    table = people()
    result = a.additive_noise(table, ["pay"], scale=0.5, seed=3)
    noise = (result.table["pay"] - table["pay"]) / table["pay"].std(ddof=0)
    assert abs(noise.mean()) < 6 * 0.5 / np.sqrt(len(table))
    assert noise.std() == pytest.approx(0.5, rel=0.1)
    assert result.table.drop(columns="pay").equals(table.drop(columns="pay"))
    assert a.additive_noise(table, ["pay"], scale=0.5, seed=3).table.equals(result.table)
    assert not a.additive_noise(table, ["pay"], scale=0.5, seed=4).table.equals(result.table)


def test_multiplicative_noise_is_additive_in_logarithms() -> None:
    table = people()
    noise = np.log(a.multiplicative_noise(table, ["pay"], scale=0.2).table["pay"] / table["pay"])
    assert noise.std() == pytest.approx(0.2, rel=0.1)
    assert a.multiplicative_noise([{"x": 0}, {"x": 5}], ["x"]).table[0]["x"] == 0


def test_noise_leaves_blanks() -> None:
    rows = [{"x": 1.0}, {"x": None}, {"x": 3.0}]
    for method in (a.additive_noise, a.multiplicative_noise):
        assert [row["x"] is None for row in method(rows, ["x"]).table] == [False, True, False]


def test_rotation_keeps_distances_between_standardised_rows() -> None:
    table = people(300)
    columns = ["age", "pay", "hours"]
    turned = a.rotation(table, columns, seed=2).table[columns].to_numpy()
    plain = table[columns].to_numpy()
    plain = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    assert np.linalg.norm(turned[0] - turned[1]) == pytest.approx(np.linalg.norm(plain[0] - plain[1]))
    assert np.allclose(turned @ turned.T, plain @ plain.T)
    assert not np.allclose(turned, plain)


@pytest.mark.parametrize("columns", [["age"], ["age", "pay"]])
@pytest.mark.parametrize("k", [1, 3, 10, 5000])
def test_microaggregation_gives_k_equal_means(columns: list[str], k: int) -> None:
    table = people()
    result = a.microaggregation(table, columns, k=k)
    assert result.k == oracle.k_of(result.table[columns].to_dict("records"), columns) >= k
    for name in columns:
        assert result.table[name].mean() == pytest.approx(table[name].mean())
    if k == 1 and len(columns) == 1:
        assert result.table["age"].astype(int).equals(table["age"].astype(int))
    assert 0 <= result.loss <= 1 + 1e-9


def test_microaggregation_groups_neighbours() -> None:
    loss = a.microaggregation(people(), ["age", "pay"], k=5).loss
    assert loss < 0.02, "random groups of five would lose four fifths"


def test_swapping_moves_values_and_keeps_their_distribution() -> None:
    table = people()
    result = a.swapping(table, ["town", "pay"], share=0.5, seed=5)
    assert sorted(result.table["town"]) == sorted(table["town"])
    moved = result.table["pay"] != table["pay"]
    assert moved.mean() == pytest.approx(0.5, abs=0.01)
    pairs = set(zip(table["town"], table["pay"], strict=True))
    assert set(zip(result.table["town"], result.table["pay"], strict=True)) == pairs
    assert result.table["age"].equals(table["age"])


def test_pseudonyms_are_keyed_stable_and_join() -> None:
    key = a.new_key()
    result = a.pseudonyms([{"name": "Ann"}, {"name": "ann "}, {"name": "Bob"}, {"name": None}], ["name"], key=key)
    names = [row["name"] for row in result.table]
    assert names[0] == names[1] != names[2]
    assert names[3] is None
    said = b"sfumato pseudonym\0name\0Ann"
    assert names[0] == hmac.new(key, said, hashlib.sha256).hexdigest()[:16]
    assert a.pseudonyms([{"name": "Bob"}], ["name"], key=key).table[0]["name"] == names[2]
    assert a.pseudonyms([{"name": "Bob"}], ["name"], key=a.new_key()).table[0]["name"] != names[2]
    for bad in (None, b"short"):
        with pytest.raises(UsageError, match="key"):
            a.pseudonyms([{"name": "Bob"}], ["name"], key=bad)


def test_deidentify_removes_names_and_says_that_linking_works() -> None:
    result = a.deidentify(people(), quasi=["age", "town"])
    assert "name" not in result.table.columns
    assert result.lost.columns == ("name",)
    assert result.k == oracle.k_of(people().to_dict("records"), ["age", "town"])
    assert "linking" in result.notice


@pytest.mark.parametrize("cells", [True, False])
def test_suppression_reaches_k_within_the_limit(cells: bool) -> None:
    table = people(1000)
    result = a.suppress(table, ["age", "town"], k=5, limit=0.5, cells=cells, sensitive="ill")
    rows = result.to_arrow().to_pylist()
    assert result.k == oracle.k_of(rows, ["age", "town"]) >= 5
    for place, row in zip(result.kept, rows, strict=True):
        assert row["age"] in ("*", str(table["age"][place]), table["age"][place])
        assert row["ill"] == table["ill"][place]
    if cells:
        assert result.lost.cells > 0
        assert result.lost.rows < a.suppress(table, ["age", "town"], k=5, limit=0.5, cells=False).lost.rows
    with pytest.raises(Refused, match=r"the limit is 0\.10%"):
        a.suppress(table, ["age", "town"], k=5, limit=0.001, cells=False)


def test_suppression_hides_as_few_cells_as_will_do() -> None:
    rows = [{"age": 30, "sex": "f"}] * 4 + [{"age": 31, "sex": "f"}, {"age": 32, "sex": "f"}]
    result = a.suppress(rows, ["age", "sex"], k=2)
    assert [(row["age"], row["sex"]) for row in result.table[4:]] == [("*", "f"), ("*", "f")]
    assert result.lost.cells == 2


def test_aggregate_leaves_out_small_groups() -> None:
    table = people()
    result = a.aggregate(table, ["town"], measures={"pay": "mean", "age": "max"}, least=200)
    expected = table.groupby("town").agg(rows=("pay", "size"), pay_mean=("pay", "mean"), age_max=("age", "max"))
    expected = expected[expected["rows"] >= 200].reset_index()
    pd.testing.assert_frame_equal(result.table, expected, check_dtype=False)
    assert result.lost.rows == 5000 - expected["rows"].sum()
    assert result.k == expected["rows"].min()
    sums = a.aggregate([{"g": 1, "x": 2}, {"g": 1, "x": None}, {"g": 1, "x": 5}], ["g"], measures={"x": "sum"}, least=1)
    assert sums.table == [{"g": 1, "rows": 3, "x_sum": 7.0}]
    assert a.aggregate(table, ["name"], least=2).table.empty


BAD: list[tuple[Any, str]] = [
    (lambda: a.additive_noise(people(9), ["town"]), "additive noise needs numbers"),
    (lambda: a.additive_noise(people(9), []), "columns names no column"),
    (lambda: a.additive_noise(people(9), ["age"], scale=0), "scale must be greater than 0"),
    (lambda: a.additive_noise(people(9), ["age"], seed=-1), "seed must be 0 or greater"),
    (lambda: a.rotation(people(9), ["age"]), "at least 2 columns"),
    (lambda: a.rotation([{"x": 1, "y": None}, {"x": 2, "y": 3}], ["x", "y"]), "has blanks"),
    (lambda: a.swapping(people(9), ["age"], share=0), "share must lie"),
    (lambda: a.swapping(people(9), ["age", "age"]), "listed twice"),
    (lambda: a.aggregate(people(9), ["town"], measures={"pay": "median"}), 'no measure "median"'),
    (lambda: a.aggregate(people(9), ["town"], measures={"ill": "sum"}), "needs numbers"),
    (lambda: a.aggregate(people(9), []), "no quasi-identifier"),
    (lambda: a.deidentify(people(9), []), "identifiers names no column"),
    (lambda: a.pseudonyms(people(9), ["name"], key=a.new_key(), length=3), "length must lie"),
    (lambda: a.query_error(people(9), a.rotation(people(99), ["age", "pay"])), "speaks of 99"),
    (lambda: a.query_error(people(9), a.deidentify(people(9)), columns=["name"]), "share no column"),
]


@pytest.mark.parametrize(("call", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_input_is_refused_in_words(call: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call()
    with pytest.raises(Refused, match="k=10, but the table has 9 rows"):
        a.microaggregation(people(9), ["age"], k=10)


def test_every_method_is_marked_and_names_attacks() -> None:
    results = [
        a.additive_noise(people(99), ["age"]),
        a.multiplicative_noise(people(99), ["age"]),
        a.rotation(people(99), ["age", "pay"]),
        a.microaggregation(people(99), ["age"]),
        a.swapping(people(99), ["age"]),
        a.pseudonyms(people(99), ["name"], key=a.new_key()),
        a.deidentify(people(99)),
        a.suppress(people(99), ["town"], k=2, limit=0.5),
        a.aggregate(people(99), ["town"]),
        a.k_anonymity(people(99), ["age"], k=2),
        a.k_anonymity(people(99), ["age"], k=2, sensitive="ill", l=2),
        a.k_anonymity(people(99), ["age"], k=2, sensitive="ill", t=0.9),
    ]
    assert {result.method for result in results} == set(ATTACKS)
    for result in results:
        assert result.notice.startswith("not differentially private; ")
        assert result.attacks


def test_measures_of_use() -> None:
    table = people(1000)
    sizes = table.groupby("town").size()
    assert a.discernibility(table, ["town"]) == (sizes**2).sum()
    assert a.discernibility(table, ["town"], suppressed=10) == (sizes**2).sum() + 10 * 1010
    assert a.class_size(table, ["town"], k=5) == 1000 / 4 / 5
    same = a.k_anonymity(table, ["age", "town"], k=1)
    assert a.query_error(table, same).worst == pytest.approx(0)
    fine = a.query_error(table, a.mondrian(table, ["age", "town"], k=5))
    coarse = a.query_error(table, a.mondrian(table, ["age", "town"], k=200))
    assert 0 < fine.mean < coarse.mean
    noisy = a.query_error(table, a.additive_noise(table, ["age"], scale=0.5), columns=["age"], dimensions=1)
    assert noisy.mean > 0
    swapped = a.query_error(table, a.swapping(table, ["town"], share=1), columns=["town"], dimensions=1)
    assert swapped.worst == 0, "one column alone keeps its distribution"


def test_classify_suggests_and_the_owner_decides() -> None:
    table = people(200).assign(code=[f"c{place}" for place in range(200)], note=1.5)
    found = {one.column: one.role for one in a.classify(table)}
    assert found == {
        "name": "identifier",
        "age": "quasi-identifier",
        "pay": "sensitive",
        "hours": "quasi-identifier",
        "town": "quasi-identifier",
        "ill": "quasi-identifier",
        "code": "identifier",
        "note": "other",
    }
    odd = {"PatientId": [1, 2], "код пациента": [1, 2], "patient_age": [40, 41], "账户": ["a", "b"]}
    said = {one.column: (one.role, one.why) for one in a.classify(pa.table(odd))}
    assert said["PatientId"] == ("identifier", 'its name speaks of "patient id"')
    assert said["код пациента"][0] == "identifier"
    assert said["patient_age"] == ("quasi-identifier", 'its name speaks of "age"')
    secret = ["HbA1c", "systolic_bp", "Smoker", "diagnoses", "ICD10", "chẩn đoán", "диагноз", "血压", "Nafld stage"]
    known = {one.column: one.role for one in a.classify(pa.table({name: [1, 2, 2] for name in secret}))}
    assert set(known.values()) == {"sensitive"}, known
    plain = ["std", "admission_date", "survey", "patient_age", "country"]
    known = {one.column: one.role for one in a.classify(pa.table({name: [1, 2, 2] for name in plain}))}
    assert "sensitive" not in known.values(), known
    flags = pa.table({"student": ["yes", "no"] * 15, "employee": list(range(30))})
    assert [one.role for one in a.classify(flags)] == ["quasi-identifier", "identifier"], "who is one is no id"
    set_by_owner = {one.column: one for one in a.classify(table, roles={"ill": "sensitive"})}
    assert (set_by_owner["ill"].role, set_by_owner["ill"].why) == ("sensitive", "declared")
    with pytest.raises(UsageError, match="cannot be 'secret'"):
        a.classify(table, roles={"ill": "secret"})
    with pytest.raises(UsageError, match='no column "il"'):
        a.classify(table, roles={"il": "sensitive"})
