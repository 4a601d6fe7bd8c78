"""The whole ledger, checked: its file, every entry, and whether each charge kept to the limits of its time."""

from fractions import Fraction

from sfumato.ledger.book import Book, demand
from sfumato.ledger.chain import Chain
from sfumato.ledger.entry import Entry
from sfumato.ledger.history import history_line
from sfumato.ledger.releases import kept_failure, kept_release
from sfumato.ledger.terms import Terms
from sfumato.ledger.totals import ROUNDED_TO
from sfumato.schema.budget import Budget

# The best conversion of ε to ρ is searched with doubles: another machine's may be better by less than this.
CONVERSIONS_DIFFER_BY = Fraction(1, 10**9)


def verified(chain: Chain) -> Book:
    """The book of a sound ledger.

    Claim: raises unless every hash is right, no tree of the file contradicts another, the entries are such as a ledger
    writes (see `Book.take`), what they keep for people can be read, and no charge went over a limit that was in force.
    """
    chain.verify()
    book = Book()
    for entry in chain.entries():
        book.take(entry)
        if entry.kind == "charge":
            _check_limits(book, entry)
            history_line(entry)
        if entry.kind == "release":
            kept_release(entry)
        if entry.kind == "failure":
            kept_failure(entry)
    return book


def _check_limits(book: Book, entry: Entry) -> None:
    """A total may have been rounded up after it was compared, by less than the rounding."""
    limit, analyst = book.limit, str(entry.analyst)
    own = book.analyst_limits.get(analyst)
    within = book.total < _most(limit) and book.delta_total < Terms(limit).pot + Fraction(1, ROUNDED_TO)
    if own is not None:
        within = within and book.analyst_totals[analyst] < _most(Budget(own, limit.delta))
    demand(within, entry.seq, "charges more than was left")


def _most(limit: Budget) -> Fraction:
    terms = Terms(limit)
    slack = terms.limit * CONVERSIONS_DIFFER_BY if terms.currency == "rho" else Fraction(0)
    return terms.limit + slack + Fraction(1, ROUNDED_TO)
