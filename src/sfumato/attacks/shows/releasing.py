"""Attacks on published tables: linking, homogeneity, background knowledge, skewness, intersection, marginals."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.cover import covering
from sfumato.attacks.diversity import background_knowledge, homogeneity, skewness
from sfumato.attacks.intersection import intersection
from sfumato.attacks.linking import linking
from sfumato.attacks.marginals import marginals
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.release import binned, general, private_counts
from sfumato.attacks.shows.scene import BARE, Demonstration, Scene
from sfumato.attacks.staging import Case

COUNT = "persons counted"
PERSON = "person number"
Attack = Callable[..., AttackResult[Any]]


def show_linking(scene: Scene) -> Demonstration:
    """Each half is asked the same, so that one chance fits all: which sensitive value has each person of the register?

    A session releases no rows; the attacker links what it does release, the counts of a person's cell.
    """
    quasi, sensitive = scene.needs_quasi("linking"), scene.needs_sensitive("linking")
    numbers = np.arange(scene.table.num_rows)
    table, keys = binned(scene, "linking", sensitive)
    released = scene.table.select(quasi).append_column(sensitive, table[sensitive])
    register = scene.table.select(quasi).append_column(PERSON, pa.array(numbers))
    grouped = general(released, quasi, scene.k)
    named = linking(released, register, quasi, identity=PERSON, truth=numbers.tolist()).success
    (counts,) = private_counts(table, [keys], sensitive, scene.epsilon, name=COUNT)
    read = skewness(counts, keys, sensitive, persons=table, weight=COUNT, epsilon=scene.epsilon)
    return Demonstration(
        "linking",
        f"A register with names and {', '.join(quasi)} meets a table without names: whose {sensitive} comes out?",
        [
            Case(f"{BARE}, names removed", _linked(skewness(released, quasi, sensitive), named)),
            Case(
                f"k-anonymous, k = {scene.k}",
                _linked(skewness(grouped, quasi, sensitive), _named(grouped, register, quasi)),
            ),
            Case(scene.promised, _linked(read, 0.0)),
        ],
    )


def _linked(read: AttackResult[Any], named: float) -> AttackResult[Any]:
    """What the records that fit a person say about her, and the share of the records that get their name back."""
    return replace(read, name="linking", measures={"named": named})


def _named(grouped: pa.Table, register: pa.Table, quasi: Sequence[str]) -> float:
    """Each record of a generalised table is named after one of the persons who fit it."""
    persons = covering(grouped, register, quasi).sum(axis=0)
    return float(np.mean(1 / np.maximum(persons, 1)))


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
    (counts,) = private_counts(table, [keys], sensitive, scene.epsilon, name=COUNT)
    return Demonstration(
        name,
        says,
        [
            Case(BARE, attack(scene.table, quasi, sensitive)),
            Case(f"k-anonymous, k = {scene.k}", attack(grouped, quasi, sensitive)),
            Case(scene.promised, attack(counts, keys, sensitive, persons=table, weight=COUNT, epsilon=scene.epsilon)),
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
    halves = private_counts(table, [keys, keys], sensitive, scene.epsilon, name=COUNT)
    return Demonstration(
        "intersection",
        "Two releases about the same people, each k-anonymous in other columns, read together.",
        [
            Case(BARE, intersection(persons, persons, quasi, sensitive, persons=persons)),
            Case(f"two releases, each k = {scene.k}", intersection(first, second, quasi, sensitive, persons=persons)),
            Case(
                scene.promised,
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
    noisy = private_counts(table, grids, sensitive, scene.epsilon, name=COUNT)
    binned_truth = table[sensitive].to_pylist()
    best = _counted(table, keys, sensitive).group_by(keys).aggregate([(COUNT, "max")])[f"{COUNT}_max"]
    others = float(np.sum(best.to_numpy())) / table.num_rows
    return Demonstration(
        "marginals",
        f"Tables of {sensitive} by every two of {', '.join(quasi)}, solved together for everybody.",
        [
            Case(
                BARE,
                marginals([_counted(people, quasi, sensitive)], people, sensitive, count=COUNT, truth=truth),
            ),
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
                scene.promised,
                marginals(
                    noisy, table, sensitive, count=COUNT, truth=binned_truth, others=others, epsilon=scene.epsilon
                ),
            ),
        ],
    )


def _counted(table: pa.Table, keys: Sequence[str], sensitive: str) -> pa.Table:
    grouped = table.group_by([*keys, sensitive]).aggregate([([], "count_all")])
    return grouped.rename_columns([COUNT if name == "count_all" else name for name in grouped.column_names])
