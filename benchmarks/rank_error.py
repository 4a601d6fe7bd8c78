"""How far a quantile is off on average, by the law of its choice: draws could not tell a tenth in reasonable time."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from benchmarks.repeated import Counted
from sfumato.answers.cells import quantile
from sfumato.kernel.mechanisms.protocol import CellCounts
from sfumato.kernel.mechanisms.rank_lines import Line
from sfumato.kernel.mechanisms.ranks import RankChoice
from sfumato.kernel.widths import round_cells
from sfumato.query.rewrite import QuantileColumn

BEFORE = Fraction(9, 10)  # of ε, which chose a value when bars were chosen too
UNLIKELY = 1e-14
LEAST, STEPS = -40.0, 1000


def now_and_then(asked: Counted, truth: float) -> tuple[float, float]:
    """Of one quantile in pure ε: as it is, and if nine tenths of its price chose the value, all numbers alike."""
    ranks, column = asked.planned.certified.releases[0].mechanism, asked.planned.columns[0]
    ((cells,),) = asked.found.entries
    assert isinstance(ranks, RankChoice)
    assert isinstance(column, QuantileColumn)
    assert isinstance(cells, CellCounts)
    then = replace(ranks, estimates=(BEFORE * ranks.cost("epsilon") / ranks.l1,), line=None)
    return expected_error(ranks, cells, column, truth), expected_error(then, cells, column, truth)


def expected_error(ranks: RankChoice, cells: CellCounts, column: QuantileColumn, truth: float) -> float:
    """Of permute-and-flip: a candidate of weight w is chosen with probability ∫ w Π (1 - u·w') du over 0 < u < 1.

    The product is over the others. As noisy maximum (McKenna and Sheldon 2020) with u = exp(-x) at the highest score x.
    Needs: one level, chosen by permute-and-flip.
    """
    (node,), (epsilon,) = ranks.nodes(), ranks.estimates
    line = Line.of(cells, ranks.cells, ranks.parts, ranks.together)
    inward, slack = ranks.widths.rows_of(0)
    candidates = ranks._blocks(line).beside_ties(max(slack, 0))
    found = candidates.scores(node.inside, inward) - ranks.costs(node)
    scores, inverse, many = np.unique(found, return_inverse=True, return_counts=True)
    sensitivity = max(node.inside.numerator, node.inside.denominator - node.inside.numerator)
    weights = np.exp(float(epsilon) * (scores - scores.max()) / (2 * sensitivity))
    grid = column.quantile.cells
    values = float(grid.lower) + candidates.starts / ranks.parts * float(grid.width)
    if column.quantile.whole:  # they lie in the middle of their cells
        values = np.clip(np.floor(values + 0.5), float(grid.lower) + 0.5, float(grid.upper) - 0.5)
    if ranks.line is not None:
        for cell in round_cells(*ranks.line, ranks.cells).tolist():
            number = quantile(column, (cell * ranks.parts,), ranks)
            values[slice(*np.searchsorted(candidates.starts, np.array([cell, cell + 1]) * ranks.parts))] = number
    away = np.bincount(inverse, np.abs(values - truth)) / many
    near = weights > UNLIKELY
    weights, many, away = weights[near], many[near], away[near]
    u = np.exp(LEAST * (np.arange(STEPS) + 0.5) / STEPS)[:, None]  # du = u · d ln u, in equal steps of ln u
    others = np.log1p(-u * weights)
    chances = many * weights * (u * np.exp((others @ many)[:, None] - others)).sum(axis=0)
    return float(chances @ away / chances.sum())
