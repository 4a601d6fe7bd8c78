"""The page about answers names everything an answer, a session and a builder can do, and nothing else."""

import inspect
import re
from pathlib import Path

import sfumato as sf
from sfumato.answers.builder import Builder

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "answers.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> list[str]:
    """The first column of the first table under a heading."""
    lines = PAGE.split(f"## {heading}\n")[1].splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("| ---"))
    return [line.split("|")[1] for line in lines[start + 1 : lines.index("", start)]]


def listed(heading: str) -> set[str]:
    return {name for cell in first_cells(heading) for name in re.findall(r"`(?:session\.)?(\w+)", cell)}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_part_of_an_answer_is_named() -> None:
    assert listed("An answer") == public(sf.Answer)


def test_every_step_is_named() -> None:
    assert listed("A question in steps") == public(Builder)


def test_what_a_session_can_do_before_spending_is_named() -> None:
    assert listed("Before spending") == {"explain", "spend_for", "questions_left"} <= public(sf.Session)


def test_the_arguments_are_the_real_ones() -> None:
    for cell in first_cells("A question in steps"):
        for name, arguments in re.findall(r"`(\w+)\(([^`]*)\)`", cell):
            if "…" not in arguments:
                real = [str(found) for found in inspect.signature(getattr(Builder, name)).parameters.values()][1:]
                plain = [re.sub(r": .*?(?= =|$)", "", argument).replace(" = ", "=") for argument in real]
                assert [part for part in arguments.split(", ") if part] == plain, name
