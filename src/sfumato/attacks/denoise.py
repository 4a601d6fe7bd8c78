"""Attacks on perturbed tables: what the noise hid, statistics brings back."""

from collections.abc import Sequence

import numpy as np

from sfumato.attacks.finite import finite
from sfumato.attacks.matrices import Floats, brought_back, matrix, positions
from sfumato.attacks.result import AttackResult
from sfumato.attacks.wordings import method_unknown, not_positive_numbers, too_few_known
from sfumato.errors import not_positive

FORMS = ("auto", "linear", "log")


def denoise_additive(
    released: object,
    columns: Sequence[str],
    *,
    noise: float | Sequence[float],
    truth: object | None = None,
    tolerance: float = 0.5,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, float]]:
    """Take additive noise out again: Bayes' estimate under the covariance that the release itself shows.

    noise: the standard deviation of the noise, one number or one a column; methods publish it so that results can be
    corrected. truth: the original rows. tolerance: how near a cell must come, in standard deviations of its column.
    epsilon, delta: what each row cost, for a release that is private by itself (local model).

    Claim: m + S (S + N)^-1 (y - m), with N the covariance of the noise and S that of the release less N, is the best
    linear estimate, and the best of all for normal columns (Huang, Du, Chen 2005).
    recovered: the rows. success: the share of the cells that come near. chance: what the best constant guess hits.
    measures: "rmse" and "rmse_released", after and before the attack, in standard deviations.
    """
    noisy = matrix(released, columns, "released")
    estimate = shrunk(noisy, _deviations(noise, len(columns)))
    return brought_back(
        "denoise_additive",
        estimate,
        truth,
        columns=columns,
        tolerance=tolerance,
        epsilon=epsilon,
        delta=delta,
        released=noisy,
    )


def denoise_multiplicative(
    released: object,
    columns: Sequence[str],
    *,
    noise: float | Sequence[float],
    noise_mean: float = 0.0,
    truth: object | None = None,
    tolerance: float = 0.5,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, float]]:
    """Take multiplicative noise out again: in logarithms it is additive.

    noise: the standard deviation of the logarithm of the factor. noise_mean: its mean. Others as in `denoise_additive`.
    Needs: positive numbers.
    """
    noisy = matrix(released, columns, "released")
    if noisy.min() <= 0:
        raise not_positive_numbers("released")
    logs = np.log(noisy) - finite("noise_mean", noise_mean)
    return brought_back(
        "denoise_multiplicative",
        np.exp(shrunk(logs, _deviations(noise, len(columns)))),
        truth,
        columns=columns,
        tolerance=tolerance,
        epsilon=epsilon,
        delta=delta,
        released=noisy,
    )


def input_output(
    released: object,
    known: object,
    rows: Sequence[int],
    columns: Sequence[str],
    *,
    truth: object | None = None,
    form: str = "auto",
    released_columns: Sequence[str] | None = None,
    tolerance: float = 0.5,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[dict[str, float]]:
    """Learn an unknown perturbation from rows known before and after it, and undo it for all others.

    known: the original rows. rows: their positions in `released`. form: whether numbers or their logarithms are fitted
    by least squares; "auto" takes what predicts each known row better from the others. Nothing about the noise need be
    known. tolerance, recovered, success, chance, epsilon, delta: as in `denoise_additive`.
    """
    if form not in FORMS:
        raise method_unknown(form, FORMS)
    shown = list(released_columns or columns)
    noisy, original = matrix(released, shown, "released"), matrix(known, columns, "known")
    places = positions(rows, original, noisy)
    needed = noisy.shape[1] + 2
    if len(original) < needed:
        raise too_few_known(len(original), needed)
    logs = noisy.min() > 0 and original.min() > 0
    if form == "log" and not logs:
        raise not_positive_numbers("released")
    fits = [] if form == "log" else [_linear(noisy[places], original, noisy)]
    if form == "log" or (form == "auto" and logs):
        estimate, error = _linear(np.log(noisy[places]), np.log(original), np.log(noisy), back=True)
        fits.append((estimate, error))
    best = min(fits, key=lambda fit: fit[1])[0]
    # A fit through few rows can fly off; nobody lies further outside the known rows than they lie apart.
    low, high = original.min(axis=0), original.max(axis=0)
    reach = high - low
    return brought_back(
        "input_output",
        np.clip(best, low - reach, high + reach),
        truth,
        columns=columns,
        tolerance=tolerance,
        epsilon=epsilon,
        delta=delta,
        released=noisy if noisy.shape == best.shape else None,
    )


def _deviations(noise: float | Sequence[float], columns: int) -> Floats:
    each = [noise] * columns if isinstance(noise, int | float) else list(noise)
    found = np.array([finite("noise", value) for value in each], dtype=np.float64)
    if len(found) != columns or (found <= 0).any():
        raise not_positive("noise", "that")
    return found


def shrunk(noisy: Floats, noise: Floats) -> Floats:
    """Each row drawn towards the mean, along each axis as far as the noise there outweighs the data."""
    middle = noisy.mean(axis=0)
    # In units of the noise it is the same in all directions, so axes of the release are axes of the data.
    scaled = (noisy - middle) / noise
    variances, axes = np.linalg.eigh(np.cov(scaled, rowvar=False).reshape(scaled.shape[1], -1))
    kept = np.maximum(variances - 1, 0) / np.maximum(variances, 1e-300)
    return np.asarray(middle + noise * ((scaled @ axes) * kept @ axes.T), dtype=np.float64)


def _linear(seen: Floats, original: Floats, noisy: Floats, *, back: bool = False) -> tuple[Floats, float]:
    """The release through the linear map that fits the known pairs, and how ill it predicts each from the others."""
    design = np.column_stack([seen, np.ones(len(seen))])
    fitted = np.linalg.lstsq(design, original, rcond=None)[0]
    leverage = np.clip(np.einsum("ij,ij->i", design @ np.linalg.pinv(design.T @ design), design), 0, 1 - 1e-9)
    estimate = np.column_stack([noisy, np.ones(len(noisy))]) @ fitted
    left = design @ fitted + (design @ fitted - original) * (leverage / (1 - leverage))[:, None]
    if back:
        estimate, left, original = np.exp(estimate), np.exp(np.minimum(left, 700)), np.exp(original)
    spread = original.std(axis=0)
    error = float(np.mean(np.square((left - original) / np.where(spread > 0, spread, 1))))
    return np.asarray(estimate, dtype=np.float64), error
