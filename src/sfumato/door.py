"""The door: pay, look, add noise, keep. Nobody else calls the ledger's charges, an engine or the gate for an answer."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock, local

from sfumato.engines.arrange import look_at_all
from sfumato.engines.copies import Copies
from sfumato.engines.protocol import Engine, Engines
from sfumato.engines.sql.counting import emit
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.sources import NOTHING_KEPT, Names
from sfumato.engines.ticks import leaving_at_a_tick
from sfumato.engines.wordings import asked_meanwhile, broken_off
from sfumato.errors import EngineFailed, SfumatoError, data_changed
from sfumato.kernel.certify import Certified
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Receipt, Release, release
from sfumato.ledger.ledger import Ledger, now
from sfumato.ledger.payment import Draw, Payment, Sealed, Sealing, Stored


@dataclass(frozen=True, slots=True)
class Answered:
    """Releases, one per plan; `cached`: they were paid for and drawn before."""

    releases: tuple[Release, ...]
    when: str
    cached: bool


class _Here(local):
    """Of each thread a lock of its own, held from when it asks until it has its answer."""

    def __init__(self) -> None:
        self.asking = Lock()


_HERE = _Here()


def answer(
    ledger: Ledger, paid: Payment | Draw, engines: Engines, entropy: Entropy, copies: Copies | None = None
) -> Answered:
    """What was paid for: as it was kept, or drawn now.

    Claim: the engine runs only with a charge or draw on disk, which is never refunded; what is shown left the gate, at
    a tick, and was kept before. A failure of the engine is kept, so that it is not looked for twice. A look that was
    broken off is resumed for the same charge, because nothing was shown: three times, then it has failed.
    The state of the data is the one that the payment names: before the charge, and as the engine looks, whatever others
    name meanwhile. `copies` are what an engine, whose lane is itself, keeps from draw to draw; without, what a
    plan wants kept is dropped with the answer. Who asks while the same thread asks is refused, and waits for nobody.
    """
    if copies is not None and not copies.are_of(engines):
        raise ValueError("copies are of another engine")
    with _asking():
        return _answer(ledger, paid, engines, entropy, copies)


def _answer(
    ledger: Ledger, paid: Payment | Draw, engines: Engines, entropy: Entropy, copies: Copies | None
) -> Answered:
    stored = ledger.found(paid)
    if stored is not None:
        return Answered(stored.releases, stored.when, cached=True)
    asked = paid.analyst, paid.digest  # once at a time: whoever repeats it finds what was kept, and looks for nothing
    with engines.lane(asked) as engine, engine.slot():  # before the charge: who waits for others has not paid yet
        if engine.version() != paid.version:
            raise data_changed()
        bought = ledger.charge(paid) if isinstance(paid, Payment) else ledger.draw(paid)
        if isinstance(bought, Stored):
            return Answered(bought.releases, bought.when, cached=True)
        with leaving_at_a_tick(shortest_ns=engine.shortest_tick):
            kept = Copies(engine) if copies is None else copies
            try:
                return Answered(_drawn(ledger, paid, bought, engine, entropy, kept), now(), cached=False)
            finally:
                if copies is None:
                    kept.close()


def sealed(ledger: Ledger, sealing: Sealing) -> Sealed:
    """An envelope, charged now or before; nothing is looked at."""
    with _asking():
        return ledger.seal(sealing)


def written(certified: Certified, dialect: Dialect, names: Names = NOTHING_KEPT) -> tuple[str, ...]:
    """The SQL that an engine is told for a plan: all that it is ever told, but for sources that it is to keep."""
    return tuple(emit(counting, certified.schema, dialect, names) for counting in certified.countings)


def _asking() -> AbstractContextManager[object]:
    """Not in the middle of another: a handler of signals would wait for those who wait for what its thread holds.

    The lock itself: its `with` is no Python, in which a Ctrl-C could leave it taken for ever.
    """
    if _HERE.asking.locked():
        raise asked_meanwhile()
    return _HERE.asking


def _drawn(
    ledger: Ledger, paid: Payment | Draw, receipt: Receipt, engine: Engine, entropy: Entropy, copies: Copies
) -> tuple[Release, ...]:
    try:
        names = copies.names(paid.plans, paid.version)
        asked = [(plan.countings, written(plan, engine.dialect, names)) for plan in paid.plans]
        found = look_at_all(engine, asked, paid.version)
        made = [release(plan, receipt, one, entropy) for plan, one in zip(paid.plans, found, strict=True)]
        return ledger.store(paid, made)
    except BaseException as error:  # noqa: BLE001 - raised below, or told in one text
        broken = error
    # Not in the except: what anybody else said may quote a row, or say for how many rows there was no memory, and would
    # be shown beside it.
    broken.__context__ = broken.__cause__ = None
    try:
        if isinstance(broken, EngineFailed):
            ledger.fail(receipt.entry, broken)  # where it cannot be kept, it is not told
    finally:
        copies.close()  # what a draw that failed has kept is for nobody
    if isinstance(broken, Exception) and not isinstance(broken, SfumatoError):
        raise broken_off()
    raise broken
