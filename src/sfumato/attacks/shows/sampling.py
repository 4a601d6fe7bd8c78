"""Attacks on what is published and on how noise is made: membership, floating point, timing."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.floating_point import Release, floating_point, textbook_laplace
from sfumato.attacks.membership import membership
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.release import Floats, sums_by_person
from sfumato.attacks.shows.scene import BARE, Demonstration, Scene
from sfumato.attacks.staging import Case, session_on
from sfumato.attacks.timing import looping_geometric, timing
from sfumato.schema.columns import Declared, Int
from sfumato.simulate import Simulator

MEMBERS, FACTS = 100, 300
DRAWS = 5
# The most one person can add, and how often the clock is read: a session takes some milliseconds an answer.
MOST, RUNS, ANSWERS = 10, 3_000, 250


def show_membership(scene: Scene) -> Demonstration:
    facts, reference = _facts(scene)
    inside = np.arange(len(facts)) < len(facts) // 2
    members = facts[inside]
    truth = inside.astype(int).tolist()
    names = [f"f{place}" for place in range(facts.shape[1])]
    table = pa.table({name: members[:, place] for place, name in enumerate(names)})
    with session_on(table, {name: Int(0, 1) for name in names}, scene.epsilon) as session:
        sums = ", ".join(f"SUM({name}) AS {name}" for name in names)
        answer = session.ask(f"SELECT {sums} FROM data", spend=scene.epsilon).rows[0]  # noqa: S608
    private = np.array([answer[name] for name in names]) / len(members)
    noisy = members.mean(axis=0) + 0.05 * Simulator(scene.seed).stream("noise").normal(facts.shape[1])

    def run(means: np.ndarray[Any, Any], epsilon: float | None) -> AttackResult[float]:
        return membership(means, facts, reference, truth=truth, epsilon=epsilon)

    return Demonstration(
        "membership",
        f"The means of {facts.shape[1]} yes-or-no facts about {len(members)} people; who was among them?",
        [
            Case(BARE, run(members.mean(axis=0), None)),
            Case("noise of 0.05 on each mean", run(noisy, None)),
            Case(scene.promised, run(private, scene.epsilon)),
        ],
    )


def _facts(scene: Scene) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """0 and 1 a person and fact, members first, and how common each fact is among other people."""
    draw = Simulator(scene.seed)
    if scene.made_up:
        common = 0.05 + 0.9 * draw.stream("common").uniform(FACTS)
        drawn = draw.stream("facts").uniform(2 * MEMBERS * FACTS).reshape(2 * MEMBERS, FACTS) < common
        return drawn.astype(np.int64), common
    columns = [*scene.quasi, *([scene.sensitive] if scene.sensitive else [])] or scene.table.column_names
    found = []
    for name in columns:
        values = np.array([str(value) for value in scene.table[name].to_pylist()])
        listed, counts = np.unique(values, return_counts=True)
        chosen = np.argsort(-counts, kind="stable")[: FACTS // len(columns) + 1]
        found += [values == value for value in listed[chosen]]
    facts = np.stack(found, axis=1).astype(np.int64)
    people = min(MEMBERS, len(facts) // 3)
    return facts[: 2 * people], facts[2 * people :].mean(axis=0)


def show_floating_point(scene: Scene) -> Demonstration:
    scale = DRAWS / scene.epsilon

    def run(release: Release, epsilon: float | None) -> AttackResult[float]:
        return floating_point(release, scale=scale, draws=DRAWS, epsilon=epsilon, seed=scene.seed)

    def asked(values: Floats) -> Floats:
        return sums_by_person({"value": values[::DRAWS]}, scene.epsilon, times=DRAWS)["value"]

    return Demonstration(
        "floating_point",
        f"0 or 1, published {DRAWS} times with noise for epsilon {scene.epsilon:g} in all: which doubles came out?",
        [
            Case(BARE, run(lambda values: values, None)),
            Case("textbook Laplace in doubles", run(textbook_laplace(scale, scene.seed), scene.epsilon)),
            Case(scene.promised, run(asked, scene.epsilon)),
        ],
    )


def show_timing(scene: Scene) -> Demonstration:
    """Two neighbouring tables, with and without somebody who adds the most a person can, asked the same."""

    def run(release: Callable[[int], float], rounds: int, epsilon: float | None) -> AttackResult[float]:
        return timing(
            release,
            candidates=(0, MOST),
            attempts=rounds,
            practice=rounds,
            epsilon=epsilon,
            clock=time.process_time_ns,
            seed=scene.seed,
        )

    columns: dict[str, Declared] = {"amount": Int(0, MOST)}
    budget = 2 * ANSWERS * scene.epsilon
    with (
        session_on(pa.table({"amount": [0]}), columns, budget) as without,
        session_on(pa.table({"amount": [0, MOST]}), columns, budget) as beside,
    ):

        def asked(value: int) -> float:
            session = beside if value else without
            answer = session.ask("SELECT SUM(amount) AS total FROM data", spend=scene.epsilon, fresh=True)
            return float(answer.rows[0]["total"])

        private = run(asked, ANSWERS, scene.epsilon)
    looping = looping_geometric(MOST / scene.epsilon, scene.seed)
    return Demonstration(
        "timing",
        f"0 or {MOST} with noise for epsilon {scene.epsilon:g}: how much work was it? The clock counts the time of this"
        " program alone, as on an idle machine.",
        [
            Case(BARE, run(lambda value: value, RUNS, None)),
            Case("a sampler that loops", run(looping, RUNS, scene.epsilon)),
            Case(f"a session, epsilon {scene.epsilon:g} an answer", private),
        ],
    )
