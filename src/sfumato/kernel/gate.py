"""The one door through which a number about people leaves: integers in, noise added, a release out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from sfumato.errors import plan_refused, receipt_used
from sfumato.kernel.certify import Certified
from sfumato.kernel.entropy import Entropy

Table = tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class Receipt:
    """Proof that a plan was paid for; made by the ledger alone, good for one opening of the gate."""

    entry: int
    digest: str
    _unused: Lock = field(default_factory=Lock, repr=False)

    def redeem(self, digest: str) -> None:
        """Needs: the digest that was paid for, once."""
        if digest != self.digest or not self._unused.acquire(blocking=False):
            raise receipt_used()


@dataclass(frozen=True, slots=True)
class Release:
    """Noisy integers: one row a group in the order of the plan's keys, one number a measure."""

    entry: int
    values: Table


def release(certified: Certified, receipt: Receipt, integers: Sequence[Sequence[int]], entropy: Entropy) -> Release:
    """Add each measure's noise to its integer in every group.

    Claim: as private as `certified.cost` says, whatever the integers of neighbouring tables are within the
    certified sensitivities.
    Needs: one row for every declared group, present or not.
    """
    plan = certified.plan
    if len(integers) != plan.groups or any(len(row) != len(plan.measures) for row in integers):
        raise plan_refused("the engine answered in another shape")
    if any(type(value) is not int for row in integers for value in row):
        raise plan_refused("the engine answered with something else than whole numbers")
    receipt.redeem(certified.digest)
    noise = [
        certified_release.mechanism.draw(plan.groups, entropy).tolist() for certified_release in certified.releases
    ]
    values = tuple(
        tuple(value + noise[measure][group] for measure, value in enumerate(row)) for group, row in enumerate(integers)
    )
    return Release(receipt.entry, values)
