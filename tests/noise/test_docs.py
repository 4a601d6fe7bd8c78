"""The examples of the pages about noise run as printed."""

import re

import pytest

import sfumato.noise as noise
from tests.pages import DOCS, blocks, check_numbers, missing, text, typed, written

PAGES = ["reference/noise.md", "how-to/add-noise-to-your-own-number.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run_and_give_the_numbers_printed_beside_them(page: str) -> None:
    names: dict[str, object] = {}
    assert blocks(page, "python")
    for block in blocks(page, "python"):
        written(block, page, names)
    check_numbers(page, r"sf\.noise\.(?:interval|epsilon_for)", names)


@pytest.mark.parametrize("page", PAGES)
def test_shell_examples_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert commands
    assert all(typed(command, capsys) for command in commands)


def test_every_public_name_is_on_the_reference_page() -> None:
    assert missing(PAGES[0], noise.__all__) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_code_a_page_names_exists(page: str) -> None:
    for path in re.findall(r"`((?:src|tests)/[\w/.]+)`", text(page)):
        assert (DOCS.parent / path).exists(), path
