"""Several people at once: groups that stick together, and parts of the data that share nobody."""

from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from sfumato.accounting.events import PURE, Event, event
from sfumato.accounting.wordings import (
    declaration_missing,
    group_says_nothing,
    neighbours_unknown,
    no_events,
    partition_depends_on_data,
    parts_differ,
)
from sfumato.schema.numbers import whole

DIGITS = Context(prec=50, rounding=ROUND_CEILING)
SLACK = 1 + Decimal(10) ** -40
LARGEST_EXPONENT = 2000
DELTA_GRID = 10**60
NEIGHBOURS = ("add or remove", "replace")


def group(mechanism: Any, size: int) -> Event:
    """What an event is for a group of this many people who are all in the data, or all out.

    Claim: pure ε becomes size · ε; (ε, δ) becomes (size · ε, δ (e^(size ε) - 1) / (e^ε - 1)); ρ becomes size² · ρ, and
    with a δ of its own is refused; Laplace, geometric and Gaussian noise keep their law with the larger sensitivity.
    Needs: size >= 1.
    Proof: docs/proofs/group-privacy.md
    """
    one, people = event(mechanism), whole(size, "size", least=1)
    match one.mechanism:
        case "gaussian":
            return Event("gaussian", one.amount / people)
        case "zcdp" if one.detail and people > 1:  # what δ grows to depends on more than ρ
            raise group_says_nothing()
        case "zcdp":
            return Event("zcdp", one.amount * people**2, one.detail)
        case "discrete_gaussian":
            return Event("discrete_gaussian", one.amount, one.detail * people)
        case "geometric":
            return Event("geometric", one.amount * people, one.detail * people)
        case "approximate":
            return Event("approximate", one.amount * people, _group_delta(one, people))
        case "laplace" | "exponential" | "permute_and_flip" as name:
            return Event(name, one.amount * people)
        case _:
            return Event("pure", one.amount * people)


def parallel(parts: Iterable[Any], *, neighbours: str, fixed_in_advance: bool, parts_per_unit: int = 1) -> Event:
    """What mechanisms on separate parts of the data cost together.

    Claim: under "add or remove" the `parts_per_unit` largest costs added up. Under "replace" a unit may change inside
    its parts as well as move, so every part counts as for a group of two.
    Needs: a rule that looks at one record at a time, and at nothing else, puts it into its part, and `fixed_in_advance`
    says so; no unit is in more than `parts_per_unit` parts; each mechanism is private under add or remove, so that it
    does not take the size of its part as known. The parts are all pure, all zCDP or all (ε, δ).
    Proof: docs/proofs/parallel-composition.md
    """
    if not isinstance(fixed_in_advance, bool):
        raise declaration_missing()
    if not fixed_in_advance:
        raise partition_depends_on_data()
    if neighbours not in NEIGHBOURS:
        raise neighbours_unknown(repr(neighbours))
    costs = [_cost(event(part)) for part in parts]
    if not costs:
        raise no_events()
    if len({cost.mechanism for cost in costs}) > 1:
        raise parts_differ()
    if neighbours == "replace":
        costs = [group(cost, 2) for cost in costs]
    several = whole(parts_per_unit, "parts_per_unit", least=1)
    return Event(
        costs[0].mechanism,
        sum(sorted((cost.amount for cost in costs), reverse=True)[:several], Fraction(0)),
        sum(sorted((cost.detail for cost in costs), reverse=True)[:several], Fraction(0)),
    )


def _cost(part: Event) -> Event:
    """The event as a bare price: pure, zCDP or approximate."""
    if part.mechanism in PURE:
        return Event("pure", part.amount)
    return part if part.mechanism == "approximate" else Event("zcdp", part.rho, part.delta)


def _group_delta(one: Event, people: int) -> Fraction:
    """δ (1 + e^ε + … + e^((size - 1) ε)), rounded up to a multiple of 1e-60."""
    if people * one.amount > LARGEST_EXPONENT and one.detail:
        raise group_says_nothing()
    with localcontext(DIGITS):
        epsilon = Decimal(one.amount.numerator) / Decimal(one.amount.denominator)
        chance = Decimal(one.detail.numerator) / Decimal(one.detail.denominator)
        growth = ((people * epsilon).exp() - 1) / (epsilon.exp() - 1)
        scaled = chance * growth * SLACK * DELTA_GRID
        result = Fraction(int(scaled.to_integral_value(rounding=ROUND_CEILING)), DELTA_GRID)
    if result >= 1:
        raise group_says_nothing()
    return result
