"""Attacks on rotated tables: a few known rows, or how the values are distributed, turn everything back."""

from collections.abc import Sequence

import numpy as np

from sfumato.attacks.matrices import Floats, brought_back, matrix, positions
from sfumato.attacks.result import AttackResult
from sfumato.attacks.wordings import lengths_differ, method_unknown, too_few_known

METHODS = ("procrustes", "least squares")


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
        design = np.column_stack([seen, np.ones(len(seen))])
        back = np.linalg.lstsq(design, original, rcond=None)[0]
        estimate = np.column_stack([turned, np.ones(len(turned))]) @ back
    return brought_back(
        "known_sample", estimate, truth, columns=columns, tolerance=tolerance, epsilon=epsilon, delta=delta
    )


def known_distribution(
    released: object,
    sample: object,
    columns: Sequence[str],
    *,
    truth: object | None = None,
    released_columns: Sequence[str] | None = None,
    tolerance: float = 0.5,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, float]]:
    """Undo a rotation and shift from how the columns are distributed among other people; no released row is known.

    sample: rows of the same kind about other people. The principal axes of the sample and of the release are matched by
    their variances, and each axis is turned the way in which its values are distributed alike.
    tolerance, recovered, success, chance, epsilon, delta: as in `known_sample`.
    """
    turned, others = _pair(released, released_columns or columns, sample, columns)
    centre, axes = _axes(others)
    middle, found = _axes(turned)
    scores, wanted = (turned - middle) @ found, (others - centre) @ axes
    estimate = centre + scores * _signs(scores, wanted) @ axes.T
    return brought_back(
        "known_distribution", estimate, truth, columns=columns, tolerance=tolerance, epsilon=epsilon, delta=delta
    )


def _pair(released: object, shown: Sequence[str], own: object, columns: Sequence[str]) -> tuple[Floats, Floats]:
    turned, original = matrix(released, shown, "released"), matrix(own, columns, "known")
    if turned.shape[1] != original.shape[1]:
        raise lengths_differ("released_columns", turned.shape[1], original.shape[1])
    return turned, original


def _nearest_rotation(original: Floats, seen: Floats) -> Floats:
    """The rotation R with original @ R nearest to seen (Schönemann 1966); what nobody saw keeps its orientation."""
    left, _, right = np.linalg.svd(original.T @ seen)
    turn = left @ right
    if len(original) < original.shape[1] and np.linalg.det(turn) < 0:
        left[:, -1] *= -1
        turn = left @ right
    return np.asarray(turn, dtype=np.float64)


def _axes(values: Floats) -> tuple[Floats, Floats]:
    """The mean and the principal axes, the widest last."""
    middle = values.mean(axis=0)
    return middle, np.asarray(np.linalg.eigh(np.cov(values - middle, rowvar=False).reshape(values.shape[1], -1))[1])


def _signs(scores: Floats, wanted: Floats) -> Floats:
    """For each axis 1 or -1, whichever brings the quantiles of the release nearer to those of the sample."""
    shares = np.linspace(0.005, 0.995, 199)
    ours, theirs = np.quantile(scores, shares, axis=0), np.quantile(wanted, shares, axis=0)
    kept, turned = np.abs(ours - theirs).sum(axis=0), np.abs(-ours[::-1] - theirs).sum(axis=0)
    return np.where(kept <= turned, 1.0, -1.0)
