"""k, l and t by the definitions, in plain Python over rows; and the best node by trying every one."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from scipy.optimize import linprog

Row = dict[str, Any]


def groups(rows: Sequence[Row], quasi: Sequence[str]) -> list[list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return list(found.values())


def k_of(rows: Sequence[Row], quasi: Sequence[str]) -> int:
    return min(len(group) for group in groups(rows, quasi))


def l_of(rows: Sequence[Row], quasi: Sequence[str], sensitive: str) -> int:
    return min(len({row[sensitive] for row in group}) for group in groups(rows, quasi))


def entropy_of(group: Sequence[Row], sensitive: str) -> float:
    counts = Counter(row[sensitive] for row in group)
    return -sum(count / len(group) * math.log(count / len(group)) for count in counts.values())


def recursive_of(group: Sequence[Row], sensitive: str, least: int) -> float:
    falling = sorted(Counter(row[sensitive] for row in group).values(), reverse=True)
    tail = sum(falling[least - 1 :])
    return falling[0] / tail if tail else math.inf


def transport(p: Sequence[float], q: Sequence[float], ground: Sequence[Sequence[float]]) -> float:
    """The earth mover's distance as a linear program."""
    size = len(p)
    rows = [[1.0 if place // size == side else 0.0 for place in range(size * size)] for side in range(size)]
    columns = [[1.0 if place % size == side else 0.0 for place in range(size * size)] for side in range(size)]
    cost = [ground[a][b] for a in range(size) for b in range(size)]
    done = linprog(cost, A_eq=rows + columns, b_eq=[*p, *q], method="highs")
    assert done.success
    return float(done.fun)


def t_of(rows: Sequence[Row], quasi: Sequence[str], sensitive: str, ground: Sequence[Sequence[float]]) -> float:
    values = sorted({row[sensitive] for row in rows})
    whole = [sum(row[sensitive] == value for row in rows) / len(rows) for value in values]
    worst = 0.0
    for group in groups(rows, quasi):
        part = [sum(row[sensitive] == value for row in group) / len(group) for value in values]
        worst = max(worst, transport(part, whole, ground))
    return worst


def nodes(ladders: dict[str, dict[str, tuple[str, ...]]]) -> Iterator[tuple[int, ...]]:
    yield from product(*(range(len(next(iter(ladder.values())))) for ladder in ladders.values()))


def generalised(rows: Sequence[Row], ladders: dict[str, dict[str, tuple[str, ...]]], node: Sequence[int]) -> list[Row]:
    """Ladders hold the value itself at level 0."""
    levels = dict(zip(ladders, node, strict=True))
    return [{**row, **{name: ladders[name][row[name]][levels[name]] for name in ladders}} for row in rows]


def loss_of(
    rows: Sequence[Row], ladders: dict[str, dict[str, tuple[str, ...]]], node: Sequence[int], gone: set[int]
) -> float:
    """Iyengar's loss: the share of the other values under a cell's label; a suppressed cell loses all."""
    levels = dict(zip(ladders, node, strict=True))
    total = 0.0
    for name, ladder in ladders.items():
        sizes = Counter(steps[levels[name]] for steps in ladder.values())
        for place, row in enumerate(rows):
            label = ladder[row[name]][levels[name]]
            total += 1.0 if place in gone else (sizes[label] - 1) / max(len(ladder) - 1, 1)
    return total / (len(rows) * len(ladders))
