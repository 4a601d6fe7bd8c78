"""Reconstruction from published tables: each is harmless, and together they leave one value for many a person."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.attacks.finite import finite
from sfumato.attacks.groups import Floats, Integers, combined, sensitive_codes
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.tabular import as_arrow, codes_of, need_column
from sfumato.attacks.wordings import lengths_differ, no_keys, nothing_to_attack
from sfumato.schema.numbers import whole

SURE = 0.99


def marginals(
    published: Sequence[object],
    known: object,
    secret: str,
    *,
    count: str = "n",
    truth: Iterable[Any] | None = None,
    rounds: int = 200,
    others: float = 0.0,
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[Any]:
    """Guess everybody's secret from count tables that cross it with what is known about everybody.

    published: tables with the columns of some known facts, `secret` and `count`, e.g. income by age and sex, and income
    by zip; noisy counts too. known: one row per person with the facts that the tables use, as from a register.
    truth: the secrets. others: how often other people's records give the secret away, where that is more than chance.
    epsilon, delta: what all the tables cost together.

    The counts of each kind of person are fitted to the tables in turn, by multiplication, from what is usual; that
    leads to the likeliest counts that all tables allow (iterative proportional fitting).
    recovered: a guess for each person. chance: the share of the most common secret.
    measures: "sure", the share of the persons for whom one value has 99 % of the fit.
    """
    people, tables = as_arrow(known, "known"), [as_arrow(table, "published") for table in published]
    if not tables:
        raise nothing_to_attack("published table")
    steps = whole(rounds, "rounds", least=1)
    used = sorted({name for table in tables for name in table.column_names if name not in (secret, count)})
    for name in used:
        need_column(people, "known", name)
    kind = combined(people, used) if used else np.zeros(people.num_rows, dtype=np.int64)
    sizes = np.bincount(kind).astype(np.float64)
    kinds = people.take(np.unique(kind, return_index=True)[1].astype(np.int64))
    values: list[Any] = []
    for table in tables:
        need_column(table, "published", secret)
        need_column(table, "published", count)
        values = sensitive_codes(table[secret], values)[1]
    targets = [_target(table, kinds, secret, count, values) for table in tables]
    fit = _fitted(sizes, targets, len(values), steps)
    share = fit / np.maximum(fit.sum(axis=1, keepdims=True), 1e-300)
    guess = share.argmax(axis=1)[kind]
    success, chance = math.nan, 1 / len(values)
    if truth is not None:
        answers = list(truth)
        if len(answers) != people.num_rows:
            raise lengths_differ("truth", len(answers), people.num_rows)
        own, every = sensitive_codes(pa.chunked_array([pa.array(answers)]), values)
        success, chance = float(np.mean(own == guess)), float(np.bincount(own, minlength=len(every)).max() / len(own))
    return AttackResult(
        name="marginals",
        recovered=[values[place] for place in guess],
        success=success,
        chance=chance,
        bound=most_hits(max(chance, finite("others", others)), epsilon, delta),
        attempts=people.num_rows,
        measures={"sure": float(np.mean(share.max(axis=1)[kind] >= SURE))},
    )


def _target(table: pa.Table, kinds: pa.Table, secret: str, count: str, values: list[Any]) -> tuple[Integers, Floats]:
    """The cell of each kind in this table, and what the table counts in each cell: cells x values."""
    keys = [name for name in table.column_names if name not in (secret, count)]
    if not keys:
        raise no_keys()
    codes = np.zeros(kinds.num_rows + table.num_rows, dtype=np.int64)
    for name in keys:
        each = codes_of([kinds[name], table[name]]) + 1
        codes = np.unique(codes * (each.max() + 1) + each, return_inverse=True)[1].astype(np.int64)
    wanted = np.zeros((int(codes.max()) + 1, len(values)))
    own = sensitive_codes(table[secret], values)[0]
    counts = table[count].cast(pa.float64()).to_numpy()
    np.add.at(wanted, (codes[kinds.num_rows :], own), np.maximum(counts, 0))
    return codes[: kinds.num_rows], wanted


def _fitted(sizes: Floats, targets: list[tuple[Integers, Floats]], width: int, rounds: int) -> Floats:
    usual = targets[0][1].sum(axis=0) + 1e-9
    fit = sizes[:, None] * (usual / usual.sum())
    for _ in range(rounds):
        before = fit
        for cell, wanted in targets:
            held = np.zeros_like(wanted)
            np.add.at(held, cell, fit)
            fit = fit * (wanted / np.where(held > 0, held, 1))[cell]
        total = fit.sum(axis=1, keepdims=True)
        fit = np.where(total > 0, fit * (sizes[:, None] / np.where(total > 0, total, 1)), sizes[:, None] / width)
        if np.abs(fit - before).max() < 1e-9:
            break
    return np.asarray(fit, dtype=np.float64)
