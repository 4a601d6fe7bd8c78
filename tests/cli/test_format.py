"""One list of formats; each command prints its own part of it and refuses the rest in the same words."""

from collections.abc import Callable
from typing import get_args

import pytest

from sfumato.cli import format as formats

Shell = Callable[..., tuple[int, str, str]]

KNOWN = {
    "demo": (formats.WithoutRows, []),
    "ask": (formats.WithPage, ["p.toml", "SELECT 1", "--spend", "1"]),
    "attack": (formats.WithPage, ["--list"]),
    "compare": (formats.WithPageAndText, []),
    "geo tree": (formats.WithMap, ["points.csv", "--epsilon", "1"]),
    "risk": (formats.Usual, ["people.csv"]),
    "local plan": (formats.Usual, []),
}


def test_every_part_is_of_the_one_list() -> None:
    parts = {value for name, value in vars(formats).items() if name.startswith(("Usual", "With"))}
    assert {choice for part in parts for choice in get_args(part)} == set(formats.Format)


@pytest.mark.parametrize("command", KNOWN)
@pytest.mark.parametrize("format", formats.Format)
def test_what_a_command_does_not_print_is_refused(shell: Shell, command: str, format: formats.Format) -> None:
    part, arguments = KNOWN[command]
    if format in get_args(part):
        return
    code, _, err = shell(*command.split(), *arguments, "--format", format)
    assert code == 2
    listed = ", ".join(f"'{choice}'" for choice in get_args(part))
    assert f"'{format}' is not one of {listed}." in " ".join(err.replace("│", " ").split())
