"""What an anonymised table is, and what it is not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.anonymise.columns import Codes
from sfumato.anonymise.covers import Cover
from sfumato.anonymise.tables import Source, to_pandas, to_polars, write_table

# method -> the attacks that break it
ATTACKS: dict[str, tuple[str, ...]] = {
    "k-anonymity": ("homogeneity", "background knowledge", "skewness", "intersection of two releases"),
    "l-diversity": ("background knowledge", "skewness", "intersection of two releases"),
    "t-closeness": ("background knowledge", "intersection of two releases"),
    "de-identification": ("linking",),
    "pseudonyms": ("linking", "frequency analysis", "guessing, for whoever holds the key"),
    "suppression": ("linking", "homogeneity", "intersection of two releases"),
    "aggregation": ("differencing", "tracker", "reconstruction from published totals"),
    "additive noise": ("linking", "Bayesian denoising", "averaging of several releases"),
    "multiplicative noise": ("linking", "Bayesian denoising of logarithms", "averaging of several releases"),
    "rotation": ("known sample", "known distribution", "input-output"),
    "micro-aggregation": ("homogeneity", "intersection of two releases"),
    "swapping": ("linking on columns that were not swapped", "background knowledge"),
}


@dataclass(frozen=True, slots=True)
class Lost:
    """What anonymising took away. Shares and losses lie between 0 and 1; None where a measure does not apply.

    loss: the mean loss of a cell of the quasi-identifiers; a suppressed cell loses all. discernibility: the sum of the
    squared group sizes, a suppressed row counting as many as the table has. class_size: the mean group size over k.
    rewritten: cells whose spelling gave way to one that looks the same.
    """

    rows: int = 0
    share: float = 0.0
    cells: int = 0
    columns: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    loss: float | None = None
    discernibility: float | None = None
    class_size: float | None = None
    groups: int | None = None
    rewritten: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "share": self.share,
            "cells": self.cells,
            "columns": list(self.columns),
            "levels": dict(self.levels),
            "loss": self.loss,
            "discernibility": self.discernibility,
            "class_size": self.class_size,
            "groups": self.groups,
            "rewritten": self.rewritten,
        }


@dataclass(frozen=True, slots=True)
class AnonymisedTable:
    """A table that was anonymised by one of the older methods. It is not differentially private.

    k, l, t: measured on the finished table, not taken from what was asked; None without quasi-identifiers or sensitive
    columns. kept: the row of the original behind each row. checks: nodes looked at by a search. notes: rules that were
    applied on the way. covers: what the released labels stand for.
    """

    method: str
    k: int | None
    l: int | None
    t: float | None
    lost: Lost
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: Codes
    notes: tuple[str, ...] = ()
    checks: int | None = None
    _arrow: pa.Table = field(default_factory=lambda: pa.table({}), repr=False)
    _source: Source | None = field(default=None, repr=False)
    covers: Mapping[str, Cover] = field(default_factory=dict, repr=False)

    @property
    def table(self) -> Any:
        """The released table, in the kind in which the original came; a file comes back as an Arrow table."""
        return self._arrow if self._source is None else self._source.again(self._arrow)

    @property
    def loss(self) -> float | None:
        """The mean loss of a cell of the quasi-identifiers, from 0 to 1."""
        return self.lost.loss

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks that this method does not stop."""
        return ATTACKS[self.method]

    @property
    def notice(self) -> str:
        """What must be said wherever the table goes."""
        return f"not differentially private; {self.method} does not stop: {', '.join(self.attacks)}"

    def to_arrow(self) -> pa.Table:
        """A pyarrow.Table."""
        return self._arrow

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return to_pandas(self._arrow)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return to_polars(self._arrow)

    def save(self, path: str | Path) -> None:
        """Write the table as .csv or .parquet; the metadata of a Parquet file hold the notice, under "sfumato"."""
        marked = {**(self._arrow.schema.metadata or {}), b"sfumato": self.notice.encode()}
        write_table(self._arrow.replace_schema_metadata(marked), Path(path))

    def to_dict(self) -> dict[str, Any]:
        """All but the table, for JSON."""
        return {
            "method": self.method,
            "rows": self._arrow.num_rows,
            "k": self.k,
            "l": self.l,
            "t": self.t,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "lost": self.lost.to_dict(),
            "checks": self.checks,
            "notice": self.notice,
            "attacks": list(self.attacks),
            "notes": list(self.notes),
        }


def everything(rows: int) -> Codes:
    return np.arange(rows, dtype=np.int64)
