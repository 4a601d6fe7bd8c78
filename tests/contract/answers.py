"""The contracts of yes-or-no answers: randomised response, above-threshold, key selection."""

from fractions import Fraction
from typing import Any

import numpy as np

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.noise.response import RandomisedResponse
from sfumato.noise.sparse_vector import SparseVector
from tests.contract.check_mechanism import Law, Spec, parameters
from tests.kernel.test_keys import of_one
from tests.noise.test_response import law as response_law
from tests.noise.test_sparse_vector import pattern_law

F = Fraction
ONE = F(1)
DRINKS = ["tea", "coffee", "water", "milk"]
FEW = 10_000  # one list of answers a call; the code is enumerated elsewhere
STEPS = 1 << 20  # of the grid in a sensitivity of 1

RESPONSE = Spec(
    name="randomised_response",
    price=ONE,
    neighbours=(True, False),
    draw=lambda value, price, count, entropy: noise.randomised_response(
        np.full(count, value), epsilon=price, entropy=entropy
    ).tolist(),
    law=lambda value, price: dict(zip((False, True), response_law(price, 2, int(value)), strict=True)),
    cost=lambda price: RandomisedResponse(price).epsilon,
    event=lambda price: RandomisedResponse(price).event(),
    refuses=parameters(noise.randomised_response, True, epsilon=1),
    refusal=UsageError,
    errors=lambda price, count, entropy: [
        float(not answer) for answer in noise.randomised_response([True] * count, epsilon=price, entropy=entropy)
    ],
    error=lambda confidence, price: float(confidence > RandomisedResponse(price).truth()),
    audit_flags_twin=True,
)

CATEGORICAL = Spec(
    name="randomised_response (categories)",
    price=F(2),
    neighbours=("tea", "milk"),
    draw=lambda value, price, count, entropy: noise.randomised_response(
        np.full(count, value), epsilon=price, categories=DRINKS, entropy=entropy
    ).tolist(),
    law=lambda value, price: dict(zip(DRINKS, response_law(price, 4, DRINKS.index(value)), strict=True)),
    cost=lambda price: RandomisedResponse(price, 4).epsilon,
    event=lambda price: RandomisedResponse(price, 4).event(),
    refuses=parameters(noise.randomised_response, "tea", epsilon=1, categories=DRINKS),
    refusal=UsageError,
    audit_flags_twin=True,
)


def draw_answers(values: list[int], price: Fraction, count: int, entropy: Any) -> list[tuple[bool, ...]]:
    """A change of one step of the grid costs `price`, so that noise of a few steps can be summed up exactly."""
    reals, calls = [value / STEPS for value in values], (noise.above_threshold, noise.above_threshold_stream)
    given = {"sensitivity": 1, "epsilon": price * STEPS, "entropy": entropy}
    return [tuple(calls[turn % 2](reals, 0, **given)) for turn in range(count)]


def wrong_by(answers: tuple[bool, ...]) -> int:
    """How far on the wrong side of the threshold the worst of MIXED lies."""
    return max(max(-value if answer else value, 0) for value, answer in zip(MIXED, answers, strict=False))


MIXED = [-3, 2, -1, 1, 0]
ABOVE = Spec(
    name="above_threshold",
    also=("above_threshold_stream",),
    price=F(3),
    neighbours=([6] * 12 + [-6], [7] * 12 + [-7]),  # noes far above and a yes far below lose nearly all of ε
    data=[-1, 1, 0],
    draw=draw_answers,
    law=lambda values, price: pattern_law(SparseVector(price * STEPS, STEPS), values),
    cost=lambda price: SparseVector(price, 1).epsilon,
    event=lambda price: SparseVector(price, 1).event(),
    refuses=parameters(noise.above_threshold, [1], 0, sensitivity=1, epsilon=1, count=1),
    refusal=UsageError,
    errors=lambda price, count, entropy: [
        wrong_by(answers) for answers in draw_answers(MIXED, price, count // 4, entropy)
    ],
    error=lambda confidence, price: SparseVector(price * STEPS, STEPS).error(confidence, len(MIXED)),
    draws=FEW,
)


KEY_DELTA = F(1, 10**3)


def draw_keys(units: int, price: Fraction, count: int, entropy: Any) -> list[int | None]:
    noisy, shown = KeySelection(price, KEY_DELTA).select(np.full(count, units), entropy)
    return [int(number) if passed else None for number, passed in zip(noisy, shown, strict=True)]


def key_law(units: int, price: Fraction) -> Law:
    return of_one(KeySelection(price, KEY_DELTA), units, 120 - units)


KEYS = Spec(
    name="KeySelection",
    price=F(1, 2),
    neighbours=(10, 11),  # given that the keys are held by others too; what δ is for, tests/kernel/test_keys.py checks
    data=6,
    draw=draw_keys,
    law=key_law,
    cost=lambda price: KeySelection(price, KEY_DELTA).cost("rho"),
    event=lambda price: KeySelection(price, KEY_DELTA).event(),
    refuses={
        "rho": lambda bad: KeySelection(bad, KEY_DELTA),
        "delta": lambda bad: KeySelection(ONE, bad),
        "max_groups": lambda bad: KeySelection(ONE, KEY_DELTA, bad),
    },
    bad=(F(0), F(-1), float("nan")),
    currency="rho",
)

ANSWERS = (
    RESPONSE,
    CATEGORICAL,
    ABOVE,
    KEYS,
)
