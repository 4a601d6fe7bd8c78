"""The floating-point attack: textbook Laplace noise reaches only some doubles, and which ones tells the true value."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.finite import finite
from sfumato.attacks.promise import most_told_apart
from sfumato.attacks.result import AttackResult
from sfumato.attacks.secrets import Floats, possible_values
from sfumato.errors import not_positive
from sfumato.schema.numbers import whole
from sfumato.simulate import Simulator, Stream

Release = Callable[[Floats], Any]

# How many neighbouring uniforms are tried; logarithm and exponential are each right to about one last place.
AROUND = 6


def floating_point(
    release: Release,
    *,
    scale: float,
    candidates: Sequence[float] = (0.0, 1.0),
    attempts: int = 1_000,
    draws: int = 1,
    epsilon: float | None = None,
    delta: float = 0.0,
    seed: int = 0,
) -> AttackResult[float]:
    """Tell two true values apart by which of them textbook noise could have turned into the output (Mironov 2012).

    release: turns an array of true values into the array of what is published, e.g. `textbook_laplace(scale=10)` or
    `lambda values: sf.noise.laplace(values, sensitivity=1, epsilon=0.1)` called on single values.
    scale: of the noise. Each attempt draws one of the two candidates and sees `draws` outputs for it. Where both or
    neither could have led to them, the nearer one is named.
    epsilon, delta: what the outputs of one attempt promise together for these two values.

    recovered: the value named in each attempt. chance: one half. bound: (e^epsilon + delta) / (1 + e^epsilon).
    measures: "certain", the share of the attempts that only one candidate explains; "nearer", what naming the nearer
    one hits.
    """
    if finite("scale", scale) <= 0:
        raise not_positive("scale", str(scale))
    values, rounds = possible_values(candidates)[:2], whole(attempts, "attempts", least=1)
    each = whole(draws, "draws", least=1)
    chosen = Simulator(seed).stream("secret").integers(0, 1, rounds)
    outputs = np.asarray(release(np.repeat(values[chosen], each)), dtype=np.float64)
    reached = np.stack([reachable(outputs, value, scale).reshape(rounds, each).all(axis=1) for value in values])
    closer = np.abs(outputs - values[0]) - np.abs(outputs - values[1])
    nearer = closer.reshape(rounds, each).sum(axis=1) > 0
    only = reached[0] != reached[1]
    guess = np.where(only, reached[1], nearer).astype(np.int64)
    return AttackResult(
        name="floating_point",
        recovered=values[guess].tolist(),
        success=float(np.mean(guess == chosen)),
        chance=0.5,
        bound=most_told_apart(epsilon, delta),
        attempts=rounds,
        measures={"certain": float(only.mean()), "nearer": float(np.mean(nearer == chosen))},
    )


def textbook_laplace(scale: float, seed: int = 0) -> Release:
    """The sampler of the textbooks, x + scale * sign * ln(u), in doubles: not private, whatever its scale.

    An exhibit for the attack; private noise is in `sfumato.noise`.
    """
    stream: Stream = Simulator(seed).stream("textbook laplace")

    def release(values: Floats) -> Floats:
        uniform = np.maximum(stream.uniform(len(values)), 2.0**-53)
        sign = np.where(stream.uniform(len(values)) < 0.5, -1.0, 1.0)
        return np.asarray(values + sign * _magnitude(uniform, scale), dtype=np.float64)

    return release


def reachable(outputs: Floats, value: float, scale: float) -> NDArray[np.bool_]:
    """Whether some multiple of 2^-53 as u makes the textbook sampler turn the value into the output."""
    gap = outputs - value
    near = np.rint(np.exp(-np.abs(gap) / scale) * 2.0**53)
    found = np.zeros(len(outputs), dtype=np.bool_)
    # Between two doubles near a large output lie many u; those that the rounding of the sum hides are tried as well.
    step = np.maximum(1.0, np.spacing(np.abs(outputs)) / scale * near / AROUND)
    for offset in range(-AROUND, AROUND + 1):
        uniform = np.clip(np.rint(near + offset * step), 1, 2.0**53 - 1) * 2.0**-53
        found |= value + np.copysign(_magnitude(uniform, scale), gap) == outputs
    return found


def _magnitude(uniform: Floats, scale: float) -> Floats:
    return np.asarray(-scale * np.log(uniform), dtype=np.float64)
