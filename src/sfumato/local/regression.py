"""Counts of values from debiased counts of bits: selection by non-negative LASSO, then least squares."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SWEEPS = 500
STILL = 1e-7


def regress(
    design: Floats, debiased: Floats, users: int, *, cohorts: int, shown: tuple[float, float], gap: float
) -> tuple[Floats, Floats]:
    """Counts and their deviations; values that the selection leaves out get 0 and the deviation of a rare value.

    `design[bit, value]` says which bits of which cohort a value sets; E debiased = design · counts.
    """
    values = design.shape[1]
    selected = np.arange(values)
    if np.linalg.matrix_rank(design) < values:
        selected = select(design, debiased, penalty=_penalty(users, cohorts, shown, gap))
    counts = np.zeros(values)
    weights = np.zeros((values, design.shape[0]))
    if len(selected):
        weights[selected] = np.linalg.pinv(design[:, selected])
        counts[selected] = weights[selected] @ debiased
    return counts, np.sqrt(_variances(weights, design, np.clip(counts, 0, users), users, cohorts, shown, gap))


def _variances(
    weights: Floats,
    design: Floats,
    counts: Floats,
    users: int,
    cohorts: int,
    shown: tuple[float, float],
    gap: float,
) -> Floats:
    """Each user adds weights · (their debiased bits) of one cohort, chosen by chance: a sum of independent terms."""
    scale = counts.sum()
    held = counts * (users / scale) if scale > 0 else np.full(len(counts), users / len(counts))
    least, most = shown
    noise = (least * (1 - least) * (1 - design) + most * (1 - most) * design) * (cohorts / gap) ** 2
    result = (weights**2) @ (noise @ held) / cohorts  # the coins of the bits
    bits = len(design) // cohorts
    for cohort in range(cohorts):  # the chance of the cohort
        block = slice(cohort * bits, (cohort + 1) * bits)
        result += (weights[:, block] @ design[block] * cohorts) ** 2 @ held / cohorts
    result -= (weights @ design) ** 2 @ held
    unused = ~weights.any(axis=1)
    result[unused] = result[~unused].max(initial=float(users))
    return np.asarray(np.maximum(result, 0.0), dtype=np.float64)


def select(design: Floats, debiased: Floats, *, penalty: float) -> npt.NDArray[np.int64]:
    """The values with c > 0 in min |design · c - debiased|² / 2 + penalty · Σc, c >= 0 (coordinate descent)."""
    gram, target = design.T @ design, design.T @ debiased - penalty
    norms, counts = np.maximum(np.diag(gram), 1e-12), np.zeros(design.shape[1])
    slack = target.copy()
    for _ in range(SWEEPS):
        moved = 0.0
        for place in range(len(counts)):
            best = max(0.0, counts[place] + slack[place] / norms[place])
            change = best - counts[place]
            if change:
                slack -= gram[place] * change
                counts[place] = best
                moved = max(moved, abs(change))
        if moved <= STILL * max(1.0, counts.max()):
            break
    chosen = np.flatnonzero(counts > 0)
    # Least squares needs fewer values than equations, and independent ones.
    chosen = chosen[np.argsort(-counts[chosen])][: design.shape[0] // 2]
    while len(chosen) and np.linalg.matrix_rank(design[:, chosen]) < len(chosen):
        chosen = chosen[:-1]
    return np.sort(chosen)


def _penalty(users: int, cohorts: int, shown: tuple[float, float], gap: float) -> float:
    """About two deviations of one value's sum of bits when nobody holds it."""
    least, _ = shown
    return float(2 * np.sqrt(users * cohorts * least * (1 - least)) / gap)
