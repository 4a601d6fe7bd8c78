"""Whether a charge is granted: what is left of the table's limit and of the analyst's, and the refusal in words."""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from sfumato.errors import BudgetExceeded, plan_refused
from sfumato.kernel.cost import Cost
from sfumato.ledger.book import Book
from sfumato.ledger.limits import ROUNDING
from sfumato.ledger.terms import Terms, rounded_down
from sfumato.ledger.totals import bounded
from sfumato.ledger.wordings import over_budget, over_key_budget

Totals = tuple[Fraction, Fraction, Fraction]


def totals(book: Book, analyst: str) -> Totals:
    """What all have spent, what this analyst has, and what discovering keys took of δ."""
    return book.total, book.analyst_totals.get(analyst, Fraction(0)), book.delta_total


def admit(book: Book, terms: Terms, analyst: str, *, cost: Cost, spend: Fraction) -> Totals:
    """The totals after this charge, or BudgetExceeded."""
    if cost.currency != terms.currency or cost.amount <= 0 or cost.delta < 0:
        raise plan_refused(f"it is not paid in {terms.currency}, or costs nothing")
    total, analyst_total, delta_total = totals(book, analyst)
    left, _, _ = _left(book, analyst, terms)
    if cost.amount > left or delta_total + cost.delta > terms.pot:
        raise exceeded(book, terms, analyst, cost=cost, spend=spend)
    return bounded(total + cost.amount), bounded(analyst_total + cost.amount), bounded(delta_total + cost.delta)


def is_within(book: Book, analyst: str, terms: Terms) -> bool:
    """Whether all charges together are within the limits of now, to the last digit but that of rounded sums."""
    own = book.analyst_limits.get(analyst)
    within = book.total <= terms.limit + ROUNDING and book.delta_total <= terms.pot + ROUNDING
    return within and (
        own is None or book.analyst_totals.get(analyst, Fraction(0)) <= terms.price(own).amount + ROUNDING
    )


def exceeded(book: Book, terms: Terms, analyst: str, *, cost: Cost, spend: Fraction) -> BudgetExceeded:
    left, owner, limit = _left(book, analyst, terms)
    if cost.amount > left:
        least = rounded_down(terms.left(left).epsilon)
        return over_budget(_rounded_up(spend), owner, least, rounded_down(float(limit)))
    keys = max(terms.pot - book.delta_total, Fraction(0))
    return over_key_budget(f"{float(cost.delta):.6g}", f"{float(keys):.6g}")


def _left(book: Book, analyst: str, terms: Terms) -> tuple[Fraction, str, Fraction]:
    """Of the table or of the analyst, whoever has less: what is left, who it is, and the limit."""
    total, analyst_total, _ = totals(book, analyst)
    pots = [(terms.limit - total, "the table", terms.budget.epsilon)]
    own = book.analyst_limits.get(analyst)
    if own is not None:
        pots.append((terms.price(own).amount - analyst_total, f'analyst "{analyst}"', own))
    return min(pots, key=lambda pot: pot[0])


def _rounded_up(spend: Fraction) -> str:
    """Six digits, never less: a price just above the limit must not look like the limit."""
    context = Context(prec=6, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(spend.numerator), Decimal(spend.denominator)).normalize():f}"
