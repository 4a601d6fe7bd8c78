"""The pages about anonymisation run as printed, and name what exists."""

import re
import shlex
from pathlib import Path

import pytest

from sfumato import anonymise
from sfumato.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["how-to/anonymise-a-table.md", "reference/anonymise.md"]


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for page in PAGES:
        names: dict[str, object] = {}
        for block in blocks(page, "python"):
            exec(compile(block, page, "exec"), names)  # noqa: S102
    for command in (line for block in blocks(PAGES[0], "sh") for line in block.splitlines()):
        program, *arguments = shlex.split(command)
        assert program == "sfumato"
        with pytest.raises(SystemExit) as left:
            run(arguments)
        assert not left.value.code, capsys.readouterr().err
    assert anonymise.verify("released.csv", ["zip", "sex", "birth_date"]).k >= 5
    assert anonymise.verify("released.parquet", ["zip", "sex", "birth_date"], sensitive="diagnosis").l >= 3


def test_every_public_name_is_on_the_reference_page() -> None:
    text = (DOCS / PAGES[1]).read_text(encoding="utf-8")
    assert [name for name in anonymise.__all__ if name not in text] == []


@pytest.mark.parametrize("page", [*PAGES, "proofs/anonymity-search.md"])
def test_the_code_and_pages_named_exist(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:src|tests)/[\w/.]+)`", text):
        assert (DOCS.parent / path).exists(), path
    for target in re.findall(r"\]\(([\w./-]+\.md)\)", text):
        assert (DOCS / page).parent.joinpath(target).exists(), target


def test_the_proof_states_its_claim() -> None:
    text = (DOCS / "proofs/anonymity-search.md").read_text(encoding="utf-8")
    assert "**Claim.**" in text
    assert "**Needs.**" in text
