"""One list decides what is trusted: texts, coverage and planted bugs follow it, and no file is forgotten."""

import ast
import re
import tomllib
from collections import Counter

import pytest
from docs.ring import BUGS, RENEWED

from tests.architecture.ring import (
    COVERED_BESIDES,
    FILES,
    FOLDERS,
    LINES_A_MINUTE,
    LINES_OF_THE_LANGUAGE_A_MINUTE,
    LONGEST_MECHANISM,
    NOT_TRUSTED,
    PARTS,
    PROMISED,
    RING,
    Part,
    Trusted,
    of_part,
)
from tests.architecture.sources import PACKAGE, ROOT, code_lines, sources
from tests.mutants.planted import PLANTED

RUN = "Run: python -m docs.generate"
LEAST_PLANTED = 80

# Names of the ring that mean two things. None may be added; these go when their files are renamed.
KNOWN_HOMONYMS = {}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# ---- the list


def test_every_trusted_file_is_there_once() -> None:
    assert len(FILES) == len(RING)
    assert sorted(file for file in FILES | set(NOT_TRUSTED) if not (PACKAGE / file).is_file()) == []
    assert FILES & set(NOT_TRUSTED) == set()


def test_every_file_of_the_rings_folders_is_trusted_or_says_why_not() -> None:
    """A new file goes into RING, or into NOT_TRUSTED with a reason."""
    found = {source.name for source in sources() if source.name.startswith(tuple(f"{name}/" for name in FOLDERS))}
    assert sorted(name for name in found if not name.endswith("__init__.py")) == sorted(
        (FILES | set(NOT_TRUSTED)) & found
    )
    assert all(NOT_TRUSTED.values())


def test_the_ring_rests_on_the_ring() -> None:
    """What a trusted file imports is trusted, or is known to be harmless."""
    for source in sources():
        if source.name in FILES:
            imported = {f"{name.removeprefix('sfumato.').replace('.', '/')}.py" for name in source.imports()}
            within = {name for name in imported if (PACKAGE / name).is_file()}
            assert within - FILES - set(NOT_TRUSTED) == set(), source.name


@pytest.mark.parametrize("part", PARTS)
def test_minutes_add_up_to_what_is_promised(part: Part) -> None:
    minutes = [trusted.minutes for trusted in of_part(part)]
    if part == "mechanism":
        assert max(minutes) <= LONGEST_MECHANISM == PROMISED[part].minutes
    else:
        assert sum(minutes) == PROMISED[part].minutes


@pytest.mark.parametrize("part", PARTS)
def test_minutes_are_enough_for_the_lines_of_every_file_and_of_the_part(part: Part) -> None:
    """At the rates that the page of the auditor states."""
    a_minute = LINES_OF_THE_LANGUAGE_A_MINUTE if part == "language" else LINES_A_MINUTE
    lines = {trusted.file: code_lines(text(f"src/sfumato/{trusted.file}")) for trusted in of_part(part)}
    assert [f"{one.file}: {lines[one.file]}" for one in of_part(part) if lines[one.file] > one.minutes * a_minute] == []
    if part != "mechanism":
        assert sum(lines.values()) <= PROMISED[part].minutes * a_minute


def test_the_page_states_the_rates_that_minutes_are_measured_by() -> None:
    stated = "enough for thirty lines of code a minute, and half as many in the language"
    assert stated in " ".join(text("docs/explanation/audit-in-an-hour.md").split())
    assert (LINES_A_MINUTE, LINES_OF_THE_LANGUAGE_A_MINUTE) == (30, 15)


def test_lines_to_read_are_code() -> None:
    written = '''"""What it is,
in two lines."""

from a import (
    b,
)

# why
ROWS = {
    "a": 1,  # one
}


def many() -> int:
    """How many."""
    import c
    return (
        b + c
    )
'''
    assert code_lines(written) == 7


def test_a_part_promises_in_words_what_it_promises_in_minutes() -> None:
    words = {
        "fifty minutes": 50,
        "an hour": 60,
        "an hour and twenty minutes": 80,
        "three hours": 180,
        "twenty minutes": 20,
        "twenty minutes each at most": 20,
    }
    opening = text("docs/explanation/audit-in-an-hour.md").partition("<!-- ring -->")[0]
    for promise in PROMISED.values():
        assert words[promise.takes] == promise.minutes
        assert promise.takes.removesuffix(" each at most") in opening
    assert "an hour for the spine" in text("README.md")


@pytest.mark.parametrize(("minutes", "claim"), [(0, "Is it?"), (1, "It is.")])
def test_a_file_without_minutes_or_question_is_no_part_of_it(minutes: int, claim: str) -> None:
    with pytest.raises(ValueError, match="question"):
        Trusted("kernel/gate.py", "spine", minutes, claim)


# ---- what follows from it


@pytest.mark.parametrize("name", RENEWED)
def test_what_is_written_from_the_list_is_up_to_date(name: str) -> None:
    assert text(name) == RENEWED[name](text(name)), RUN


@pytest.mark.parametrize("name", RENEWED)
def test_nothing_is_written_where_there_is_no_place_for_it(name: str) -> None:
    if name in ("README.md", "Makefile"):
        assert BUGS.search(text(name)), f"{name} no longer says how many bugs are planted"
    else:
        with pytest.raises(ValueError, match="there is no"):
            RENEWED[name]("a text without marks")


def test_coverage_measures_the_ring_and_the_gate_for_text() -> None:
    measured = tomllib.loads(text("pyproject.toml"))["tool"]["coverage"]["run"]["include"]
    assert {name.removeprefix("*/sfumato/") for name in measured} == FILES | set(COVERED_BESIDES), RUN


def test_every_trusted_file_has_a_planted_bug() -> None:
    """A bug that careful people ship, and a fast test that kills it: tests/mutants/planted.py."""
    assert sorted(FILES - {mutant.file for mutant in PLANTED}) == []
    assert len(PLANTED) >= LEAST_PLANTED


def test_no_text_counts_bugs_by_hand() -> None:
    """The number follows `plants … bugs` where docs.generate keeps it, and stands in the measured table."""
    counted = re.compile(r"\b(\w+|\d+)(?:-\w+)? (?:bugs|mutants)\b")
    numbers = re.compile(r"\d+|\w*(?:ten|teen|ty|hundred|one|two|three|four|five|six|seven|eight|nine)")
    pages = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "Makefile"]
    pages += [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")]
    for page in pages:
        said = [found[1] for found in counted.finditer(text(page)) if numbers.fullmatch(found[1])]
        known = [str(len(PLANTED))] if page in RENEWED else []
        assert [number for number in said if number not in known] == [], f"{page}. {RUN}"


# ---- names


def test_no_further_name_of_the_ring_means_two_things() -> None:
    """Choose another name. When one of these is gone, take it off the list."""
    homes: dict[str, set[str]] = {}
    for source in sources():
        if source.name in FILES:
            for name in defined(source.tree):
                homes.setdefault(name, set()).add(source.name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == KNOWN_HOMONYMS


def defined(tree: ast.Module) -> set[str]:
    """Names at the top of a file, private ones apart: classes, functions, constants."""
    found = Counter[str]()
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found[name] += 1
            case ast.Assign(targets=targets):
                found.update(each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                found[name] += 1
    return {name for name in found if not name.startswith("_")}
