"""Attacks on rotated tables: a few known rows, or how the values are distributed, turn everything back."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.matrices import Floats, brought_back, matrix, positions
from sfumato.attacks.result import AttackResult
from sfumato.attacks.wordings import lengths_differ, method_unknown, too_few_known

METHODS = ("procrustes", "least squares")
AXES = ("auto", "eigen", "ica")
SHARES = np.linspace(0.005, 0.995, 199)
ROUNDS = 200


def known_sample(
    released: object,
    known: object,
    rows: Sequence[int],
    columns: Sequence[str],
    *,
    truth: object | None = None,
    method: str = "procrustes",
    released_columns: Sequence[str] | None = None,
    tolerance: float = 0.1,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, float]]:
    """Undo a rotation from the original values of a few rows whose places in the release are known.

    known: the original rows. rows: their positions in `released`. truth: the original table, in the release's order.
    method: "procrustes" finds the nearest rotation, all of it from one row fewer than there are columns; "least
    squares" finds any linear map with a shift, from one row more than there are columns.
    tolerance: how near a cell must come to count, in standard deviations of its column.
    epsilon, delta: what each row cost, for a release that is private by itself (local model).

    recovered: the rows. success: the share of the cells that come near. chance: what the best constant guess hits.
    measures: "rmse" in standard deviations.
    """
    if method not in METHODS:
        raise method_unknown(method, METHODS)
    turned, original = _pair(released, released_columns or columns, known, columns)
    seen = turned[positions(rows, original, turned)]
    if method == "procrustes":
        estimate = turned @ _nearest_rotation(original, seen).T
    else:
        if len(original) < original.shape[1] + 1:
            raise too_few_known(len(original), original.shape[1] + 1)
        estimate = linear_back(turned, original, seen)
    return brought_back(
        "known_sample", estimate, truth, columns=columns, tolerance=tolerance, epsilon=epsilon, delta=delta
    )


def known_distribution(
    released: object,
    sample: object,
    columns: Sequence[str],
    *,
    truth: object | None = None,
    method: str = "auto",
    released_columns: Sequence[str] | None = None,
    tolerance: float = 0.5,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, float]]:
    """Undo a rotation and shift from how the columns are distributed among other people; no released row is known.

    sample: rows of the same kind about other people. method: "eigen" matches the principal axes of the sample and of
    the release by their variances; "ica" matches their independent components by their distributions, which needs
    columns that are not normal; "auto" takes what brings the columns nearer to the sample. Each axis is turned the way
    in which its values are distributed alike.
    tolerance, recovered, success, chance, epsilon, delta: as in `known_sample`.
    """
    if method not in AXES:
        raise method_unknown(method, AXES)
    turned, others = _pair(released, released_columns or columns, sample, columns)
    tried = [_by_axes(turned, others, way) for way in ("eigen", "ica") if method in (way, "auto")]
    estimate = min(tried, key=lambda found: _unlike(found, others))
    return brought_back(
        "known_distribution", estimate, truth, columns=columns, tolerance=tolerance, epsilon=epsilon, delta=delta
    )


def _pair(released: object, shown: Sequence[str], own: object, columns: Sequence[str]) -> tuple[Floats, Floats]:
    turned, original = matrix(released, shown, "released"), matrix(own, columns, "known")
    if turned.shape[1] != original.shape[1]:
        raise lengths_differ("released_columns", turned.shape[1], original.shape[1])
    return turned, original


def linear_back(turned: Floats, original: Floats, seen: Floats) -> Floats:
    """All rows through the linear map with a shift that takes the seen rows back to the original ones."""
    back = np.linalg.lstsq(np.column_stack([seen, np.ones(len(seen))]), original, rcond=None)[0]
    return np.asarray(np.column_stack([turned, np.ones(len(turned))]) @ back, dtype=np.float64)


def _nearest_rotation(original: Floats, seen: Floats) -> Floats:
    """The rotation R with original @ R nearest to seen (Schönemann 1966); what nobody saw keeps its orientation."""
    left, _, right = np.linalg.svd(original.T @ seen)
    turn = left @ right
    if len(original) < original.shape[1] and np.linalg.det(turn) < 0:
        left[:, -1] *= -1
        turn = left @ right
    return np.asarray(turn, dtype=np.float64)


def _by_axes(turned: Floats, others: Floats, way: str) -> Floats:
    """The release put on the axes of the sample."""
    middle, centre = turned.mean(axis=0), others.mean(axis=0)
    find = _principal if way == "eigen" else _independent
    ours, theirs = find(turned - middle), find(others - centre)
    scores, wanted = (turned - middle) @ ours, (others - centre) @ theirs
    order = np.arange(scores.shape[1]) if way == "eigen" else _matched(scores, wanted)
    scores = scores[:, order]
    return np.asarray(centre + scores * _signs(scores, wanted) @ np.linalg.pinv(theirs), dtype=np.float64)


def _principal(values: Floats) -> Floats:
    """The principal axes as columns, the widest last."""
    return np.asarray(np.linalg.eigh(values.T @ values / len(values))[1], dtype=np.float64)


def _independent(values: Floats) -> Floats:
    """Directions whose values depend on each other least, as columns (FastICA, Hyvärinen 1999)."""
    variances, axes = np.linalg.eigh(values.T @ values / len(values))
    white = axes / np.sqrt(np.maximum(variances, 1e-12))
    flat, turn = values @ white, np.eye(values.shape[1])
    for _ in range(ROUNDS):
        bent = np.tanh(flat @ turn)
        left, _, right = np.linalg.svd(flat.T @ bent / len(flat) - turn * (1 - np.square(bent)).mean(axis=0))
        before, turn = turn, left @ right
        if np.abs(np.abs((before * turn).sum(axis=0)) - 1).max() < 1e-9:
            break
    return np.asarray(white @ turn, dtype=np.float64)


def _matched(scores: Floats, wanted: Floats) -> NDArray[np.int64]:
    """For each wanted axis the one of ours whose values are distributed most alike, each taken once."""
    ours, theirs = np.quantile(scores, SHARES, axis=0), np.quantile(wanted, SHARES, axis=0)
    gaps = np.minimum(
        np.abs(ours[:, :, None] - theirs[:, None, :]).sum(axis=0),
        np.abs(-ours[::-1, :, None] - theirs[:, None, :]).sum(axis=0),
    )
    order = np.zeros(scores.shape[1], dtype=np.int64)
    for _ in range(scores.shape[1]):
        mine, theirs_at = np.unravel_index(int(gaps.argmin()), gaps.shape)
        order[theirs_at] = mine
        gaps[mine, :] = np.inf
        gaps[:, theirs_at] = np.inf
    return order


def _unlike(found: Floats, others: Floats) -> float:
    """How far the distributions of the columns are from those of the sample."""
    spread = np.maximum(others.std(axis=0), 1e-12)
    gaps = np.abs(np.quantile(found, SHARES, axis=0) - np.quantile(others, SHARES, axis=0)) / spread
    return float(gaps.mean())


def _signs(scores: Floats, wanted: Floats) -> Floats:
    """For each axis 1 or -1, whichever brings the quantiles of the release nearer to those of the sample."""
    ours, theirs = np.quantile(scores, SHARES, axis=0), np.quantile(wanted, SHARES, axis=0)
    kept, turned = np.abs(ours - theirs).sum(axis=0), np.abs(-ours[::-1] - theirs).sum(axis=0)
    return np.where(kept <= turned, 1.0, -1.0)
