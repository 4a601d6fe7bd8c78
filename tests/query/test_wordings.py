"""Every wording of the package, rendered once."""

import inspect
from typing import Any, get_type_hints

import pytest

from sfumato.errors import SfumatoError
from sfumato.query import wordings

SAMPLES: dict[str, tuple[Any, ...]] = {
    "error_depends": ("income",),
    "which_column": (["n", "income"],),
    "error_out_of_reach": ("1e-09", "999000"),
    "one_of_spend_and_error": (),
    "no_script": (),
    "not_drawable": ("mode",),
    "part_refused": ("a condition", "1 = 1) OR (2 = 2"),
    "nothing_asked": (),
    "part_not_text": ("a condition", "int"),
    "parts_differ": (),
}


def test_every_wording_has_a_sample() -> None:
    made = {
        name
        for name, found in vars(wordings).items()
        if inspect.isfunction(found) and found.__module__ == wordings.__name__
    }
    assert made == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_it_says_what_happened_and_what_to_do(name: str) -> None:
    made = getattr(wordings, name)
    error = made(*SAMPLES[name])
    assert isinstance(error, SfumatoError)
    assert type(error) is get_type_hints(made)["return"]
    for sentence in (error.message, error.hint):
        assert sentence.endswith((".", "?", ")"))
        assert len(sentence) > 15
