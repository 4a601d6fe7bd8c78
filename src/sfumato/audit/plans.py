"""Plans that no text of a question makes, about the table of corner cases: keys and measures, by what they are."""

from fractions import Fraction

from sfumato.plan.expressions import Column, LineOfCells, Pick, UnitPart
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import (
    Aggregate,
    CellSum,
    Choose,
    CountRows,
    Cross,
    Gap,
    Grid,
    Histogram,
    Key,
    ListedKey,
    Measure,
    Question,
    RangeKey,
    Sum,
)

SALT = 7


def _measures(*aggregates: Aggregate) -> tuple[Measure, ...]:
    return tuple(
        Measure(each, "permute_and_flip" if isinstance(each, Choose) else "laplace", Fraction(1)) for each in aggregates
    )


LETTERS, DIGITS = ListedKey(Column("g"), ("a", "b", "c")), RangeKey(Column("d"), 1, 3)
NUMBERS = Grid(Column("n"), Fraction(0), Fraction(9), 3)
GRIDS = [Grid(Column("x"), Fraction(-2), Fraction(5), size) for size in (2, 3, 4)]
TABLES: tuple[LineOfCells, ...] = (DIGITS, NUMBERS, *GRIDS)
DIVIDED = Choose(TABLES, LETTERS, (Question(0, (0, 1, 1)), Question(1, (0, 0, 1)), Question(4, (0, 1, 2, 1))))
MODELLED = Choose(TABLES, None, (Gap(0, (1, 1, 1)), Gap(1, (2, 0, 1)), Gap(2, (3, 3), 1)), "gap")
SUMS, CHOICES, PARTS = "crossed cells, and sums in them", "choices among questions", "parts of units"
PLANS: dict[str, tuple[tuple[Key, ...], tuple[Measure, ...]]] = {
    SUMS: (
        (LETTERS,),
        _measures(
            Histogram(Cross((DIGITS, NUMBERS))),
            CellSum(NUMBERS, Column("x"), Lattice(-2, 5, 0)),
            CellSum(NUMBERS, Pick(DIGITS, (-7, 2, 3)), Lattice(-7, 3, 0)),
        ),
    ),
    CHOICES: ((LETTERS,), _measures(DIVIDED, MODELLED)),
    PARTS: ((RangeKey(UnitPart(SALT, 3), 0, 2),), _measures(CountRows(), Sum(Column("x"), Lattice(-2, 5, 0)))),
}
