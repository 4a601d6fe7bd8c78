"""The map of the tests names every folder, and what leaves `make test` runs in a step of its own."""

import re

import pytest

from tests.architecture.sources import ROOT

TESTS = ROOT / "tests"
MAP = (TESTS / "README.md").read_text(encoding="utf-8")
FOLDERS = sorted(
    path.relative_to(TESTS).as_posix()
    for path in TESTS.rglob("*")
    if path.is_dir() and "__pycache__" not in path.parts and any(path.iterdir())
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_of_tests_is_on_the_map(folder: str) -> None:
    assert f"`{folder}`" in MAP


def test_every_path_on_the_map_is_there() -> None:
    table = MAP.partition("Beside them:")[0]
    named = set(re.findall(r"`([a-z_/]+)`", table)) - {"src/sfumato"}
    assert sorted(name for name in named if not (TESTS / name).exists()) == []


def test_the_map_fits_on_two_screens() -> None:
    assert MAP.count("\n") <= 120


def test_what_leaves_make_test_runs_in_a_step_of_its_own() -> None:
    steps = re.findall(r"^make (\w+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert steps == ["lint", "test", "exhaustive", "audit", "labs", "wheel"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    chosen = dict(re.findall(r'^(\w+):[^\n]*\n(?:\t@[^\n]*\n)*\t[^\n]*-m "([^"]+)"', makefile, re.MULTILINE))
    assert chosen == {
        "test": "not exhaustive and not labs",
        "exhaustive": "exhaustive and not labs",
        "labs": "labs",
        "quick": "not slow and not exhaustive",
    }
