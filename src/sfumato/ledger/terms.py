"""The currency of a limit: what a spend costs in it, and what an amount means in (ε, δ)."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from math import inf, nextafter

from sfumato.kernel.cost import Cost, Currency, epsilon_for, rho_for
from sfumato.ledger.wordings import spend_buys_nothing
from sfumato.schema.budget import Budget
from sfumato.schema.numbers import shown

DISCOVERIES = 50
FINEST_LEFT = 10**9


@dataclass(frozen=True, slots=True)
class Amount:
    """(ε, δ) for people: doubles, each rounded in the direction that promises nothing too much."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"epsilon {rounded_down(self.epsilon)}" + (f", delta {self.delta:.6g}" if self.delta else "")


@dataclass(frozen=True, slots=True)
class Terms:
    """With δ = 0 amounts are pure ε; else ρ, converted with half of δ (the other half is for discovering keys)."""

    budget: Budget

    @property
    def currency(self) -> Currency:
        return "rho" if self.budget.delta else "epsilon"

    @property
    def conversion_delta(self) -> Fraction:
        return self.budget.delta / 2

    @property
    def limit(self) -> Fraction:
        return self._amount(self.budget.epsilon)

    @property
    def pot(self) -> Fraction:
        """The δ of the limit that is kept for discovering keys."""
        return self.budget.delta - self.conversion_delta

    def for_keys(self, delta: Fraction | None) -> Fraction:
        """What a question that discovers keys takes from the pot: by default a fiftieth of all that was there."""
        return self.pot / DISCOVERIES if delta is None else delta

    def price(self, spend: Fraction) -> Cost:
        """What a question that may cost ε = spend is charged: all of it in pure ε, else the largest ρ it pays for."""
        amount = self._amount(spend)
        if amount <= 0:
            raise spend_buys_nothing(shown(spend))
        return Cost(self.currency, amount)

    def cost(self, spend: Fraction, delta: Fraction = Fraction(0)) -> Amount:
        """(ε, δ) of one question, as its spend was typed."""
        return Amount(_float_up(spend), _float_up(self.conversion_delta + delta))

    def spent(self, amount: Fraction, delta: Fraction = Fraction(0)) -> Amount:
        """(ε, δ) of everything charged so far, rounded up."""
        epsilon = epsilon_for(amount, self.conversion_delta) if self.budget.delta else amount
        return Amount(_float_up(epsilon), _float_up(self.conversion_delta + delta if amount else Fraction(0)))

    def left(self, amount: Fraction) -> Amount:
        """The largest spend that `amount` still pays for, rounded down."""
        if amount <= 0:
            return Amount(0.0, 0.0)
        if not self.budget.delta:
            return Amount(_float_down(amount), 0.0)
        epsilon = Fraction(int(epsilon_for(amount, self.conversion_delta) * FINEST_LEFT), FINEST_LEFT)
        step = Fraction(1, FINEST_LEFT)
        while epsilon > 0 and self._amount(Fraction(repr(_float_down(epsilon)))) > amount:
            epsilon, step = epsilon - step, 2 * step
        return Amount(max(_float_down(epsilon), 0.0), float(self.conversion_delta))

    def _amount(self, epsilon: Fraction) -> Fraction:
        return rho_for(epsilon, self.conversion_delta) if self.budget.delta else epsilon


def rounded_down(value: float, digits: int = 6) -> str:
    """A few digits of a number, never more than it: what is offered so can be typed in and is granted."""
    return f"{Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(repr(value)).normalize():f}"


def _float_up(value: Fraction) -> float:
    result = float(value)
    return result if Fraction(repr(result)) >= value else nextafter(result, inf)


def _float_down(value: Fraction) -> float:
    result = float(value)
    return result if Fraction(repr(result)) <= value else nextafter(result, -inf)
