"""What client and server share: the public parameters of a collection, and what they mean for a report."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy

Columns = tuple[npt.NDArray[Any], ...]
Tally = list[npt.NDArray[Any]]

VERSION = 1


class Scheme(Protocol):
    """A way to collect: how a client draws a report, and how a server adds reports up."""

    @property
    def epsilon(self) -> float:
        """What one report of one person costs, rounded up."""
        ...

    def spec(self) -> dict[str, Any]:
        """Everything public, as JSON. Equal specifications, and only these, have equal fingerprints."""
        ...

    def encode(self, values: Any, row: int = 1) -> Any:
        """Checked values in the form `draw` takes; `row` is the number of the first one, for complaints."""
        ...

    def read(self, cells: dict[str, list[str]]) -> Any:
        """Values for `encode` from the texts of a file, by column; a text that means nothing stays a text."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a file it needs; empty: one column of any name."""
        ...

    @property
    def arrays(self) -> int:
        """How many columns reports have."""
        ...

    def draw(self, encoded: Any, entropy: Entropy) -> Columns: ...

    def payloads(self, reports: Columns) -> list[Any]: ...

    def columns(self, payloads: Sequence[Any], row: int) -> Columns: ...

    def tally(self) -> Tally: ...

    def add(self, tally: Tally, reports: Columns) -> Tally: ...

    def merge(self, first: Tally, second: Tally) -> Tally: ...

    def finish(self, tally: Tally, users: int, confidence: float) -> Any: ...


def fingerprint(spec: dict[str, Any]) -> str:
    """Sixteen hexadecimal digits that stand for a specification on every report."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def added(first: Tally, second: Tally) -> Tally:
    return [a + b for a, b in zip(first, second, strict=True)]


def rounded_up(epsilon: float) -> float:
    """The next double above, so that a figure printed for people never understates."""
    return float(np.nextafter(epsilon, np.inf))
