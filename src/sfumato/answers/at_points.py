"""A formula at many points at a time, and in which rows of points it has no value or jumps to another."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.query.computing import Computed, Operators, computed

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.bool_]


def evaluated(column: Computed, given: Sequence[Floats]) -> tuple[Floats, Rows]:
    """At every point of every row; a row is lost where the formula has no value somewhere, or may jump to another."""
    lost = np.zeros(given[0].shape[0], dtype=bool)

    def beyond(rows: Any) -> None:
        lost[...] |= rows

    with np.errstate(all="ignore"):
        values = computed(column.formula, lambda name: given[int(name)], _operators(beyond), float)
    values = np.broadcast_to(np.asarray(values, dtype=np.float64), given[0].shape)
    lost |= ~np.isfinite(values).all(axis=1)
    return np.where(lost[:, np.newaxis], 0.0, values), lost


def _operators(beyond: Callable[[Any], None]) -> Operators:
    """On many numbers at a time: rows of points, or one number for all. It says which rows are lost."""
    branches = _Branches(beyond)
    found = OF_MANY | {
        "/": branches.divided,
        "SQRT": branches.root,
        "POWER": branches.power,
        "COALESCE": branches.first,
        "NULLIF": branches.other,
    }
    return found | {name: _strict(found[name], beyond) for name in FORGETFUL}


def _strict(operator: Callable[..., Any], beyond: Callable[[Any], None]) -> Callable[..., Any]:
    """What a double cannot hold is missing, as in what is shown, and so is what is made of it."""

    def applied(*given: Any) -> Any:
        for one in given:
            beyond(_somewhere(~np.isfinite(one)))
        return operator(*given)

    return applied


def _somewhere(found: Any) -> Any:
    """Of every row whether it is so at a point of it."""
    return found.any(axis=1) if np.ndim(found) > 1 else bool(found)


def _meets_zero(values: Any) -> Any:
    """Of every row whether it is 0 somewhere between the points, or not known."""
    if np.ndim(values) < 2:
        return bool(values == 0 or not np.isfinite(values))
    low, high = values.min(axis=1), values.max(axis=1)
    return ((low <= 0) & (high >= 0)) | ~np.isfinite(high - low)


class _Branches:
    """What has no value somewhere, or another one beyond a point.

    Roots of what may be below 0 begin at 0: the truth is not below. Where a formula says what to take instead of a
    missing root, there is no such excuse.
    """

    def __init__(self, beyond: Callable[[Any], None]) -> None:
        self._beyond = beyond
        self._below: Any = False  # rows with a root of something below 0

    def divided(self, one: Any, two: Any) -> Any:
        self._beyond(_meets_zero(two))
        return np.divide(one, two)

    def root(self, value: Any) -> Any:
        self._below = self._below | _somewhere(value < 0)
        return np.sqrt(np.maximum(value, 0.0))

    def power(self, value: Any, exponent: Any) -> Any:
        if exponent < 0:
            self._beyond(_meets_zero(value))
        if exponent != int(exponent):
            self._below = self._below | _somewhere(value < 0)
            return np.power(np.maximum(value, 0.0), exponent)
        return np.power(value, exponent)

    def first(self, value: Any, *_: Any) -> Any:
        self._beyond(self._below)
        return value

    def other(self, value: Any, unwanted: Any) -> Any:
        self._beyond(_meets_zero(np.subtract(value, unwanted)))
        return value


def _rounded(value: Any, digits: Any) -> Any:
    """Halves away from 0; what is too large has no digits to round."""
    scaled = np.abs(value) * 10.0**digits
    return np.where(np.isfinite(scaled), np.sign(value) * np.floor(scaled + 0.5) / 10.0**digits, value)


def _extreme(choose: np.ufunc) -> Callable[..., Any]:
    return lambda *parts: choose.reduce(np.broadcast_arrays(*parts))


OF_MANY: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "ABS": np.abs,
    "ROUND": _rounded,
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "SIGN": np.sign,
    "LEAST": _extreme(np.minimum),
    "GREATEST": _extreme(np.maximum),
    "LN": np.log,
    "LOG10": np.log10,
    "EXP": np.exp,
}
FORGETFUL = ("SIGN", "LEAST", "GREATEST", "SQRT", "EXP", "POWER")  # they make numbers of infinities
