"""Whether an error bar goes from one end of what is possible to the other, and so says nothing."""

from math import sqrt
from typing import Any

from sfumato.answers import cells
from sfumato.query.rewrite import MeanColumn, OutputColumn, QuantileColumn, SpreadColumn

ALL_SHARES = (0.0, 1.0)


def says_nothing(column: OutputColumn | None, interval: Any) -> bool:
    """Of means, spreads and quantiles: counts, sums and what is computed (None) have no ends that a bar could reach."""
    if not isinstance(interval, tuple):
        return False
    match column:
        case QuantileColumn():
            return cells.says_nothing(column, interval)
        case MeanColumn(lattice=lattice):
            return _holds(interval, float(lattice.lower * lattice.step), float(lattice.upper * lattice.step))
        case SpreadColumn(spread=spread):
            most = float(spread.squares.upper * spread.squares.step)
            return _holds(interval, 0.0, sqrt(most) if spread.root else most)
        case _:
            return False


def _holds(interval: tuple[Any, ...], low: float, high: float) -> bool:
    return bool(low < high and interval[0] <= low and high <= interval[1])
