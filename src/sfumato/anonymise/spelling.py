"""Values that look the same are the same.

"Paris", "paris ", "PARIS" and a Paris written with a Cyrillic letter are four values for a computer and one for whoever
reads the release. Taken for four, they would make a group look more diverse than it is.
"""

import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# What str.split takes for blanks in ASCII, except a single space inside a text.
_BLANKS = r"[ \t\n\v\f\r\x1c-\x1f]{2,}|[\t\n\v\f\r\x1c-\x1f]|^ | $"

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


def skeletons(texts: "pa.Array[Any]") -> "pa.Array[Any]":
    """The skeleton of each text, NULL for NULL."""
    found = pc.ascii_lower(texts)
    blanks = pc.match_substring_regex(found, _BLANKS)
    if pc.any(blanks).as_py():
        found = pc.ascii_trim(pc.replace_substring_regex(found, _BLANKS, " "), " ")
    ascii_only: Any = pc.string_is_ascii(texts)
    foreign: Any = pc.invert(ascii_only.fill_null(True))
    if pc.any(foreign).as_py():
        written = [skeleton(str(text)) for text in texts.filter(foreign).to_pylist()]
        found = pc.replace_with_mask(found, foreign, pa.array(written, type=texts.type))
    return found


def representatives(texts: "pa.Array[Any]", counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each text the position of the spelling to use: the most frequent of those that look like it."""
    encoded: Any = skeletons(texts).dictionary_encode()
    places = np.arange(len(texts))
    if len(encoded.dictionary) + texts.null_count == len(texts):  # all look different
        return places
    key = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    order = np.lexsort((places, -counts, key))
    first = np.append(True, key[order][1:] != key[order][:-1])
    chosen = np.zeros(len(encoded.dictionary), dtype=np.int64)
    chosen[key[order[first]]] = order[first]
    return np.where(key >= 0, chosen[key], places)
