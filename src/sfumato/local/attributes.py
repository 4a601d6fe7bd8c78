"""Several attributes of one person: one, chosen by chance, with the whole ε; or all, with a share of it each."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.accounting.rounding import up
from sfumato.errors import DataUnreadable
from sfumato.kernel.entropy import Entropy
from sfumato.local.estimate import Estimate
from sfumato.local.frequency import Frequency
from sfumato.local.mean import Mean, MeanEstimate
from sfumato.local.oracle import checked
from sfumato.local.scheme import VERSION, Columns, Tally, added
from sfumato.local.wordings import attribute_missing, columns_differ, no_reports, values_unusable
from sfumato.noise.coins import below

Part = Frequency | Mean


@dataclass(frozen=True, slots=True)
class AttributesEstimate:
    """An estimate for each attribute, by name."""

    parts: dict[str, Estimate | MeanEstimate]
    users: int
    epsilon: float
    confidence: float

    def __getitem__(self, name: str) -> Estimate | MeanEstimate:
        return self.parts[name]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all attributes, each with the attribute's name; a mean's count is the mean."""
        return [
            {"attribute": name, "value": row["value"], "count": row.get("count", row.get("mean")), **_rest(row)}
            for name, part in self.parts.items()
            for row in part.rows
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"users": self.users, "epsilon": self.epsilon, "confidence": self.confidence, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class Attributes:
    """A part for each attribute. Way "sample": one report per person; way "split": one for each attribute.

    Claim: ε-LDP for the person's whole row, in both ways.
    Proof: docs/proofs/local-attributes.md
    """

    attributes: tuple[str, ...]
    schemes: tuple[Part, ...]
    way: str
    price: Fraction

    def __post_init__(self) -> None:
        share = self.price if self.way == "sample" else self.price / len(self.schemes)
        if self.way not in ("sample", "split") or len(self.attributes) != len(self.schemes):
            raise ValueError("attributes are sampled or split, and each has its protocol")
        if any(scheme.price is None or scheme.price > share for scheme in self.schemes):
            raise ValueError("no attribute may cost more than its share")

    @property
    def epsilon(self) -> float:
        return up(self.price)

    @property
    def names(self) -> tuple[str, ...]:
        return self.attributes

    @property
    def arrays(self) -> int:
        return sum(scheme.arrays for scheme in self.schemes) + (self.way == "sample")

    def spec(self) -> dict[str, Any]:
        return {
            "sfumato": VERSION,
            "protocol": "attributes",
            "epsilon": str(self.price),
            "way": self.way,
            "names": list(self.attributes),
            "attributes": [scheme.spec() for scheme in self.schemes],
        }

    def encode(self, values: Any, row: int = 1) -> list[npt.NDArray[Any]]:
        """Needs: a table or a dictionary with a column for each attribute."""
        columns = [_column_of(values, name) for name in self.attributes]
        encoded = [scheme.encode(one, row) for scheme, one in zip(self.schemes, columns, strict=True)]
        if len({len(one) for one in encoded}) > 1:
            raise columns_differ()
        return encoded

    def read(self, cells: dict[str, list[str]]) -> Any:
        return {
            name: scheme.read({name: cells[name]}) for name, scheme in zip(self.attributes, self.schemes, strict=True)
        }

    def draw(self, encoded: list[npt.NDArray[Any]], entropy: Entropy) -> Columns:
        if self.way == "split":
            return sum((s.draw(one, entropy) for s, one in zip(self.schemes, encoded, strict=True)), ())
        chosen = below(len(self.schemes), len(encoded[0]), entropy)
        parts: Columns = (chosen,)
        for place, (scheme, one) in enumerate(zip(self.schemes, encoded, strict=True)):
            parts += scheme.draw(one[chosen == place], entropy)
        return parts

    def payloads(self, reports: Columns) -> list[Any]:
        if self.way == "split":
            listed = [scheme.payloads(part) for scheme, part in self._parts(reports)]
            return [list(row) for row in zip(*listed, strict=True)]
        waiting = [iter(scheme.payloads(part)) for scheme, part in self._parts(reports)]
        return [[place, next(waiting[place])] for place in reports[0].tolist()]

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        count, length = len(self.schemes), len(self.schemes) if self.way == "split" else 2
        checked(
            payloads,
            lambda one: isinstance(one, list) and len(one) == length,
            row,
            f"the report is no list of {length}",
        )
        if self.way == "split":
            columns = (scheme.columns([one[i] for one in payloads], row) for i, scheme in enumerate(self.schemes))
            return sum(columns, ())
        right = lambda one: type(one[0]) is int and 0 <= one[0] < count  # noqa: E731
        checked(payloads, right, row, f"the report does not start with an attribute below {count}")
        parts: Columns = (np.array([one[0] for one in payloads], dtype=np.int64),)
        try:
            for place, scheme in enumerate(self.schemes):
                parts += scheme.columns([one[1] for one in payloads if one[0] == place], row)
        except DataUnreadable:
            for place, one in enumerate(payloads):  # once more one by one, so that the complaint names the row
                self.schemes[one[0]].columns([one[1]], row + place)
            raise
        return parts

    def _parts(self, reports: Columns) -> list[tuple[Part, Columns]]:
        start, found = int(self.way == "sample"), []
        for scheme in self.schemes:
            found.append((scheme, reports[start : start + scheme.arrays]))
            start += scheme.arrays
        return found

    def tally(self) -> Tally:
        return [np.zeros(len(self.schemes), dtype=np.int64), *(one for s in self.schemes for one in s.tally())]

    def add(self, tally: Tally, reports: Columns) -> Tally:
        parts = self._parts(reports)
        more = [np.array([len(part[0]) for _, part in parts])]
        for scheme, part in parts:
            more += scheme.add(scheme.tally(), part)
        return added(tally, more)

    def merge(self, first: Tally, second: Tally) -> Tally:
        return added(first, second)

    def finish(self, tally: Tally, users: int, confidence: float) -> AttributesEstimate:
        start = 1
        parts: dict[str, Estimate | MeanEstimate] = {}
        for name, scheme, reported in zip(self.attributes, self.schemes, tally[0].tolist(), strict=True):
            if not reported:
                raise no_reports()
            own = tally[start : start + len(scheme.tally())]
            start += len(own)
            if isinstance(scheme, Frequency) and self.way == "sample":
                parts[name] = scheme.of_a_sample(own, reported, users, confidence)
            else:
                parts[name] = scheme.finish(own, reported, confidence)
        return AttributesEstimate(parts, users, self.epsilon, confidence)


def _column_of(values: Any, name: str) -> Any:
    if isinstance(values, dict):
        present = list(values)
    elif hasattr(values, "column_names"):  # Arrow
        present = list(values.column_names)
    elif hasattr(values, "columns"):  # pandas and Polars
        present = [str(one) for one in values.columns]
    else:
        raise values_unusable(type(values).__name__)
    if name not in present:
        raise attribute_missing(name, present)
    return values[name]


def _rest(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("unbiased", "low", "high")}
