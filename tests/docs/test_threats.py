"""The page of threats and the tests name the same ids: each threat is shown by a test, or says why not."""

import re
from collections.abc import Iterator

from tests.architecture.sources import ROOT

PAGE = ROOT / "docs" / "explanation" / "threats.md"
ID = r"[NSCLMA]\d{1,2}"
# How a test names what it answers: at the start of a docstring, over a part of a file, in its name, or in brackets.
NAMED = re.compile(
    rf'"""({ID})[:,]|^# ---- ({ID}):|^def test_([nsclma]\d{{1,2}})_|\(threats? ({ID}(?:, {ID})*)\)', re.M
)


def listed() -> dict[str, list[str]]:
    """The ids of the page, each with the tests beside it."""
    lines = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    rows = [line for line in lines if len(line) > 2 and re.fullmatch(ID, line[1].strip())]
    found = {row[1].strip(): re.findall(r"`(tests/[\w/]+\.py)`", row[4]) for row in rows}
    assert len(found) == len(rows), "an id stands twice"
    return found


def ids(text: str) -> Iterator[str]:
    for groups in NAMED.findall(text):
        yield from re.findall(ID, "".join(groups).upper())


def used() -> dict[str, set[str]]:
    """The ids that tests name, each with the files that do."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in ids(path.read_text(encoding="utf-8")):
            found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


def test_every_id_of_a_test_stands_on_the_page() -> None:
    assert sorted(set(used()) - set(listed())) == []


def test_every_id_of_the_page_is_named_by_the_tests_beside_it() -> None:
    by_test = used()
    for name, files in listed().items():
        assert sorted(set(files) - by_test.get(name, set())) == [], name


def test_an_id_without_a_test_says_why() -> None:
    cells = [
        line.split("|")[4] for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(rf"\| {ID} \|", line)
    ]
    assert all("`tests/" in cell or cell.strip().startswith("no test: ") for cell in cells)
    assert sum("no test: " in cell for cell in cells) == 1


def test_files_that_the_page_names_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py)`", text):
        assert (ROOT / name).is_file() or (ROOT / "tests" / "threats" / name).is_file(), name


def test_ids_are_found_where_tests_put_them() -> None:
    text = (
        '"""N3, the scale."""\n# ---- S10: keys\ndef test_l1_race() -> None:\n"""Errors (threats C1, C2)."""\nL2 = 1\n'
    )
    assert list(ids(text)) == ["N3", "S10", "L1", "C1", "C2"]
