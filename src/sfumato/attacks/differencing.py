"""Differencing: two harmless totals, one with and one without a person, give away that person's value."""

import math
from collections.abc import Callable
from typing import SupportsFloat

from sfumato.attacks.finite import finite, number_of
from sfumato.attacks.result import AttackResult
from sfumato.errors import BudgetExceeded, UsageError, not_positive, not_whole, out_of_range


def differencing(
    ask: Callable[[str], SupportsFloat],
    *,
    with_target: str,
    without_target: str,
    truth: float | None = None,
    tolerance: float = 0.5,
    plausible: tuple[float, float] | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    repeats: int = 1,
) -> AttackResult[float]:
    """Ask for a total with and a total without one person, and subtract.

    ask: anything that turns a question into a number, e.g. `lambda sql: connection.execute(sql).fetchone()[0]` or
    `lambda sql: session.ask(sql, spend=0.1, fresh=True).rows[0]["total"]`. When it raises BudgetExceeded the attack
    ends, and an attempt cut short does not count.
    truth: the person's value; without it success is NaN. tolerance: how near an estimate must come to count as a hit.
    plausible: the lowest and the highest value the person may have, as the attacker knows without the data.
    epsilon, delta: what the two questions of one attempt cost together.

    recovered: the estimate of each attempt. success: the share of them that hit; 0 when none was made.
    chance: the share that the best guess without the data hits, if the truth is uniform over `plausible`: a window of
    2 * tolerance in its whole width. 0 without `plausible`, as a guess among all numbers never hits.
    bound: min(1, e^epsilon * chance + delta), or None without epsilon.

    Claim: for a truth uniform over `plausible`, answers that are (epsilon, delta)-private for this person hit with a
    probability of at most `bound`. Were the person not in the data, the estimate would not depend on the truth and hit
    with at most `chance`; putting the person in multiplies that by at most e^epsilon and adds at most delta. The share
    of the attempts obeys the same bound on average, as each is judged on its own two answers: repeats do not enter.
    Whoever pools k attempts into one estimate is held by what all of them cost together, e.g. k * epsilon.
    """
    chance = _chance(tolerance, plausible, truth)
    bound = _bound(chance, plausible, epsilon, delta)
    if isinstance(repeats, bool) or not isinstance(repeats, int):
        raise not_whole("repeats", repr(repeats))
    if repeats < 1:
        raise not_positive("repeats", str(repeats))
    estimates: list[float] = []
    for _ in range(repeats):
        try:
            estimates.append(number_of(ask(with_target)) - number_of(ask(without_target)))
        except BudgetExceeded:
            break
    if truth is None:
        success = math.nan
    else:
        hits = sum(abs(estimate - truth) <= tolerance for estimate in estimates)
        success = hits / len(estimates) if estimates else 0.0
    return AttackResult(
        name="differencing",
        recovered=estimates,
        success=success,
        chance=chance,
        bound=bound,
        attempts=len(estimates),
    )


def _chance(tolerance: float, plausible: tuple[float, float] | None, truth: float | None) -> float:
    if finite("tolerance", tolerance) <= 0:
        raise not_positive("tolerance", str(tolerance))
    if truth is not None:
        finite("truth", truth)
    if plausible is None:
        return 0.0
    low, high = (finite("plausible", end) for end in plausible)
    if not low < high:
        raise UsageError("the plausible range is empty.", "Give the lower end first, e.g. plausible=(0, 200_000).")
    if truth is not None and not low <= truth <= high:
        raise UsageError(
            "the truth lies outside the plausible range.", "Widen it: the attacker must not rule out the truth."
        )
    return min(1.0, 2 * tolerance / (high - low))


def _bound(chance: float, plausible: tuple[float, float] | None, epsilon: float | None, delta: float) -> float | None:
    if not 0 <= finite("delta", delta) <= 1:
        raise out_of_range("delta", "0", "1", str(delta))
    if epsilon is None:
        if delta > 0:
            raise UsageError("delta is given without epsilon.", "Give both, e.g. epsilon=1, delta=1e-6.")
        return None
    if finite("epsilon", epsilon) < 0:
        raise out_of_range("epsilon", "0", "infinity", str(epsilon))
    if plausible is None:
        raise UsageError(
            "epsilon bounds success by a multiple of chance, and chance needs the plausible range.",
            "Say which values the person may have, e.g. plausible=(0, 200_000).",
        )
    # e^700 still fits into a double.
    return min(1.0, math.exp(min(float(epsilon), 700.0)) * chance + delta)
