"""Files in any state, and which cells of them answer a task."""

import io
import json
import os
import zipfile

import pytest

from sfumato.errors import UsageError
from sfumato.labs.grade import submission
from sfumato.labs.grade.cells import chosen, defined, helpers, plain
from sfumato.labs.grade.grading import assigned
from sfumato.labs.grade.submission import collected, read_notebook
from tests.labs.small import CONTENT, answered, course_of, hand_in


def cell(source, name=""):
    return {"id": name, "source": source}


SOLVED = "def f(x):\n    return x\n"
STUB = "def f(x):\n    # YOUR CODE\n    raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("cells", "places"),
    [
        ([cell(SOLVED, "t1")], [0]),
        ([cell(SOLVED)], [0]),
        ([cell(STUB, "t1"), cell(SOLVED)], [1]),
        ([cell(SOLVED), cell(STUB, "t1")], [0]),
        ([cell(SOLVED, "t1"), cell(SOLVED + "#2", "t1")], [1]),
        ([cell(SOLVED, "t1"), cell(STUB, "t1")], [0]),
        ([cell(SOLVED), cell("def f(x):\n    return 2\n")], [1]),
        ([cell(SOLVED, "t1"), cell("def f(x):\n    return 2\n")], [0]),
        ([cell("x = 1", "t1"), cell(SOLVED)], [1]),
        ([cell(STUB, "t1")], [0]),
        ([cell("f = lambda x: x")], [0]),
        ([cell("%matplotlib inline\n" + SOLVED)], [0]),
        ([cell("def f(:\n", "t1")], [0]),
        ([cell("g = 1")], []),
        ([], []),
    ],
)
def test_the_cell_of_a_task_is_found(cells, places):
    assert chosen(cells, "t1", ["f"]) == places


def test_a_task_split_over_cells_is_found():
    cells = [cell("def g():\n    return 1\n"), cell("print(1)"), cell(SOLVED)]
    assert chosen(cells, "t1", ["f", "g"]) == [0, 2]


def test_stubs_are_told_from_answers():
    assert defined("def f():\n    'words'\n    pass\n") == {"f": True}
    assert defined("def f():\n    x = 1\n    raise NotImplementedError('todo')\n") == {"f": True}
    assert defined("def f(x):\n    if x:\n        raise NotImplementedError\n    return 1\n") == {"f": False}


def test_helpers_are_taken_and_work_is_not():
    source = (
        "import math\nK = 3\nslow = [i for i in range(10**9)]\nwhile True:\n    pass\ndef help(x):\n    return x + K\n"
    )
    kept = helpers(source)
    assert "def help" in kept
    assert "K = 3" in kept
    assert "import math" in kept
    assert "while" not in kept
    assert "slow" not in kept


def test_lines_of_a_notebook_are_left_out():
    assert "time" not in plain("%%time\nx = 1")
    compile(plain("if True:\n    !ls\n    %pylab\nx = 5 % 3\n"), "", "exec")


def test_any_bytes_are_a_notebook_or_a_problem():
    right = {"cells": [{"cell_type": "code", "id": "a", "source": ["x = 1\n", "y"], "metadata": {}}], "metadata": {}}
    assert read_notebook(json.dumps(right).encode()).cells == ({"id": "a", "source": "x = 1\ny"},)
    assert read_notebook(b"\xef\xbb\xbf" + json.dumps(right).encode()).problem == ""
    for raw in (b"", b"hello", b"\xff\xfe\x00", b"[1]", b"3", b"{}", b'{"cells": 3}', b"[" * 10**6, b'{"cells": ['):
        assert read_notebook(raw).problem == "unreadable"


@pytest.mark.parametrize(
    "content",
    [
        {"cells": [None, 3, "x", [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": 3}]},
        {"cells": [{"cell_type": "code", "source": [1, None, "x"], "metadata": [], "id": 7}], "metadata": None},
        {
            "cells": [{"cell_type": "code", "source": "x", "metadata": {"sfumato": {"id": []}}}],
            "metadata": {"sfumato": 1},
        },
        {"cells": [], "metadata": {"sfumato": {"lab": "2", "token": 5}}},
        {"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}, 7]},
    ],
)
def test_odd_notebooks_are_read_as_far_as_they_go(content):
    read = read_notebook(json.dumps(content).encode())
    assert read.problem == ""
    assert all(isinstance(one["source"], str) and isinstance(one["id"], str) for one in read.cells)
    assert (read.lab, read.token) == (None, "")


def test_too_much_code_is_said():
    content = {"cells": [{"cell_type": "code", "source": "x" * submission.SOURCES + "y"}]}
    assert read_notebook(json.dumps(content).encode()).problem == "too_long"


def test_a_notebook_of_200_megabytes_is_not_read(tmp_path):
    path = tmp_path / "s01.ipynb"
    with path.open("wb") as handle:
        handle.truncate(200 << 20)
    [found], _ = collected(tmp_path)
    assert found.notebook.problem == "too_long"


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, **options)


NOTEBOOK = json.dumps({"cells": [], "metadata": {"sfumato": {"lab": 91}}})


def test_archives_are_read_without_unpacking(tmp_path):
    zipped(tmp_path / "s01.zip", {"../../evil/lab91.ipynb": NOTEBOOK, "data.csv": "a", "__MACOSX/x.ipynb": "?"})
    [found], _ = collected(tmp_path)
    assert found.notebook.lab == 91
    assert found.names == ("s01.zip", "evil", "lab91.ipynb")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["s01.zip"]


def test_bombs_and_broken_archives_are_problems(tmp_path):
    zipped(tmp_path / "bomb.zip", {"lab91.ipynb": b"0" * (submission.LARGEST + 10)})
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 broken")
    zipped(tmp_path / "none.zip", {"readme.txt": "x"})
    zipped(tmp_path / "many.zip", {f"{n}.txt": "" for n in range(submission.ENTRIES + 1)})
    found, aside = collected(tmp_path)
    assert {one.label: one.notebook.problem for one in found} == {
        "bomb.zip/lab91.ipynb": "too_long",
        "broken.zip": "unreadable",
        "none.zip": "unreadable",
    }
    assert aside == [f"many.zip: more than {submission.ENTRIES} files"]


def test_an_archive_that_lies_about_its_size_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "LARGEST", 1000)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lab91.ipynb", b" " * 5000)
    raw = buffer.getvalue().replace((5000).to_bytes(4, "little"), (500).to_bytes(4, "little"))
    (tmp_path / "s01.zip").write_bytes(raw)
    [found], _ = collected(tmp_path)
    assert found.notebook.problem in ("too_long", "unreadable")


def test_links_and_pipes_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(NOTEBOOK)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "s01.ipynb").symlink_to(secret)
    (folder / "all").symlink_to("/")
    os.mkfifo(folder / "s02.ipynb")
    found, aside = collected(folder)
    assert found == []
    assert sorted(aside) == ["all: link", "s01.ipynb: link", "s02.ipynb: no file"]


def test_an_empty_folder_and_no_folder_are_said(tmp_path):
    with pytest.raises(UsageError, match="holds no notebook"):
        collected(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        collected(tmp_path / "none")


def assign(course, folder):
    found, aside = collected(folder)
    return {one.student.id: one for one in assigned(course, found, aside, None, CONTENT)}, aside


def test_whose_a_file_is(tmp_path):
    course = course_of(tmp_path, 12)
    s = course.students
    folder = tmp_path / "in"
    hand_in(folder, "s01/lab91.ipynb", answered(course, s[0]))
    hand_in(folder, "Ivanov s02 (1).ipynb", answered(course, s[1]))
    hand_in(folder, "lab91_S03_final.ipynb", answered(course, s[2]))
    hand_in(folder, "homework.ipynb", answered(course, s[3]))  # by its token alone
    hand_in(folder, "s05.ipynb", answered(course, s[0]))  # of another student
    other = course_of(_made(tmp_path / "other"), 12)
    hand_in(folder, "s06.ipynb", answered(other, other.students[5]))  # of another course
    stripped = answered(course, s[6])
    stripped["metadata"] = {}
    hand_in(folder, "s07 lab91.ipynb", stripped)
    hand_in(folder, "s11x.ipynb", {**stripped})  # s11 is part of a longer word, and no token
    hand_in(folder, "s08 and s09 lab91.ipynb", stripped)
    found, aside = assign(course, folder)
    assert {name: one.flags for name, one in found.items()} == {
        "s01": (),
        "s02": (),
        "s03": (),
        "s04": (),
        "s05": ("foreign",),
        "s06": ("foreign",),
        "s07": ("no_token",),
    }
    assert len(aside) == 2


def _made(folder):
    folder.mkdir()
    return folder


def test_of_several_files_the_last_counts(tmp_path):
    course = course_of(tmp_path)
    folder = tmp_path / "in"
    for place, name in enumerate(("s01/b.ipynb", "s01/a.ipynb", "s01/c.ipynb")):
        path = hand_in(folder, name, answered(course, course.students[0]))
        os.utime(path, (1000 + place, 1000 + place))
    (folder / "s01" / "newest.ipynb").write_text("broken")
    found, aside = assign(course, folder)
    assert found["s01"].found.label == "s01/c.ipynb"
    assert len(aside) == 3
