"""Answers leave at fixed ticks: how long the engine took is told only as the tick it fell into.

Ticks lie at 5 ms · 2^(k/32). Whatever is done within 5 ms leaves at 5 ms, which hides all of a warm question on a small
table; above, at most 2.2 %, on average 1.1 % of the time is added, and a doubling of the time tells 5 bits. Measured,
not proved: `python -m benchmarks timing` and docs/reference/sources.md.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHORTEST_NS = 5_000_000
STEPS_A_DOUBLING = 32
DOUBLINGS = 24  # about a day
TICKS_NS = tuple(round(SHORTEST_NS * 2 ** (k / STEPS_A_DOUBLING)) for k in range(DOUBLINGS * STEPS_A_DOUBLING + 1))


def next_tick(elapsed_ns: int) -> int:
    """The first tick at or after so many nanoseconds; beyond the last, whole multiples of it."""
    if elapsed_ns > TICKS_NS[-1]:
        return -(-elapsed_ns // TICKS_NS[-1]) * TICKS_NS[-1]
    return TICKS_NS[bisect_left(TICKS_NS, elapsed_ns)]


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
    try:
        yield
    finally:
        leave = start + next_tick(max(clock() - start, shortest_ns))
        while (left := leave - clock()) > 0:
            sleep(left / 1e9)
