"""Every wording of the local model, rendered once."""

import inspect
import re
from typing import Any, get_type_hints

import pytest

from sfumato.errors import SfumatoError
from sfumato.local import wordings

BY_TYPE: dict[Any, Any] = {str: "something", int: 3, object: "x"}


def functions() -> dict[str, Any]:
    return {
        name: function
        for name, function in vars(wordings).items()
        if inspect.isfunction(function) and function.__module__ == wordings.__name__
    }


@pytest.mark.parametrize("name", sorted(functions()))
def test_a_wording_says_what_happened_and_what_to_do(name: str) -> None:
    function = functions()[name]
    hints = get_type_hints(function)
    returned = hints.pop("return")
    error = function(**{key: BY_TYPE.get(kind, ("age", "sex")) for key, kind in hints.items()})
    assert type(error) is returned
    assert issubclass(returned, SfumatoError)
    assert re.search(r"[.?]$", error.message)
    assert error.hint[0].isupper()
    assert re.search(r"[.?]$", error.hint)
    assert "None" not in str(error)
    assert "  " not in error.message + error.hint
