"""What an earlier charge or draw has bought: found by its name, and believed if somebody with the key wrote it."""

from collections.abc import Sequence

from sfumato.errors import EngineFailed
from sfumato.kernel.gate import Release
from sfumato.kernel.shape import fits
from sfumato.ledger.book import Book, demand
from sfumato.ledger.data_key import keyed
from sfumato.ledger.entry import Entry
from sfumato.ledger.payment import Draw, Payment, Sealing, Stored
from sfumato.ledger.records import Records
from sfumato.ledger.releases import is_veiled, kept_failure, kept_releases, kept_when
from sfumato.ledger.wordings import (
    envelope_of_other_data,
    not_an_envelope,
    request_conflict,
    request_of_before,
    veiled_otherwise,
)

OTHERWISE = "was paid for something else than it names"
MISSHAPEN = "keeps an answer of another shape than was paid for"
UNMARKED = "was written by somebody who does not have the key"


class Bought:
    """Claim: no entry that somebody without the key has added is shown for a question, or takes the place of another's.

    It counts all the same: what it says was spent is spent. What is given here is to be covered before it is shown.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    def known(self, book: Book, paid: Payment | Draw | Sealing) -> Entry | None:
        """The charge or draw that this one repeats. One of 0.1.0 is never taken for it.

        A draw needs no mark: it has a name of its own in its envelope, and what it took is compared.
        """
        if isinstance(paid, Draw):
            self._demand_envelope(book, paid)
            drawn = book.draws.get((paid.envelope, paid.name))
            return None if drawn is None else self._records.proven(book, drawn)
        question = paid.name(self._records.key)
        if paid.request is not None:
            same_request = book.requests.get((paid.analyst, paid.request))
            if same_request is not None:
                if same_request.old:
                    raise request_of_before(paid.request, same_request.seq)
                if same_request.question != question:
                    raise request_conflict(paid.request)
                return self._marked(book, [same_request.seq]) or _refuse(paid.request)
        return None if paid.fresh else self._marked(book, book.questions.get((paid.analyst, question), ()))

    def kept(self, book: Book, known: Entry, paid: Payment | Draw) -> Stored | EngineFailed | None:
        """What was kept for a charge or draw that this payment repeats; None while nothing is."""
        demand(known.seq in book.paid and paid.was_paid_by(known), known.seq, OTHERWISE)
        return self.kept_for(book, known.seq, paid)

    def kept_for(self, book: Book, charge: int, paid: Payment | Draw) -> Stored | EngineFailed | None:
        """The same of a charge that was paid for this. The shape of an answer is compared before it is read."""
        entry = self._entry(book, charge)
        if entry is None:
            return None
        demand(self._records.marks(book, entry), entry.seq, UNMARKED)
        found = self._read(entry)
        demand(not isinstance(found, Stored) or fit(found.releases, paid), entry.seq, MISSHAPEN)
        return found

    def recalled(self, book: Book, charge: int, analyst: str) -> tuple[Entry, Stored | EngineFailed] | None:
        """A charge of this analyst and what was kept for it.

        A charge of 0.1.0 has no mark, and one of before the key was lost none that is known: no question finds it, and
        by its number it shows what is kept, if that can be read. For a charge with a mark only what has one is shown.
        """
        found = self._records.proven(book, charge) if charge in book.paid else None
        entry = self._entry(book, charge)
        if found is None or entry is None or (found.kind, found.analyst) != ("charge", analyst):
            return None
        if not self._records.marks(book, entry):
            demand(not self._records.marks(book, found), entry.seq, UNMARKED)
            if is_veiled(entry):
                raise veiled_otherwise(charge)
        return found, self._read(entry)

    def _entry(self, book: Book, charge: int) -> Entry | None:
        """Of 0.1.0 there may be a failure and then an answer; that is what counts."""
        seq = book.releases.get(charge) or book.failures.get(charge)
        return None if seq is None else self._records.proven(book, seq)

    def _read(self, kept: Entry) -> Stored | EngineFailed:
        if kept.kind == "failure":
            return kept_failure(kept)
        return Stored(kept_releases(kept, self._records.key), kept_when(kept))

    def _marked(self, book: Book, charges: Sequence[int]) -> Entry | None:
        """The newest that somebody with the key wrote."""
        entries = (self._records.proven(book, seq) for seq in reversed(charges))
        return next((entry for entry in entries if self._records.marks(book, entry)), None)

    def _demand_envelope(self, book: Book, draw: Draw) -> None:
        """Claim: nobody is told of draws from an envelope of somebody else's, or of another state of the data."""
        envelope = book.envelopes.get(draw.envelope)
        if envelope is None or envelope.analyst != draw.analyst:
            raise not_an_envelope(draw.envelope)
        if envelope.data != keyed(self._records.key, "data", draw.version):
            raise envelope_of_other_data(draw.envelope)


def fit(releases: Sequence[Release], paid: Payment | Draw) -> bool:
    return len(releases) == len(paid.plans) and all(map(fits, releases, paid.plans))


def _refuse(request: str) -> Entry:
    raise request_conflict(request)
