"""check, hint and show in a notebook: the student's language, progress, and machines that lack half of Python."""

import json
import subprocess
import sys

import matplotlib as mpl
import pytest

from sfumato.errors import UsageError
from sfumato.labs import lab
from sfumato.labs.build.data_files import write_data
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.notebook import passport
from sfumato.labs.notebook.session import Said
from sfumato.labs.verdict import CODES
from sfumato.labs.words import strings
from tests.labs.small import CONTENT, small, solution

mpl.use("Agg")


def opened(folder, lang="en", number=3, seed=5):
    found = small()
    edition = Edition(found, found.variant(number, seed), lang, teacher=False)
    write_data(edition, folder)
    (folder / "lab.json").write_text(json.dumps(passport(edition)))
    functions = {}
    exec("import numpy as np", functions)  # noqa: S102
    return (*lab(91, folder=folder, content=CONTENT, functions=functions), functions)


def write(functions, source):
    exec(source, functions)  # noqa: S102


def test_check_says_what_is_wrong_in_the_students_language(tmp_path, capsys):
    check, _, _, functions = opened(tmp_path, "ru")
    write(functions, small().module("mutants").MUTANTS["t2"]["swapped"])
    check.t2()
    said = capsys.readouterr().out
    assert "✗ t2: Шум меньше нужного в 196 раз: вы разделили ε на Δ." in said
    assert "У rng.laplace запрошен масштаб 0,07143, а нужен 14." in said
    assert "баллов: 0 из 10" in said
    write(functions, solution("t2"))
    check.t2()
    assert "✓ t2: Верно." in capsys.readouterr().out


def test_check_of_a_stub_and_of_nothing(tmp_path, capsys):
    check, _, _, functions = opened(tmp_path)
    check.t2()
    assert "laplace_mech is not defined" in capsys.readouterr().out
    write(functions, "def laplace_mech(value, sensitivity, eps, rng):\n    raise NotImplementedError\n")
    check.t2()
    assert "laplace_mech is still empty" in capsys.readouterr().out


def test_words_of_the_lab_itself(tmp_path, capsys):
    check, _, _, functions = opened(tmp_path, "ru")
    write(functions, small().module("mutants").MUTANTS["t4"]["forgot_half"])
    check.t4()
    assert "при ε = 0,5 он равен εu / 2" in capsys.readouterr().out


def test_hints_are_a_ladder_that_is_remembered(tmp_path, capsys):
    _, hint, _, _ = opened(tmp_path, "ru")
    hint.t2()
    hint.t2()
    _, hint, _, _ = opened(tmp_path, "ru")
    hint.t2()
    hint.t2()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(".")[0] for line in lines] == [
        "Подсказка 1 из 3",
        "Подсказка 2 из 3",
        "Подсказка 3 из 3",
        "Подсказка 3 из 3",
    ]
    assert "14,00" in lines[1]


def test_progress_is_kept_beside_the_notebook(tmp_path, capsys):
    check, _, _, functions = opened(tmp_path)
    write(functions, solution("t1"))
    check.t1()
    write(functions, solution("t2"))
    check, _, _, _ = opened(tmp_path)
    kept = json.loads((tmp_path / "progress.json").read_text())
    assert kept["tasks"]["t1"] == {"passed": True, "tries": 1, "hints": 0, "code": "passed"}
    assert "■□□□ 2 of 10 points" in capsys.readouterr().out


def test_damaged_progress_is_set_aside(tmp_path, capsys):
    (tmp_path / "progress.json").write_text("{half")
    check, _, _, functions = opened(tmp_path)
    write(functions, solution("t1"))
    check.t1()
    assert (tmp_path / "progress.damaged").read_text() == "{half"
    assert json.loads((tmp_path / "progress.json").read_text())["tasks"]["t1"]["passed"]


@pytest.mark.parametrize("task", ["t1", "t2", "t3", "t4"])
def test_show_draws_answers_against_their_law(tmp_path, capsys, task):
    from matplotlib import pyplot

    pyplot.close("all")
    _, _, show, functions = opened(tmp_path)
    for one in ("t1", "t2", "t3", "t4"):
        write(functions, solution(one))
    getattr(show, task)()
    said = capsys.readouterr().out
    if task == "t1":
        assert "Your answer: " in said
        return
    figure = pyplot.gcf()
    labels = {
        text.get_text() for axes in figure.axes for text in (axes.get_legend().get_texts() if axes.get_legend() else [])
    }
    assert labels == {"yours", "expected"}
    assert "law it should follow" in said
    pyplot.close("all")


def test_an_unknown_task_is_named(tmp_path):
    check, _, _, _ = opened(tmp_path)
    with pytest.raises(UsageError, match="has no task"):
        check.t9()
    assert dir(check) == ["t1", "t2", "t3", "t4"]
    assert not hasattr(check, "_repr_html_")


@pytest.mark.parametrize("damage", ["{", "[]", '{"lab": 91}', '{"lab": "91", "variant": 1, "seed": 1, "lang": "en"}'])
def test_a_damaged_passport_is_said(tmp_path, damage):
    (tmp_path / "lab.json").write_text(damage)
    with pytest.raises(UsageError, match="damaged"):
        lab(91, folder=tmp_path, content=CONTENT)


def test_a_missing_and_a_foreign_passport_are_said(tmp_path):
    with pytest.raises(UsageError, match=r"no lab\.json"):
        lab(91, folder=tmp_path, content=CONTENT)
    opened(tmp_path)
    with pytest.raises(UsageError, match="belongs to lab 91"):
        lab(92, folder=tmp_path, content=CONTENT)


def test_words_are_escaped_in_a_notebook():
    shown = Said("<script>\nε", False)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;<br>ε" in shown


@pytest.mark.parametrize("lang", ["en", "ru"])
def test_every_code_has_words(lang):
    known = strings(lang)
    assert [code for code in CODES if f"verdict.{code}" not in known] == []
    assert set(strings("en")) == set(known)


HIDING = """
import sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
import json, pathlib
folder = pathlib.Path(sys.argv[1])
from sfumato.labs import lab
check, hint, show = lab(91, folder=folder, content=pathlib.Path(sys.argv[2]))
def laplace_mech(value, sensitivity, eps, rng):
    return value + rng.laplace(0.0, sensitivity / eps)
check.t2()
hint.t2()
"""


def test_the_students_side_needs_neither_fcntl_nor_resource(tmp_path):
    opened(tmp_path)
    command = [sys.executable, "-c", HIDING, str(tmp_path), str(CONTENT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    assert "✓ t2: Right." in done.stdout
    assert "Hint 1 of 3" in done.stdout
