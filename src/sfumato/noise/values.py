"""The value a person brings: a number, a flat list or an array. Noise comes back in the same form."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.kernel.samplers import CHUNK
from sfumato.noise.wordings import value_empty, value_not_finite, value_not_whole, value_unknown

# Below it every whole number is a double of its own.
EXACT_IN_DOUBLE = 2.0**53
LARGEST_DOUBLE = Fraction(np.finfo(np.float64).max.item())
LONGEST_EXPONENT = 400


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a value in one row; `shape` is None for a list, and `single` says it was one number.

    Reals are float64, or exact rationals (dtype object) where a double would round them; none of the doubles is larger
    than `largest`, which is infinite where nobody looked. Whole numbers are int64, or Python integers (dtype object)
    where 64 bits are too few.
    """

    numbers: npt.NDArray[Any]
    shape: tuple[int, ...] | None
    single: bool
    largest: float = inf

    def __post_init__(self) -> None:
        if not len(self.numbers):
            raise value_empty()

    def like(self, numbers: npt.NDArray[Any]) -> Any:
        """These numbers in the form of the value."""
        if self.single:
            return numbers.tolist()[0]
        return numbers.tolist() if self.shape is None else numbers.reshape(self.shape)


def real_entries(value: object) -> Entries:
    """Needs: finite numbers that a double can hold; booleans and texts are refused."""
    if not isinstance(value, np.ndarray):
        listed = value if isinstance(value, list) else [value]
        numbers, largest = _real_list(listed)
        return Entries(numbers, None, not isinstance(value, list), largest)
    flat = _row(value)
    if flat.dtype == object:
        numbers, largest = _real_list(flat.tolist())
        return Entries(numbers, value.shape, False, largest)
    if flat.dtype.kind not in "fiu" or flat.dtype.itemsize > 8:
        raise value_unknown(f"NumPy array of {flat.dtype}")
    doubles = flat.astype(np.float64, copy=False)
    largest = _largest(doubles)
    if flat.dtype.kind in "iu" and largest >= EXACT_IN_DOUBLE:
        return Entries(boxed(map(Fraction, flat.tolist())), value.shape, False)
    return Entries(doubles, value.shape, False, largest)


def whole_entries(value: object) -> Entries:
    """Needs: whole numbers by type; 3.0 is refused, because a rounded value has another sensitivity."""
    if not isinstance(value, np.ndarray):
        listed = value if isinstance(value, list) else [value]
        return Entries(_whole_list(listed), None, not isinstance(value, list))
    flat = _row(value)
    if flat.dtype == object or flat.dtype == np.uint64:
        return Entries(_whole_list(flat.tolist()), value.shape, False)
    if flat.dtype.kind not in "iu":
        raise value_not_whole() if flat.dtype.kind == "f" else value_unknown(f"NumPy array of {flat.dtype}")
    return Entries(flat.astype(np.int64), value.shape, False)


def _largest(doubles: npt.NDArray[np.float64]) -> float:
    """The largest absolute value. Needs: finite doubles; NaN goes through all reductions and is refused.

    Piece by piece, so that the second look at each finds it in the cache.
    """
    pieces = [doubles[start : start + CHUNK] for start in range(0, len(doubles), CHUNK)]
    low = float(np.minimum.reduce([np.minimum.reduce(piece) for piece in pieces], initial=0.0))
    high = float(np.maximum.reduce([np.maximum.reduce(piece) for piece in pieces], initial=0.0))
    if not (isfinite(low) and isfinite(high)):
        raise value_not_finite()
    return max(-low, high)


def _row(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The entries one after the other, as a plain array: a matrix stays two-dimensional however it is flattened."""
    if isinstance(value, np.ma.MaskedArray):
        raise value_unknown("masked array")
    return np.asarray(value).ravel()


def narrowed(integers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """int64 where every one of these integers fits. Needs: noise in them already, so the type tells nothing more."""
    if integers.dtype != object:
        return integers
    return _whole_list(integers.tolist())


def _real_list(values: list[Any]) -> tuple[npt.NDArray[Any], float]:
    kinds = set(map(type, values))
    if kinds <= {int, float}:
        try:
            doubles = np.array(values, dtype=np.float64)
        except OverflowError:
            raise value_not_finite() from None
        largest = _largest(doubles)
        if int not in kinds or largest < EXACT_IN_DOUBLE:
            return doubles, largest
    return boxed(_exact(value) for value in values), inf


def _exact(value: object) -> Fraction:
    """The very number: a double is taken bit by bit, not as the decimal that prints it."""
    if isinstance(value, float | np.floating) and not isinstance(value, np.longdouble):
        if not isfinite(value):
            raise value_not_finite()
        return Fraction(float(value))
    if isinstance(value, bool) or not isinstance(value, int | np.integer | Decimal | Fraction):
        raise value_unknown(type(value).__name__)
    if isinstance(value, Decimal) and (not value.is_finite() or (value and abs(value.adjusted()) > LONGEST_EXPONENT)):
        raise value_not_finite()
    exact = Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)
    if abs(exact) > LARGEST_DOUBLE:
        raise value_not_finite()
    return exact


def _whole_list(values: list[Any]) -> npt.NDArray[Any]:
    if set(map(type, values)) != {int}:
        values = [_whole(value) for value in values]
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return boxed(values)


def _whole(value: object) -> int:
    if isinstance(value, bool | np.bool_ | str | list | tuple | dict | None):
        raise value_unknown(type(value).__name__)
    if not isinstance(value, int | np.integer):
        raise value_not_whole()
    return int(value)


def boxed(values: Iterable[Fraction | int]) -> npt.NDArray[Any]:
    """An array of Python numbers."""
    listed = list(values)
    result = np.empty(len(listed), dtype=object)
    result[:] = listed
    return result
