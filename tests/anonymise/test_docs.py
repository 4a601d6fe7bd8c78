"""The pages about anonymisation run as printed, and name what exists."""

import re
from pathlib import Path

import pytest

from sfumato import anonymise
from tests.pages import DOCS, blocks, missing, text, typed, written

PAGES = ["how-to/anonymise-a-table.md", "reference/anonymise.md"]


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for page in PAGES:
        names: dict[str, object] = {}
        for block in blocks(page, "python"):
            written(block, page, names)
    for command in (line for block in blocks(PAGES[0], "sh") for line in block.splitlines()):
        typed(command, capsys)
    assert anonymise.verify("released.csv", ["zip", "sex", "birth_date"]).k >= 5
    assert anonymise.verify("released.parquet", ["zip", "sex", "birth_date"], sensitive="diagnosis").l >= 3


def test_every_public_name_is_on_the_reference_page() -> None:
    assert missing(PAGES[1], anonymise.__all__) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_code_and_pages_named_exist(page: str) -> None:
    for path in re.findall(r"`((?:src|tests)/[\w/.]+)`", text(page)):
        assert (DOCS.parent / path).exists(), path
    for target in re.findall(r"\]\(([\w./-]+\.md)\)", text(page)):
        assert (DOCS / page).parent.joinpath(target).exists(), target
