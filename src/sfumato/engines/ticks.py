"""Answers leave at fixed ticks: how long the engine took is told only as the tick it fell into.

Ticks lie at 5 ms · 2^(k/32), or likewise from an engine's own shortest tick on. Whatever is done within 5 ms leaves at
5 ms, which hides all of a warm question on a small table; above, at most 2.2 %, on average 1.1 % of the time is added,
and a doubling of the time tells 5 bits. Measured, not proved: `python -m benchmarks timing` and
docs/reference/sources.md.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

SHORTEST_NS = 5_000_000
STEPS_A_DOUBLING = 32
DOUBLINGS = 24  # about a day


@cache
def ticks(shortest_ns: int = SHORTEST_NS) -> tuple[int, ...]:
    return tuple(round(shortest_ns * 2 ** (k / STEPS_A_DOUBLING)) for k in range(DOUBLINGS * STEPS_A_DOUBLING + 1))


def next_tick(elapsed_ns: int, shortest_ns: int = SHORTEST_NS) -> int:
    """The first tick at or after so many nanoseconds; beyond the last, whole multiples of it."""
    all_ticks = ticks(shortest_ns)
    if elapsed_ns > all_ticks[-1]:
        return -(-elapsed_ns // all_ticks[-1]) * all_ticks[-1]
    return all_ticks[bisect_left(all_ticks, elapsed_ns)]


@contextmanager
def leaving_at_a_tick(
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
    *,
    shortest_ns: int = SHORTEST_NS,
) -> Iterator[None]:
    """Ends at a tick after its beginning, whether what is inside succeeds or fails.

    shortest_ns: no tick before that is taken, where an engine's own delays are longer than the first ticks.
    """
    start = clock()

    def leave() -> None:
        tick = start + next_tick(clock() - start, shortest_ns)
        while (left := tick - clock()) > 0:
            sleep(left / 1e9)

    try:
        yield
    except GeneratorExit:  # a Ctrl-C has left it, and now it is forgotten: nobody waits for it
        raise
    except BaseException:
        leave()
        raise
    leave()
