"""The timing attack: a sampler that loops until it has counted up its noise says by the clock how large it was."""

import gc
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.promise import most_told_apart
from sfumato.attacks.result import AttackResult
from sfumato.attacks.secrets import Floats, possible_values
from sfumato.schema.numbers import whole
from sfumato.simulate import Simulator

# Practice runs before and after a turn that say how fast the machine then was.
AROUND = 15


def timing(
    release: Callable[[int], float],
    *,
    candidates: Sequence[float] = (0, 1),
    attempts: int = 2_000,
    practice: int = 4_000,
    epsilon: float | None = None,
    delta: float = 0.0,
    clock: Callable[[], int] = time.perf_counter_ns,
    seed: int = 0,
) -> AttackResult[float]:
    """Tell two true values apart by how long the answer took (Jin, McMurtry, Rubinstein, Ohrimenko 2022).

    release: turns a whole number into the published one. practice: runs on a number that the attacker chooses, to
    learn how long each size of noise takes, and how fast the machine is at the time. Each attempt draws one of the two
    candidates; the attacker names the one whose noise, output less candidate, is the likelier after the time seen.
    clock: counts up, e.g. time.process_time_ns on a busy machine; anything that grows with the work will do.
    epsilon, delta: what one output promises.

    recovered: the value named in each attempt. chance: one half. bound: (e^epsilon + delta) / (1 + e^epsilon).
    measures: "rank_correlation" of time and size of noise in practice; "nearer", what naming the nearer value hits.
    """
    values = possible_values(candidates)[:2]
    rounds, runs = whole(attempts, "attempts", least=1), whole(practice, "practice", least=10)
    chosen = Simulator(seed).stream("secret").integers(0, 1, rounds)
    # Practice and attempts take turns, so that a machine which slows down does so for both.
    turn = np.argsort(np.concatenate([np.arange(runs) / runs, np.arange(rounds) / rounds]), kind="stable")
    outputs, times = np.zeros(runs + rounds), np.zeros(runs + rounds)
    outputs[turn], times[turn] = _watched(release, np.concatenate([np.zeros(runs), values[chosen]])[turn], clock)
    sizes, when = np.abs(outputs[:runs]), np.argsort(turn)
    times = times / _pace(sizes, times[:runs], when[:runs], when)
    expected, spread = _learnt(sizes, times[:runs])
    usual = max(float(sizes.mean()), 1e-9)
    seen, taken = outputs[runs:], times[runs:]
    gaps = np.abs(seen[:, None] - values[None, :])
    # Times scatter in proportion to their length; noise of twice the size is as much rarer as Laplace's law says.
    wanted = np.maximum(expected(gaps), 1.0)
    likely = -np.abs(taken[:, None] / wanted - 1) / spread - np.log(wanted) - gaps / usual
    nearer = gaps[:, 1] < gaps[:, 0]
    guess = (likely[:, 1] > likely[:, 0]).astype(np.int64)
    return AttackResult(
        name="timing",
        recovered=values[guess].tolist(),
        success=float(np.mean(guess == chosen)),
        chance=0.5,
        bound=most_told_apart(epsilon, delta),
        attempts=rounds,
        measures={
            "rank_correlation": _correlation(_ranks(sizes), _ranks(times[:runs])),
            "nearer": float(np.mean(nearer == chosen)),
        },
    )


def looping_geometric(scale: float, seed: int = 0) -> Callable[[int], int]:
    """Whole-number Laplace noise by counting coins until one falls: right in law, wrong on the clock.

    An exhibit for the attack; private noise is in `sfumato.noise`.
    """
    stream = Simulator(seed).stream("coins")
    again = float(np.exp(-1 / scale))

    def coin() -> float:
        return float(stream.uniform(1)[0])

    def release(value: int) -> int:
        while True:
            negative, size = coin() < 0.5, 0
            while coin() < again:
                size += 1
            if size or not negative:
                return int(value) - size if negative else int(value) + size

    return release


def _watched(release: Callable[[int], float], values: Floats, clock: Callable[[], int]) -> tuple[Floats, Floats]:
    outputs, times = np.zeros(len(values)), np.zeros(len(values))
    running = gc.isenabled()
    gc.disable()
    try:
        for place, value in enumerate(values.astype(np.int64).tolist()):
            start = clock()
            output = release(value)
            times[place] = clock() - start
            outputs[place] = float(output)
    finally:
        if running:
            gc.enable()
    return outputs, times


def _pace(sizes: Floats, times: Floats, when: NDArray[np.int64], every: NDArray[np.int64]) -> Floats:
    """How slow the machine was at each turn, 1 being usual: the middle of what the practice around it took."""
    expected, _ = _learnt(sizes, times)
    slow = np.pad(times / np.maximum(expected(sizes), 1.0), AROUND, mode="edge")
    middle = np.median(np.lib.stride_tricks.sliding_window_view(slow, 2 * AROUND + 1), axis=1)
    return np.asarray(np.interp(every, when, np.maximum(middle, 1e-3)), dtype=np.float64)


def _learnt(sizes: Floats, times: Floats) -> tuple[Callable[[Floats], Floats], float]:
    """The usual time of each size of noise, and by what share times scatter around it: a line through medians."""
    edges = np.unique(np.quantile(sizes, np.linspace(0, 1, 21)))
    place = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, len(edges) - 1)
    full = [part for part in range(len(edges)) if (place == part).any()]
    middles = np.array([np.median(sizes[place == part]) for part in full])
    usual = np.array([np.median(times[place == part]) for part in full])
    weights = np.array([np.sqrt(np.sum(place == part)) for part in full])
    slope, base = np.polyfit(middles, usual, 1, w=weights) if len(full) > 1 else (0.0, float(usual[0]))

    def expected(size: Floats) -> NDArray[np.float64]:
        return np.asarray(base + slope * size, dtype=np.float64)

    return expected, max(float(np.median(np.abs(times / np.maximum(expected(sizes), 1.0) - 1))), 1e-6)


def _ranks(values: Floats) -> Floats:
    """Mean ranks, equal for equal values."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place.reshape(-1)], dtype=np.float64)


def _correlation(first: Floats, second: Floats) -> float:
    """0 where one of them never changes."""
    one, other = first - first.mean(), second - second.mean()
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size > 0 else 0.0
