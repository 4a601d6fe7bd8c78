"""What a list of mechanisms costs together: every bound side by side, and the best of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.accounting.events import Event, Plan, plan
from sfumato.accounting.losses import losses
from sfumato.accounting.optimal import optimal_delta, optimal_epsilon
from sfumato.accounting.pld import delta_of, epsilon_of
from sfumato.accounting.rounding import up
from sfumato.accounting.simple import advanced, own_delta, rdp, sequential, thesis, zcdp
from sfumato.accounting.wordings import delta_needed, delta_used_up
from sfumato.errors import out_of_range
from sfumato.schema.numbers import GivenNumber, exact, shown

Events = Iterable[Any] | Mapping[Any, int]

NO_OPTIMUM = "the optimum over everything that is (epsilon, delta)-DP needs an epsilon of every mechanism."
DESCRIPTIONS = {
    "sequential": "the epsilons added up",
    "advanced": "Dwork, Rothblum, Vadhan 2010",
    "thesis": "2 ε √(2 k ln(1/δ)), where it is proved",
    "zcdp": "the rhos added up, then converted",
    "rdp": "Rényi divergences added up, then converted",
    "pld": "the privacy losses themselves added up",
    "optimal": "exact, knowing of each mechanism only its epsilon",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """ε of the whole at one δ, by every way of adding up. Each is true; the smallest says most.

    `advanced` is None where e^ε leaves the doubles, `thesis` outside the range in which it is proved, `optimal`
    where a mechanism has no ε of its own.
    """

    events: Plan
    delta: float
    sequential: float
    advanced: float | None
    thesis: float | None
    thesis_reason: str
    zcdp: float
    rdp: float
    pld: float
    optimal: float | None

    @property
    def best(self) -> tuple[str, float]:
        """The name and the ε of the smallest bound."""
        return min(((name, value) for name, value in self._values() if value is not None), key=lambda pair: pair[1])

    @property
    def epsilon(self) -> float:
        """The smallest bound."""
        return self.best[1]

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row a bound: its name, its ε (None where it does not apply), and what it is or why it does not apply."""
        reasons = {"thesis": self.thesis_reason, "optimal": NO_OPTIMUM, "advanced": "e^epsilon is beyond every number."}
        return [
            {"bound": name, "epsilon": value, "says": reasons[name] if value is None else DESCRIPTIONS[name]}
            for name, value in self._values()
        ]

    def to_dict(self) -> dict[str, object]:
        """What `--format json` prints."""
        result: dict[str, object] = {}
        for name, value in self._values():
            result[name] = value
            if value is None:
                result[f"{name}_reason"] = next(row["says"] for row in self.rows if row["bound"] == name)
        return result

    def __str__(self) -> str:
        lines = [f"{count} × {event}" for event, count in self.events[:LISTED]]
        if len(self.events) > LISTED:
            lines.append(f"and {len(self.events) - LISTED} more")
        lines.append(f"delta {self.delta:g}")
        lines += [
            f"  {row['bound']:<11}{'-' if row['epsilon'] is None else format(row['epsilon'], '.4f'):>12}  {row['says']}"
            for row in self.rows
        ]
        return "\n".join(lines)

    def _values(self) -> list[tuple[str, float | None]]:
        return [
            ("sequential", self.sequential),
            ("advanced", self.advanced),
            ("thesis", self.thesis),
            ("zcdp", self.zcdp),
            ("rdp", self.rdp),
            ("pld", self.pld),
            ("optimal", self.optimal),
        ]


LISTED = 8


def compose(events: Events, delta: GivenNumber = 1e-5) -> Bounds:
    """Every bound on what these mechanisms cost together at this δ.

    Claim: running all of them on the same data is (ε, delta)-DP for every ε in the table, in any order, each question
    chosen after the earlier answers; which mechanisms with which parameters must be fixed in advance (for parameters
    that depend on answers use a filter).
    Needs: 0 < delta < 1, above what the mechanisms lose themselves. "laplace" and "geometric" are about one number
    or a vector of which one person moves one entry; anything else of that ε is "pure".
    Proof: docs/proofs/composition.md, docs/proofs/pld.md, docs/proofs/optimal-composition.md
    """
    listed, chance = plan(events), _delta(delta)
    if own_delta(listed) >= chance:
        raise delta_used_up(shown(own_delta(listed)), shown(chance))
    simplified, reason = thesis(listed, chance)
    in_all, divergences = sequential(listed, chance), rdp(listed, chance)
    return Bounds(
        listed,
        float(chance),
        in_all,
        advanced(listed, chance),
        simplified,
        reason,
        zcdp(listed, chance),
        divergences,
        min(in_all, divergences, _pld_epsilon(listed, float(chance))),
        optimal_epsilon(listed, chance) if _all_have_epsilon(listed) else None,
    )


def epsilon(events: Events, delta: GivenNumber = 1e-5) -> float:
    """The smallest ε known for these mechanisms together at this δ: `compose(events, delta).epsilon`."""
    return compose(events, delta).epsilon


def delta(events: Events, epsilon: GivenNumber) -> float:
    """The smallest δ known for these mechanisms together at this ε.

    Claim: running all of them on the same data is (epsilon, result)-DP, as in `compose`.
    Needs: epsilon >= 0.
    """
    listed, price = plan(events), exact(epsilon, "epsilon")
    if price < 0:
        raise out_of_range("epsilon", "0", "any number", shown(price))
    if _all_have_epsilon(listed):
        if price >= sum((count * event.amount for event, count in listed), Fraction(0)):
            return up(min(own_delta(listed), Fraction(1)))
        best = optimal_delta(listed, float(price))
    else:
        best = 1.0
    return min(best, *(delta_of(laws, float(price)) for laws in _readings(listed, 1e-10)))


def _pld_epsilon(listed: Plan, chance: float) -> float:
    return min(epsilon_of(laws, chance) for laws in _readings(listed, chance))


def _readings(listed: Plan, chance: float) -> list[Any]:
    """Exponential choices are bounded in two ways, well for few and well for many; both are true."""
    readings = [losses(listed, delta=chance)]
    pooled = tuple((_pooled(event), count) for event, count in listed)
    return readings if pooled == listed else [*readings, losses(pooled, delta=chance)]


def _pooled(event: Event) -> Event:
    return Event("zcdp", event.rho) if event.mechanism == "exponential" else event


def _all_have_epsilon(listed: Plan) -> bool:
    return all(event.epsilon is not None for event, _ in listed)


def _delta(value: GivenNumber) -> Fraction:
    chance = exact(value, "delta")
    if not 0 < chance < 1:
        raise delta_needed()
    return chance
