"""How much may be learnt in all."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.errors import out_of_range
from sfumato.schema.numbers import GivenNumber, exact, exact_positive, shown
from sfumato.schema.wordings import spend_too_small

# Every charge buys one look at the clock as well, which no noise covers: a budget must not hold too many of them.
LEAST_SPEND = Fraction(1, 1000)


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """The owner's limit (ε, δ). With δ = 0 the ledger adds pure ε, with δ > 0 it adds zCDP."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: GivenNumber, delta: GivenNumber = 0) -> None:
        probability = exact(delta, "delta")
        if not 0 <= probability < 1:
            raise out_of_range("delta", "0", "1", shown(probability))
        object.__setattr__(self, "epsilon", exact_positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability)

    def __str__(self) -> str:
        return f"epsilon {shown(self.epsilon)}" + (f", delta {shown(self.delta)}" if self.delta else "")


@dataclass(frozen=True, slots=True, init=False)
class Spend:
    """What one question may cost: ε, and the δ for discovering keys when not the usual fiftieth of the pot."""

    epsilon: Fraction
    delta: Fraction | None

    def __init__(self, epsilon: GivenNumber, delta: GivenNumber | None = None) -> None:
        object.__setattr__(self, "epsilon", exact_positive(epsilon, "spend"))
        if self.epsilon < LEAST_SPEND:
            raise spend_too_small(shown(LEAST_SPEND))
        chance = None if delta is None else exact_positive(delta, "delta")
        if chance is not None and chance >= 1:
            raise out_of_range("delta", "0", "1", shown(chance))
        object.__setattr__(self, "delta", chance)
