"""Data of the labs: the same bytes on every machine, birth dates that agree with ages, facts as printed."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import REFERENCE_DATE
from sfumato.labs.data import DAWN, HEADINGS, SUBSTANCES, census, patients, substance_table
from sfumato.labs.source import load
from sfumato.labs.variant import Variant

HASHES = {
    "1 main en": "c3bdb5b8942068e6fcdd8fe48bbb9db266de559f50e9d110c4b4e92324fbaf98",
    "1 f1000 ru": "53e050b9ca5b5f97b65ec98cce0391c922222848bede5d632498a552ff8e1d45",
    "1 f100 zh": "4cfee0fd930fbf1c598062c9c5c9386f296e212ae6d39449a594f2cd6f28f8b1",
    "1 f100 vi": "630d94653439ec0527610b0e4af025f6fc45abfadb30937e23946c9b00fd75d7",
    "2 main en": "ef02504691006cdc05e318d6751d76f60c820c025fe34c3bb11e5565361b5aac",
    "2 probabilities ru": "0683ea0121536ddbdc2cbe60e0c8fbd41f4c45ddd8cbba421866e9f959275e35",
}


def digest(table: pa.Table) -> str:
    columns = [table[name].to_pylist() for name in table.column_names]
    lines = [";".join(table.column_names), *(";".join(map(str, row)) for row in zip(*columns, strict=True))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def drawn(lab: int, key: str, lang: str) -> pa.Table:
    chosen = load(lab)
    return chosen.module("numbers").tables(chosen.variant(3, 77), lang)[key]


@pytest.mark.parametrize(
    "name", ["1 main en", "1 f1000 ru", "1 f100 zh", "1 f100 vi", "2 main en", "2 probabilities ru"]
)
def test_the_same_bytes_on_every_machine(name: str) -> None:
    lab, key, lang = name.split()
    assert digest(drawn(int(lab), key, lang)) == HASHES[name]


def test_lab_2_has_no_words_in_its_data() -> None:
    assert drawn(2, "main", "en").equals(drawn(2, "main", "ru"))


def test_small_files_are_the_first_rows_of_the_full_one() -> None:
    full = drawn(1, "main", "ru")
    assert full.num_rows == 32_219
    for size in (100, 1000, 10_000):
        assert drawn(1, f"f{size}", "ru").equals(full.slice(0, size))


def test_files_are_named_as_in_the_thesis() -> None:
    lab = load(1)
    names = lab.module("numbers").files(lab.variant(3))
    assert sorted(names.values()) == sorted(f"data_for_lab1_var3{size}.csv" for size in ("", "_100", "_1000", "_10000"))


def test_headings_are_those_of_the_thesis() -> None:
    table = census(Variant("lab01_response", 1, 5, {}), "ru", rows=300)
    assert table.column_names == list(HEADINGS)
    for born, age in zip(table["DOB"].to_pylist(), table["Age"].to_pylist(), strict=True):
        assert REFERENCE_DATE.year - born.year == age


def test_variant_and_seed_change_the_people() -> None:
    towns = {
        digest(census(Variant("lab01_response", number, seed, {}), "en", rows=50))
        for number in (1, 2)
        for seed in (1, 2)
    }
    assert len(towns) == 4


def test_27_shares_as_printed() -> None:
    table = substance_table()
    assert table.num_rows == len(SUBSTANCES) == 27
    assert sum(DAWN.values()) == pytest.approx(2.171425, abs=1e-9)
    assert dict(zip(table["Substance"].to_pylist(), table["Probability"].to_pylist(), strict=True)) == dict(DAWN)
    assert (DAWN["Alcohol"], DAWN["Buprenorphine"], DAWN["Muscle_relaxants"]) == (0.530527, 0.001014, 0.032265)


def test_patients_follow_the_shares_and_nothing_ties_columns_together() -> None:
    count = 20_000
    frame = patients(Variant("lab02_laplace", 1, 9, {}), count).to_pandas()
    for name, share in DAWN.items():
        assert abs(frame[name].mean() - share) < 6 * (share * (1 - share) / count) ** 0.5
    correlation = np.corrcoef(frame.to_numpy(), rowvar=False)
    assert np.abs(correlation - np.eye(len(DAWN))).max() < 0.06
