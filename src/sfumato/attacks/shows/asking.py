"""Attacks by question: differencing, averaging, tracker, reconstruction."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.averaging import averaging
from sfumato.attacks.desk import Ask, session_desk, table_desk
from sfumato.attacks.differencing import differencing
from sfumato.attacks.matrices import matrix
from sfumato.attacks.reconstruction import reconstruction
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.scene import BARE, Demonstration, Scene
from sfumato.attacks.staging import Case, session_on
from sfumato.attacks.tracker import tracker
from sfumato.schema.columns import Category, Declared, Float, Int

PERSONS = 60
REPEATS = 4
MINIMUM = 10
ROUNDING = 5
# A hit is an estimate within this share of the range.
NEAR = 0.01


def show_differencing(scene: Scene) -> Demonstration:
    column = scene.columns[-1]
    values = matrix(scene.table, [column], "attacked")[:, 0]
    low, high = float(np.floor(values.min())), float(np.ceil(values.max()))
    pid = np.arange(len(values))
    table = pa.table({"pid": pid, "half": pid % 2, "value": values})
    people = min(PERSONS, len(values))

    def run(ask: Ask, epsilon: float | None) -> AttackResult[float]:
        found = [
            differencing(
                ask,
                with_target=f"half = 0 OR pid = {person}",
                without_target=f"half = 0 AND pid <> {person}",
                truth=float(values[person]),
                tolerance=NEAR * (high - low),
                plausible=(low, high),
                epsilon=epsilon,
            )
            for person in range(people)
        ]
        made = [result for result in found if result.attempts]
        return AttackResult(
            "differencing",
            [estimate for result in made for estimate in result.recovered],
            float(np.mean([result.success for result in made])),
            found[0].chance,
            found[0].bound,
            len(made),
        )

    columns: dict[str, Declared] = {"pid": Int(0, len(values)), "half": Category([0, 1]), "value": Float(low, high)}
    with session_on(table, columns, scene.epsilon) as session:
        private = run(session_desk(session, spend=scene.share(2 * people), measure="SUM(value)"), scene.epsilon)
    return Demonstration(
        "differencing",
        f'Two sums of "{column}", with and without one person, subtracted; a hit is within 1 % of the range.',
        [
            Case(BARE, run(table_desk(table, measure="SUM(value)"), None)),
            Case(f"a minimum of {MINIMUM} people", run(table_desk(table, measure="SUM(value)", minimum=MINIMUM), None)),
            Case(scene.promised, private),
        ],
    )


def show_averaging(scene: Scene) -> Demonstration:
    table, bits, columns = _persons(scene)
    questions = [f"pid = {person} AND secret = 1" for person in range(len(bits))]
    spend = scene.share(REPEATS * len(bits))
    with session_on(table, columns, scene.epsilon) as session:
        private = averaging(
            session_desk(session, spend=spend), questions, repeats=REPEATS, truth=bits, epsilon=scene.epsilon
        )
    noisy = table_desk(table, noise=1 / scene.epsilon, seed=scene.seed)
    return Demonstration(
        "averaging",
        "The same question about one person again and again; fresh noise averages out.",
        [
            Case(BARE, averaging(table_desk(table), questions, repeats=1, truth=bits)),
            Case("fresh noise, asked 20 times", averaging(noisy, questions, repeats=20, truth=bits)),
            Case(scene.promised, private),
        ],
    )


def show_tracker(scene: Scene) -> Demonstration:
    table, bits, columns = _persons(scene)
    targets = [f"pid = {person} AND secret = 1" for person in range(len(bits))]
    with session_on(table, columns, scene.epsilon) as session:
        spend = scene.share(2 + 2 * len(bits))
        private = tracker(
            session_desk(session, spend=spend), targets, padding="half = 0", truth=bits, epsilon=scene.epsilon
        )
    return Demonstration(
        "tracker",
        "Questions about one person are refused; padded with half the people they are not.",
        [
            Case(BARE, tracker(table_desk(table), targets, padding="half = 0", truth=bits)),
            Case(
                f"a minimum of {MINIMUM} people",
                tracker(table_desk(table, minimum=MINIMUM), targets, padding="half = 0", truth=bits),
            ),
            Case(scene.promised, private),
        ],
    )


def show_reconstruction(scene: Scene) -> Demonstration:
    table, bits, columns = _persons(scene)
    people = len(bits)

    def by_condition(ask: Ask) -> Callable[[np.ndarray[Any, Any]], float]:
        return lambda chosen: ask(f"secret = 1 AND pid IN ({', '.join(map(str, chosen.tolist()))})")

    with session_on(table, columns, scene.epsilon) as session:
        ask = session_desk(session, spend=scene.share(4 * people))
        private = reconstruction(by_condition(ask), people, truth=bits, epsilon=scene.epsilon, seed=scene.seed)
    return Demonstration(
        "reconstruction",
        f"Counts over {4 * people} random halves of {people} people, solved for everybody's secret.",
        [
            Case(BARE, reconstruction(by_condition(table_desk(table)), people, truth=bits, seed=scene.seed)),
            Case(
                f"rounded to {ROUNDING}",
                reconstruction(by_condition(table_desk(table, rounding=ROUNDING)), people, truth=bits, seed=scene.seed),
            ),
            Case(scene.promised, private),
        ],
    )


def _persons(scene: Scene) -> tuple[pa.Table, np.ndarray[Any, np.dtype[np.int64]], dict[str, Declared]]:
    """A number a person, which stands for whatever singles the person out, a half to pad with, and a secret bit."""
    bits = scene.bits(PERSONS)
    pid = np.arange(len(bits))
    table = pa.table({"pid": pid, "half": pid % 2, "secret": bits})
    return table, bits, {"pid": Int(0, len(bits)), "half": Category([0, 1]), "secret": Int(0, 1)}
