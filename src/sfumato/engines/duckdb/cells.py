"""What one cell says, as a text: by its Python type alone, so that no row decides how another is read."""

import math
import sys
import uuid
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE_BELOW = 1 << 53  # from here on, a double no longer tells neighbouring whole numbers apart
LONG_BELOW = np.longdouble(2) ** (np.finfo(np.longdouble).nmant + 1)  # nor does the longest kind of them
BEYOND_DOUBLES = 1 << 1024
MOST_BITS = 1100  # beyond the largest double
LONGEST_DECIMAL = 400
MIDNIGHT = " 00:00:00"
FIRST_YEAR, LAST_YEAR = 1, 9999
ENDLESS = (1 << 63) - 1  # nanoseconds: the engine's infinity, in a column of moments


def texts_of(cells: Iterable[object], *, ids: bool = False, by_utc: bool = False) -> "pa.Array[Any]":
    """A column of texts. `by_utc`: of a library whose columns of moments with a zone are read by the clock of UTC."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    text = id_of if ids else _text_by_utc if by_utc else text_of
    return pa.array(map(text, cells), pa.large_string())


def zoned_ids(moments: "np.ndarray[Any, Any]") -> "pa.Array[Any]":
    """Moments of UTC as ids, in the texts that such cells have one by one."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    return pa.array((_by_utc(_numpy_moment(moment)) for moment in moments), pa.large_string())


def id_of(cell: object) -> str | None:
    """The text of a person's id. A double from which on neighbouring whole numbers look alike is no id.

    A moment with a zone is shown by the clock of UTC, and said to be: other clocks show one hour of the year twice.
    A decimal keeps all its digits: as doubles those of several people are one.
    """
    kind = type(cell)
    if issubclass(kind, datetime):
        found = _text_by_utc(cell)
        return _by_utc(found) if _has_a_zone(cell) else found
    if issubclass(kind, Decimal):
        return _all_digits(cell)
    found = text_of(cell)
    if found is None or not issubclass(kind, float | complex | np.inexact):
        return found
    if issubclass(kind, np.longdouble | np.clongdouble):  # its text is rounded, unless it is whole
        whole = cell == np.trunc(cell.real) and abs(cell.real) < LONG_BELOW  # type: ignore[attr-defined]
        return found if whole else None
    # Of shorter ones, too: how a column of these is read must not depend on whether all of them are whole.
    return found if abs(float(found)) < WHOLE_BELOW else None


def text_of(cell: object) -> str | None:
    """The text of a cell, or NULL for what is missing, is no text in UTF-8, or is of a type not listed here.

    Claim: depends on this cell alone and never fails. Numbers that are equal have one text (1, 1.0 and Decimal("1.00")
    alike), the one that the engine gives to columns of numbers: a frame whose column has become one of doubles because
    one value is missing reads as before. A number that is not whole is the double next to it: one row with a double
    makes doubles of a column of decimals.
    """
    try:
        found = _text(cell)
        if found is not None:
            str.encode(found)  # fails for what is no text, too
    except Exception:  # noqa: BLE001 - a cell of somebody's own class may do anything
        return None
    return found


def _text(cell: Any) -> str | None:
    """Asks the type for what it is, and built-in types for what they hold: a cell may answer anything itself."""
    kind = type(cell)
    if issubclass(kind, np.generic) and not issubclass(kind, str | bytes):
        cell = _plain(cell)
        kind = type(cell)
    if issubclass(kind, bool):
        return "true" if cell else "false"
    if issubclass(kind, int):
        return int.__repr__(cell) if int.bit_length(cell) <= MOST_BITS else None
    if issubclass(kind, float):
        return _real(float.__float__(cell))
    if issubclass(kind, complex):
        number = complex.__complex__(cell)
        return _real(number.real) if number.imag == 0 else None
    if issubclass(kind, Decimal):
        return _decimal(Decimal(Decimal.__str__(cell)))
    if issubclass(kind, str):
        return str.__str__(cell)
    if issubclass(kind, bytes | bytearray):
        return bytes(memoryview(cell)).decode("utf-8")
    if issubclass(kind, date):
        return _moment(cell, kind)
    return uuid.UUID.__str__(cell) if issubclass(kind, uuid.UUID) else None


def _moment(cell: Any, kind: type) -> str | None:
    """By the clock that the cell itself shows. Times of day and lengths of time are not read."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and kind is type(pandas.NaT):
        return None
    if pandas is not None and kind is pandas.Timestamp:
        return _numpy_moment(cell.tz_localize(None).to_datetime64())
    if issubclass(kind, datetime):
        return _shortest(datetime.isoformat(datetime.replace(_on_the_clock(cell), tzinfo=None), sep=" "))
    return date.isoformat(cell)


def _on_the_clock(cell: Any) -> Any:
    """What a clock shows that skips an hour, at a time that it skips: an hour later, as in a column of moments."""
    zone = cast("Any", datetime.tzinfo).__get__(cell)
    if zone is None:
        return cell
    try:
        return datetime.astimezone(datetime.astimezone(cell, UTC), zone)
    except Exception:  # noqa: BLE001 - as in `id_of`
        return cell


def _text_by_utc(cell: object) -> str | None:
    """As `text_of`, but of a moment with a zone what the clock of UTC shows."""
    try:
        return text_of(_in_utc(cell) if issubclass(type(cell), datetime) and _has_a_zone(cell) else cell)
    except Exception:  # noqa: BLE001 - somebody's own zone may do anything, and near the ends of time there is none
        return None


def _has_a_zone(cell: Any) -> bool:
    """Of a moment of pandas, asked of itself: there is no difference to UTC where its own clock's year has no name."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and type(cell) is pandas.Timestamp:
        return cell.tz is not None
    try:
        return datetime.utcoffset(cell) is not None
    except Exception:  # noqa: BLE001 - as above
        return True


def _in_utc(cell: Any) -> object:
    pandas = sys.modules.get("pandas")
    if pandas is not None and type(cell) is pandas.Timestamp:
        return cell.tz_convert("UTC")
    return datetime.astimezone(cell, UTC)


def _by_utc(moment: str | None) -> str | None:
    return None if moment is None else f"{moment}+00:00"


def _plain(cell: Any) -> object:
    """A number or text of Python's own for one of NumPy's; nothing for what has no such."""
    if isinstance(cell, np.longdouble):
        return (
            int(cell)
            if np.isfinite(cell) and cell == np.trunc(cell) and abs(int(cell)) < BEYOND_DOUBLES
            else float(cell)
        )
    if isinstance(cell, np.clongdouble):
        return _plain(cell.real) if cell.imag == 0 else None
    if isinstance(cell, np.datetime64):
        return _numpy_moment(cell)
    return None if isinstance(cell, np.timedelta64) else cell.item()


def _numpy_moment(cell: "np.datetime64[Any]") -> str | None:
    if np.isnat(cell) or not FIRST_YEAR <= int(cell.astype("datetime64[Y]").astype(np.int64)) + 1970 <= LAST_YEAR:
        return None
    unit = np.datetime_data(cell.dtype)[0]
    if unit == "ns" and abs(int(cell.astype(np.int64))) == ENDLESS:
        return None
    coarse = unit in ("Y", "M", "W", "D", "h", "m")
    return _shortest(str(cell.astype("datetime64[s]") if coarse else cell).replace("T", " "))


def _shortest(moment: str) -> str:
    """A day says the same in a column of days and in one of moments, which one row may make of it."""
    return _without_zeros(moment).removesuffix(MIDNIGHT)


def _real(number: float) -> str | None:
    """A whole number without a point, with all its digits: the text that it has in a column of whole numbers."""
    if number != number:
        return None
    if not math.isfinite(number):
        return float.__repr__(number)
    # The digits of the shortest text, and no exponent: decimals have none.
    return str(int(number)) if number == int(number) else f"{Decimal(float.__repr__(number)):f}"


def _decimal(number: Decimal) -> str | None:
    """Without zeros at its end: how many there are may come from the other rows. If it is not whole, as a double."""
    if not number.is_finite():
        return None if number.is_nan() else str(float(number))
    if number == 0:
        return "0"
    if abs(number.adjusted()) > LONGEST_DECIMAL or len(number.as_tuple().digits) > LONGEST_DECIMAL:
        return None
    whole = number == number.to_integral_value()
    return _without_zeros(f"{number:f}") if whole else _real(float(number))


def _all_digits(cell: Any) -> str | None:
    """Of a finite decimal, as long as such a text may be; else as any other."""
    number = Decimal(Decimal.__str__(cell))
    if not number.is_finite() or number == 0 or _decimal(number) is None:
        return text_of(cell)
    return _without_zeros(f"{number:f}")


def _without_zeros(written: str) -> str:
    return written.rstrip("0").rstrip(".") if "." in written else written
