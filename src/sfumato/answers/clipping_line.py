"""The line of cells that a clipping scan counts: public bounds, close together near 0. No data is near."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil, expm1, log, log1p

from sfumato.schema.columns import Float, Int

OCTAVES = 16  # below the largest bound, where a column has no steps of its own and there are points enough
IN_AN_OCTAVE = 4  # bounds: each is 19 % above the one before
NEARLY = 1e-9  # of a whole number: how far a computed edge may be from it
NEARLY_ONE = 0.01  # of a cell: so little does not make another


@dataclass(frozen=True, slots=True)
class ClippingLine:
    """Cells from 0 to `upper`: the smallest and the largest value of each.

    With `factor` they are equal steps of ln(1 + factor · value), without it the whole numbers one by one.
    """

    lows: tuple[float, ...]
    ends: tuple[float, ...]
    factor: str | None

    @property
    def size(self) -> int:
        return len(self.ends)

    @property
    def upper(self) -> float:
        return self.ends[-1]

    def cells(self, name: str, running: bool) -> str:
        """What to ask, the largest values first: running totals are then the rows from a bound on.

        Gaussian noise is shared well by these; of Laplace noise, cells that are counted one by one are as good.
        """
        falling = f"-{name}" if self.factor is None else f"-LN(GREATEST({name}, 0) * {self.factor} + 1)"
        return f"{'CDF' if running else 'HISTOGRAM'}({falling}, {self.size})"


def clipping_line(declared: Int | Float, points: int) -> ClippingLine:
    """Up to the upper bound that is declared, 0 and at most `points` others."""
    upper = declared.upper or 0
    whole = isinstance(declared, Int)
    if whole and upper <= points:
        ends = tuple(float(end) for end in range(int(upper) + 1))
        return ClippingLine(ends, ends, None)
    apart = log(2) / IN_AN_OCTAVE
    octaves = min(OCTAVES, (points + 1) / IN_AN_OCTAVE)
    # Of whole numbers no cell may be without one: the first holds 0 alone.
    finest = max(float(upper) / 2**octaves, 1 / expm1(apart) if whole else 0.0)
    factor = format(Decimal(f"{1 / finest:.12g}"), "f")
    width = 1 / float(factor)
    reach = log1p(float(upper) / width)
    size = max(2, min(points + 1, ceil(reach / apart - NEARLY_ONE)))
    edges = [width * expm1(reach * place / size) for place in range(size)] + [float(upper)]
    if whole:
        firsts = [ceil(edge - NEARLY) for edge in edges[:-1]]
        lasts = [*(first - 1 for first in firsts[1:]), int(upper)]
        return ClippingLine(tuple(map(float, firsts)), tuple(map(float, lasts)), factor)
    return ClippingLine(tuple(edges[:-1]), tuple(edges[1:]), factor)
