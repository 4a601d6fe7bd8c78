"""A1: the list of planted bugs cannot rot. Each fits the source, compiles, changes it, and names tests that exist."""

import ast
from pathlib import Path

import pytest

from tests.architecture.ring import FILES
from tests.mutants.mutant import Mutant
from tests.mutants.page import measured, write_page
from tests.mutants.planted import PLANTED
from tests.mutants.run import ROOT, Outcome, _tests, copy, enough, judge

EVERY = pytest.mark.parametrize("mutant", PLANTED, ids=lambda mutant: mutant.name)
PAGE = ROOT / "docs" / "explanation" / "mutants.md"


# Bugs that went with the code they were planted in, and the one that is the same mistake where that code is now.
SUCCESSORS = {
    "epsilon-for-every-key": "rho-for-every-key",
    "found-bounds-believed": "clipped-cells-count-with-their-sums",
    "groups-drawn-by-lot": "groups-by-who-else-is-there",
    "ids-are-doubles": "ids-merged",
    "ids-that-do-not-fit-fail": "ids-as-they-come",
    "limits-twice-as-wide": "limits-as-wide-as-you-like",
    "roots-never-missing": "powers-never-nan",
}


def outcome(status: str) -> Outcome:
    return Outcome("a-bug", "kernel/gate.py", "harm", status, "", 1.0)  # type: ignore[arg-type]


def test_there_are_thirty_or_more_with_names_of_their_own() -> None:
    assert len(PLANTED) >= 30
    assert len({mutant.name for mutant in PLANTED}) == len(PLANTED)
    assert len({(mutant.file, mutant.new) for mutant in PLANTED}) == len(PLANTED)


def test_bugs_that_are_gone_have_successors() -> None:
    """Whoever takes a bug off the list plants its mistake where it could be made now, and says so here."""
    names = {mutant.name for mutant in PLANTED}
    assert names & SUCCESSORS.keys() == set()
    assert set(SUCCESSORS.values()) - names == set()


@EVERY
def test_each_fits_the_source_once_and_changes_what_it_does(mutant: Mutant) -> None:
    assert mutant.file in FILES or mutant.file.startswith("query/sql")
    source = (ROOT / "src" / "sfumato" / mutant.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(mutant.planted(source))) != ast.dump(ast.parse(source))


@EVERY
def test_each_names_tests_that_exist(mutant: Mutant) -> None:
    for target in mutant.tests:
        path, _, name = target.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("old", ["not there", "import"])
def test_a_text_that_is_not_there_exactly_once_is_an_error(old: str) -> None:
    with pytest.raises(ValueError, match="not once"):
        Mutant("a", "kernel/gate.py", old, "", "", ()).planted("import a\nimport b\n")


def test_none_may_survive() -> None:
    killed, others = outcome("killed"), [outcome(status) for status in ("survived", "too slow", "error")]
    assert enough([killed] * 30)
    for other in others:
        assert not enough([killed] * 300 + [other])


def test_the_page_shows_every_bug_and_its_outcome() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for mutant in PLANTED:
        assert page.count(f"| {mutant.name} | `{mutant.file}` | {mutant.harm} |") == 1


def test_writing_the_page_replaces_the_rows_of_a_run_and_drops_bugs_that_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "mutants.md"
    old = "| a-bug | `kernel/gate.py` | harm | killed | `test` | 1.0 |\n| gone | `x` | y | killed | `t` | 1.0 |\n"
    other = "| other | `x` | y | killed | `t` | 1.0 |\n"
    path.write_text(f"before\n<!-- measured -->\n\n{old}{other}<!-- end -->\nafter\n")
    write_page(path, [outcome("survived")], ["other", "a-bug"])
    row = "| a-bug | `kernel/gate.py` | harm | survived | | 1.0 |"
    assert path.read_text() == f"before\n<!-- measured -->\n{measured([other[:-1], row])}<!-- end -->\nafter\n"
    assert "1 of 2 killed." in path.read_text()


@pytest.mark.exhaustive
def test_a_bug_is_killed_and_a_harmless_change_survives(tmp_path: Path) -> None:
    target = ("tests/kernel/test_gate.py::test_a_receipt_opens_once",)
    (opens_twice,) = (mutant for mutant in PLANTED if mutant.name == "receipt-opens-twice")
    found = judge(opens_twice, tmp_path / "killed")
    assert (found.status, found.by) == ("killed", target[0])
    harmless = Mutant("harmless", opens_twice.file, opens_twice.old, f"{opens_twice.old}  # harmless", "", target)
    assert judge(harmless, tmp_path / "survived").status == "survived"
    unusable = Mutant("unusable", opens_twice.file, opens_twice.old, "this is no Python", "", target)
    assert judge(unusable, tmp_path / "unusable").status == "error"


@pytest.mark.slow
def test_tests_that_do_not_end_kill_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.mutants.run.SECONDS", 0.05)
    assert _tests(copy(tmp_path / "slow"), ["tests/kernel/test_gate.py"])[0] == "too slow"
