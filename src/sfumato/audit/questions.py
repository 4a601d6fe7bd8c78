"""Private choices among questions, as an auditor draws them: certify and gate on fixed tables, many groups at a time.

One unit's rows are those that tell most: of another class than all others, and in a cell of their own in one table.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np

from sfumato.audit import laws
from sfumato.audit.binned import Counts, rows_of
from sfumato.kernel.certify import MOST_GROUPS, certify
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.mechanisms.protocol import CellCounts, Tables
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Choose, Gap, Grid, ListedKey, Measure, MechanismName, Plan, Question, RangeKey
from sfumato.schema.columns import Category, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Unit

CROWD, AWAY = 3_000, 20
HALVES, WHOLE = (Grid(Column("x"), Fraction(0), Fraction(40), size) for size in (2, 1))
CLASSES = ListedKey(Column("c"), ("a", "b"))
QUESTIONS = Question(0, (0, 1)), Question(1, (0,))
GINI, LARGEST = Choose((HALVES, WHOLE), CLASSES, QUESTIONS), Choose((HALVES, WHOLE), CLASSES, QUESTIONS, "max")
GAP = Choose((CLASSES,), None, (Gap(0, (0, 0)), Gap(0, (0, AWAY), AWAY)), "gap")
STEPS = {"gini": 128, "max": 1, "gap": 2}  # by which one row moves two scores apart


def neighbours(asked: Choose, unit: Unit) -> tuple[Counts, Counts]:
    """Rows in all cells of all tables, one after the other, without and with a unit: the third of its kind."""
    two, three = (units * rows_of(unit) for units in (2, 3))
    if asked.score == "gap":
        return (CROWD, two), (CROWD, three)
    return (CROWD, 0, 0, two, CROWD, two), (CROWD, 0, 0, three, CROWD, three)


def draw(
    asked: Choose, unit: Unit, counts: Counts, count: int, price: Fraction, entropy: Entropy, *, in_rho: bool
) -> list[int]:
    """Groups that all have these tables: each group is one run."""
    at_once = min(count, MOST_GROUPS)
    schema = Schema("t", unit, {"x": Float(0, 40), "c": Category(["a", "b"]), "g": Int(1, MOST_GROUPS)})
    mechanism: MechanismName = "exponential" if in_rho else "permute_and_flip"
    plan = Plan("t", unit, None, (RangeKey(Column("g"), 1, at_once),), (Measure(asked, mechanism, price),))
    certified = certify(plan, schema, "rho" if in_rho else "epsilon")
    entry, drawn = _tables(asked, counts), list[int]()
    while len(drawn) < count:
        released = release(certified, Receipt(1, certified.digest), [(entry,)] * at_once, entropy)
        drawn += [row[0] for row in released.values if isinstance(row[0], int)]
    return drawn[:count]


def _tables(asked: Choose, counts: Counts) -> Tables:
    sizes = [cells.size for cells in asked.counted]
    parts = np.split(np.array(counts, dtype=np.int64), np.cumsum(sizes)[:-1])
    return tuple(CellCounts(np.flatnonzero(part), part[np.flatnonzero(part)]) for part in parts)


def law(asked: Choose, unit: Unit, in_rho: bool, counts: Counts, price: Fraction) -> laws.Law:
    epsilon = sqrt(8 * price) if in_rho else float(price)
    chosen = laws.exponential if in_rho else laws.permute_and_flip
    return chosen(epsilon / rows_of(unit) / STEPS[asked.score], _scores(asked, counts))


def _scores(asked: Choose, counts: Counts) -> Sequence[int]:
    """By hand: of both questions, as they are defined."""
    if asked.score == "gap":
        first, second = counts
        return first + second, first + abs(second - AWAY) - AWAY
    cells = [counts[:2], counts[2:4]]
    each = _impurity if asked.score == "gini" else max
    return sum(map(each, cells)), each(counts[4:])


def _impurity(child: Counts) -> int:
    rows = sum(child)
    return -64 * (rows**2 - sum(count**2 for count in child)) // rows if rows else 0
