"""Pages of the documentation: their blocks, run in order as they are printed, and what they show compared with that."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sfumato.cli.main import run

DOCS = Path(__file__).parents[1] / "docs"


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def every_block(page: str) -> list[tuple[str, str]]:
    """(language, text) of every block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text(page), flags=re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [block for spoken, block in every_block(page) if spoken == language]


def shape(line: str) -> str:
    """A line without what noise, the clock and the widths of columns change."""
    line = re.sub(r"[━─┳╇┴┼]+", "─", line)
    line = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "DATE", line)
    line = re.sub(r"-?\d[\d,.]*\d(e-?\d+)?|-?\d(e-?\d+)?", "0", line)
    return re.sub(r"\s+", " ", line).strip()


def typed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints; a comment may name another exit code than 0."""
    expected = re.search(r"# exit code (\d+)", command)
    program, *arguments = shlex.split(command, comments=True)
    assert program == "sfumato"
    with pytest.raises(SystemExit) as left:
        run(arguments)
    out, err = capsys.readouterr()
    assert (left.value.code or 0) == int(expected[1] if expected else 0), err
    return out + err


def written(block: str, page: str, names: dict[str, Any]) -> None:
    """A block of Python, with what the blocks before it have named."""
    exec(compile(block, page, "exec"), names)  # noqa: S102


@dataclass
class Played:
    """What a page has named, and all that it has printed."""

    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""


def play(
    page: str,
    capsys: pytest.CaptureFixture[str],
    after: Callable[[str, dict[str, Any]], None] = lambda *_: None,
    policy: str = "visits.toml",
) -> Played:
    """Every block, in order, in the current folder; what stands in a block of text must have been printed just before.

    A block of TOML is what the policy is edited to, or made of. `after` looks at every block of Python that has run.
    """
    played, last = Played(), ""
    for language, block in every_block(page):
        if language == "python":
            written(block, page, played.names)
            last = capsys.readouterr().out
            after(block, played.names)
        elif language == "sh":
            last = "".join(typed(command, capsys) for command in block.splitlines())
        elif language == "toml":
            Path(policy).write_text(block, encoding="utf-8")
        else:
            assert language == "text"
            found = iter([shape(line) for line in last.splitlines()])
            for line in block.splitlines():
                # Looking in an iterator uses up what lies before: the lines must stand in this order.
                assert line == "…" or shape(line) in found, f"not printed, or not in this order: {line}"
            continue
        played.printed += last
    return played


def check_numbers(page: str, call: str, names: dict[str, Any]) -> int:
    """How many calls on the page, alone on their line, give the number in the comment beside them."""
    checked = 0
    for line in text(page).splitlines():
        if printed := re.search(rf"^({call}.*?)\s+# ([0-9]+(?:\.[0-9]+)?)\b", line):
            digits = len(printed[2].partition(".")[2])
            assert round(eval(printed[1], names), digits or None) == float(printed[2]), line  # noqa: S307
            checked += 1
    return checked


def missing(page: str, names: list[str]) -> list[str]:
    return [name for name in names if name not in text(page)]
