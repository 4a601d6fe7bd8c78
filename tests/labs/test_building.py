"""Whole editions: teachers' run without an error, students' stop at the first stub; folders are filled as said."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.errors import DataUnreadable
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import executed
from sfumato.labs.build.files import KINDS, write_student_folder
from sfumato.labs.build.plan import Job, build
from sfumato.labs.languages import LANGUAGES
from tests.labs import offline
from tests.labs.editions import SAMPLE, edition, every_lab, sample

pytestmark = pytest.mark.labs


@pytest.mark.parametrize("lab", every_lab(), ids=lambda lab: lab.slug)
def test_the_teachers_notebook_runs_and_shows_every_figure(lab) -> None:
    lang = list(LANGUAGES)[lab.number % len(LANGUAGES)]  # all four in turn; code is the same but for its words
    content, shown = executed(edition(lab, lang, variant=1, teacher=True))
    assert set(shown.figures) >= {cell.id for cell in lab.cells if cell.role == "figure"}
    assert not [
        cell["id"] for cell in content["cells"] for each in cell.get("outputs", ()) if each["output_type"] == "error"
    ]
    assert all(picture.startswith(b"\x89PNG") for picture in shown.figures.values())


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lab", every_lab(), ids=lambda lab: lab.slug)
def test_the_words_of_a_language_leave_the_code_as_it_is(lab, lang: str) -> None:
    """A quotation mark or a line break in a translated docstring would be seen here."""
    for teacher in (True, False):
        english, other = (edition(lab, each, variant=1, teacher=teacher) for each in ("en", lang))
        for cell in lab.cells:
            assert _bare(other.code(cell)) == _bare(english.code(cell)), cell.id


def _bare(source: str) -> str:
    """The tree of a cell without its texts."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


@pytest.mark.parametrize("lab", every_lab(), ids=lambda lab: lab.slug)
def test_the_students_notebook_stops_at_the_first_stub(lab, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    made = edition(lab, "en", variant=1)
    folder = tmp_path / "lab"
    write_student_folder(made, folder, ())
    content = nbformat.read(folder / f"lab{lab.number:02}.ipynb", as_version=4)
    nbformat.validate(content)
    asked = next(cell for cell in content.cells if cell.metadata.sfumato.get("role") == "task")
    content.cells = content.cells[: content.cells.index(asked) + 1]
    call = f"{lab.cell(asked.id).defines[0]}(*[None] * {lab.cell(asked.id).defines[0]}.__code__.co_argcount)"
    content.cells.append(nbformat.v4.new_code_cell(call))
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="NotImplementedError"):
        nbclient.NotebookClient(content, resources={"metadata": {"path": str(folder)}}).execute()


def test_a_build_makes_every_kind_of_file_for_both(tmp_path: Path) -> None:
    output = tmp_path / "made"
    told: list[tuple[int, str]] = []
    jobs = [Job(SAMPLE, 1, lang, (True, False), KINDS, output, sheets=True) for lang in ("en", "ru")]
    written = build(jobs, output, 2, lambda count, name: told.append((count, name)))
    assert [count for count, _ in told] == [1, 2]
    assert {name for _, name in told} == {"lab90_sample 1 en", "lab90_sample 1 ru"}
    student = output / "lab90_sample" / "ru" / "variant1" / "student"
    names = sorted(path.name for path in student.iterdir())
    stem = "lab90-variant1-ru-student"
    assert names == sorted(
        ["data_for_lab90_var1.csv", "lab.json", *(f"{stem}.{kind}" for kind in (*KINDS, "png") if kind != "csv")]
    )
    assert len(written) == 4 * len(names)
    assert json.loads((student / "lab.json").read_text()) == {
        "lab": 90, "variant": 1, "seed": 1, "lang": "ru", "token": "",
    }  # fmt: skip
    executed_one = json.loads(
        (student.parent / "teacher" / "lab90-variant1-ru-teacher.ipynb").read_text(encoding="utf-8")
    )
    assert any(cell.get("outputs") for cell in executed_one["cells"])


def test_a_build_refuses_languages_that_differ_before_it_writes(tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(SAMPLE, tmp_path / SAMPLE.name))
    words = (folder / "ru.md").read_text(encoding="utf-8")
    (folder / "ru.md").write_text(words.replace("points=3", "points=2"), encoding="utf-8")
    output = tmp_path / "made"
    with pytest.raises(DataUnreadable, match="the languages of lab 90 differ"):
        build([Job(folder, 1, "ru", (False,), ("csv",), output)], output, 1, lambda *_: None)
    assert not output.exists()


def test_a_students_folder_has_all_that_is_needed(tmp_path: Path) -> None:
    made = Edition(sample(), sample().variant(2, seed=77), "ru", teacher=False, token="t-1")
    written = write_student_folder(made, tmp_path / "mine", ("html", "docx"))
    names = [path.name for path in written]
    assert names == ["lab90.ipynb", "lab.json", "data_for_lab90_var2.csv", "hand-out.html", "hand-out.docx"]
    assert json.loads((tmp_path / "mine" / "lab.json").read_text())["seed"] == 77


NO_NETWORK = """
import socket, sys
sys.path.insert(0, ".")
try:
    socket.create_connection(("192.0.2.1", 80), 3)
except OSError:
    pass
else:
    raise SystemExit("there is a network")
from sfumato.labs.build.executing import theory_figures
from sfumato.labs.build.files import DOCUMENTS
from sfumato.labs.source import load
from tests.labs.editions import edition
made = edition(load(int(sys.argv[1])), sys.argv[3])
print(len(DOCUMENTS[sys.argv[2]](made, theory_figures(made))))
"""


@pytest.mark.parametrize(
    ("number", "kind", "lang"),
    [(0, "pdf", "ru"), (1, "docx", "vi"), (2, "html", "zh"), (3, "docx", "en"), (4, "pdf", "zh")],
)
def test_nothing_is_fetched(number: int, kind: str, lang: str) -> None:
    """In a namespace without a network, one document of each lab is made."""
    assert offline.refusal() == ""
    command = offline.offline(sys.executable, "-c", NO_NETWORK, number, kind, lang)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10_000


def test_a_machine_without_namespaces_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "_NAMESPACE", ("false",))
    assert "allow user namespaces" in offline.refusal()
    monkeypatch.setattr(offline, "_NAMESPACE", ("no-such-program",))
    assert "util-linux" in offline.refusal()
