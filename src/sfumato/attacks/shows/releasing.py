"""Attacks on published tables: linking, homogeneity, background knowledge, skewness, intersection, marginals."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.cover import covering
from sfumato.attacks.diversity import background_knowledge, homogeneity, skewness
from sfumato.attacks.intersect import intersection
from sfumato.attacks.link import linking
from sfumato.attacks.marginals import marginals
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.release import binned, general, private_counts
from sfumato.attacks.shows.scene import BARE, Case, Demonstration, Scene

COUNT = "persons counted"
PERSON = "person number"
Attack = Callable[..., AttackResult[Any]]


def show_linking(scene: Scene) -> Demonstration:
    """A session releases no rows; the attacker links what it does release: the likeliest value of a person's cell."""
    quasi, sensitive = scene.needs_quasi("linking"), scene.needs_sensitive("linking")
    numbers = np.arange(scene.table.num_rows)
    released = scene.table.select([*quasi, sensitive])
    register = scene.table.select(quasi).append_column(PERSON, pa.array(numbers))
    grouped = general(released, quasi, scene.k)
    table, keys = binned(scene, "linking", sensitive)
    counts = private_counts(table, keys, sensitive, scene.epsilon)
    guessed = skewness(counts, keys, sensitive, persons=table, weight=COUNT, epsilon=scene.epsilon)
    return Demonstration(
        "linking",
        f"A register with names and {', '.join(quasi)} meets a table without names; the last line guesses {sensitive}.",
        [
            Case("names removed", linking(released, register, quasi, identity=PERSON, truth=numbers.tolist())),
            Case(f"k-anonymous, k = {scene.k}", _linked(grouped, register, quasi)),
            Case(_promised(scene), guessed),
        ],
    )


def _linked(grouped: pa.Table, register: pa.Table, quasi: Sequence[str]) -> AttackResult[int]:
    """Each record of a generalised table is named after one of the persons who fit it; whoever fits alone is found."""
    fits = covering(grouped, register, quasi)
    persons = fits.sum(axis=0)
    return AttackResult(
        "linking",
        np.flatnonzero(persons == 1).tolist(),
        float(np.mean(1 / np.maximum(persons, 1))),
        1 / register.num_rows,
        most_hits(0.0, None),
        grouped.num_rows,
        {"found_alone": float(np.mean(persons == 1))},
    )


def show_homogeneity(scene: Scene) -> Demonstration:
    says = "Classes in which everybody has the same value: whoever is in one has no secret."
    return _by_class(scene, "homogeneity", homogeneity, says)


def show_background_knowledge(scene: Scene) -> Demonstration:
    says = "The attacker can rule out one wrong value of each person; what is left may be one value."
    return _by_class(scene, "background_knowledge", background_knowledge, says)


def show_skewness(scene: Scene) -> Demonstration:
    return _by_class(scene, "skewness", skewness, "Everybody is guessed to have the most common value of the class.")


def _by_class(scene: Scene, name: str, attack: Attack, says: str) -> Demonstration:
    quasi, sensitive = scene.needs_quasi(name), scene.needs_sensitive(name, "marital_status")
    grouped = general(scene.table.select([*quasi, sensitive]), quasi, scene.k)
    table, keys = binned(scene, name, sensitive)
    counts = private_counts(table, keys, sensitive, scene.epsilon)
    return Demonstration(
        name,
        says,
        [
            Case(BARE, attack(scene.table, quasi, sensitive)),
            Case(f"k-anonymous, k = {scene.k}", attack(grouped, quasi, sensitive)),
            Case(_promised(scene), attack(counts, keys, sensitive, persons=table, weight=COUNT, epsilon=scene.epsilon)),
        ],
    )


def show_intersection(scene: Scene) -> Demonstration:
    quasi, sensitive = scene.needs_quasi("intersection"), scene.needs_sensitive("intersection", "income")
    persons = scene.table.select([*quasi, sensitive])
    first, second = (
        general(persons, part, scene.k) for part in (quasi[: (len(quasi) + 1) // 2], quasi[len(quasi) // 2 :])
    )
    first = _starred(first, quasi[(len(quasi) + 1) // 2 :])
    second = _starred(second, quasi[: len(quasi) // 2])
    table, keys = binned(scene, "intersection", sensitive)
    halves = [private_counts(table, keys, sensitive, scene.epsilon / 2) for _ in range(2)]
    return Demonstration(
        "intersection",
        "Two releases about the same people, each k-anonymous in other columns, read together.",
        [
            Case(BARE, intersection(persons, persons, quasi, sensitive, persons=persons)),
            Case(f"two releases, each k = {scene.k}", intersection(first, second, quasi, sensitive, persons=persons)),
            Case(
                _promised(scene),
                intersection(halves[0], halves[1], keys, sensitive, persons=table, weight=COUNT, epsilon=scene.epsilon),
            ),
        ],
    )


def _starred(table: pa.Table, names: Sequence[str]) -> pa.Table:
    for name in names:
        table = table.set_column(table.column_names.index(name), name, pa.array(["*"] * table.num_rows))
    return table


def show_marginals(scene: Scene) -> Demonstration:
    quasi, sensitive = scene.needs_quasi("marginals"), scene.needs_sensitive("marginals")
    people = scene.table.select([*quasi, sensitive])
    truth = [str(value) for value in people[sensitive].to_pylist()]
    people = people.set_column(people.column_names.index(sensitive), sensitive, pa.array(truth))
    pairs = [[one, other] for place, one in enumerate(quasi) for other in quasi[place + 1 :]] or [quasi]
    exact = [_counted(people, keys, sensitive) for keys in pairs]
    table, keys = binned(scene, "marginals", sensitive)
    grids = [[one, other] for place, one in enumerate(keys) for other in keys[place + 1 :]] or [keys]
    noisy = [
        private_counts(table.select([*grid, sensitive]), grid, sensitive, scene.epsilon / len(grids)) for grid in grids
    ]
    binned_truth = table[sensitive].to_pylist()
    return Demonstration(
        "marginals",
        f"Tables of {sensitive} by every two of {', '.join(quasi)}, solved together for everybody.",
        [
            Case("exact tables", marginals(exact, people, sensitive, count=COUNT, truth=truth)),
            Case(
                "the same in coarse bins",
                marginals(
                    [_counted(table, grid, sensitive) for grid in grids],
                    table,
                    sensitive,
                    count=COUNT,
                    truth=binned_truth,
                ),
            ),
            Case(
                _promised(scene),
                marginals(noisy, table, sensitive, count=COUNT, truth=binned_truth, epsilon=scene.epsilon),
            ),
        ],
    )


def _counted(table: pa.Table, keys: Sequence[str], sensitive: str) -> pa.Table:
    grouped = table.group_by([*keys, sensitive]).aggregate([([], "count_all")])
    return grouped.rename_columns([COUNT if name == "count_all" else name for name in grouped.column_names])


def _promised(scene: Scene) -> str:
    return f"a session, epsilon {scene.epsilon:g} in all"
