"""JSON: one value per line, or one document; an array in it is its items."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sfumato.tables.streams import lines

BROKEN = object()  # in place of a line that is no JSON


def values(stream: Iterable[bytes]) -> Iterator[Any]:
    """The values one after another, empty lines aside.

    What begins with [ is one array. What begins with { and is no value in its first line is one document, if it is one.
    Everything else is a value a line.
    """
    waiting: Iterator[bytes] = (line for line in lines(stream) if line.strip())
    first = next(waiting, b"").strip()
    value = _parsed(first)
    if first[:1] == b"[" or (value is BROKEN and first[:1] == b"{"):
        rest = list(waiting)
        whole = _parsed(b"".join([first, b"\n", *rest]))
        if whole is not BROKEN:
            yield from whole if isinstance(whole, list) else [whole]
            return
        waiting = iter(rest)
    if first:
        yield value
    yield from map(_parsed, waiting)


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return BROKEN
