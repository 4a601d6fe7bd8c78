"""sfumato labs list, start and build: what they print, and what they say to wrong input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.labs.languages import LANGUAGES
from sfumato.labs.source import numbers_of_labs
from tests.labs.editions import SHIPPED

FIRST = SHIPPED[-1]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_all_labs_are_listed(shell) -> None:
    code, out, _ = shell("labs", "list", "--format", "json")
    assert code == 0
    assert [row["lab"] for row in json.loads(out)] == list(numbers_of_labs())
    assert all(row["languages"] == "en, ru, vi, zh" for row in json.loads(out))
    assert len({shell("labs", "list", "--lang", lang)[1] for lang in LANGUAGES}) == 4


def test_a_folder_to_work_in(shell) -> None:
    code, out, err = shell("labs", "start", FIRST, "--variant", 3, "--lang", "ru", "--no-hand-out")
    assert (code, err) == (0, "")
    folder = Path(f"lab{FIRST:02}-variant3-ru")
    assert f"Открыть: jupyter lab {folder}/lab{FIRST:02}.ipynb" in out
    names = {path.name for path in folder.iterdir()}
    assert {f"lab{FIRST:02}.ipynb", "lab.json"} < names
    assert any(name.endswith(".csv") for name in names)
    # Nothing is overwritten.
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    code, out, err = shell("labs", "start", FIRST, "--variant", 3, "--lang", "ru", "--no-hand-out")
    assert (code, out) == (2, "")
    assert "exists already; nothing was written" in err
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_the_same_as_json(shell) -> None:
    code, out, _ = shell("labs", "start", FIRST, "--no-hand-out", "--output", "mine", "--format", "json")
    said = json.loads(out)
    assert code == 0
    assert (said["lab"], said["variant"], said["lang"], said["folder"]) == (FIRST, 1, "en", "mine")
    assert sorted(said["files"]) == sorted(path.name for path in Path("mine").iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["start", "77"], "there is no lab 77. The nearest is"),
        (["start", "exponentail"], 'Did you mean "exponential"?'),
        (["start", FIRST, "--variant", "8"], "has no variant 8. The nearest is 7"),
        (["start", FIRST, "--variant", "-1"], "has no variant -1. The nearest is 1"),
        (["start", FIRST, "--lang", "rus"], 'there is no language "rus". Did you mean "ru"?'),
        (["build", "--lab", "77"], "there is no lab 77"),
        (["build", "--variant", "9"], "has no variant 9"),
        (["build", "--variant", "x"], 'variant must be a whole number, not "x"'),
        (["build", "--lang", "xx"], 'there is no language "xx"'),
        (["build", "--kinds", "pdff"], 'there is no kind of file "pdff". Did you mean "pdf"?'),
        (["start", FIRST, "--no-hand-out", "--output", "file/inside"], "cannot be made"),
    ],
)
def test_wrong_input_is_named_and_nothing_is_written(shell, arguments: list[object], said: str) -> None:
    Path("file").write_text("x")
    code, out, err = shell("labs", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert [path.name for path in Path().iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("arguments", "module", "said"),
    [
        (["start", FIRST], "pypandoc", 'a hand-out needs pypandoc_binary.\n  Run: pip install "sfumato[labs]"'),
        (["build", "--kinds", "html"], "pypandoc", 'pip install "sfumato[labs]"'),
        (["build", "--kinds", "ipynb"], "nbclient", 'needs nbclient.\n  Run: pip install "sfumato[labs-build]"'),
        (["build", "--kinds", "pdf", "--edition", "student"], "typst", "a PDF needs typst"),
        (["build", "--kinds", "docx", "--edition", "student"], "docx", "a Word document needs python-docx"),
    ],
)
def test_what_is_not_installed_is_named_before_anything_is_written(
    shell, monkeypatch: pytest.MonkeyPatch, arguments: list[object], module: str, said: str
) -> None:
    if module != "pypandoc":
        monkeypatch.setattr("sfumato.labs.build.plan.pandoc_path", lambda: "pandoc")
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = shell("labs", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert list(Path().iterdir()) == []


def test_students_need_no_module_that_windows_lacks() -> None:
    program = (
        "import sys\n"
        "for name in ('fcntl', 'resource', 'pwd', 'grp', 'termios'): sys.modules[name] = None\n"
        "import sfumato.cli.labs, sfumato.labs.build.files, sfumato.labs.notebook\n"
        "from sfumato.labs.source import load, numbers_of_labs\n"
        "for number in numbers_of_labs(): load(number).module('checks')\n"
        "print('fine')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr


def test_help_of_the_shell_loads_nothing_of_the_labs() -> None:
    program = (
        "import sys\nfrom sfumato.cli.main import run\n"
        "try: run(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith(('sfumato.labs', 'numpy', 'nbformat'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
