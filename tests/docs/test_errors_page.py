"""Every wording there is, as the page of errors renders it: what happened, and what to do next, in sentences."""

import re

import pytest

from sfumato import errors
from tests.pages import text

BLOCK = re.compile(r"^\*\*(\w+)\*\*\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
RENDERED = BLOCK.findall(text("reference/errors.md"))
ENDS = (".", "?", ")", "…")


def test_all_are_found() -> None:
    assert len(RENDERED) == text("reference/errors.md").count("\n**") > 300


@pytest.mark.parametrize(("name", "rendered"), RENDERED)
def test_it_says_what_happened_and_what_to_do(name: str, rendered: str) -> None:
    first, _, hint = rendered.rstrip("\n").partition("\n  ")
    kind, _, message = first.partition(": ")
    assert issubclass(getattr(errors, kind), errors.SfumatoError)
    assert message.endswith(ENDS), name
    assert hint.endswith(ENDS) or re.search(r": |\n", hint), "a sentence, or something to type behind a colon"
    assert not re.search(r"\b(sorry|oops)\b|!$", f"{message}\n{hint}", re.IGNORECASE)
