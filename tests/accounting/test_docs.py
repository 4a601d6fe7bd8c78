"""The page about accounting runs as printed; its proofs name code and tests that exist and keep their numbers."""

import inspect
import re
import shlex
from math import exp, floor, log10, tanh
from pathlib import Path

import pytest

import sfumato.accounting as accounting
from sfumato.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "reference/accounting.md"
PROOFS = ["composition", "optimal-composition", "pld", "parallel-composition", "group-privacy", "posterior"]


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(page), flags=re.MULTILINE | re.DOTALL)


def test_python_examples_run_and_give_the_numbers_printed_beside_them() -> None:
    names: dict[str, object] = {}
    compared = 0
    for block in blocks(PAGE, "python"):
        exec(compile(block, PAGE, "exec"), names)  # noqa: S102
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
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "sfumato"
        with pytest.raises(SystemExit) as left:
            run(arguments)
        assert not left.value.code, capsys.readouterr().err
        assert capsys.readouterr().out


def test_every_public_name_is_on_the_reference_page() -> None:
    assert [name for name in accounting.__all__ if name not in text(PAGE)] == []


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_states_its_claim_and_names_code_and_tests_that_exist(name: str) -> None:
    page = text(f"proofs/{name}.md")
    assert "**Claim.**" in page
    assert "**Needs.**" in page
    paths = re.findall(r"`((?:src|tests)/[\w/.]+)`", page)
    assert any(path.startswith("src/") for path in paths)
    assert any(path.startswith("tests/") for path in paths)
    for path in paths:
        assert (DOCS.parent / path).exists(), path
    for target in re.findall(r"\]\(([\w-]+\.md)\)", page):
        assert (DOCS / "proofs" / target).exists(), target


def test_the_pages_docstrings_name_exist() -> None:
    folder = Path(inspect.getfile(accounting)).parent
    for source in folder.glob("*.py"):
        code = source.read_text(encoding="utf-8")
        for page, heading in re.findall(r"docs/proofs/([\w-]+\.md)(?:, \"([^\"]+)\")?", code):
            assert (DOCS / "proofs" / page).exists(), (source.name, page)
            if heading:
                assert re.search(rf"^## {re.escape(heading)}$", text(f"proofs/{page}"), flags=re.MULTILINE), heading


def test_the_example_against_loss_distributions_as_filters() -> None:
    page = text("proofs/composition.md")
    heads = exp(1) / (1 + exp(1))
    allowed = heads * tanh(0.05)
    whole = allowed + (1 - heads) * allowed
    for number in (heads, allowed, whole):
        assert f"{number:.{2 - floor(log10(number))}f}" in page
