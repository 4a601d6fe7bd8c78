"""What one cell says, as a text: by its Python type alone, so that no row decides how another is read."""

import uuid
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE_BELOW = 1 << 53  # from here on, a double no longer tells neighbouring whole numbers apart
MOST_BITS = 1100  # beyond the largest double
MOST_DIGITS = 400
AS_THEY_ARE_SHOWN = {("pandas", "Period"), ("pandas", "Interval"), ("pandas", "Timedelta")}
MISSING = {("pandas", "NaTType"), ("pandas", "NAType")}


def texts_of(cells: Iterable[object]) -> "pa.Array[Any]":
    """A column of texts."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    return pa.array(map(text_of, cells), pa.large_string())


def text_of(cell: object) -> str | None:
    """The text of a cell, or NULL for what is missing, is no text in UTF-8, or is of a type not listed here.

    Claim: depends on this cell alone and never fails. Numbers that are equal have one text (1, 1.0 and Decimal("1.00")
    alike), the one that the engine gives to columns of numbers: a frame whose column has become one of doubles because
    one value is missing reads as before.
    """
    try:
        found = _text(cell)
        if found is not None:
            found.encode()
    except Exception:  # noqa: BLE001 - a cell of somebody's own class may do anything
        return None
    return found


def _text(cell: object) -> str | None:
    named = (type(cell).__module__.partition(".")[0], type(cell).__name__)
    if named in MISSING:
        return None
    if isinstance(cell, np.generic) and not isinstance(cell, str | bytes):
        cell = _plain(cell)
    match cell:
        case bool():
            return "true" if cell else "false"
        case int():
            return int.__repr__(cell) if int.bit_length(cell) <= MOST_BITS else None
        case float():
            return _real(float.__float__(cell))
        case complex():
            return _real(cell.real) if cell.imag == 0 else None
        case Decimal():
            return _decimal(cell)
        case str():
            return str.__str__(cell)
        case bytes() | bytearray():
            return cell.decode("utf-8")
        case datetime():
            return _without_zeros(cell.replace(tzinfo=None).isoformat(sep=" "))
        case date():
            return cell.isoformat()
        case time():
            return _without_zeros(cell.isoformat())
        case timedelta() | uuid.UUID():
            return str(cell)
    return str(cell) if named in AS_THEY_ARE_SHOWN else None


def _plain(cell: np.generic) -> object:
    """A number, text or time of Python's own for one of NumPy's."""
    if isinstance(cell, np.longdouble):
        return float(cell)
    if isinstance(cell, np.clongdouble):
        return complex(cell)
    if isinstance(cell, np.datetime64):
        return None if np.isnat(cell) else _without_zeros(str(cell.astype("datetime64[ns]")).replace("T", " "))
    return cell.item()


def _real(number: float) -> str | None:
    if number != number:
        return None
    return str(int(number)) if abs(number) < WHOLE_BELOW and number == int(number) else float.__repr__(number)


def _decimal(number: Decimal) -> str | None:
    """Without zeros at its end: how many there are may come from the other rows."""
    if not number.is_finite():
        return None if number.is_nan() else str(float(number))
    if abs(number.adjusted()) > MOST_DIGITS or len(number.as_tuple().digits) > MOST_DIGITS:
        return None
    return _without_zeros(f"{number:f}")


def _without_zeros(written: str) -> str:
    return written.rstrip("0").rstrip(".") if "." in written else written
