"""Rows of bits, packed into bytes: bit v of a row is bit v % 8 of byte v // 8."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_PAIRS = 1 << 16


def width(bits: int) -> int:
    """Bytes that hold a row."""
    return (bits + 7) // 8


def count_columns(rows: Bytes, bits: int) -> Codes:
    """How many rows have a 1 in each column.

    Two bytes at a time: a histogram of their 65,536 values, multiplied by the bits of these.
    """
    if rows.shape[0] < _PAIRS // 8:
        return np.asarray(np.unpackbits(rows, axis=1, count=bits, bitorder="little").sum(axis=0, dtype=np.int64))
    if rows.shape[1] % 2:
        rows = np.concatenate([rows, np.zeros((len(rows), 1), dtype=np.uint8)], axis=1)
    pairs = np.ascontiguousarray(rows).view("<u2")
    counts = np.empty((pairs.shape[1], _PAIRS))
    for place in range(pairs.shape[1]):
        counts[place] = np.bincount(pairs[:, place], minlength=_PAIRS)
    return (counts @ _patterns()).ravel().round().astype(np.int64)[:bits]


@lru_cache(maxsize=1)
def _patterns() -> npt.NDArray[np.float64]:
    numbers = np.arange(_PAIRS, dtype="<u2").view(np.uint8).reshape(-1, 2)
    return np.unpackbits(numbers, axis=1, bitorder="little").astype(np.float64)


def ones(rows: Bytes) -> Codes:
    """How many bits of each row are 1."""
    table = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.int64)
    return np.asarray(table[rows].sum(axis=1, dtype=np.int64))


def clear_padding(rows: Bytes, bits: int) -> None:
    if bits % 8:
        rows[:, -1] &= np.uint8((1 << bits % 8) - 1)


def padding_is_clear(rows: Bytes, bits: int) -> Bools:
    if not bits % 8:
        return np.ones(len(rows), dtype=np.bool_)
    return np.asarray(rows[:, -1] >> np.uint8(bits % 8) == 0)


def put(rows: Bytes, codes: Codes, values: Bools) -> None:
    """Set bit codes[i] of row i to values[i]."""
    index, byte, place = np.arange(len(rows)), codes >> 3, (codes & 7).astype(np.uint8)
    kept = rows[index, byte] & ~(np.uint8(1) << place)
    rows[index, byte] = kept | (values.astype(np.uint8) << place)


def texts(rows: Bytes) -> list[str]:
    """Each row in hexadecimal digits."""
    size, whole = 2 * rows.shape[1], np.ascontiguousarray(rows).tobytes().hex()
    return [whole[start : start + size] for start in range(0, len(whole), size)]
