"""Every mechanism, as an auditor sees it: how to draw, on which neighbours, what it claims, what its law is."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

import numpy as np

import sfumato.noise as noise
from sfumato.audit import binned, laws, questions
from sfumato.audit.subject import ONE, Subject
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import epsilon_for
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.mechanisms.choice import Exponential
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.noise.sparse_vector import SparseVector
from sfumato.noise.stairs import DiscreteStaircase
from sfumato.plan.counting import WHOLE_WEIGHT, weights
from sfumato.plan.expressions import Column
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    BetweenEnds,
    Binned,
    CentredSum,
    Choose,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Measure,
    Plan,
    RangeKey,
    Sum,
    UnboundedSum,
)
from sfumato.schema.columns import Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit, UpTo

REACH = 60
DELTA = Fraction(1, 100)
EDGES = tuple(np.arange(-8, 9, 0.25))
STEPS = 1 << 20  # of the grid in a sensitivity of 1
NAMES = list("abcdef")
RARE = 9.2  # a score gap at which the exponential mechanism loses 0.98 of ε
AT_ONCE = 50_000


def clipped(outputs: Any) -> list[int]:
    return list(np.clip(np.asarray(outputs, dtype=np.int64), -REACH, REACH).tolist())


def in_bins(outputs: Any) -> list[int]:
    return list(np.searchsorted(EDGES, np.asarray(outputs), side="right").tolist())


def _numeric(mechanism: str, value: float, count: int, price: Fraction, entropy: Entropy) -> Any:
    call: Callable[..., Any] = getattr(noise, mechanism)
    given = {"delta": DELTA} if mechanism == "gaussian" else {}
    zeros = np.full(count, int(value)) if mechanism == "geometric" else np.full(count, float(value))
    return call(zeros, sensitivity=1, epsilon=price, entropy=entropy, **given)


def _real_law(mechanism: str, value: float, price: Fraction) -> laws.Law:
    given = {"delta": DELTA} if mechanism == "gaussian" else {}
    about = noise.describe(mechanism, sensitivity=1, epsilon=price, entries=AT_ONCE, **given)
    return laws.bins(float(about.step), about.scale, value, EDGES, mechanism)


def _staircase(value: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    return DiscreteStaircase.for_epsilon(price, 8).draw(count, entropy) + value


def _choose(
    call: Callable[..., Any], scores: Sequence[int], count: int, price: Fraction, entropy: Entropy
) -> list[int]:
    names = range(len(scores))
    return [call(names, scores, sensitivity=1, epsilon=price, entropy=entropy) for _ in range(count)]


def _exponential(scores: Sequence[float], count: int, price: Fraction, entropy: Entropy) -> Any:
    return Exponential(price, ONE).draws(np.array(scores, dtype=np.float64), count, entropy)


def _top_two(scores: Sequence[int], count: int, price: Fraction, entropy: Entropy) -> list[tuple[int, ...]]:
    names = range(len(scores))
    return [tuple(noise.top_k(names, scores, 2, sensitivity=1, epsilon=price, entropy=entropy)) for _ in range(count)]


def _above(values: Sequence[int], count: int, price: Fraction, entropy: Entropy) -> list[tuple[bool, ...]]:
    """A change of one step of the grid costs `price`, so that the law can be summed up."""
    reals = [value / STEPS for value in values]
    return [
        tuple(noise.above_threshold(reals, 0, sensitivity=1, epsilon=price * STEPS, entropy=entropy))
        for _ in range(count)
    ]


def keys_drawn(delta: Fraction, units: int, count: int, price: Fraction, entropy: Entropy) -> list[int | None]:
    """The noisy number of a key's units where it is shown."""
    noisy, shown = KeySelection(price, delta).select(np.full(count, units), entropy)
    return [int(number) if passed else None for number, passed in zip(noisy, shown, strict=True)]


def _keys_law(units: int, price: Fraction) -> laws.Law:
    selection = KeySelection(price, DELTA)
    law = laws.gaussian(float(selection.law.variance), units, REACH)
    hidden = sum(chance for value, chance in law.items() if isinstance(value, int) and value < selection.threshold)
    return {None: hidden} | {value: law[value] for value in range(selection.threshold, REACH + 1)}


MECHANISMS = (
    Subject(
        "laplace",
        (0, 1),
        partial(_numeric, "laplace"),
        partial(_real_law, "laplace"),
        in_bins,
        draws=AT_ONCE * 4,
    ),
    Subject(
        "geometric",
        (0, 1),
        partial(_numeric, "geometric"),
        lambda value, price: laws.laplace(float(1 / price), value, REACH),
        clipped,
    ),
    Subject("gaussian", (0, 1), partial(_numeric, "gaussian"), partial(_real_law, "gaussian"), in_bins, delta=DELTA),
    Subject(
        "staircase",
        (0, 8),
        _staircase,
        lambda value, price: laws.staircase(DiscreteStaircase.for_epsilon(price, 8), value, REACH),
        clipped,
    ),
    Subject(
        "exponential",
        ([RARE, 0.0], [RARE - 1, 1.0]),
        _exponential,
        lambda scores, price: laws.exponential(float(price) / 2, scores),
        draws=4_000_000,
    ),
    Subject(
        "permute_and_flip",
        ([2, 0], [1, 1]),
        partial(_choose, noise.permute_and_flip),
        lambda scores, price: laws.permute_and_flip(float(price) / 2, scores),
        draws=60_000,
    ),
    Subject(
        "noisy_max",
        ([2, 0], [1, 1]),
        partial(_choose, noise.noisy_max),
        lambda scores, price: laws.permute_and_flip(float(price) / 2, scores),
        draws=60_000,
    ),
    Subject(
        "top_k",
        ([0, 0, 2, 2], [1, 1, 1, 1]),
        _top_two,
        lambda scores, price: laws.top_k(float(price) / 4, scores, 2),
        price=Fraction(3),
        draws=40_000,
    ),
    Subject(
        "randomised_response",
        (True, False),
        lambda value, count, price, entropy: noise.randomised_response(
            np.full(count, value), epsilon=price, entropy=entropy
        ),
        lambda value, price: laws.response(float(price), [False, True], value),
        lambda outputs: np.asarray(outputs).tolist(),
    ),
    Subject(
        "randomised_response, 4 answers",
        ("a", "b"),
        lambda value, count, price, entropy: noise.randomised_response(
            np.full(count, value), epsilon=price, categories=NAMES[:4], entropy=entropy
        ).tolist(),
        lambda value, price: laws.response(float(price), NAMES[:4], value),
    ),
    Subject(
        "above_threshold",
        ([-1] * 8 + [2], [0] * 8 + [1]),  # eight noes and a yes lose most of ε
        _above,
        lambda values, price: laws.first_above(SparseVector(price * STEPS, STEPS), values),
        price=Fraction(3),
        draws=40_000,
    ),
    Subject(
        "key_selection",
        (3, 4),
        partial(keys_drawn, DELTA),
        _keys_law,
        lambda outputs: [None if output is None else min(output, REACH) for output in outputs],
        price=Fraction(1, 2),
        delta=2 * DELTA,
        in_rho=True,
        claimed=epsilon_for(Fraction(1, 2), DELTA),
    ),
)


# ---- aggregates: certify and gate on fixed integers ----------------------------------------------------------

LATTICE = Lattice(0, 40, 0)
AGGREGATES: dict[str, Aggregate] = {
    "COUNT(*)": CountRows(),
    "COUNT(x)": CountValues(Column("x")),
    "SUM(x)": Sum(Column("x"), LATTICE),
    "AVG(x), its sum": CentredSum(Column("x"), LATTICE),
    "COUNT(DISTINCT x)": CountDistinct(Column("x")),
    "COUNT(DISTINCT who)": CountPeople(),
    "people above a cap": CountCut(),
    "HISTOGRAM(x, 2)": binned.TWO,
    "crossed cells": binned.CROSSED,
    "sums in cells": binned.SUMS,
    "a split by gini": questions.GINI,
    "a split by the largest class": questions.LARGEST,
    "a gap to a model": questions.GAP,
    "CDF(x, 40)": binned.RUNNING,
    "MEDIAN(x)": binned.MEDIAN,
    "MODE(c)": binned.FAVOURITE,
    "SUM(x) without bounds": binned.WIDE,
    "VARIANCE(x) without bounds": binned.SPREAD,
}
SLOW = {
    "MEDIAN(x)": 10_000,
    "SUM(x) without bounds": 8_000,
    "VARIANCE(x) without bounds": 12_000,
    "MODE(c)": 40_000,
    "CDF(x, 40)": 50_000,
    "HISTOGRAM(x, 2)": 50_000,
    "crossed cells": 50_000,
    "sums in cells": 50_000,
    "a split by gini": 20_000,
    "a split by the largest class": 20_000,
    "a gap to a model": 20_000,
}
UNITS: dict[str, Unit] = {"row": Row(), "person": Person("who", max_rows=2, max_groups=1), "up to 2 rows": UpTo(2)}
OF_ROWS = ("COUNT(*)", "SUM(x)", "COUNT(DISTINCT x)", "MEDIAN(x)")  # one of each kind of counting that needs no id


def _released(
    aggregate: Aggregate, unit: Unit, value: int, count: int, price: Fraction, entropy: Entropy, *, in_rho: bool
) -> Any:
    """Many groups at a time, each with the same integer: each group is one run."""
    schema = Schema("t", unit, {"x": Float(0, 40), "g": Int(1, AT_ONCE)})
    measure = Measure(aggregate, "gaussian" if in_rho else "laplace", price)
    plan = Plan("t", unit, None, (RangeKey(Column("g"), 1, AT_ONCE),), (measure,))
    certified = certify(plan, schema, "rho" if in_rho else "epsilon")
    drawn = [
        np.array(release(certified, Receipt(1, certified.digest), [(value,)] * AT_ONCE, entropy).values)[:, 0]
        for _ in range(ceil(count / AT_ONCE))
    ]
    return np.concatenate(drawn)[:count]


def _sensitivity(aggregate: Aggregate, unit: Unit) -> int:
    """By hand, so that a wrong derivation is seen: the most one unit adds to one group."""
    rows = binned.rows_of(unit)
    match aggregate:
        case Sum():
            return rows * 40
        case CentredSum():
            return rows * 20
        case CountPeople() | CountCut():
            return 1
        case _:
            return rows


def aggregates() -> list[Subject]:
    return [
        *(
            _aggregate(called, whose, in_rho=in_rho)
            for called in AGGREGATES
            for whose in UNITS
            for in_rho in (False, True)
            if (whose == "person" or not isinstance(AGGREGATES[called], CountPeople | CountCut))
            and (called in OF_ROWS or not isinstance(UNITS[whose], UpTo))
        ),
        *(_discovered(whose) for whose in UNITS if not isinstance(UNITS[whose], UpTo)),
        _weighed(),
    ]


def _discovered(whose: str) -> Subject:
    """Half of ρ for finding the key, half for its count; δ is shared by the finding and the conversion."""
    price, unit = Fraction(1, 2), UNITS[whose]
    return Subject(
        f"discovered keys, unit {whose}, zCDP",
        (4, 5),
        partial(binned.draw_keys, unit),
        partial(binned.keys_law, unit),
        binned.keys_cell,
        price=price,
        delta=DELTA + binned.KEY_DELTA,
        in_rho=True,
        claimed=epsilon_for(price, DELTA),
    )


def _weighed() -> Subject:
    """Keys alone, all of ρ for finding them: of a crowd who all hold the first of them, and somebody who holds all."""
    price, weight, crowd = Fraction(1, 50), weights(binned.MANY.max_groups)[-1], 12 * WHOLE_WEIGHT
    return Subject(
        "discovered keys, by weights",
        ((crowd, 0), (crowd + weight, weight)),
        binned.draw_weighed,
        binned.weighed_law,
        price=price,
        delta=DELTA + binned.KEY_DELTA,
        in_rho=True,
        draws=10_000,
        claimed=epsilon_for(price, DELTA),
    )


def _aggregate(called: str, whose: str, *, in_rho: bool) -> Subject:
    aggregate, unit = AGGREGATES[called], UNITS[whose]
    name = f"{called}, unit {whose}, {'zCDP' if in_rho else 'pure'}"
    if isinstance(aggregate, Choose):
        return Subject(
            name,
            questions.neighbours(aggregate, unit),
            partial(questions.draw, aggregate, unit, in_rho=in_rho),
            partial(questions.law, aggregate, unit, in_rho),
            price=Fraction(1, 8) if in_rho else ONE,
            delta=Fraction(1, 1000) if in_rho else Fraction(0),
            in_rho=in_rho,
            draws=SLOW[called],
        )
    if isinstance(aggregate, Binned | UnboundedSum | BetweenEnds):
        return Subject(
            name,
            binned.neighbours(aggregate, unit),
            partial(binned.draw, aggregate, unit, in_rho=in_rho),
            partial(binned.law, aggregate, unit, in_rho),
            partial(binned.cell, aggregate, in_rho),
            price=Fraction(1, 8) if in_rho else ONE,
            delta=Fraction(1, 1000) if in_rho else Fraction(0),
            in_rho=in_rho,
            draws=SLOW.get(called, AT_ONCE * 4),
        )
    most = _sensitivity(aggregate, unit)
    return Subject(
        name,
        (0, most),
        partial(_released, aggregate, unit, in_rho=in_rho),
        partial(_release_law, most, in_rho),
        clipped,
        price=Fraction(1, 2) if in_rho else ONE,
        delta=Fraction(1, 1000) if in_rho else Fraction(0),
        in_rho=in_rho,
        draws=AT_ONCE * 4,
    )


def _release_law(most: int, in_rho: bool, value: int, price: Fraction) -> laws.Law:
    if in_rho:
        return laws.gaussian(float(most**2 / (2 * price)), value, REACH)
    return laws.laplace(float(most / price), value, REACH)
