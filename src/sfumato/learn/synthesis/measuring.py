"""How a synthetic table is measured: round after round, each planned by what was released before and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np

from sfumato.envelope import Envelope
from sfumato.kernel.gate import Release
from sfumato.learn.learner import Told
from sfumato.learn.synthesis.cleaning import Fit, Measured, independent
from sfumato.learn.synthesis.likeness import POINTS, coins, coins_of_rows
from sfumato.learn.synthesis.pairs import (
    Division,
    Pair,
    Parts,
    Whole,
    choice_plan,
    measurable,
    offered,
    one_plan,
    pair_plan,
    penalty,
)
from sfumato.learn.synthesis.raking import Weighted, drawn_rows
from sfumato.learn.task import Task, cells_of
from sfumato.plan.nodes import Plan

SWEEPS, LAST_SWEEPS = 3, 15
AT_ONCE = 2  # pairs that are chosen in one round

Thought = Callable[[Pair], Whole]  # how many rows are thought to be in each cell of a pair


@dataclass(slots=True)
class Rounds:
    """Draws from an envelope, each the next round; `many` is how many there will be, as far as is known."""

    task: Task
    envelope: Envelope
    told: Told
    many: int = 1
    done: int = field(init=False, default=0)

    def ask(self, plans: Sequence[Plan], what: str) -> tuple[Release, ...]:
        self.told(min(1.0, self.done / self.many), what)
        self.done += 1
        return self.envelope.ask_all(plans, round_=self.done - 1)

    def columns(self, part: Fraction) -> Measured:
        """Every column by itself, each at this part of the price."""
        share = self.envelope.price.amount * part
        plans = [one_plan(self.task, place, share) for place in range(len(self.task.columns))]
        ones = tuple(cells_of(release) for release in self.ask(plans, "columns"))
        ordered = tuple(one.cells.ordered for one in self.task.features)
        return Measured(ones, self.task.deviation(plans[0]), ordered)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows down a tree of pairs: what they were drawn from, and what they weigh after all pairs."""

    ones: Sequence[Whole]
    tree: Mapping[Pair, Whole]
    measured: Measured
    weights: Whole


def drawn(rounds: Rounds, division: Division, columns: Measured) -> Drawn:
    """Measure pairs as the price is divided, and draw rows that fit them."""
    asking = _Asking(rounds, division)
    tree, measured = asking.tree(columns)
    fit = Fit.of(measured)
    begun = fit.ones, {pair: fit.tables[pair] for pair in tree}
    codes = drawn_rows(*begun, POINTS, coins_of_rows(rounds.envelope.seed))
    rows = Weighted(codes, [one.size for one in rounds.task.columns])
    while len(measured.pairs) < division.measured:
        measured = asking.further(measured, partial(rows.expected, measured.rows))
        fit = Fit.of(measured, fit)
        rows.rake(fit.tables, SWEEPS)
    if division.further:
        rows.rake(fit.tables, LAST_SWEEPS)
    return Drawn(*begun, measured, rows.whole())


class _Asking:
    """Chooses pairs, two at a time from two halves of those there are, and measures them."""

    def __init__(self, rounds: Rounds, division: Division) -> None:
        self._rounds, self._division, self._task = rounds, division, rounds.task
        self._sizes = [one.size for one in self._task.columns]
        self._pairs = measurable(self._sizes)
        amount = rounds.envelope.price.amount
        self._choice, self._share = amount * division.choice, amount * division.pair
        self._noise = self._task.deviation(pair_plan(self._task, self._pairs[0], self._share)) if self._pairs else 1.0
        self._coins = coins(rounds.envelope.seed).stream("pairs that are offered")
        chosen = -(-division.edges // AT_ONCE) + 2 * -(-division.further // AT_ONCE)
        rounds.many = 2 + (chosen if division.choosing else 0)

    def tree(self, columns: Measured) -> tuple[list[Pair], Measured]:
        """The pairs of a tree, measured; where all pairs are measured, the tree is found among them.

        Claim: pairs that are chosen together close no circle. Proof: they are two, and join different parts.
        """
        thought: Thought = partial(independent, columns.shares(), columns.rows)
        parts, tree = Parts(len(self._sizes)), list[Pair]()
        if not self._division.choosing:
            measured = self._with_tables(columns, self._pairs)
            gaps = {pair: self._gap(table, thought(pair)) for pair, table in measured.pairs.items()}
            for pair in sorted(gaps, key=lambda one: (-gaps[one], one)):
                tree += [pair] if parts.join(pair) else []
            return tree, measured
        while len(tree) < self._division.edges:
            for pair in self._chosen(parts.joining(self._pairs), self._division.edges - len(tree), thought):
                parts.join(pair)
                tree.append(pair)
        return tree, self._with_tables(columns, tree)

    def further(self, measured: Measured, thought: Thought) -> Measured:
        """What was measured, and the pairs that are farthest from what is thought of them."""
        left = [[pair] for pair in self._pairs if pair not in measured.pairs]
        return self._with_tables(measured, self._chosen(left, self._division.measured - len(measured.pairs), thought))

    def _chosen(self, groups: Sequence[Sequence[Pair]], wanted: int, thought: Thought) -> list[Pair]:
        """One pair of each half of the groups, or of all if but one is wanted, chosen privately."""
        halves = self._halves(groups, min(AT_ONCE, wanted, len(groups)))
        plans = [
            choice_plan(self._task, half, [thought(pair) for pair in half], self._noise, self._choice)
            for half in halves
        ]
        releases = self._rounds.ask(plans, "which pairs of columns matter")
        return [half[_place(release)] for half, release in zip(halves, releases, strict=True)]

    def _halves(self, groups: Sequence[Sequence[Pair]], many: int) -> list[list[Pair]]:
        """Groups divided by public coins; of more pairs than can be offered at once, some."""
        order, most, found = self._coins.permutation(len(groups)).tolist(), len(offered(self._task)), []
        for part in range(many):
            half = [pair for place in order[part::many] for pair in groups[place]]
            found.append(sorted(half[place] for place in self._coins.permutation(len(half))[:most]))
        return found

    def _with_tables(self, measured: Measured, pairs: Sequence[Pair]) -> Measured:
        """What was measured, and these pairs."""
        if not pairs:
            return measured
        plans = [pair_plan(self._task, pair, self._share) for pair in pairs]
        found = dict(measured.pairs)
        for pair, release in zip(pairs, self._rounds.ask(plans, "pairs of columns"), strict=True):
            found[pair] = cells_of(release).reshape(self._sizes[pair[0]], self._sizes[pair[1]])
        return replace(measured, pairs=found, pair_noise=self._noise)

    def _gap(self, table: Whole, thought: Whole) -> int:
        return int(np.abs(table.ravel() - thought).sum()) - penalty(table.size, self._noise)


def _place(release: Release) -> int:
    """Which of the questions of a choice without groups was chosen."""
    (place,) = release.values[0]
    if not isinstance(place, int):
        raise TypeError("a choice is a number")
    return place
