"""Columns as whole numbers: compared once, counted many times."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.anonymise.spelling import representatives
from sfumato.anonymise.wordings import column_kind

Codes = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]

# A text that is a number and nothing else: 01234 is a zip code.
NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
DENSE = 8
LEAST_PLAIN, LARGEST_PLAIN = 1e-4, 1e9  # in between neither Python nor Arrow writes an exponent
UNCOMPARABLE = ("list", "large_list", "struct", "map", "union", "binary", "large_binary", "fixed_size_binary")


@dataclass(frozen=True, slots=True)
class Coded:
    """A column in which every distinct value has a number, in the order of the values; NULL comes last.

    texts: each value as text, None for NULL. numbers: each value as a number, NaN for NULL and blank; None when the
    column holds anything else. blank: where NULL, NaN or an empty text stands. rewritten: rows whose spelling gave way
    to a more frequent one that looks the same.
    """

    name: str
    codes: Codes
    values: "pa.Array[Any]"
    texts: tuple[str | None, ...]
    numbers: Reals | None
    ordered: bool
    blank: Flags
    rewritten: int

    @property
    def size(self) -> int:
        return len(self.texts)

    def decoded(self) -> Any:
        """The column again, in the type it came in, look-alikes written in one way."""
        return taken(self.values, self.codes)


def code(table: pa.Table, name: str) -> Coded:
    """Number the values of one column."""
    array = plain(table, name)
    encoded = array.dictionary_encode()
    values, indices = encoded.dictionary, encoded.indices
    codes = np.asarray(indices.fill_null(len(values)).to_numpy(zero_copy_only=False), dtype=np.int64)
    if array.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, type=values.type)])
    rewritten = 0
    if _is_text(values.type):
        counts = np.bincount(codes, minlength=len(values))
        chosen = representatives(values, counts)
        rewritten = int(counts[chosen != np.arange(len(values))].sum())
        kept, renumbered = np.unique(chosen, return_inverse=True)
        codes = renumbered.astype(np.int64)[codes]
        values = taken(values, kept)
    numbers = _numbers(values)
    order = _order(values, numbers)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    values = taken(values, order)
    texts = _texts(values)
    return Coded(
        name=name,
        codes=place[codes],
        values=values,
        texts=tuple(texts),
        numbers=None if numbers is None else numbers[order],
        ordered=numbers is not None or pa.types.is_temporal(values.type),
        blank=np.array([not text or text.isspace() for text in texts], dtype=np.bool_).reshape(len(texts)),
        rewritten=rewritten,
    )


def plain(table: pa.Table, name: str) -> "pa.Array[Any]":
    """One array of a comparable type: no dictionaries, no views, no NaN, no minus zero."""
    column = table.column(name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if str(kind).partition("<")[0].partition("[")[0] in UNCOMPARABLE:
        raise column_kind(name, str(kind).partition("<")[0])
    if pa.types.is_null(kind):
        return pa.nulls(table.num_rows, type=pa.string())
    if pa.types.is_string_view(kind):
        return pa.array(column.to_pylist(), type=pa.string())
    target = pa.string() if _is_text(kind) else pa.float64() if pa.types.is_floating(kind) else kind
    column = column.cast(target)
    array = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=target)
    if pa.types.is_floating(target):
        array = pc.add(pc.if_else(pc.is_nan(array), pa.scalar(None, type=target), array), 0.0)
    return array


def combined(codes: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, int]:
    """One number per row for its combination of values, and how many combinations occur."""
    total, radix = np.zeros(len(codes[0]), dtype=np.int64), 1
    for column, size in zip(codes, sizes, strict=True):
        if radix * size >= 1 << 62:
            total, radix = renumbered(total)
        total, radix = total * size + column, radix * size
    return renumbered(total, radix)


def renumbered(keys: Codes, most: int | None = None) -> tuple[Codes, int]:
    """Keys as 0, 1, 2, …, and how many there are; `most` is above every key, if that is known."""
    if most is not None and most <= DENSE * max(len(keys), 64):
        # For few possible keys an array of all of them is faster than a hash table.
        present = np.zeros(most, dtype=np.bool_)
        present[keys] = True
        place = np.cumsum(present)
        return place[keys] - 1, int(place[-1])
    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def summed(keys: Codes, weights: Reals, count: int) -> Reals:
    """The sum of the weights of each key from 0 to count - 1."""
    return np.asarray(np.bincount(keys, weights=weights, minlength=count), dtype=np.float64)


def taken(values: Any, places: Codes) -> Any:
    """Entries of an Arrow array or rows of an Arrow table."""
    return values.take(pa.array(np.asarray(places, dtype=np.int64)))


def added_up(keys: Codes, counts: Reals, most: int) -> tuple[Codes, Reals]:
    """The distinct keys, all below `most`, and the sum of the counts of each."""
    if most <= DENSE * max(len(keys), 64):
        sums = summed(keys, counts, most)
        distinct = np.flatnonzero(sums).astype(np.int64)
        return distinct, sums[distinct]
    encoded = pa.array(keys).dictionary_encode()
    places = encoded.indices.to_numpy()
    return encoded.dictionary.to_numpy(), summed(places, counts, len(encoded.dictionary))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _texts(values: "pa.Array[Any]") -> list[str | None]:
    """Values as people write them: 39.0 is 39, midnight is the day."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_date32(kind):
        return values.cast(pa.string()).to_pylist()
    if pa.types.is_timestamp(kind) and kind.tz is None:
        seconds = values.cast(pa.timestamp("s"), safe=False)
        if pc.all(pc.equal(seconds, values)).as_py():
            written = pc.replace_substring(seconds.cast(pa.string()), " ", "T", max_replacements=1)
            return pc.replace_substring_regex(written, "T00:00:00$", "").to_pylist()
    if pa.types.is_floating(kind):
        return _real_texts(values)
    return values.to_pylist() if _is_text(kind) else [_text(value) for value in values.to_pylist()]


def _real_texts(values: "pa.Array[Any]") -> list[str | None]:
    """The shortest digits that give the number back: Arrow finds the same ones quicker, but has exponents elsewhere."""
    size = np.abs(values.fill_null(1.0).to_numpy())
    written = pc.replace_substring_regex(values.cast(pa.string()), r"\.0$", "").to_pylist()
    for place in np.flatnonzero(~((size >= LEAST_PLAIN) & (size < LARGEST_PLAIN))).tolist():
        written[place] = repr(values[place].as_py()).removesuffix(".0")
    return written


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _numbers(values: "pa.Array[Any]") -> Reals | None:
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.asarray(values.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(), dtype=np.float64)
    if pa.types.is_decimal(kind):
        return np.array([np.nan if value is None else float(value) for value in values.to_pylist()], dtype=np.float64)
    if not _is_text(kind):
        return None
    # Most columns of texts are told by their first value.
    texts = values.to_pylist()
    filled = [text for text in texts if text and not text.isspace()]
    if not filled or not all(map(NUMBER.fullmatch, filled)):
        return None
    return np.array([float(text) if text and not text.isspace() else np.nan for text in texts], dtype=np.float64)


def _order(values: "pa.Array[Any]", numbers: Reals | None) -> Codes:
    if numbers is not None:
        # NaN sorts last; NULL after a blank text.
        return np.lexsort((values.is_null().to_numpy(zero_copy_only=False), numbers)).astype(np.int64)
    # Texts in the order of their signs; NULL comes last.
    return np.asarray(pc.sort_indices(values).to_numpy(), dtype=np.int64)
