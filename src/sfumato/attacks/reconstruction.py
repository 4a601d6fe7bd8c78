"""Reconstruction: enough counts of random subsets, each only a little wrong, give away everybody's secret."""

from collections.abc import Callable, Iterable
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finite import number_of
from sfumato.attacks.result import AttackResult
from sfumato.attacks.secrets import Floats, judged, possible_values, true_values
from sfumato.attacks.wordings import method_unknown
from sfumato.errors import BudgetExceeded
from sfumato.schema.numbers import whole
from sfumato.simulate import Simulator

METHODS = ("least squares", "linear program")


def reconstruction(
    ask: Callable[[NDArray[np.int64]], SupportsFloat],
    people: int,
    *,
    questions: int | None = None,
    truth: Iterable[Any] | None = None,
    method: str = "least squares",
    epsilon: float | None = None,
    delta: float = 0.0,
    seed: int = 0,
) -> AttackResult[float]:
    """Recover one secret bit of each person from counts over random halves of them (Dinur, Nissim 2003).

    ask: turns positions of persons, from 0 to people - 1, into the number of them whose bit is 1, right or wrong.
    questions: how many halves, four a person by default; fewer when `ask` raises BudgetExceeded.
    truth: the bits. method: "least squares", or "linear program" (the least sum of absolute errors; needs SciPy).
    epsilon, delta: what all answers cost together. seed: chooses the halves.

    recovered: 0 or 1 for each person. chance: the share of the more common bit.
    measures: "answers"; "residual", the mean absolute error that the solution leaves in them.
    """
    size = whole(people, "people", least=1)
    wanted = 4 * size if questions is None else whole(questions, "questions", least=1)
    if method not in METHODS:
        raise method_unknown(method, METHODS)
    bits = true_values(truth, size)
    halves = Simulator(seed).stream("halves").uniform(wanted * size).reshape(wanted, size) < 0.5
    heard: list[float] = []
    for half in halves:
        try:
            heard.append(number_of(ask(np.flatnonzero(half))))
        except BudgetExceeded:
            break
    chosen, answers = halves[: len(heard)].astype(np.float64), np.array(heard, dtype=np.float64)
    estimates = _solved(chosen, answers, method) if heard else np.zeros(size)
    residual = float(np.abs(chosen @ estimates - answers).mean()) if heard else 0.0
    return judged(
        "reconstruction",
        np.where(estimates >= 0.5, 1.0, 0.0),
        truth=bits,
        values=possible_values((0, 1)),
        epsilon=epsilon,
        delta=delta,
        measures={"answers": len(heard), "residual": residual},
    )


def _solved(chosen: Floats, answers: Floats, method: str) -> Floats:
    if method == "least squares":
        if len(answers) < 2 * chosen.shape[1]:
            return np.asarray(np.linalg.lstsq(chosen, answers, rcond=None)[0], dtype=np.float64)
        # So many random halves are far from singular, and the normal equations are ten times as fast.
        return np.asarray(np.linalg.solve(chosen.T @ chosen, chosen.T @ answers), dtype=np.float64)
    from scipy import optimize, sparse  # noqa: PLC0415 - slow to load

    # Bits in [0, 1], one error a question: chosen @ bits - errors <= answers <= chosen @ bits + errors.
    count, size = chosen.shape
    errors = sparse.eye_array(count)
    table = sparse.csr_array(chosen)
    found = optimize.linprog(
        np.concatenate([np.zeros(size), np.ones(count)]),
        A_ub=sparse.vstack([sparse.hstack([table, -errors]), sparse.hstack([-table, -errors])]).tocsr(),
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0, 1)] * size + [(0, None)] * count,
        method="highs",
    )
    return np.asarray(found.x[:size], dtype=np.float64)
