"""The examples of the pages about noise run as printed."""

import re
import shlex
from pathlib import Path

import pytest

import sfumato.noise as noise
from sfumato.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["reference/noise.md", "how-to/add-noise-to-your-own-number.md"]
PROOFS = ["proofs/real-lattice.md", "proofs/gaussian-delta.md"]


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run_and_give_the_numbers_printed_beside_them(page: str) -> None:
    names: dict[str, object] = {}
    assert blocks(page, "python")
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), names)  # noqa: S102
        for line in block.splitlines():
            if printed := re.search(r"^(sf\.noise\.(?:interval|epsilon_for).*?)\s+# ([0-9.]+)", line):
                digits = len(printed[2].partition(".")[2].rstrip("."))
                assert round(eval(printed[1], names), digits) == float(printed[2].rstrip("."))  # noqa: S307


@pytest.mark.parametrize("page", PAGES)
def test_shell_examples_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "sfumato"
        with pytest.raises(SystemExit) as left:
            run(arguments)
        assert not left.value.code, capsys.readouterr().err
        assert capsys.readouterr().out


def test_every_public_name_is_on_the_reference_page() -> None:
    text = (DOCS / PAGES[0]).read_text(encoding="utf-8")
    assert [name for name in noise.__all__ if name not in text] == []


@pytest.mark.parametrize("page", PAGES + PROOFS)
def test_the_code_a_page_names_exists(page: str) -> None:
    for path in re.findall(r"`((?:src|tests)/[\w/.]+)`", (DOCS / page).read_text(encoding="utf-8")):
        assert (DOCS.parent / path).exists(), path
