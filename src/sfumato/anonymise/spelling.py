"""Values that look the same are the same.

"Paris", "paris ", "PARIS" and a Paris written with a Cyrillic letter are four values for a computer and one for whoever
reads the release. Taken for four, they would make a group look more diverse than it is.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Small letters of other scripts that look like Latin ones, in small or in capital form.
_LIKE_LATIN = str.maketrans(
    {
        **dict(zip("абвгеһіјкмнорѕтухԁԛԝѵ", "a6brehijkmhopstyxdqwv", strict=True)),
        **dict(zip("αβγεζηικμνορτυχω", "abyeznikuvoptuxw", strict=True)),
        "ı": "i",
        "ℓ": "l",
        "’": "'",
        "‘": "'",
        "‐": "-",
        "‑": "-",
        "–": "-",
        "—": "-",
        "−": "-",
    }
)


def skeleton(text: str) -> str:
    """What is left of a text without case, blanks, Unicode form, invisible signs and look-alike letters."""
    if text.isascii():
        return " ".join(text.casefold().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    visible = "".join(sign for sign in folded if unicodedata.category(sign) != "Cf")
    return " ".join(visible.translate(_LIKE_LATIN).split())


def representatives(texts: Sequence[str | None], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each text the position of the spelling to use: the most frequent of those that look like it."""
    chosen: dict[str, int] = {}
    keys = [None if text is None else skeleton(text) for text in texts]
    for position, key in enumerate(keys):
        if key is not None and (key not in chosen or counts[position] > counts[chosen[key]]):
            chosen[key] = position
    return np.array(
        [position if key is None else chosen[key] for position, key in enumerate(keys)], dtype=np.int64
    ).reshape(len(texts))
