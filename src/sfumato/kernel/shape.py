"""The shape of a release: which groups it has, and what kind of number for each measure."""

import numpy as np

from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import Release, well_named
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.found_bounds import AROUND, BoundedSum
from sfumato.kernel.mechanisms.found_ends import PLACES, FoundEnds
from sfumato.kernel.mechanisms.protocol import Mechanism
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.mechanisms.splits import QuestionChoice

MOST_KEPT = 1 << 512  # of a kept sum in steps: no noise makes it that large, and it is a double


def fits(release: Release, certified: Certified) -> bool:
    """Whether the gate could have made this release of this plan, its noise aside.

    What a ledger keeps may have been written by anybody: whoever reads an answer of it may rely on this shape.
    """
    plan, groups = certified.plan, release.groups
    if plan.open:
        shaped = groups is not None and len(groups) == len(release.values) and well_named(plan, groups)
    else:
        shaped = groups is None and len(release.values) == plan.groups
    mechanisms = [one.mechanism for one in certified.releases]
    return shaped and all(len(row) == len(mechanisms) and all(map(_is_of, row, mechanisms)) for row in release.values)


def _width(mechanism: Mechanism) -> int | None:
    """How many numbers a measure has in each group; None for one by itself."""
    match mechanism:
        case Additive(cells=int(size), strategy=None):
            return size
        case Additive(cells=int(size), strategy=strategy) if strategy is not None:
            return len(strategy.answers(np.zeros(size, dtype=np.int64)))
        case _:
            return None


def _is_of(value: object, mechanism: Mechanism) -> bool:
    if isinstance(mechanism, RankChoice):
        return _are_ranks(value, mechanism)
    if isinstance(mechanism, BoundedSum):
        return _are_bounds(value, len(mechanism.edges))
    if isinstance(mechanism, FoundEnds):
        return _are_ends(value, mechanism)
    if isinstance(mechanism, QuestionChoice):
        return type(value) is int and 0 <= value < len(mechanism.asked.questions)
    width = _width(mechanism)
    if width is None:
        return type(value) is int
    return isinstance(value, tuple) and len(value) == width and all(type(one) is int for one in value)


def _are_ranks(value: object, ranks: RankChoice) -> bool:
    """Positions on the line, and as many counts as there are cuts around these."""
    if not isinstance(value, tuple) or not all(type(one) is int for one in value):
        return False
    positions = value[: len(ranks.levels)]
    inside = len(positions) == len(ranks.levels) and all(0 <= one < ranks.positions for one in positions)
    return inside and len(value) == len(positions) + ranks.counted(positions)


def _are_ends(value: object, ends: FoundEnds) -> bool:
    """The places of anchors and ends, as many numbers as are counted, and of moments two sums."""
    if not isinstance(value, tuple) or not all(type(one) is int and abs(one) < MOST_KEPT for one in value):
        return False
    last = len(ends.line.edges()) - 1
    inside = len(value) > PLACES and all(0 <= one <= last for one in value[:PLACES]) and value[1] < value[3]
    return inside and len(value) == PLACES + (_width(ends.within) or 0) + len(ends.moments)


def _are_bounds(value: object, edges: int) -> bool:
    """The places of two edges, counts around them and a sum."""
    if not isinstance(value, tuple) or len(value) != AROUND + 3 or not all(type(one) is int for one in value):
        return False
    return bool(0 <= value[0] <= value[1] < edges) and max(map(abs, value)) < MOST_KEPT
