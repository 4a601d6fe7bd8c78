"""The one door through which a number about people leaves: integers in, noise added, a release out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from sfumato.errors import plan_refused, receipt_used
from sfumato.kernel.bounds import BoundedSum, Weighed
from sfumato.kernel.certify import Certified, CertifiedRelease
from sfumato.kernel.choice import Exponential, PermuteAndFlip
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.ranks import Cells, Numbers, RankChoice
from sfumato.plan.nodes import Aggregate, Binned, UnboundedSum

Entry = int | Cells | Weighed
Released = int | tuple[int, ...]
Table = tuple[tuple[Released, ...], ...]


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
    """Noisy integers: one row a group in the order of the plan's keys, a number or several for each measure."""

    entry: int
    values: Table


def release(certified: Certified, receipt: Receipt, integers: Sequence[Sequence[Entry]], entropy: Entropy) -> Release:
    """Add each measure's noise to its integer in every group, or choose privately among its cells.

    Claim: as private as `certified.cost` says, whatever the integers of neighbouring tables are within the
    certified sensitivities.
    Needs: one row for every declared group, present or not.
    """
    plan = certified.plan
    if len(integers) != plan.groups or any(len(row) != len(plan.measures) for row in integers):
        raise plan_refused("the engine answered in another shape")
    for measure, entries in zip(plan.measures, zip(*integers, strict=True), strict=True):
        for entry in entries:
            _check(measure.aggregate, entry)
    receipt.redeem(certified.digest)
    columns = [
        _released(measure.aggregate, certified_release, list(entries), entropy)
        for measure, certified_release, entries in zip(
            plan.measures, certified.releases, zip(*integers, strict=True), strict=True
        )
    ]
    return Release(receipt.entry, tuple(zip(*columns, strict=True)))


def _check(aggregate: Aggregate, entry: Entry) -> None:
    if isinstance(aggregate, UnboundedSum):
        if not isinstance(entry, Weighed) or not entry.fit(aggregate.cells):
            raise plan_refused("the engine answered with something else than counts and sums of cells")
    elif not isinstance(aggregate, Binned):
        if type(entry) is not int:
            raise plan_refused("the engine answered with something else than whole numbers")
    elif not isinstance(entry, Cells) or not entry.fit(aggregate.cells.size):
        raise plan_refused("the engine answered with something else than cells")


def _released(
    aggregate: Aggregate, certified: CertifiedRelease, entries: list[Entry], entropy: Entropy
) -> list[Released]:
    mechanism = certified.mechanism
    match mechanism:
        case RankChoice():
            return [mechanism.draw(entry, entropy) for entry in entries if isinstance(entry, Cells)]
        case BoundedSum():
            return [mechanism.draw(entry, entropy) for entry in entries if isinstance(entry, Weighed)]
        case PermuteAndFlip() | Exponential():
            return [mechanism.draw(counts, entropy) for counts in _dense(aggregate, entries)]
    if not isinstance(aggregate, Binned):
        noise = mechanism.draw(len(entries), entropy).tolist()
        return [entry + drawn for entry, drawn in zip(entries, noise, strict=True) if isinstance(entry, int)]
    strategy = certified.strategy
    vectors = [counts if strategy is None else strategy.answers(counts) for counts in _dense(aggregate, entries)]
    noise = mechanism.draw(len(vectors) * len(vectors[0]), entropy).tolist()
    width = len(vectors[0])
    return [
        tuple(value + drawn for value, drawn in zip(vector.tolist(), noise[i * width : (i + 1) * width], strict=True))
        for i, vector in enumerate(vectors)
    ]


def _dense(aggregate: Aggregate, entries: list[Entry]) -> list[Numbers]:
    size = aggregate.cells.size if isinstance(aggregate, Binned) else 0
    return [entry.dense(size) for entry in entries if isinstance(entry, Cells)]
