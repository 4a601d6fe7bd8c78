"""Rows of totals, as ROLLUP adds them: sums of noisy groups, and what is said of them. Post-processing only."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod, sqrt
from typing import Any

from sfumato.errors import so_many
from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import ReleasedRows
from sfumato.kernel.mechanisms.protocol import Released
from sfumato.plan.nodes import OpenKey

Key = tuple[Any, ...]
ALIKE = 1.05  # times as wide, which is no difference


def with_totals(
    keys: Sequence[Key], values: ReleasedRows, levels: Sequence[int]
) -> tuple[list[Key], list[tuple[Released, ...]], dict[int, int]]:
    """The groups and behind them their totals: keys (None where a total has all), numbers, of how many groups.

    levels: how many keys the totals keep.
    """
    all_keys, numbers, added = list(keys), list(values), {}
    for level in levels:
        groups: dict[Key, list[tuple[Any, ...]]] = {}
        for key, row in zip(keys, values, strict=True):
            groups.setdefault(key[:level], []).append(row)
        for kept, rows in groups.items():
            added[len(all_keys)] = len(rows)
            all_keys.append(kept + (None,) * (len(keys[0]) - level))
            numbers.append(tuple(map(sum, zip(*rows, strict=True))))
    return all_keys, numbers, added


def in_order(key: Key) -> tuple[tuple[bool, Any], ...]:
    """By keys, a total after what it adds up."""
    return tuple((part is None, part) for part in key)


def word_of_total(values: Iterable[Any]) -> str:
    """What stands in a column of keys where a total has all of them; none of these values is written like that."""
    word, taken = "(all)", {str(value) for value in values}
    while word in taken:
        word = f"({word})"
    return word


def notes_on_totals(certified: Certified, levels: Sequence[int]) -> tuple[str, ...]:
    """How much wider the bars of totals are than if each level was asked by itself."""
    if not levels:
        return ()
    said = [text for level in levels if (text := _wider(certified, level))]
    noisier = f"noisier than asked by themselves at the same spend: {', '.join(said)}"
    return (f"Totals are sums of noisy groups, {noisier if said else 'no noisier than asked by themselves'}.",)


def _wider(certified: Certified, level: int) -> str:
    """Of every number the same: noise is in proportion to what caps let a person count."""
    plan = certified.plan
    groups = prod(key.size for key in plan.keys[level:] if not isinstance(key, OpenKey))
    summed, alone = plan.capped, replace(plan, keys=plan.keys[:level]).capped
    squared = Fraction(summed.l2_squared, alone.l2_squared)
    if certified.cost.currency == "epsilon":
        squared = Fraction(summed.l1, alone.l1) ** 2
    times = sqrt(groups * squared)
    return f"of {so_many(groups, 'group')} about {times:,.3g} times" if times > ALIKE else ""
