"""How much likelier it makes a release that a table is this one and not that one, by the laws that were certified."""

from math import log
from typing import Any

import numpy as np

from sfumato.audit.laws import exponential, flipped
from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import Found, Release
from sfumato.kernel.mechanisms.additive import Additive, DiscreteLaplace
from sfumato.kernel.mechanisms.choice import PermuteAndFlip
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, CellSums, Released
from sfumato.kernel.mechanisms.splits import QuestionChoice, scores

LEAST = 1e-300  # of a probability, so that it has a logarithm


def favours(certified: Certified, release: Release, this: Found, that: Found) -> float:
    """The logarithm of how many times likelier the release is of this than of that. Needs: one measure a plan."""
    (one,) = certified.releases
    rows = zip(release.values, this.entries, that.entries, strict=True)
    return sum(ratio(one.mechanism, seen, here, there) for (seen,), (here,), (there,) in rows)


def ratio(mechanism: Any, seen: Released, this: Added, that: Added) -> float:
    match mechanism:
        case Additive(law=law, cells=cells):
            away, far = (np.array(seen) - _numbers(one, cells) for one in (this, that))
            if isinstance(law, DiscreteLaplace):
                return float((np.abs(far) - np.abs(away)).sum()) / float(law.scale)
            return float((far**2 - away**2).sum()) / float(2 * law.variance)
        case QuestionChoice():
            here, there = (_chances(mechanism, one)[seen] for one in (this, that))
            return log(max(here, LEAST)) - log(max(there, LEAST))
    raise TypeError("no learner draws from this")


def _numbers(entry: Added, cells: int | None) -> Any:
    if isinstance(entry, CellCounts | CellSums):
        return np.array(entry.dense(cells or 0), dtype=np.float64)
    return np.array(entry, dtype=np.float64)


def _chances(choice: QuestionChoice, tables: Any) -> Any:
    rate, found = float(choice.law.rate), scores(choice.asked, [tables])[0]
    if isinstance(choice.law, PermuteAndFlip):
        return flipped(np.exp(rate * (found - found.max())))
    return list(exponential(rate, found.tolist()).values())
