"""What is left, for people."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.kernel.cost import Cost
from sfumato.ledger.admission import totals
from sfumato.ledger.book import Book
from sfumato.ledger.terms import Amount, Terms


@dataclass(frozen=True, slots=True)
class Balance:
    """The limit, what was spent of it and what is left, for one analyst; and the δ left for discovering keys."""

    limit: Amount
    spent: Amount
    left: Amount
    left_for_keys: float = 0.0
    more: int | None = None


def balance_of(book: Book, terms: Terms, analyst: str, like: Cost | None = None) -> Balance:
    """What is left; and of charges like this one, how many more would be granted one after the other."""
    total, analyst_total, delta_total = totals(book, analyst)
    own = book.analyst_limits.get(analyst)
    left, keys = terms.limit - total, max(terms.pot - delta_total, Fraction(0))
    if own is not None:
        left = min(left, terms.price(own).amount - analyst_total)
    many = None
    if like is not None:
        counts = [left // like.amount, *([keys // like.delta] if like.delta else [])]
        many = max(0, int(min(counts)))
    limit = Amount(float(terms.budget.epsilon), float(terms.budget.delta))
    return Balance(limit, terms.spent(total, delta_total), terms.left(left), float(keys), many)
