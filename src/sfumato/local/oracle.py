"""What every frequency protocol is: a way to draw reports, and the chances that a report supports a value."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernel.entropy import Entropy
from sfumato.local.wordings import report_wrong

Codes = npt.NDArray[np.int64]
Columns = tuple[npt.NDArray[Any], ...]
Tally = npt.NDArray[np.int64]


class Oracle(Protocol):
    """A report supports some values: the own one with probability `keep`, any other one with probability `stray`.

    Then (supports - users · stray) / (keep - stray) estimates how many hold a value, without bias, and each report adds
    at most stray (1 - stray) / (keep - stray)² to the variance for a rare value (Wang et al. 2017).
    Proof: docs/proofs/local-estimates.md
    """

    @property
    def size(self) -> int:
        """How many values there are."""
        ...

    @property
    def keep(self) -> float: ...

    @property
    def stray(self) -> float: ...

    @property
    def bits(self) -> int:
        """The length of a report."""
        ...

    @property
    def arrays(self) -> int:
        """How many columns reports have."""
        ...

    def options(self) -> dict[str, Any]:
        """What a specification must say beyond domain and epsilon."""
        ...

    def draw(self, codes: Codes, entropy: Entropy) -> Columns:
        """One report a code, as columns of equal length. What is read from `entropy` does not depend on the codes."""
        ...

    def payloads(self, reports: Columns) -> list[Any]:
        """Each report as JSON."""
        ...

    def columns(self, payloads: Sequence[Any], row: int) -> Columns:
        """The reports back from JSON; `row` is the number of the first one, for complaints."""
        ...

    def tally(self) -> Tally:
        """An empty count."""
        ...

    def count(self, reports: Columns) -> Tally:
        """What these reports add to the count."""
        ...

    def supports(self, tally: Tally) -> Codes:
        """How many counted reports support each value."""
        ...


def variance(oracle: Oracle) -> float:
    """The variance a report adds to the estimate for a rare value."""
    return oracle.stray * (1 - oracle.stray) / (oracle.keep - oracle.stray) ** 2


def whole_numbers(payloads: Sequence[Any], bound: int, row: int, reason: str) -> Codes:
    """Needs: every payload a whole number in [0, bound)."""
    checked(payloads, lambda payload: type(payload) is int and 0 <= payload < bound, row, reason)
    return np.array(payloads, dtype=np.int64)


def checked(payloads: Sequence[Any], right: Callable[[Any], bool], row: int, reason: str) -> None:
    for place, payload in enumerate(payloads):
        if not right(payload):
            raise report_wrong(row + place, reason)
