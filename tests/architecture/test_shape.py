"""The shape of the whole: layers, public names, sizes, and what must not be left lying about."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato
from tests.architecture.sources import ROOT, sources

LONGEST_FILE = 400
AGREED = [
    "open",
    "protect",
    "Person",
    "Row",
    "Int",
    "Float",
    "Category",
    "Text",
    "Budget",
    "noise",
    "attacks",
    "datasets",
]


def test_imports_point_down_only() -> None:
    """Runs the contracts of pyproject.toml."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(linter), "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_public_names_resolve() -> None:
    assert sorted(sfumato.__all__) == sfumato.__all__
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    assert set(sfumato.__all__) == set(sfumato._HOMES) | set(sfumato._MODULES)
    assert set(dir(sfumato)) == {*sfumato.__all__, "__version__"}


@pytest.mark.parametrize("name", AGREED)
def test_agreed_names_are_public(name: str) -> None:
    assert name in sfumato.__all__


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sfumato.nothing


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_files_are_short_and_finished(source) -> None:
    assert source.text.count("\n") <= LONGEST_FILE
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", source.text)
    assert source.text == "" or source.name.endswith("__init__.py") or source.text.startswith('"""')


def text_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    kinds = {".py", ".md", ".toml", ".txt", ".json", ".yml", ".yaml", ".html", ".sh", ".ipynb", ".cfg", ""}
    unlisted = [path for folder in ("src", "tests", "docs") for path in (ROOT / folder).rglob("*")]
    found = unlisted if listed.returncode else [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in found if path.suffix in kinds and path.is_file()]


def test_no_file_names_a_place_on_one_machine() -> None:
    homes = re.compile("|".join(("/" + "root/", "/" + "work/", "/" + r"home/\w", "/" + r"Users/\w", r"\b[A-Z]:\\\w")))
    for path in text_files():
        found = homes.search(path.read_text(encoding="utf-8", errors="replace"))
        assert found is None, f"{path.relative_to(ROOT)}: {found[0] if found else ''}"


def test_tests_leave_nothing_in_the_package() -> None:
    """Data, ledgers and reports belong into temporary folders."""
    for pattern in ("*.ledger", "*.anchor", "*.ledger-wal", "*.parquet", "*.csv"):
        assert list((ROOT / "src").rglob(pattern)) == []
