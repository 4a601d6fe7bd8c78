"""Attacks on what is published and on how noise is made: membership, floating point, timing."""

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.clock import looping_geometric, timing
from sfumato.attacks.floats import floating_point, textbook_laplace
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.scene import BARE, Case, Demonstration, Scene, session_on
from sfumato.attacks.trace import membership
from sfumato.noise import geometric, laplace
from sfumato.schema.columns import Int
from sfumato.simulate import Simulator

MEMBERS, FACTS = 100, 300
DRAWS = 5


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
            Case(f"a session, epsilon {scene.epsilon:g} in all", run(private, scene.epsilon)),
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
        found += [values == value for value in np.unique(values)[: FACTS // len(columns) + 1]]
    facts = np.stack(found, axis=1).astype(np.int64)[draw.stream("order").permutation(scene.table.num_rows)]
    people = min(MEMBERS, len(facts) // 3)
    return facts[: 2 * people], facts[2 * people :].mean(axis=0)


def show_floating_point(scene: Scene) -> Demonstration:
    epsilon = scene.epsilon / DRAWS

    def exact(values: np.ndarray[Any, Any]) -> list[float]:
        return [laplace(float(value), sensitivity=1, epsilon=epsilon) for value in values]

    scale, together = 1 / epsilon, scene.epsilon
    return Demonstration(
        "floating_point",
        f"0 or 1, published {DRAWS} times with noise for epsilon {scene.epsilon:g} in all: which doubles came out?",
        [
            Case(
                "textbook Laplace in doubles",
                floating_point(
                    textbook_laplace(scale, scene.seed), scale=scale, draws=DRAWS, epsilon=together, seed=scene.seed
                ),
            ),
            Case("sfumato.noise", floating_point(exact, scale=scale, draws=DRAWS, epsilon=together, seed=scene.seed)),
        ],
    )


def show_timing(scene: Scene) -> Demonstration:
    def exact(value: int) -> int:
        return geometric(value, sensitivity=10, epsilon=scene.epsilon)

    looping = looping_geometric(10 / scene.epsilon, scene.seed)
    return Demonstration(
        "timing",
        f"0 or 10 with noise for epsilon {scene.epsilon:g}: how long did it take?",
        [
            Case("a sampler that loops", timing(looping, candidates=(0, 10), epsilon=scene.epsilon, seed=scene.seed)),
            Case("sfumato.noise", timing(exact, candidates=(0, 10), epsilon=scene.epsilon, seed=scene.seed)),
        ],
    )
