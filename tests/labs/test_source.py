"""A folder becomes a lab, or it is said which line is wrong."""

import shutil
from pathlib import Path

import pytest

from sfumato.errors import DataUnreadable, UsageError
from sfumato.labs.prose import Block, Heading, Place, Text, read_prose, walk
from sfumato.labs.source import load, named, numbers_of_labs, read, read_cells
from tests.labs.editions import SAMPLE, sample

CONTENT = SAMPLE.parent


def test_a_lab_is_read() -> None:
    lab = sample()
    assert (lab.number, lab.slug, lab.hours, lab.prerequisites) == (90, "lab90_sample", 1, ())
    assert [cell.id for cell in lab.tasks] == ["t1", "t2"]
    assert [cell.points for cell in lab.tasks] == [4, 6]
    assert lab.cell("t2").defines == ("scale", "noisy")
    assert lab.cell("t2").needs == ("t1",)
    assert lab.cell("t1").needs == ()
    assert (lab.cell("fig_law").theory, lab.cell("fig_noise").theory) == (True, False)
    assert lab.cell("fig_noise").after == "t2"
    assert lab.module("numbers").files(lab.variant(1)) == {"main": "data_for_lab90_var1.csv"}


def test_labs_are_found_by_number_and_name() -> None:
    assert numbers_of_labs(CONTENT) == (90,)
    assert load(90, CONTENT) is sample()
    for word in ("90", "lab90_sample", "sample"):
        assert named(word, CONTENT) is sample()
    with pytest.raises(UsageError, match=r"no lab 7. The nearest is 90"):
        load(7, CONTENT)
    with pytest.raises(UsageError, match=r'no lab "sampel". Did you mean "sample"'):
        named("sampel", CONTENT)


def test_a_variant_has_constants_and_streams() -> None:
    variant = sample().variant(2)
    assert (variant.eps, variant["eps"], variant.number) == (1.5, 1.5, 2)
    with pytest.raises(AttributeError, match=r'have no "epsi". Did you mean "eps"'):
        variant.epsi  # noqa: B018
    with pytest.raises(UsageError, match=r"no variant 9. The nearest is 2"):
        sample().variant(9)
    drawn = [sample().variant(number, seed).stream(name).uniform(3).tolist() for number, seed, name in STREAMS]
    assert drawn[0] == drawn[1]
    assert len({tuple(each) for each in drawn}) == 4, "another variant, seed or name is another stream"
    assert drawn[0] == pytest.approx([0.0, 0.0, 0.0], abs=1)


STREAMS = ((2, 2, "a"), (2, 2, "a"), (1, 2, "a"), (2, 3, "a"), (2, 2, "b"))


def test_unwritten_and_unknown_languages_are_told_apart(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SAMPLE, tmp_path / SAMPLE.name))
    (folder / "zh.md").unlink()
    with pytest.raises(UsageError, match=r"lab 90 is not written in zh yet"):
        read(folder).words("zh")
    with pytest.raises(UsageError, match=r'there is no language "de"'):
        sample().words("de")


TASK = "# %% id=t role=task points=1 defines=f\ndef f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("# %% role=given\nx", "an id always"),
        ("# %% id=a role=given colour=red\nx", "a cell has the options"),
        ("# %% id=a role=student\nx", "role must be one of"),
        ("# %% id=a role=given\nx\n# %% id=a role=given\ny", "two cells have the id a"),
        ("# %% id=a role=task points=1\nx", "says what it defines"),
        ("# %% id=a role=given points=1 defines=f\nx", "and nothing else does"),
        (TASK.replace("    ### END SOLUTION\n", ""), "BEGIN SOLUTION and ### END"),
        (TASK.replace("role=task points=1 defines=f", "role=given"), "nothing else, stands between"),
        ("# %% id=a role=figure after=t\nx", "t does not stand before it"),
        (TASK.replace("defines=f", "defines=f needs=z"), "z does not stand before it"),
    ],
)
def test_a_wrong_cell_is_named(source: str, said: str) -> None:
    with pytest.raises(DataUnreadable, match=said):
        read_cells(source, "cells.py")
    assert read_cells(TASK, "cells.py")[0].defines == ("f",)


FRONT = '+++\ntitle = "T"\n+++\n'


def test_prose_is_a_tree() -> None:
    prose = read_prose(
        FRONT
        + "## A {#a}\none\n\n::: {.exercise #e1 points=2}\ntwo\n::: {.answer}\n<!-- cell: c -->\n:::\n:::\n\n"
        + "```\n::: {.no}\n# no\n```\n",
        "en",
        "en.md",
    )
    heading, one, exercise, code = prose.parts
    assert heading == Heading(2, "A", "a")
    assert one == Text("one")
    assert isinstance(exercise, Block)
    assert (exercise.kind, exercise.id, exercise.attributes) == ("exercise", "e1", {"points": "2"})
    assert code == Text("```\n::: {.no}\n# no\n```")
    assert [part for part in walk(prose.parts) if isinstance(part, Place)] == [Place("c")]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("## A", "must begin with front matter"),
        ("+++\nx = 1\n+++\n", "has no title"),
        ("+++\nx =\n+++\n", "not TOML"),
        (FRONT + "::: {.answer}\nx", "line 4: this block is never closed"),
        (FRONT + "x\n:::\n", "line 5: ::: closes a block that nothing opened"),
        (FRONT + "::: {.box}\n:::\n", "kind is one of predict"),
    ],
)
def test_wrong_prose_is_named(source: str, said: str) -> None:
    with pytest.raises(DataUnreadable, match=said):
        read_prose(source, "en", "en.md")


def test_a_folder_that_lacks_something_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "lab80_x"
    folder.mkdir()
    (folder / "lab.toml").write_text('number = 80\nslug = "lab80_x"\n', encoding="utf-8")
    with pytest.raises(DataUnreadable, match=r"hours, prerequisites, points missing"):
        load(80, tmp_path)
