"""The page about accounting runs as printed; its proofs keep their numbers."""

import re
from math import exp, floor, log10, tanh

import pytest

import sfumato.accounting as accounting
from tests.pages import blocks, missing, text, typed, written

PAGE = "reference/accounting.md"


def test_python_examples_run_and_give_the_numbers_printed_beside_them() -> None:
    names: dict[str, object] = {}
    compared = 0
    for block in blocks(PAGE, "python"):
        written(block, PAGE, names)
        for line in block.splitlines():
            if printed := re.search(r"^(sf\.accounting\..*?)\s+# (\(?)([0-9][0-9.e-]*)(?:, ([0-9.]+)\))?", line):
                found = eval(printed[1], names)  # noqa: S307
                numbers = [number.rstrip(".") for number in (printed[3], printed[4]) if number]
                found = found if isinstance(found, tuple) else (found,)
                if all(isinstance(value, float | int) for value in found):
                    for number, value in zip(numbers, found, strict=True):
                        assert float(f"{value:.{digits(number)}g}") == float(number), line
                        compared += 1
    assert compared >= 14


def digits(number: str) -> int:
    """Significant digits of a number as printed."""
    return len(number.partition("e")[0].replace(".", "").lstrip("0"))


def test_shell_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks(PAGE, "sh") for line in block.splitlines()]
    assert len(commands) >= 5
    assert all(typed(command, capsys) for command in commands)


def test_every_public_name_is_on_the_reference_page() -> None:
    assert missing(PAGE, accounting.__all__) == []


def test_the_example_against_loss_distributions_as_filters() -> None:
    page = text("proofs/composition.md")
    heads = exp(1) / (1 + exp(1))
    allowed = heads * tanh(0.05)
    whole = allowed + (1 - heads) * allowed
    for number in (heads, allowed, whole):
        assert f"{number:.{2 - floor(log10(number))}f}" in page
