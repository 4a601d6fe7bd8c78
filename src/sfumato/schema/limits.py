"""How much of the machine one question may use."""

import re
from dataclasses import dataclass
from numbers import Integral

from sfumato.errors import UsageError
from sfumato.schema.numbers import whole
from sfumato.schema.wordings import slots_need_memory

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
LEAST_MEMORY, MOST_MEMORY = 64 * 10**6, 10**6 * 2**40
LONGEST_SECONDS = 7 * 24 * 3600
DEFAULT_SECONDS = 600
MOST_SLOTS = 64


@dataclass(frozen=True, slots=True, init=False)
class Limits:
    """Memory of the engine in bytes (None: four fifths of the machine's), seconds of one question, threads, slots.

    A question that needs more fails with a fixed text, and its charge stands. With several slots so many questions run
    at the same time, each with its part of the memory, and what is copied in is copied in for each.
    """

    memory: int | None
    seconds: int
    threads: int | None
    slots: int

    def __init__(
        self,
        memory: str | int | None = None,
        seconds: int = DEFAULT_SECONDS,
        threads: int | None = None,
        slots: int = 1,
    ) -> None:
        object.__setattr__(self, "memory", None if memory is None else _bytes(memory))
        object.__setattr__(self, "seconds", whole(seconds, "seconds", least=1, most=LONGEST_SECONDS))
        object.__setattr__(self, "threads", None if threads is None else whole(threads, "threads", least=1, most=1024))
        object.__setattr__(self, "slots", whole(slots, "slots", least=1, most=MOST_SLOTS))
        if self.slots > 1 and (self.memory is None or self.memory < self.slots * LEAST_MEMORY):
            raise slots_need_memory(self.slots, self.slots * LEAST_MEMORY // UNITS["MB"])


def _bytes(written: object) -> int:
    """From a text with a unit, or a whole number of bytes."""
    if isinstance(written, str):
        found = re.fullmatch(r"(\d{1,6}) ?([MGT]i?B)", written)
        size = int(found[1]) * UNITS.get(found[2], 0) if found else 0
    else:
        size = int(written) if isinstance(written, Integral) else 0
    if not LEAST_MEMORY <= size <= MOST_MEMORY:
        shown = repr(written) if isinstance(written, str) or 0 < size < LEAST_MEMORY else "that"
        raise UsageError(f"memory={shown} is no amount of memory from 64 MB up.", 'Write it like memory = "4 GB".')
    return size
