"""Attacks on published tables: linking, homogeneity, background knowledge, skewness, intersection, marginals."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.baseline import OUTSIDERS, TRIED, beside
from sfumato.attacks.cover import covering
from sfumato.attacks.diversity import background_knowledge, homogeneity, skewness
from sfumato.attacks.groups import combined
from sfumato.attacks.intersection import intersection
from sfumato.attacks.linking import linking
from sfumato.attacks.marginals import marginals
from sfumato.attacks.result import AttackResult
from sfumato.attacks.shows.release import binned, general, private_counts
from sfumato.attacks.shows.scene import BARE, MOST_TRIED, Demonstration, Scene
from sfumato.attacks.staging import Case

COUNT = "persons counted"
PERSON = "person number"
# So many records get names, each from the whole register.
MOST_NAMED = 500
# Of each kind so many people are tried in two releases at once, which takes a table of them by all secrets.
MOST_PAIRED = 1_000
Attack = Callable[..., AttackResult[Any]]
Release = Callable[[pa.Table], pa.Table]
Tables = Callable[[pa.Table], Sequence[pa.Table]]
# Who is attacked, by what has been published; and what publishes a table.
Reader = Callable[[pa.Table], AttackResult[Any]]
Publish = Callable[[pa.Table], Reader]


def show_linking(scene: Scene) -> Demonstration:
    """Each half is asked the same, so that one chance fits all: which sensitive value has each person of the register?

    A session releases no rows; the attacker links what it does release, the counts of a person's cell.
    """
    quasi, sensitive = list(scene.quasi), scene.secret
    numbers = np.arange(scene.table.num_rows)
    grid, keys = binned(scene)
    released = scene.table.select(quasi).append_column(sensitive, grid[sensitive])
    register = scene.table.select(quasi).append_column(PERSON, pa.array(numbers))
    named = linking(released, register, quasi, identity=PERSON, truth=numbers.tolist()).success
    named_in_groups = _named(general(released, quasi, scene.k), register, quasi)
    read = partial(_reader, skewness, quasi, sensitive)
    return Demonstration(
        "linking",
        f"A register with names and {', '.join(quasi)} meets a table without names: whose {sensitive} comes out?",
        [
            Case(f"{BARE}, names removed", _linked(_judged(read(_bare), scene, released), named)),
            Case(
                f"k-anonymous, k = {scene.k}", _linked(_judged(read(_grouped(scene)), scene, released), named_in_groups)
            ),
            Case(scene.promised, _linked(_judged(_noisy(skewness, scene, keys), scene, grid), 0.0)),
        ],
    )


def _linked(read: AttackResult[Any], named: float) -> AttackResult[Any]:
    """What the records that fit a person say about her, and the share of the records that get their name back."""
    kept = {name: read.measures[name] for name in (OUTSIDERS, TRIED)}
    return replace(read, name="linking", measures={**kept, "named": named})


def _named(grouped: pa.Table, register: pa.Table, quasi: Sequence[str]) -> float:
    """Each record of a generalised table is named after one of the persons who fit it."""
    persons = covering(grouped.slice(0, MOST_NAMED), register, quasi).sum(axis=0)
    return float(np.mean(1 / np.maximum(persons, 1)))


def _judged(publish: Publish, scene: Scene, table: pa.Table, *, most: int = MOST_TRIED) -> AttackResult[Any]:
    """The attack on people in the release; and on those held out, on a release that was made without them."""
    outside, rest = table.slice(0, scene.held_out), table.slice(scene.held_out)
    without, some, others = publish(rest), rest.slice(0, most), outside.slice(0, most)
    inside = publish(table)(table.slice(0, most))
    return beside(inside, without(some), without(pa.concat_tables([some, others])), others.num_rows)


def _reader(attack: Attack, quasi: list[str], sensitive: str, release: Release) -> Publish:
    """Publishes a table by a release, and attacks people by it."""

    def publish(table: pa.Table) -> Reader:
        released = release(table)
        return lambda persons: attack(released, quasi, sensitive, persons=persons)

    return publish


def _bare(table: pa.Table) -> pa.Table:
    return table


def _grouped(scene: Scene) -> Release:
    return lambda table: general(table, scene.quasi, scene.k)


def _noisy(attack: Attack, scene: Scene, keys: list[str]) -> Publish:
    """Publishes the counts of a grid, through a session that spends all it has."""

    def publish(table: pa.Table) -> Reader:
        (counts,) = private_counts(table, [keys], scene.secret, scene.epsilon, name=COUNT)
        return lambda persons: attack(counts, keys, scene.secret, persons=persons, weight=COUNT, epsilon=scene.epsilon)

    return publish


def show_homogeneity(scene: Scene) -> Demonstration:
    says = "Classes in which everybody has the same value: whoever is in one has no secret."
    return _by_class(scene, "homogeneity", homogeneity, says)


def show_background_knowledge(scene: Scene) -> Demonstration:
    says = "The attacker can rule out one wrong value of each person; what is left may be one value."
    return _by_class(scene, "background_knowledge", background_knowledge, says)


def show_skewness(scene: Scene) -> Demonstration:
    return _by_class(scene, "skewness", skewness, "Everybody is guessed to have the most common value of the class.")


def _by_class(scene: Scene, name: str, attack: Attack, says: str) -> Demonstration:
    quasi, sensitive = list(scene.quasi), scene.secret
    people = scene.table.select([*quasi, sensitive])
    grid, keys = binned(scene)
    read = partial(_reader, attack, quasi, sensitive)
    return Demonstration(
        name,
        says,
        [
            Case(BARE, _judged(read(_bare), scene, people)),
            Case(f"k-anonymous, k = {scene.k}", _judged(read(_grouped(scene)), scene, people)),
            Case(scene.promised, _judged(_noisy(attack, scene, keys), scene, grid)),
        ],
    )


def show_intersection(scene: Scene) -> Demonstration:
    quasi, sensitive = list(scene.quasi), scene.secret
    people = scene.table.select([*quasi, sensitive])
    grid, keys = binned(scene)

    def twice(table: pa.Table) -> Reader:
        return lambda persons: intersection(table, table, quasi, sensitive, persons=persons)

    def in_parts(table: pa.Table) -> Reader:
        middle = (len(quasi) + 1) // 2
        first = _starred(general(table, quasi[:middle], scene.k), quasi[middle:])
        second = _starred(general(table, quasi[len(quasi) // 2 :], scene.k), quasi[: len(quasi) // 2])
        return lambda persons: intersection(first, second, quasi, sensitive, persons=persons)

    def through_a_session(table: pa.Table) -> Reader:
        first, second = private_counts(table, [keys, keys], sensitive, scene.epsilon, name=COUNT)
        return lambda persons: intersection(
            first, second, keys, sensitive, persons=persons, weight=COUNT, epsilon=scene.epsilon
        )

    return Demonstration(
        "intersection",
        "Two releases about the same people, each k-anonymous in other columns, read together.",
        [
            Case(BARE, _judged(twice, scene, people, most=MOST_PAIRED)),
            Case(f"two releases, each k = {scene.k}", _judged(in_parts, scene, people, most=MOST_PAIRED)),
            Case(scene.promised, _judged(through_a_session, scene, grid, most=MOST_PAIRED)),
        ],
    )


def _starred(table: pa.Table, names: Sequence[str]) -> pa.Table:
    for name in names:
        table = table.set_column(table.column_names.index(name), name, pa.array(["*"] * table.num_rows))
    return table


def show_marginals(scene: Scene) -> Demonstration:
    quasi, sensitive = list(scene.quasi), scene.secret
    people = _as_text(scene.table.select([*quasi, sensitive]), sensitive)
    grid, keys = binned(scene)
    best = _counted(grid, keys, sensitive).group_by(keys).aggregate([(COUNT, "max")])[f"{COUNT}_max"]
    others = float(np.sum(best.to_numpy())) / grid.num_rows

    def exact(columns: list[list[str]]) -> Tables:
        return lambda table: [_counted(table, each, sensitive) for each in columns]

    def noisy(table: pa.Table) -> Sequence[pa.Table]:
        return private_counts(table, _pairs(keys), sensitive, scene.epsilon, name=COUNT)

    def solved(publish: Tables, table: pa.Table, names: list[str], **options: Any) -> AttackResult[Any]:
        def read(known: pa.Table) -> AttackResult[Any]:
            truth = known[sensitive].to_pylist()
            return marginals(publish(known), known, sensitive, count=COUNT, truth=truth, **options)

        outside, rest = table.slice(0, scene.held_out), table.slice(scene.held_out)
        told = _told_alike(read(rest), rest, outside, names, sensitive)
        found = read(table)
        return replace(found, measures={**found.measures, OUTSIDERS: told, TRIED: float(outside.num_rows)})

    return Demonstration(
        "marginals",
        f"Tables of {sensitive} by every two of {', '.join(quasi)}, solved together for everybody.",
        [
            Case(BARE, solved(exact([quasi]), people, quasi)),
            Case("exact tables", solved(exact(_pairs(quasi)), people, quasi)),
            Case("the same in coarse bins", solved(exact(_pairs(keys)), grid, keys)),
            Case(scene.promised, solved(noisy, grid, keys, others=others, epsilon=scene.epsilon)),
        ],
    )


def _pairs(names: list[str]) -> list[list[str]]:
    return [[one, other] for place, one in enumerate(names) for other in names[place + 1 :]] or [names]


def _as_text(table: pa.Table, name: str) -> pa.Table:
    texts = pa.array([str(value) for value in table[name].to_pylist()], type=pa.string())
    return table.set_column(table.column_names.index(name), name, texts)


def _told_alike(
    found: AttackResult[Any], known: pa.Table, unknown: pa.Table, keys: Sequence[str], sensitive: str
) -> float:
    """How often a guess about people with the same known facts, or else the usual guess, is right about others."""
    kind = combined(pa.concat_tables([known.select(keys), unknown.select(keys)]), keys)
    said = dict(zip(kind[: known.num_rows].tolist(), found.recovered, strict=True))
    usual = Counter(found.recovered).most_common(1)[0][0]
    hits = [
        said.get(each, usual) == value
        for each, value in zip(kind[known.num_rows :].tolist(), unknown[sensitive].to_pylist(), strict=True)
    ]
    return float(np.mean(hits))


def _counted(table: pa.Table, keys: Sequence[str], sensitive: str) -> pa.Table:
    grouped = table.group_by([*keys, sensitive]).aggregate([([], "count_all")])
    return grouped.rename_columns([COUNT if name == "count_all" else name for name in grouped.column_names])
