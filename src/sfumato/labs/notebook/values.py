"""What a student's function gave, as the student's language writes it: rounded, and cut where it is long."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from typing import Any

import numpy as np

from sfumato.labs.languages import language
from sfumato.labs.words import number

ITEMS = 8  # of a list that are written
LETTERS = 400
DEPTH = 3  # of lists in lists; a list may hold itself


def written(value: Any, lang: str) -> str:
    """Numbers with six significant digits and the language's decimal mark, in lists and tables too."""
    said = _written(value, lang)
    return said if len(said) <= LETTERS else said[:LETTERS] + " …"


def _written(value: Any, lang: str, depth: int = DEPTH) -> str:
    def inside(one: Any) -> str:
        return _written(one, lang, depth - 1) if depth else "…"

    match value:
        case np.ndarray() if value.ndim:
            return "[" + _joined(map(inside, value[:ITEMS]), len(value), lang) + "]"
        case np.ndarray() | np.generic():
            return _written(value.item(), lang, depth)
        case Mapping():
            pairs = (f"{inside(key)}: {inside(one)}" for key, one in islice(value.items(), ITEMS))
            return "{" + _joined(pairs, len(value), lang) + "}"
        case str() | bytes():
            return str(value)
        case Sequence() | Set():
            left, right = "()" if isinstance(value, tuple) else "[]" if isinstance(value, Sequence) else "{}"
            return left + _joined(map(inside, islice(value, ITEMS)), len(value), lang) + right
        case _:
            return number(value, lang)


def _joined(pieces: Iterable[str], count: int, lang: str) -> str:
    shown = [*pieces, *(["…"] if count > ITEMS else [])]
    return language(lang).between_numbers.join(shown)
