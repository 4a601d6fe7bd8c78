"""What synthetic rows are drawn from, as a file holds it: every number in its place, or no model."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from itertools import pairwise
from typing import Any

from sfumato.learn.bins import EPOCH, Cells, Feature, Line, Listed
from sfumato.learn.files.shapes import MOST_NUMBER, MOST_WEIGHT, items, number, parts, row, table, whole
from sfumato.learn.synthesis.cleaning import WHOLE
from sfumato.learn.synthesis.likeness import MOST_COLUMNS, POINTS, Ends, Likeness
from sfumato.learn.synthesis.pairs import Pair, Parts


def likeness_in(said: Any, features: Sequence[Feature]) -> Likeness:
    """A likeness of these columns, or TypeError or ValueError."""
    given = parts(said, *(field.name for field in fields(Likeness)))
    if len(features) > MOST_COLUMNS:
        raise ValueError
    ends = items(given["ends"], lambda one: one)
    found = Likeness(
        whole(given["rows"]),
        whole(given["noise"]),
        tuple(_ends(each, feature.cells) for each, feature in zip(ends, features, strict=True)),
        table(given["ones"]),
        items(given["pairs"], _pair),
        table(given["tables"]),
        row(given["weights"]),
    )
    sizes = [feature.size for feature in features]
    if not (_is_forest(found, len(sizes)) and _adds_up(found, sizes)):
        raise ValueError
    return found


def _ends(said: Any, cells: Cells) -> Ends | None:
    """Of a line the first and the last value, of listed values none."""
    match cells:
        case Line(cuts=cuts, kind=kind):
            first, last = items(said, number if kind == "real" else whole)
            if not first <= last or (kind != "real" and not _countable([first, *map(int, cuts), last])):
                raise ValueError
            if kind == "day" and not all(1 <= one + EPOCH.toordinal() <= date.max.toordinal() for one in (first, last)):
                raise ValueError
            return first, last
        case Listed() if said is None:
            return None
        case _:
            raise ValueError


def _countable(edges: Sequence[float]) -> bool:
    """Whether the whole numbers of every cell are few enough to be drawn from."""
    return all(abs(edge) <= MOST_NUMBER for edge in edges) and all(
        later - edge <= MOST_NUMBER for edge, later in pairwise(edges)
    )


def _pair(said: Any) -> Pair:
    one, other = row(said)
    return one, other


def _is_forest(fitted: Likeness, columns: int) -> bool:
    """Whether pairs are of two columns, each once, and those with a table never lead back to where they began."""
    known, joined = set(fitted.pairs), Parts(columns)
    if len(known) < len(fitted.pairs) or not all(0 <= one < other < columns for one, other in known):
        return False
    tree = fitted.pairs[: len(fitted.tables)]
    return len(tree) == len(fitted.tables) and all(joined.join(pair) for pair in tree)


def _adds_up(fitted: Likeness, sizes: Sequence[int]) -> bool:
    """Whether every column and every pair of the tree has shares of all its cells, and the rows weigh something."""
    shapes = [sizes[one] * sizes[other] for one, other in fitted.pairs[: len(fitted.tables)]]
    return (
        fitted.rows >= 1
        and [len(one) for one in fitted.ones] == list(sizes)
        and [len(one) for one in fitted.tables] == shapes
        and all(min(one) >= 0 and sum(one) == WHOLE for one in (*fitted.ones, *fitted.tables))
        and len(fitted.weights) == POINTS
        and all(0 <= one <= MOST_WEIGHT for one in fitted.weights)
        and any(fitted.weights)
    )
