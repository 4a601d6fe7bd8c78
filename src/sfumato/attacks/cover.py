"""Which classes of a generalised release a person can be in, from the person's own values."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymise.covers import JOINED
from sfumato.anonymise.hierarchy_files import lines
from sfumato.attacks.tabular import as_arrow, need_column
from sfumato.attacks.wordings import hierarchy_unreadable
from sfumato.errors import DataUnreadable

Hierarchies = Mapping[str, object]

ANYTHING = ("*", "")
_NUMBER = r"(-?[\d.]+(?:e[-+]?\d+)?)"
_INTERVAL = re.compile(rf"^([\[\](])\s*{_NUMBER}\s*(?:,|;|\.\.|:)\s*{_NUMBER}\s*([\]\[)])$")
_RANGE = re.compile(r"^(-?\d+(?:\.\d+)?)\s*[-–]\s*(-?\d+(?:\.\d+)?)$")
_SET = re.compile(r"^\{(.*)\}$")
AT_ONCE = 4_096


def covering(
    heads: pa.Table, persons: pa.Table, names: Sequence[str], hierarchies: Hierarchies | None = None
) -> NDArray[np.bool_]:
    """persons x classes: whether each value of the class equals, contains or generalises the person's.

    A released value contains a person's when it is `*`, NULL or blank, an interval such as `[20, 30)`, `[20, 30[` or
    `20-29`, a beginning such as `699**`, a list such as `a | b` or `{a, b}`, or an ancestor of it in the hierarchy of
    the column.
    """
    fits = np.ones((persons.num_rows, heads.num_rows), dtype=np.bool_)
    for name in names:
        need_column(persons, "persons", name)
        ancestors = _ancestors((hierarchies or {}).get(name), name)
        released, person = _texts(heads[name]), _texts(persons[name])
        shown, shown_at = np.unique(np.array(released, dtype=object), return_inverse=True)
        own, own_at = np.unique(np.array(person, dtype=object), return_inverse=True)
        table = np.array([[_contains(general, value, ancestors) for general in shown] for value in own], dtype=np.bool_)
        for start in range(0, persons.num_rows, AT_ONCE):
            stop = start + AT_ONCE
            fits[start:stop] &= table[own_at[start:stop]][:, shown_at]
    return fits


def bounds_of(texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower and the upper end of intervals and single numbers."""
    ends = {}
    for text in set(texts):
        found = _INTERVAL.match(text)
        low, high = (found[2], found[3]) if found else (text, text)
        ends[text] = float(low), float(high)
    both = np.array([ends[text] for text in texts], dtype=np.float64)
    return both[:, 0], both[:, 1]


def _texts(column: "pa.ChunkedArray[Any]") -> list[str]:
    return ["" if value is None else _text(value) for value in column.to_pylist()]


def _text(value: object) -> str:
    # 41 and 41.0 are the same age, whichever table says it.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _contains(general: str, value: str, ancestors: Mapping[str, frozenset[str]]) -> bool:
    if general == value or general in ANYTHING or general in ancestors.get(value, ()):
        return True
    if (interval := _INTERVAL.match(general)) or _RANGE.match(general):
        return _inside(general, interval, value)
    if JOINED in general:
        return value in general.split(JOINED)
    if listed := _SET.match(general):
        return value in [part.strip() for part in listed[1].split(",")]
    stem = general.rstrip("*")
    return 0 < len(stem) < len(general) == len(value) and value.startswith(stem)


def _inside(general: str, interval: "re.Match[str] | None", value: str) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    if interval is None:
        low, high = (float(end) for end in _RANGE.match(general).groups())  # type: ignore[union-attr]
        return low <= number <= high
    opening, first, last, closing = interval.groups()
    above = float(first) <= number if opening == "[" else float(first) < number
    return above and (number <= float(last) if closing == "]" else number < float(last))


def _ancestors(hierarchy: object, column: str) -> dict[str, frozenset[str]]:
    """Each value and everything it can be generalised to."""
    match hierarchy:
        case None:
            return {}
        case str() | Path():
            try:
                rows = lines(hierarchy)
            except DataUnreadable:
                raise hierarchy_unreadable(column) from None
        case Mapping():
            rows = [[str(value), *map(str, above)] for value, above in hierarchy.items()]
        case _:
            rows = [[str(cell) for cell in row.values()] for row in as_arrow(hierarchy, "hierarchy").to_pylist()]
    return {row[0]: frozenset(row[1:]) for row in rows}
