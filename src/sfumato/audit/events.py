"""Attack a mechanism from outside: count one event on two neighbours, and see what the counts prove.

The event is chosen on draws that are not counted afterwards, so nothing is gained by luck. A lower bound refutes a
claim; it never proves one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.audit.evidence import FALSE_ALARM, epsilon_shown
from sfumato.audit.findings import Finding
from sfumato.audit.outcomes import Failure, Outputs, best
from sfumato.errors import UsageError, out_of_range
from sfumato.schema.numbers import exact_positive

SHOWN = 0.05  # the error of the bound that is printed; the verdict's is FALSE_ALARM
FEWEST = 1_000


def mechanism(
    draw: Callable[..., Any],
    *,
    claimed_epsilon: float,
    claimed_delta: float = 0.0,
    neighbours: tuple[Any, Any] = (0, 1),
    draws: int = 100_000,
    many: bool = False,
    name: str | None = None,
) -> Finding:
    """Audit a mechanism of your own that claims (ε, δ)-differential privacy.

    `draw(data)` runs it once and returns a number, a text, a tuple or an array; with `many=True`, `draw(data, count)`
    runs it `count` times. `neighbours` are two data sets that differ by one unit: the more unlike, the better.

    Claim: for a mechanism that keeps its promise the verdict is wrong at most once in a million audits.
    """
    epsilon = float(exact_positive(claimed_epsilon, "claimed_epsilon"))
    if not 0 <= claimed_delta < 1:
        raise out_of_range("claimed_delta", "0", "1", str(claimed_delta))
    if not isinstance(draws, int) or draws < FEWEST:
        raise UsageError(f"draws must be a whole number of at least {FEWEST}.", "Fewer draws prove nothing.")
    if len(neighbours) != 2:
        raise UsageError("neighbours must be two data sets.", "E.g. neighbours=(0, 1).")
    runs = draw if many else _one_by_one(draw)
    looked_at = [_outputs(runs, data, max(FEWEST, draws // 4)) for data in neighbours]
    event, swapped = best(looked_at[0], looked_at[1], draws, claimed_delta)
    sides = [_outputs(runs, data, draws) for data in (neighbours[::-1] if swapped else neighbours)]
    here, there = (int(event.holds(side).sum()) for side in sides)
    return Finding(
        name=name or str(getattr(draw, "__name__", "mechanism")),
        check="events",
        claimed=epsilon,
        measured=max(0.0, epsilon_shown(here, there, draws, SHOWN / 2, claimed_delta)),
        violated=epsilon_shown(here, there, draws, FALSE_ALARM / 2, claimed_delta) > epsilon,
        detail=f"“{event.words}”, {here:,} against {there:,} times in {draws:,}",
        draws=draws,
        delta=claimed_delta,
    )


def _outputs(runs: Callable[[Any, int], Any], data: Any, count: int) -> Outputs:
    outputs = runs(data, count)
    if len(outputs) != count:
        raise UsageError(f"the mechanism gave {len(outputs)} outputs for {count}.", "Return one a run.")
    if isinstance(outputs, np.ndarray) and outputs.ndim == 1:
        return outputs
    found = list(outputs)
    return np.array(found) if all(type(output) in (int, float) for output in found) else found


def _one_by_one(draw: Callable[[Any], Any]) -> Callable[[Any, int], list[Any]]:
    def runs(data: Any, count: int) -> list[Any]:
        outputs = []
        for _ in range(count):
            try:
                outputs.append(draw(data))
            except Exception as error:  # noqa: BLE001 - whether a mechanism fails may depend on one person too
                outputs.append(Failure(type(error).__name__))
        if all(isinstance(output, Failure) for output in outputs):
            raise UsageError(f"the mechanism always raises {outputs[0]}.", "Try it once by hand.")
        return outputs

    return runs
