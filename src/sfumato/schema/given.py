"""Arguments as people give them, checked before anything is made of them. No value of a wrong kind is shown."""

import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import UsageError
from sfumato.schema.wordings import analyst_unplain, unusable_name, unusable_path, wrong_kind

LONGEST_NAME = 200
LONGEST_PART, LONGEST_PATH = 255, 4000  # of what a file system takes, in bytes


def check_kind(value: object, kind: Any, what: str, example: str) -> None:
    """Refuse what is not of this kind; the example shows what is."""
    if not isinstance(value, kind):
        raise _wrong(value, what, example)


def _wrong(value: object, what: str, example: str) -> UsageError:
    shown = f"the class {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"
    return wrong_kind(what, shown, example)


def check_mapping(value: object, what: str, example: str) -> None:
    """Refuse what is not a mapping from usable names."""
    if not isinstance(value, Mapping):
        raise _wrong(value, what, example)
    for name in value:
        check_name(name)


def check_name(name: object) -> None:
    if not isinstance(name, str):
        raise unusable_name(f"a name of type {type(name).__name__}", LONGEST_NAME)
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise unusable_name(repr(name), LONGEST_NAME)


def check_analyst(analyst: object) -> None:
    """One name, one spelling: a limit binds whoever is called exactly so."""
    if not isinstance(analyst, str) or not 0 < len(analyst) <= LONGEST_NAME or not analyst.isprintable():
        raise UsageError("an analyst needs a name.", 'E.g. analyst="research".')
    if analyst != unicodedata.normalize("NFKC", analyst).strip():
        raise analyst_unplain(ascii(analyst))


def checked_request(request: str | None) -> str | None:
    """An id that makes a retry free."""
    if request is not None and (
        not isinstance(request, str) or not 0 < len(request) <= LONGEST_NAME or not request.isprintable()
    ):
        raise UsageError("request must be a short text.", 'E.g. request="id-17".')
    return request


def check_version(version: object) -> None:
    """What an owner calls the state of the data."""
    check_kind(version, str | None, "version", 'version="2026-11"')
    if version is not None:
        check_name(version)


def as_path(value: object, what: str, example: str) -> Path:
    """The path of a file that may or may not exist."""
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    check_kind(text, str, what, f'{what}="{example}"')
    path = Path(str(text))
    try:
        lengths = [len(os.fsencode(part)) for part in path.parts]
    except UnicodeEncodeError:
        lengths = []
    fits = lengths and max(lengths) <= LONGEST_PART and sum(lengths) <= LONGEST_PATH
    if not path.name or "\0" in str(path) or not fits:
        raise unusable_path(what, example)
    return path
