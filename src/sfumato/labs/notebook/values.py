"""What a student's function gave, as the student's language writes it: rounded, and cut where it is long."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

import numpy as np

from sfumato.labs.languages import language
from sfumato.labs.words import number

ITEMS = 8  # of a list that are written
LETTERS = 400


def written(value: Any, lang: str) -> str:
    """Numbers with six significant digits and the language's decimal mark, in lists and tables too."""
    said = _written(value, lang)
    return said if len(said) <= LETTERS else said[:LETTERS] + " …"


def _written(value: Any, lang: str) -> str:
    match value:
        case np.ndarray() | np.generic():
            return _written(value.tolist(), lang)
        case Mapping():
            pairs = (f"{_written(key, lang)}: {_written(one, lang)}" for key, one in _first(value.items()))
            return "{" + _joined(pairs, len(value), lang) + "}"
        case str() | bytes():
            return str(value)
        case Sequence() | Set():
            left, right = "()" if isinstance(value, tuple) else "[]" if isinstance(value, Sequence) else "{}"
            return left + _joined((_written(one, lang) for one in _first(value)), len(value), lang) + right
        case _:
            return number(value, lang)


def _first(values: Iterable[Any]) -> Iterable[Any]:
    return islice(values, ITEMS)


def _joined(pieces: Iterable[str], count: int, lang: str) -> str:
    shown = [*pieces, *(["…"] if count > ITEMS else [])]
    return language(lang).between_numbers.join(shown)
