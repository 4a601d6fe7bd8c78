"""Broken mechanisms that look right, each a mistake somebody made: the audit must flag every one."""

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import sfumato.geo as geo
from sfumato.audit import binned, exact, positions, trustless
from sfumato.audit.catalogue import MECHANISMS, aggregates, keys_drawn
from sfumato.audit.channels import precision, timing
from sfumato.audit.findings import Finding
from sfumato.audit.plans import CHOICES, PARTS, SALT, SUMS
from sfumato.audit.replay import ONCE_A_GROUP, PERSON, Emit, replayed
from sfumato.audit.subject import Subject
from sfumato.engines.sql.counting import emit
from sfumato.engines.sql.dialect import Dialect
from sfumato.geo.privtree import STRUCTURE, scales, split_coins
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.samplers import discrete_laplace
from sfumato.plan.counting import WHOLE_WEIGHT, Counting
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit

GROUPED = "SELECT g, COUNT(*) FROM t GROUP BY g"
LEVELS = 6
CELLS = "SELECT g, COUNT(*), HISTOGRAM(n, 3) FROM t GROUP BY g"
TWICE_A_GROUP = Person("who", max_rows=3, max_groups=2, max_rows_per_group=2)
SUMMED = "SELECT COUNT(x), SUM(x), AVG(x) FROM t"


def _named(name: str) -> Subject:
    known = (*MECHANISMS, *aggregates(), *positions.subjects())
    return next(subject for subject in known if subject.name == name)


def _counted(whose: str) -> Subject:
    return next(subject for subject in aggregates() if subject.name == f"COUNT(*), unit {whose}, pure")


def _one_sided(value: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    return np.abs(discrete_laplace(1 / price, count, entropy)) + value


def _same_noise(value: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    """One draw for everybody: differences of two answers are exact."""
    return np.repeat(discrete_laplace(1 / price, count // 1000 + 1, entropy), 1000)[:count] + value


def _scale_is_epsilon(value: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    return discrete_laplace(price / 3, count, entropy) + value


def _bounds_from_data(value: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    """The sensitivity is read off the data: an empty table gets no noise."""
    return discrete_laplace(max(Fraction(value), Fraction(1, 50)) / price, count, entropy) + value


def _noise_then_threshold(values: Any, count: int, price: Fraction, entropy: Entropy) -> list[tuple[bool, ...]]:
    """Sparse vector without noise on the threshold, and all the budget for each value."""
    answers = []
    for _ in range(count):
        above = np.asarray(values) + discrete_laplace(2 / price, len(values), entropy) >= 0
        first = int(above.argmax()) if above.any() else len(above) - 1
        answers.append(tuple(above[: first + 1].tolist()))
    return answers


def _eager_keys(units: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    """Shows keys as if δ were ten times as large."""
    return keys_drawn(Fraction(1, 10), units, count, price, entropy)


def _shown_as_for_one_key(sums: Any, count: int, price: Fraction, entropy: Entropy) -> Any:
    """From the threshold of somebody who holds one key, whatever they hold."""
    every = np.tile(np.repeat(sums, binned.HALF), count)
    _, shown = KeySelection(price, binned.KEY_DELTA, 1, weighted=True).select(every, entropy)
    return binned.told(shown.astype(np.int64))


def _half_the_noise_of_the_shape(crowd: int, count: int, price: Fraction, entropy: Entropy) -> list[Any]:
    """The shape drawn at twice its share, the counts at theirs."""
    shape, counts = 2 * price * STRUCTURE, price * (1 - STRUCTURE)
    return positions.tree_paths(crowd, count, shape + counts, shape / (shape + counts), entropy)


def _without_decay(points: int, count: int, price: Fraction, entropy: Entropy) -> Any:
    """How deep a tree goes that compares every level with the same threshold: each level costs anew."""
    scale, decay = scales(price)
    alive, depth = np.ones(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    for _ in range(LEVELS):
        alive &= split_coins(np.full(count, points), 0, scale, decay, entropy)
        depth += alive
    return depth


def subjects() -> list[Subject]:
    """Every mechanism and every aggregate with 0.9 of its noise, and mistakes of other kinds."""
    narrow = [subject.with_less_noise() for subject in (*MECHANISMS, *aggregates(), *trustless.subjects())]
    count, sparse, keys = _named("geometric"), _named("above_threshold"), _named("key_selection")
    choice, metric = _named("exponential"), _named("geo metric, one step apart")
    tree = _named("geo privtree, a point more")
    weighed = next(subject for subject in aggregates() if subject.name == "discovered keys, by weights")
    crowd = weighed.neighbours[0]
    split, gap = _named("a split by gini, unit row, pure"), _named("a gap to a model, unit row, pure")
    rows = _named("a split by gini, unit person, zCDP")
    return [
        *narrow,
        replace(_counted("up to 2 rows"), name="two rows of a person with the noise of one", draw=_counted("row").draw),
        replace(count, name="noise never negative", draw=_one_sided),
        replace(count, name="one draw for a thousand answers", draw=_same_noise),
        replace(count, name="scale = ε instead of 1/ε", price=Fraction(3), draw=_scale_is_epsilon),
        replace(count, name="bounds from the data", draw=_bounds_from_data),
        replace(sparse, name="sparse vector without noise on the threshold", draw=_noise_then_threshold),
        replace(keys, name="key selection with ten times the δ", draw=_eager_keys),
        replace(weighed, name="weights with the threshold of one key", draw=_shown_as_for_one_key),
        replace(weighed, name="weights of rows and not of people", neighbours=(crowd, (crowd[0], 20 * WHOLE_WEIGHT))),
        replace(weighed, name="a whole weight for every key", neighbours=(crowd, (crowd[0] + WHOLE_WEIGHT, 0))),
        replace(
            choice,
            name="exponential mechanism without the factor 2",
            draw=lambda scores, count, price, entropy: choice.draw(scores, count, 2 * price, entropy),
        ),
        replace(
            _named("top_k"),
            name="top-k that pays for one pick",
            draw=lambda scores, count, price, entropy: _named("top_k").draw(scores, count, 2 * price, entropy),
        ),
        replace(
            split,
            name="a split by gini at the rate ε/Q",
            draw=lambda tables, count, price, entropy: split.draw(tables, count, 2 * price, entropy),
        ),
        replace(
            gap,
            name="gaps taken for monotone",
            draw=lambda tables, count, price, entropy: gap.draw(tables, count, 2 * price, entropy),
        ),
        replace(
            rows,
            name="a split that forgets max_rows",
            draw=lambda tables, count, price, entropy: rows.draw(tables, count, 4 * price, entropy),
        ),
        replace(
            metric,
            name="metric without the half",
            draw=lambda item, count, price, entropy: metric.draw(item, count, 2 * price, entropy),
            law=None,
        ),
        replace(tree, name="privtree with half the noise of its shape", draw=_half_the_noise_of_the_shape, law=None),
        replace(tree, name="privtree without decay", neighbours=(0, 1), draw=_without_decay, law=None),
    ]


def _broken(old: str, new: str) -> Emit:
    def write(counting: Counting, schema: Schema, dialect: Dialect) -> str:
        sql = emit(counting, schema, dialect)
        if old not in sql:
            raise ValueError(f"the SQL has no {old!r} to break")
        return sql.replace(old, new)

    return write


def _salted_by_table(counting: Counting, schema: Schema, dialect: Dialect) -> str:
    return emit(replace(counting, salt=counting.salt + (counting.table or 0)), schema, dialect)


def _unclamped(counting: Counting, schema: Schema, dialect: Dialect) -> str:
    """Nothing is clamped, and 64 bits hold what comes of it: a value that does not fit 32 would be NULL."""
    sql = _broken("> 3.5e0", "> 350e0")(counting, schema, dialect)
    return sql.replace("AS INTEGER)", "AS BIGINT)")


def _unclipped(counting: Counting, schema: Schema, dialect: Dialect) -> str:
    return emit(counting, schema, dialect).replace(" most * ", " 99 * ")


def _uncapped_in_a_group(kinds: Container[str]) -> Emit:
    """In countings of these kinds as many rows of a person count in one group as count in all."""

    def write(counting: Counting, schema: Schema, dialect: Dialect) -> str:
        caps = counting.caps
        if counting.kind in kinds:
            counting = replace(counting, caps=replace(caps, rows_per_group=caps.rows))
        return emit(counting, schema, dialect)

    return write


def channels() -> Iterator[Callable[[], Finding]]:
    entropy = SystemEntropy()
    yield lambda: precision("Laplace noise in doubles", _doubles, 1.0)
    yield lambda: precision("planar Laplace noise in doubles", _planar_doubles, 1.0)
    yield lambda: timing("a sampler that loops", lambda: exact.discrete_laplace(Fraction(20), entropy))
    for name, question, unit, write in (
        ("rows counted in each group alone", GROUPED, PERSON, _broken("// many", "// 1")),
        (
            "max_rows forgotten",
            "SELECT COUNT(*) FROM t",
            PERSON,
            _broken("CAST(3 AS BIGINT) AS most", "CAST(99 AS BIGINT) AS most"),
        ),
        ("clamp forgotten", SUMMED, Row(), _unclamped),
        ("a salt for each table of a choice", CHOICES, Person("who", max_rows=1), _salted_by_table),
        (
            "parts of units with a salt from the data",
            PARTS,
            PERSON,
            _broken(f"md5('{SALT}'", "md5(CAST((SELECT COUNT(*) FROM t) AS VARCHAR)"),
        ),
        ("sums in cells not clipped", SUMS, PERSON, _unclipped),
        ("rows in a group capped for numbers alone", CELLS, ONCE_A_GROUP, _uncapped_in_a_group({"cells"})),
        ("rows in a group forgotten in L2²", GROUPED, TWICE_A_GROUP, _uncapped_in_a_group({"numbers"})),
    ):
        yield partial(_replayed, name, question, unit, write)


def _replayed(name: str, question: str, unit: Unit, write: Emit) -> Finding:
    return replace(replayed(question, unit, write), name=name)


def _doubles(x: float, count: int) -> Any:
    words = SystemEntropy().words(2 * count)
    uniform = (words[:count] >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    sign = np.where(words[count:] & np.uint64(1), 1.0, -1.0)
    return x - sign * np.log(uniform)


def _planar_doubles(x: float, count: int) -> Any:
    """East of the textbook's planar Laplace noise around (x, 0), a metre being 1/ε."""
    return geo.teaching.planar_laplace(np.full(count, x), np.zeros(count), epsilon=1.0)[0]
