"""Rows that look alike are one class; what a release says about the sensitive values inside each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attacks.tabular import as_arrow, codes_of, need_column
from sfumato.attacks.wordings import not_numeric, nothing_to_attack, one_text

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Classes:
    """A release by class: a row of `heads` a class, and the weight of each sensitive value in it."""

    heads: pa.Table
    values: list[Any]
    weights: Floats  # classes x values
    of_row: Integers  # the class of each released row
    value_of_row: Integers


def classes(released: object, quasi: Sequence[str], sensitive: str, weight: str | None = None) -> Classes:
    """The classes of a release: a table of records, or of counts when `weight` names the column that holds them.

    Claim: NULL is a value like any other, as a reader of the release sees it.
    """
    table = as_arrow(released, "released")
    columns(table, "released", quasi, "quasi")
    need_column(table, "released", sensitive)
    of_row = combined(table, quasi)
    firsts = np.unique(of_row, return_index=True)[1]
    value_of_row, values = sensitive_codes(table[sensitive])
    counts = np.ones(table.num_rows, dtype=np.float64) if weight is None else _counts(table, weight)
    flat = np.zeros((len(firsts), len(values)), dtype=np.float64)
    np.add.at(flat, (of_row, value_of_row), counts)
    return Classes(table.select(list(quasi)).take(firsts), values, flat, of_row, value_of_row)


def columns(table: pa.Table, what: str, names: Sequence[str], option: str) -> None:
    if isinstance(names, str):
        raise one_text(option, names)
    if not names:
        raise nothing_to_attack("quasi-identifier")
    for name in names:
        need_column(table, what, name)


def combined(table: pa.Table, names: Sequence[str]) -> Integers:
    """One number from 0 a combination of values, the same for equal rows; NULL equals NULL."""
    codes = np.zeros(table.num_rows, dtype=np.int64)
    for name in names:
        each = codes_of([table[name]]) + 1
        codes = np.unique(codes * (each.max() + 1) + each, return_inverse=True)[1].astype(np.int64)
    return codes


def sensitive_codes(column: "pa.ChunkedArray[Any]", known: Sequence[Any] = ()) -> tuple[Integers, list[Any]]:
    """Each entry as a position in the list of values: the known ones first, then new ones as they appear."""
    values = list(known)
    places = {value: place for place, value in enumerate(values)}
    encoded: Any = pa.concat_arrays(column.chunks).dictionary_encode(null_encoding="encode")
    translate = []
    for value in encoded.dictionary.to_pylist():
        if value not in places:
            places[value] = len(values)
            values.append(value)
        translate.append(places[value])
    return np.array(translate, dtype=np.int64)[encoded.indices.to_numpy(zero_copy_only=False)], values


def _counts(table: pa.Table, weight: str) -> Floats:
    need_column(table, "released", weight)
    try:
        counts = np.asarray(table[weight].cast(pa.float64()).to_numpy(), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise not_numeric("released", weight) from None
    if not np.isfinite(counts).all():
        raise not_numeric("released", weight)
    return counts
