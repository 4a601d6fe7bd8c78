"""What is left, for people."""

from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.kernel.cost import Cost
from sfumato.ledger.admission import totals
from sfumato.ledger.book import Book
from sfumato.ledger.terms import Amount, Terms, rounded_down
from sfumato.plots.fragment import fragment
from sfumato.plots.page import Table, table


@dataclass(frozen=True, slots=True)
class Balance:
    """The limit, what was spent of it and what is left, for one analyst; and the δ left for discovering keys.

    Kept exactly; what that is in (ε, δ) is reckoned when somebody looks.
    """

    _terms: Terms = field(repr=False)
    _spent: tuple[Fraction, Fraction] = field(repr=False)
    _left: Fraction = field(repr=False)
    _left_for_keys: Fraction = field(default=Fraction(0), repr=False)
    more: int | None = None

    @property
    def limit(self) -> Amount:
        return Amount(float(self._terms.budget.epsilon), float(self._terms.budget.delta))

    @property
    def spent(self) -> Amount:
        return self._terms.spent(*self._spent)

    @property
    def left(self) -> Amount:
        return self._terms.left(self._left)

    @property
    def left_for_keys(self) -> float:
        return float(self._left_for_keys)

    def cost(self, spend: Fraction, delta: Fraction) -> Amount:
        """(ε, δ) of one question, as its spend was typed."""
        return self._terms.cost(spend, delta)

    def _repr_html_(self) -> str:
        """For a notebook."""
        amounts = {"limit": self.limit, "spent": self.spent, "left": self.left}
        rows = [[name, rounded_down(amount.epsilon, 6), f"{amount.delta:g}"] for name, amount in amounts.items()]
        rows += [["left for keys", "", f"{self.left_for_keys:g}"]] if self.limit.delta else []
        return fragment(table(Table(["", "epsilon", "delta"], rows)))

    def __repr__(self) -> str:
        names = ("limit", "spent", "left", "left_for_keys", "more")
        return f"Balance({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


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
    return Balance(terms, (total, delta_total), left, keys, many)
