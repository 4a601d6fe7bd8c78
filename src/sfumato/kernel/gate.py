"""The one door through which a number about people leaves: integers in, noise added, a release out."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.certify import Certified
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.protocol import Added, Numbers, Released
from sfumato.kernel.wordings import receipt_used
from sfumato.plan.nodes import OpenKey, Plan

Group = tuple[str | int, ...]  # values of open keys, then the number of a declared group
ReleasedRows = tuple[tuple[Released, ...], ...]


class Receipt:
    """Proof that plans were paid for; made by the ledger alone, good for one opening of the gate each."""

    def __init__(self, entry: int, *digests: str) -> None:
        self.entry = entry
        self._unused = list(digests)
        self._one_at_a_time = Lock()

    def redeem(self, digest: str) -> None:
        """Needs: a digest that was paid for and has not been used."""
        with self._one_at_a_time:
            if digest not in self._unused:
                raise receipt_used()
            self._unused.remove(digest)


@dataclass(frozen=True, slots=True)
class Found:
    """What an engine added up: one row per group; with open keys also which groups there are.

    `units`: of how many units each of these is, or where the plan weighs them the sum of their weights.
    """

    entries: Sequence[Sequence[Added]]
    groups: Sequence[Group] | None = None
    units: Numbers | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """Noisy integers: one row a group in the order of the plan's keys, a number or several for each measure.

    With open keys `groups` names the groups that are shown.
    """

    entry: int
    values: ReleasedRows
    groups: tuple[Group, ...] | None = None


def release(
    certified: Certified, receipt: Receipt, found: Found | Sequence[Sequence[Added]], entropy: Entropy
) -> Release:
    """Add each measure's noise to its integer in every group, or choose privately among its cells.

    Claim: as private as `certified.cost` says, whatever the integers of neighbouring tables are within the
    certified sensitivities.
    Needs: one row for every declared group, present or not; with open keys one for every group that has units.
    """
    certified.demand_allowed()
    plan, mechanisms = certified.plan, [one.mechanism for one in certified.releases]
    given = found if isinstance(found, Found) else Found(found)
    entries, groups, selected = list(given.entries), None, list[Released]()
    if any(len(row) != len(mechanisms) for row in entries):
        raise plan_refused("the engine answered in another shape")
    for row in entries:
        for mechanism, entry in zip(mechanisms, row, strict=True):
            mechanism.check(entry)
    selection, named, units = certified.selection, given.groups, given.units
    if selection is None:
        if len(entries) != plan.groups or named is not None or units is not None:
            raise plan_refused("the engine answered in another shape")
    elif named is None or units is None or not len(named) == len(units) == len(entries):
        raise plan_refused("the engine answered in another shape")
    elif units.dtype != np.int64 or not well_named(plan, named):
        raise plan_refused("the engine found keys of another kind")
    receipt.redeem(certified.digest)
    if selection is not None and named is not None and units is not None:
        # Sorted, because the order in which an engine finds groups depends on the rows.
        noisy, passed = selection.select(units, entropy)
        shown = sorted(np.flatnonzero(passed).tolist(), key=lambda place: named[place])
        groups, entries = tuple(named[place] for place in shown), [entries[place] for place in shown]
        selected = [int(noisy[place]) for place in shown]
    if not (entries and mechanisms):  # no key was found, or keys alone were asked for
        return Release(receipt.entry, ((),) * len(entries), groups)
    columns = [
        selected if mechanism is selection else mechanism.draw([row[place] for row in entries], entropy)
        for place, mechanism in enumerate(mechanisms)
    ]
    return Release(receipt.entry, tuple(zip(*columns, strict=True)), groups)


def well_named(plan: Plan, groups: Sequence[Group]) -> bool:
    """Whether each group is a text for every open key and the number of a declared group, and none comes twice."""
    kinds, declared = [str for key in plan.keys if isinstance(key, OpenKey)] + [int], range(plan.groups)
    return len(set(groups)) == len(groups) and all(
        [*map(type, group)] == kinds and group[-1] in declared for group in groups
    )
