"""Every wording says what happened and what to do, in one sentence each or more, and ends like one."""

import inspect
from typing import Any

import pytest

from sfumato.anonymise import wordings
from sfumato.errors import SfumatoError

SAMPLES: dict[str, Any] = {"str": "age", "int": 3, "float": 0.5, "object": "x", "Iterable": ["age", "sex"]}
FOUND = [
    function
    for name, function in vars(wordings).items()
    if inspect.isfunction(function) and function.__module__ == wordings.__name__ and function is not wordings.speaks_of
]


@pytest.mark.parametrize("wording", FOUND, ids=lambda function: function.__name__)
def test_it_can_be_said(wording: Any) -> None:
    kinds = [
        str(getattr(part.annotation, "__name__", part.annotation))
        for part in inspect.signature(wording).parameters.values()
    ]
    error = wording(*(SAMPLES[kind] for kind in kinds))
    assert isinstance(error, SfumatoError)
    assert error.message.endswith((".", "?"))
    assert error.hint
