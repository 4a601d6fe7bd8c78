"""M5, odd cells and two releases: k is what a reader counts in the finished table; every output says what it is not."""

import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.anonymise.result import ATTACKS

QUASI = ["town", "age"]
TOWNS = [
    "Paris",
    "paris",
    "PARIS ",
    " Paris",
    "P\u0430ris",
    "Par\u200bis",
    "Ｐaris",
    None,
    "",
    "  ",
    "Lyon",
    "LYON",
    "Ly\u043en",
]
ILLS = ["HIV", "hiv", "H\u0406V", "flu", "FLU ", None, ""]


def people(rows: int = 260) -> pa.Table:
    return pa.table(
        {
            "town": [TOWNS[(row * row + row) % len(TOWNS)] for row in range(rows)],
            "age": [None if row % 11 == 0 else 20 + row * 7 % 30 for row in range(rows)],
            "ill": [ILLS[row * 5 % len(ILLS)] for row in range(rows)],
            "income": [float(row * 37 % 101 + 1) for row in range(rows)],
            "hours": [float(row * 13 % 41 + 1) for row in range(rows)],
        }
    )


def seen(value: object) -> object:
    """What a reader sees of a cell, written without a look at our own spelling rules."""
    if not isinstance(value, str):
        return value
    folded = (
        unicodedata.normalize("NFKC", value).casefold().translate({0x0430: "a", 0x043E: "o", 0x0456: "i", 0x200B: None})
    )
    return " ".join(folded.split())


def smallest(released: pa.Table, names: list[str]) -> int:
    return min(Counter(tuple(seen(row[name]) for name in names) for row in released.select(names).to_pylist()).values())


METHODS = {
    "k-anonymity": lambda table: sf.anonymise.k_anonymity(table, QUASI, k=4, sensitive="ill", suppression=0.3),
    "k-anonymity, every node": lambda table: sf.anonymise.k_anonymity(table, QUASI, k=4, search="exhaustive"),
    "Mondrian": lambda table: sf.anonymise.mondrian(table, QUASI, k=4, sensitive="ill"),
    "suppression": lambda table: sf.anonymise.suppress(table, QUASI, k=4, limit=0.5, sensitive="ill"),
    "l-diversity": lambda table: sf.anonymise.mondrian(table, QUASI, k=4, l=2, sensitive="ill"),
    "t-closeness": lambda table: sf.anonymise.mondrian(table, QUASI, k=4, t=0.5, sensitive="ill"),
}


@pytest.mark.parametrize("name", list(METHODS))
def test_a_reader_counts_the_same_k(name: str) -> None:
    result = METHODS[name](people())
    assert result.k is not None
    assert result.k >= 4
    assert smallest(result.to_arrow(), QUASI) == result.k
    again = sf.anonymise.verify(result.to_arrow(), QUASI, sensitive=result.sensitive)
    assert (again.k, again.l) == (result.k, result.l)
    if result.l is not None:
        groups: dict[Any, set[object]] = {}
        for row in result.to_arrow().to_pylist():
            groups.setdefault(tuple(seen(row[each]) for each in QUASI), set()).add(seen(row["ill"]) or None)
        # NULL and blank say the same to a reader; our own count may tell them apart, never more.
        assert min(len(values) for values in groups.values()) >= result.l - 1


def test_the_bare_table_has_less_and_a_count_by_bytes_would_not_see_it() -> None:
    result = METHODS["k-anonymity"](people())
    assert smallest(people(), QUASI) < 4
    assert result.lost.rewritten > 0


def test_two_releases_each_keep_their_k_and_together_do_not_hide() -> None:
    town = sf.datasets.population(1_500)
    names = ["age", "sex", "zip", "income"]
    people = town.take(sorted({name: row for row, name in enumerate(town["name"].to_pylist())}.values())).select(names)
    first = sf.anonymise.mondrian(people.drop_columns(["zip"]), ["age", "sex"], k=5)
    second = sf.anonymise.mondrian(people.drop_columns(["age"]), ["zip", "sex"], k=5)
    assert smallest(first.to_arrow(), ["age", "sex"]) == first.k >= 5
    assert smallest(second.to_arrow(), ["zip", "sex"]) == second.k >= 5
    both = sf.attacks.intersection(first, second, ["age", "sex"], "income", persons=people, second_quasi=["zip", "sex"])
    assert both.measures["first_alone"] < both.success > both.measures["second_alone"]
    assert all("intersection of two releases" in each.notice for each in (first, second))


def outputs() -> dict[str, Any]:
    table, numbers = people(), ["income", "hours"]
    return {name: make(table) for name, make in METHODS.items()} | {
        "aggregation": sf.anonymise.aggregate(table, ["town"], measures={"income": "mean"}),
        "de-identification": sf.anonymise.deidentify(table, ["town"]),
        "pseudonyms": sf.anonymise.pseudonyms(table, ["town"], key=sf.anonymise.new_key()),
        "additive noise": sf.anonymise.additive_noise(table, numbers),
        "multiplicative noise": sf.anonymise.multiplicative_noise(table, numbers),
        "rotation": sf.anonymise.rotation(table, numbers),
        "micro-aggregation": sf.anonymise.microaggregation(table, numbers),
        "swapping": sf.anonymise.swapping(table, numbers),
    }


def test_every_output_is_marked(tmp_path: Path) -> None:
    made = outputs()
    assert {result.method for result in made.values()} == set(ATTACKS)
    for result in made.values():
        assert result.notice.startswith("not differentially private; ")
        assert result.attacks
        assert result.to_dict()["notice"] == result.notice
        result.save(tmp_path / "released.parquet")
        assert pq.read_schema(tmp_path / "released.parquet").metadata[b"sfumato"].decode() == result.notice
