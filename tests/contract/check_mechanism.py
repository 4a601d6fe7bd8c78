"""One contract for every mechanism, and the machine that checks it.

A `Spec` says how to draw, what the exact law is, what is charged and recorded. `check_mechanism(spec)` raises
AssertionError where the mechanism does not keep the contract. False alarms: below 1e-6 each, and none is random, since
seeds are fixed.
"""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from math import exp, inf, log, sqrt
from typing import Any, Literal

from scipy import stats

from sfumato.kernel.cost import epsilon_for
from tests.entropy import SeededEntropy
from tests.kernel.laws import PRECISE, chi_square, decimal

Law = Mapping[Hashable, Decimal]

BAD = (float("nan"), float("inf"), 0, -1, True, "abc")
NARROW = Fraction(10, 9)  # the twin: this much dearer noise at the old price, nine tenths of its width
FALSE_ALARM = 1e-6
ORDERS = (Decimal("1.01"), Decimal(2), Decimal(8), Decimal(40))
ROUNDING = Decimal(10) ** -20


@dataclass(frozen=True)
class Spec:
    """What a mechanism promises, in a form that a machine can check.

    `draw(data, price, count, entropy)` gives `count` outcomes; `law(data, price)` their exact probabilities, which add
    up to 1. `neighbours` is a pair of data as unlike as the sensitivity allows. A price is ε, or ρ by `currency`.
    """

    name: str
    price: Fraction
    neighbours: tuple[Any, Any]
    draw: Callable[[Any, Fraction, int, Any], Sequence[Hashable]]
    law: Callable[[Any, Fraction], Law]
    cost: Callable[[Fraction], Fraction]
    event: Callable[[Fraction], Mapping[str, str]]
    refuses: Mapping[str, Callable[[Any], object]]
    currency: Literal["epsilon", "rho"] = "epsilon"
    delta: Fraction = Fraction(0)
    data: Any = None  # what is drawn from; the first of the neighbours if None
    bad: tuple[Any, ...] = BAD
    refusal: type[Exception] = ValueError
    errors: Callable[[Fraction, int, Any], Sequence[float]] | None = None  # (price, count, entropy) -> size of each
    error: Callable[[float, Fraction], float] | None = None  # (confidence, price) -> what they promise to stay within
    draws: int = 200_000
    also: tuple[str, ...] = ()  # other public names that `draw` takes turns with
    audit_flags_twin: bool = False  # an event is likely enough that counting alone convicts the twin

    @property
    def drawn_from(self) -> Any:
        return self.neighbours[0] if self.data is None else self.data

    @property
    def audit_draws(self) -> int:
        """A side; where counting is not expected to convict anybody, a quarter will do."""
        return self.draws if self.audit_flags_twin else self.draws // 4

    def narrow(self) -> Fraction:
        """The price that buys the twin's noise."""
        return self.price * (NARROW if self.currency == "epsilon" else NARROW**2)


def check_mechanism(spec: Spec) -> None:
    """Run every check of the contract."""
    for check in CHECKS:
        check(spec)


def check_reproducible(spec: Spec) -> None:
    runs = [list(spec.draw(spec.drawn_from, spec.price, 60, SeededEntropy(seed))) for seed in ("a", "a", "b")]
    assert runs[0] == runs[1], f"{spec.name}: the same entropy gave other draws"
    assert runs[0] != runs[2], f"{spec.name}: other entropy gave the same draws"
    assert len(runs[0]) == 60, f"{spec.name}: not as many draws as asked for"


def check_cost(spec: Spec) -> None:
    costs = [spec.cost(spec.price * factor) for factor in (Fraction(1, 10), Fraction(1), Fraction(2), Fraction(7))]
    assert all(type(cost) is Fraction and cost > 0 for cost in costs), f"{spec.name}: a cost is not a positive rational"
    assert costs == sorted(set(costs)), f"{spec.name}: a larger price does not cost more"
    assert costs[1] == spec.price, f"{spec.name}: charged something else than the price"


def check_event(spec: Spec) -> None:
    event = dict(spec.event(spec.price))
    assert all(type(key) is str and type(value) is str for key, value in event.items()), f"{spec.name}: not all texts"
    assert event.get("mechanism"), f"{spec.name}: the record does not name the mechanism"
    assert json.loads(json.dumps(event)) == event, f"{spec.name}: the record does not survive JSON"
    assert event != dict(spec.event(spec.price / 3)), f"{spec.name}: another price leaves the same record"
    for name, value in event.items():
        if name not in ("mechanism", "noise", "monotone"):
            assert str(Fraction(value)) == value, f"{spec.name}: {name} is not an exact number"


def check_error(spec: Spec) -> None:
    if spec.errors is None or spec.error is None:
        assert spec.errors is spec.error, f"{spec.name}: errors without a promise, or a promise without errors"
        return
    sizes = spec.errors(spec.price, min(spec.draws, 20_000), SeededEntropy(f"{spec.name} error"))
    for confidence in (0.5, 0.9, 0.99):
        bound, slack = spec.error(confidence, spec.price), 6 * sqrt(len(sizes) * confidence * (1 - confidence))
        inside = sum(size <= bound for size in sizes)
        assert inside >= confidence * len(sizes) - slack, f"{spec.name}: fewer draws are within the error than promised"


def check_law(spec: Spec) -> None:
    law = spec.law(spec.drawn_from, spec.price)
    with localcontext(PRECISE):
        assert abs(sum(law.values()) - 1) < ROUNDING, f"{spec.name}: the law does not add up to 1"
    right = _p_value(spec, spec.price, law, spec.draws)
    assert right > FALSE_ALARM, f"{spec.name}: draws do not follow the law (p = {right:.1e})"
    twin = _p_value(spec, spec.narrow(), law, spec.draws)
    assert twin < FALSE_ALARM, f"{spec.name}: draws of nine tenths of the noise pass for the law (p = {twin:.1e})"


def check_privacy(spec: Spec) -> None:
    excess = privacy_excess(spec, spec.price)
    assert excess <= ROUNDING, f"{spec.name}: loses more than it claims, by {excess:.3g}"
    twin = privacy_excess(spec, spec.narrow())
    assert twin > ROUNDING, f"{spec.name}: nine tenths of the noise are not over the claim"


def check_audit(spec: Spec) -> None:
    """Count an event on both sides: the certified lower bound of ε stays below what is claimed."""
    claimed = float(spec.price) if spec.currency == "epsilon" else float(epsilon_for(spec.price, Fraction(1, 10**5)))
    delta = float(spec.delta) if spec.currency == "epsilon" else 1e-5
    bound = audited(spec, spec.price, delta)
    assert bound <= claimed, f"{spec.name}: an audit certifies ε >= {bound:.3f}, above {claimed:.3f}"
    if spec.audit_flags_twin:
        assert audited(spec, spec.narrow(), delta) > claimed, f"{spec.name}: an audit does not convict the twin"


def check_refusals(spec: Spec) -> None:
    for name, call in spec.refuses.items():
        for bad in spec.bad:
            try:
                call(bad)
            except spec.refusal:
                continue
            raise AssertionError(f"{spec.name}: {name}={bad!r} was not refused")


CHECKS = (
    check_reproducible,
    check_cost,
    check_event,
    check_error,
    check_law,
    check_privacy,
    check_audit,
    check_refusals,
)


def privacy_excess(spec: Spec, price: Fraction) -> Decimal:
    """By how much noise bought at `price` misses what the spec's own price claims; exact, on the spec's neighbours."""
    one, two = (spec.law(data, price) for data in spec.neighbours)
    with localcontext(PRECISE):
        pairs = [(one.get(outcome, Decimal(0)), two.get(outcome, Decimal(0))) for outcome in one.keys() | two.keys()]
        if spec.currency == "rho":
            return max(_divergence(pairs, order) / order for order in ORDERS) - decimal(spec.price)
        if spec.delta:
            growth = decimal(spec.price).exp()
            ahead = sum(max(Decimal(0), p - growth * q) for p, q in pairs)
            back = sum(max(Decimal(0), q - growth * p) for p, q in pairs)
            return max(ahead, back) - decimal(spec.delta)
        if any((p == 0) != (q == 0) for p, q in pairs):
            return Decimal("inf")
        return max(abs((p / q).ln()) for p, q in pairs if p) - decimal(spec.price)


def audited(spec: Spec, price: Fraction, delta: float) -> float:
    """The ε that counts of one event prove, at most once in a million by chance (Clopper, Pearson 1934)."""
    event, swapped = _event_of(spec, price)
    sides, draws = spec.neighbours[::-1] if swapped else spec.neighbours, spec.audit_draws
    hits = []
    for place, data in enumerate(sides):
        drawn = Counter(spec.draw(data, price, draws, SeededEntropy(f"{spec.name} audit {place}")))
        hits.append(sum(drawn[outcome] for outcome in event))
    least = stats.beta.ppf(FALSE_ALARM / 2, hits[0], draws - hits[0] + 1) if hits[0] else 0.0
    most = stats.beta.ppf(1 - FALSE_ALARM / 2, hits[1] + 1, draws - hits[1]) if hits[1] < draws else 1.0
    return log((least - delta) / most) if least > delta else -inf


def _event_of(spec: Spec, price: Fraction) -> tuple[set[Hashable], bool]:
    """The outcomes whose loss is large, in the direction in which they are likelier; chosen from the law, not draws."""
    one, two = (spec.law(data, price) for data in spec.neighbours)
    best: tuple[float, set[Hashable], bool] = (-inf, set(), False)
    for swapped, (p, q) in enumerate(((one, two), (two, one))):
        for share in (0.3, 0.6, 0.9, 0.999):
            edge = exp(share * float(spec.price)) if spec.currency == "epsilon" else 1 + share
            event = {outcome for outcome, chance in p.items() if chance > Decimal(edge) * q.get(outcome, Decimal(0))}
            here = float(sum((p[outcome] for outcome in event), Decimal(0)))
            there = float(sum((q.get(outcome, Decimal(0)) for outcome in event), Decimal(0)))
            spread = 5 * sqrt(max(here, 1e-12) / spec.audit_draws)
            score = log(max(here - spread, 1e-12) / (there + 5 * sqrt(max(there, 1e-12) / spec.audit_draws)))
            best = max(best, (score, event, bool(swapped)), key=lambda found: found[0])
    return best[1], best[2]


def _divergence(pairs: Sequence[tuple[Decimal, Decimal]], order: Decimal) -> Decimal:
    """The larger Rényi divergence of the two directions."""
    totals = []
    for flip in (False, True):
        moment = Decimal(0)
        for pair in pairs:
            p, q = reversed(pair) if flip else pair
            if p and q:
                moment += q * (order * (p / q).ln()).exp()
            elif p:
                return Decimal("inf")
        totals.append(moment.ln() / (order - 1))
    return max(totals)


def _p_value(spec: Spec, price: Fraction, law: Law, draws: int) -> float:
    drawn = Counter(spec.draw(spec.drawn_from, price, draws, SeededEntropy(f"{spec.name} law")))
    if drawn.keys() - law.keys():
        return 0.0
    outcomes = sorted(law, key=repr)
    return chi_square([drawn[outcome] for outcome in outcomes], [float(law[outcome]) for outcome in outcomes])


def parameters(call: Callable[..., object], *fixed: Any, **given: Any) -> dict[str, Callable[[Any], object]]:
    """For each keyword, a call in which that one is replaced: what `refuses` needs."""

    def replaced(name: str, bad: object) -> object:
        return call(*fixed, **(given | {name: bad}))

    return {name: partial(replaced, name) for name in given}
