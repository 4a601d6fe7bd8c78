"""Numeric columns as matrices, and how many of their cells an estimate brings back."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.finite import finite
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.tabular import as_arrow, need_column
from sfumato.attacks.wordings import lengths_differ, not_numeric, nothing_to_attack, one_text, row_outside
from sfumato.errors import not_positive

Floats = NDArray[np.float64]

# A row this short points nowhere; one that is this part of the longest points clearly enough.
NO_LENGTH, CLEARLY = 1e-6, 0.1


def matrix(table: object, names: Sequence[str], what: str) -> Floats:
    """rows x columns, all finite."""
    if isinstance(names, str):
        raise one_text("columns", names)
    if not names:
        raise nothing_to_attack("column")
    rows = as_arrow(table, what)
    found = []
    for name in names:
        need_column(rows, what, name)
        try:
            numbers = rows[name].cast(pa.float64()).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise not_numeric(what, name) from None
        if not np.isfinite(numbers).all():
            raise not_numeric(what, name)
        found.append(numbers)
    return np.stack(found, axis=1)


def positions(rows: Sequence[int], known: Floats, released: Floats) -> NDArray[np.int64]:
    """Where the known rows stand in the release."""
    places = np.asarray(rows, dtype=np.int64)
    if len(places) != len(known):
        raise lengths_differ("rows", len(places), len(known))
    if len(places) and not (places.min() >= 0 and places.max() < len(released)):
        raise row_outside("rows", len(released))
    return places


def brought_back(
    name: str,
    estimate: Floats,
    truth: object | None,
    *,
    columns: Sequence[str],
    tolerance: float,
    epsilon: float | None,
    delta: float,
    released: Floats | None = None,
) -> AttackResult[dict[str, float]]:
    """Cells that come within tolerance standard deviations of the truth, beside the best constant guess a column."""
    if finite("tolerance", tolerance) <= 0:
        raise not_positive("tolerance", str(tolerance))
    rows = [dict(zip(columns, row, strict=True)) for row in estimate.tolist()]
    if truth is None:
        return AttackResult(name, rows, math.nan, 0.0, most_hits(0.0, epsilon, delta), estimate.size)
    real = matrix(truth, columns, "true")
    if len(real) != len(estimate):
        raise lengths_differ("truth", len(real), len(estimate))
    spread = _spread(real)
    window = tolerance * spread
    chance = float(np.mean([densest(column, width) for column, width in zip(real.T, window, strict=True)]))
    return AttackResult(
        name=name,
        recovered=rows,
        success=float(np.mean(np.abs(estimate - real) <= window)),
        chance=chance,
        bound=most_hits(chance, epsilon, delta),
        attempts=estimate.size,
        measures=_errors(estimate, real, spread, released),
    )


def _spread(real: Floats) -> Floats:
    spread = real.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _errors(estimate: Floats, real: Floats, spread: Floats, released: Floats | None) -> Mapping[str, float]:
    """Errors in standard deviations of each column, over all columns."""
    found = {"rmse": float(np.sqrt(np.mean(np.square((estimate - real) / spread))))}
    if released is not None:
        found["rmse_released"] = float(np.sqrt(np.mean(np.square((released - real) / spread))))
    return found


def spanning(rows: Floats) -> NDArray[np.int64]:
    """The first rows that fix a linear map with a shift, each pointing where the ones before it do not."""
    left = np.column_stack([np.ones(len(rows)), (rows - rows.mean(axis=0)) / _spread(rows)])
    found: list[int] = []
    while len(found) < left.shape[1]:
        length = np.linalg.norm(left, axis=1)
        if length.max() < NO_LENGTH:
            break
        found.append(int(np.argmax(length >= length.max() * CLEARLY)))
        direction = left[found[-1]] / length[found[-1]]
        left = left - np.outer(left @ direction, direction)
    return np.array(found, dtype=np.int64)


def best_window(values: Floats, width: float) -> float:
    """The middle of the window of this half-width that holds most of the values: the best constant guess."""
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, ordered + 2 * width, side="right")
    return float(ordered[(ends - np.arange(len(ordered))).argmax()] + width)


def densest(values: Floats, width: float) -> float:
    """The share of the values that the best window of this half-width holds: what a constant guess can hit."""
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, ordered + 2 * width, side="right")
    return float((ends - np.arange(len(ordered))).max() / len(ordered))
