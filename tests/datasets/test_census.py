"""The people of the town, one row each: the same bytes everywhere, whatever the language."""

import hashlib
import re
from datetime import date

import pyarrow as pa
import pytest

from sfumato.datasets import REFERENCE_DATE, census
from sfumato.datasets.naming import NAMINGS
from sfumato.errors import UsageError

ROWS, SEED = 500, 3
HASHES = {
    "en": "2fa8780c6a9e4fef108741a1ab26e45e9cf2ffc941bb5bdb746a0b7b0e82df39",
    "ru": "808abf07971a524085e7f5af01c0c83efd007b4991967d34cdd7b2f2507be44c",
    "vi": "7afe9082c9cdf5ad16f31ed7d97cda8c541304f0546111ec1ec4e4f4a333b0cb",
    "zh": "22f3c950497babbdb42adec2aabe88c47ba6ef551b7b8fc3cb85020905a125d6",
}


def digest(table: pa.Table) -> str:
    columns = [table[name].to_pylist() for name in table.column_names]
    lines = [";".join(table.column_names), *(";".join(map(str, row)) for row in zip(*columns, strict=True))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.fixture(scope="module", params=NAMINGS)
def town(request: pytest.FixtureRequest) -> tuple[str, pa.Table]:
    return request.param, census(ROWS, SEED, request.param)


def test_the_same_bytes_on_every_machine(town: tuple[str, pa.Table]) -> None:
    lang, table = town
    assert digest(table) == HASHES[lang]


def test_another_seed_is_another_town(town: tuple[str, pa.Table]) -> None:
    lang, table = town
    assert digest(census(ROWS, SEED + 1, lang)) != digest(table)


def test_one_row_a_person(town: tuple[str, pa.Table]) -> None:
    _, table = town
    assert table.num_rows == ROWS
    for column in ("person_id", "national_id"):
        assert len(set(table[column].to_pylist())) == ROWS


def test_languages_share_everything_but_names_and_numbers(town: tuple[str, pa.Table]) -> None:
    _, table = town
    own = ["name", "national_id"]
    assert table.drop_columns(own).equals(census(ROWS, SEED, "en").drop_columns(own))


def test_birth_dates_agree_with_ages(town: tuple[str, pa.Table]) -> None:
    _, table = town
    for born, age in zip(table["birth_date"].to_pylist(), table["age"].to_pylist(), strict=True):
        had_birthday = (REFERENCE_DATE.month, REFERENCE_DATE.day) >= (born.month, born.day)
        assert age == REFERENCE_DATE.year - born.year - (not had_birthday)


def test_names_fit_the_sex_and_the_language() -> None:
    alphabets = {
        "en": r"[A-Z]\w+ [A-Z]\. \w+",
        "ru": r"[А-ЯЁ][а-яё]+ [А-ЯЁ][а-яё]+ [А-ЯЁ][а-яё]+",
        "vi": r"\w+ \w+ \w+",
        "zh": r"[\u4e00-\u9fff]{3}",
    }
    for lang, pattern in alphabets.items():
        table = census(ROWS, SEED, lang)
        assert all(re.fullmatch(pattern, name) for name in table["name"].to_pylist()), lang
        if lang == "ru":
            people = zip(table["name"].to_pylist(), table["sex"].to_pylist(), strict=True)
            assert all(name.endswith("на") == (sex == "Female") for name, sex in people)


def test_no_number_was_ever_issued() -> None:
    assert all(number.startswith("9") for number in census(ROWS, SEED, "en")["national_id"].to_pylist())
    assert all(number.startswith("9") for number in census(ROWS, SEED, "vi")["national_id"].to_pylist())
    for number in census(ROWS, SEED, "ru")["national_id"].to_pylist():
        digits, check = number.replace("-", "").split()
        weighted = sum(int(digit) * (9 - place) for place, digit in enumerate(digits))
        assert int(check) != weighted % 101 % 100
    for number in census(ROWS, SEED, "zh")["national_id"].to_pylist():
        weighted = sum(int(digit) * 2 ** (17 - place) for place, digit in enumerate(number[:17]))
        assert number[17] != "10X98765432"[weighted % 11]


def test_numbers_carry_the_birth_date_where_the_country_writes_it() -> None:
    table = census(ROWS, SEED, "zh")
    for number, born, sex in zip(
        *(table[name].to_pylist() for name in ("national_id", "birth_date", "sex")), strict=True
    ):
        assert date.fromisoformat(f"{number[6:10]}-{number[10:12]}-{number[12:14]}") == born
        assert int(number[16]) % 2 == (sex == "Male")


def test_names_repeat_in_vietnamese_alone() -> None:
    for lang in NAMINGS:
        names = census(20_000, SEED, lang)["name"].to_pylist()
        assert (len(set(names)) == len(names)) == (lang != "vi")


@pytest.mark.parametrize("rows", [0, -1, True, "many", 2.5])
def test_rows_that_no_table_has(rows: object) -> None:
    with pytest.raises(UsageError, match="rows"):
        census(rows)  # type: ignore[arg-type]


def test_an_unknown_language_names_the_nearest() -> None:
    with pytest.raises(UsageError, match='Did you mean "ru"'):
        census(10, 1, "rus")
