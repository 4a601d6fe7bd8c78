"""The public list of possible answers, and what people bring as a column of answers."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.local.wordings import domain_unusable, spec_unusable, value_outside, values_empty, values_unusable

Codes = npt.NDArray[np.int64]
Scalar = str | int | float | bool

UNKNOWN = "the answer is not in the domain"


class Domain:
    """Different answers in a fixed, public order. An answer's code is its place."""

    __slots__ = ("_places", "values")

    def __init__(self, values: object) -> None:
        self.values: Sequence[Scalar] = _listed(values)
        contiguous = isinstance(self.values, range)
        self._places = {} if contiguous else {value: place for place, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def codes(self, values: Any, row: int = 1) -> Codes:
        """The code of each answer; the first one outside is refused by its row."""
        found = column(values)
        if isinstance(found, np.ndarray) and found.dtype.kind in "iu" and (first := _start(self.values)) is not None:
            codes = found.astype(np.int64) - first
            outside = (found < first) | (found > first + len(self) - 1)
        else:
            listed = found.tolist() if isinstance(found, np.ndarray) else found
            codes = np.fromiter((self._code(value) for value in listed), dtype=np.int64, count=len(listed))
            outside = codes < 0
        if outside.any():
            raise value_outside(row + int(np.argmax(outside)), UNKNOWN)
        return codes

    def _code(self, value: Any) -> int:
        if isinstance(self.values, range):
            place = int(value) - self.values.start if _is_whole(value) else -1
            return place if 0 <= place < len(self.values) else -1
        try:
            return self._places.get(value, -1)
        except TypeError:
            return -1

    def read(self, text: str) -> Scalar | None:
        """The answer that is written like this in a file, or None."""
        if isinstance(self.values, range):
            return int(text) if text.lstrip("-").isdecimal() and int(text) in self.values else None
        if text in self._places:
            return text
        for value in self.values:
            if not isinstance(value, str) and str(value).casefold() == text.casefold():
                return value
        return None

    def to_json(self) -> Any:
        if isinstance(self.values, range):
            return {"from": self.values.start, "to": self.values.stop - 1}
        return list(self.values)

    @classmethod
    def from_json(cls, content: Any) -> "Domain":
        if isinstance(content, dict):
            low, high = content.get("from"), content.get("to")
            if type(low) is not int or type(high) is not int:
                raise spec_unusable("the domain is neither a list nor a range")
            return cls(range(low, high + 1))
        return cls(content)


def column(values: Any) -> Any:
    """A list or a one-dimensional array of answers, from whatever holds a column."""
    if isinstance(values, str | bytes | dict) or np.isscalar(values) or values is None:
        raise values_unusable(type(values).__name__)
    if hasattr(values, "to_pylist"):  # Arrow
        values = values.to_pylist() if values.null_count else values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):  # pandas and Polars
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise values_unusable(f"{values.ndim}-dimensional array")
    else:
        try:
            values = list(values)
        except TypeError:
            raise values_unusable(type(values).__name__) from None
    if not len(values):
        raise values_empty()
    return values


def _listed(values: object) -> Sequence[Scalar]:
    if isinstance(values, range) and values.step == 1 and len(values) >= 2:
        return values
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise domain_unusable()
    listed = list(values)
    if not all(_is_scalar(value) for value in listed):
        raise domain_unusable()
    if len(set(listed)) < max(2, len(listed)):
        raise domain_unusable()
    if all(type(value) is int for value in listed) and listed == list(range(listed[0], listed[0] + len(listed))):
        return range(listed[0], listed[0] + len(listed))
    return tuple(listed)


def _is_scalar(value: Any) -> bool:
    """What JSON can hold: no infinity, and no half of a sign."""
    if isinstance(value, str):
        return not any("\ud800" <= sign <= "\udfff" for sign in value)
    return isinstance(value, int | float | bool) and isfinite(value)


def _is_whole(value: Any) -> bool:
    """A whole number of any type; a column with gaps arrives as floats."""
    return isinstance(value, int | np.integer) or (isinstance(value, float | np.floating) and value.is_integer())


def _start(values: Sequence[Scalar]) -> int | None:
    return values.start if isinstance(values, range) else None
