"""Every wording, rendered once: it says what happened and what to do next."""

import inspect
from typing import Any

import pytest

from sfumato.errors import SfumatoError
from sfumato.query import wordings as of_questions
from sfumato.schema import wordings as of_declarations

SAMPLES: dict[str, tuple[Any, ...]] = {
    "too_large": (),
    "argument_wrong": ("ROUND", "whole numbers"),
    "keys_endless": ("LEFT(…)",),
    "not_a_date": ("'yesterday'",),
}
WORDINGS = {
    name: function
    for module in (of_questions, of_declarations)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__
}


def test_every_wording_has_a_sample() -> None:
    assert set(WORDINGS) == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_wording_says_what_happened_and_what_to_do(name: str) -> None:
    error = WORDINGS[name](*SAMPLES[name])
    assert isinstance(error, SfumatoError)
    assert error.message.endswith(".")
    assert error.hint.endswith(".")
    assert all(str(part) in str(error) for part in SAMPLES[name])
