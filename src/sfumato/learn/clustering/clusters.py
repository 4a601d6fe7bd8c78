"""Clusters: centres near which rows lie. Histograms first, then rows around many public centres, then around the few.

What is drawn in between is public: points of the product of noisy histograms, of which centres are made, and whatever
k-means does with noisy means. So many starts cost nothing, and the rows are looked at three times in all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.envelope import Envelope
from sfumato.errors import Refused
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import Counts, cells_of, held_in_file
from sfumato.learn.clustering.centres import Whole, centres_of, divided, nearest, weighed
from sfumato.learn.clustering.gathering import COUNTED, FINE, PARTS, Gathered, Gathering, noise_of_sums
from sfumato.learn.frames import steps_of
from sfumato.learn.learner import Learner, Told
from sfumato.learn.model import SIDE, Centres, Model, Parameter
from sfumato.learn.scaled import ScaledTask, scaled_task, span
from sfumato.learn.schedule import Template
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.wordings import too_many_centres
from sfumato.plan.expressions import Grid
from sfumato.plan.nodes import Histogram, Plan
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import GivenNumber, whole
from sfumato.session import Session
from sfumato.simulate import Simulator, Stream

MOST_CLUSTERS = 100
HISTOGRAMS, AROUND_MANY, AROUND_FEW = Fraction(1, 10), Fraction(1, 2), Fraction(2, 5)  # of the price
CELLS = 16  # of a histogram
ABOVE = 2  # so many standard deviations is a cell of a histogram above its noise
MOST_MANY, STEP_MANY, MOST_WAYS = 48, 8, 2  # centres that rows are gathered around at first, and in how many ways
MOST_BY = 5  # columns by which the nearest of these is found
MOST_LEAST = 4  # ways, so that each column is among these in one of them
ROWS_OF_ONE = 6  # times the noise of a sum: so many rows one of them has at least
POINTS, POINTS_OF_ONE, ROUNDS_OF_POINTS = 2000, 20, 3
STARTS, ROUNDS = 100, 15
NOBODY = -1  # the cluster of a row that lacks a number


class Clusters(Learner[ScaledTask]):
    """k centres near which rows lie (k-means), of numbers and dates with declared bounds, all scaled alike.

    Besides a learner's attributes after `fit`: `cluster_centers_`, in the units of the columns, the one with the most
    (noisy) rows first; days are counted from 1970-01-01.
    """

    learner = "clusters"
    supervised = False

    def __init__(
        self,
        k: int = 8,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        max_rows: int | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.k = k
        self.spend = spend
        self.columns = columns
        self.max_rows = max_rows
        self.ledger = ledger
        self.budget = budget

    def _task(self, session: Session) -> ScaledTask:
        currency = session.price(self.spend).currency
        return scaled_task(session.schema, currency, steps=SIDE, columns=self.columns, **self._rows(session))

    def _settings(self, task: ScaledTask, price: Cost) -> dict[str, Parameter]:  # noqa: ARG002
        k, columns = self._many(), len(task.columns)
        if not _fits(task, k, columns):
            raise too_many_centres(k, columns, _most(task, columns, k - 1))
        return {"k": k, "centres": _most(task, MOST_BY, MOST_MANY, least=k)}

    def _many(self) -> int:
        return whole(self.k, "k", least=1, most=MOST_CLUSTERS)

    def _templates(self, task: ScaledTask, price: Cost) -> list[Template]:
        columns, k = len(task.columns), self._many()
        ways = max(MOST_WAYS, _least_ways(columns))
        most = _most(task, MOST_BY, MOST_MANY, least=k)
        first, far, *_ = Gathering.largest(most, columns, MOST_BY).plans(task, price.amount * AROUND_MANY / ways)
        last, near, *_ = Gathering.largest(k, columns, columns).plans(task, price.amount * AROUND_FEW)
        return [
            Template("rows by 16 steps of a column", histogram(task, 0, price.amount * HISTOGRAMS / columns), columns),
            Template(f"rows around {most} public centres; less noise where fewer ways are enough", first, ways),
            Template(
                "how far they are from these, a sum a column; less noise the nearer they are", far, ways * columns
            ),
            Template(f"rows around {k} centres", last),
            Template("how far they are from these, likewise", near, columns),
        ]

    def _learnt(self, task: ScaledTask, envelope: Envelope, told: Told) -> tuple[Centres, tuple[str, ...]]:
        amount, k = envelope.price.amount, self._many()
        coins = Simulator(int(envelope.seed, 16)).stream("centres of clusters")
        told(0.0, "steps of columns")
        steps = Steps.drawn(task, envelope, amount * HISTOGRAMS, round_=0)
        told(0.2, "many centres")
        share, most = amount * AROUND_MANY, _most(task, MOST_BY, MOST_MANY, least=k)
        around = steps.scattered(share, k, most, coins)
        found = _gathered(task, envelope, [one.gathering for one in around], share, round_=1)
        told(0.6, "few centres")
        last = _gathered(task, envelope, [_few(found, around, k, coins)], amount * AROUND_FEW, round_=2)[0]
        fitted = _fitted(last)
        return fitted, notes_on(fitted)

    # ---- using

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803 - as scikit-learn calls it
        """The cluster of every row; -1 of one that lacks a number."""
        model = self._known()
        steps = steps_of(X, model.features, SIDE)
        lacking = np.asarray(np.isnan(steps).any(axis=1))
        found = nearest(np.where(lacking[:, None], 0, steps).astype(np.int64), _centres(model))
        return np.asarray(np.where(lacking, NOBODY, found))

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:  # noqa: N803
        """`fit(X)`, which is paid for, and the clusters of these rows."""
        return self.fit(X, y).predict(X)

    def predicted(self, X: Any) -> dict[str, NDArray[Any]]:  # noqa: N803
        """The columns that `sfumato predict` puts beside the rows of a table: the cluster."""
        return {"cluster": self.predict(X)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        return tags

    def _adopt(self, model: Model) -> None:
        super()._adopt(model)
        spans = [span(feature) for feature in model.features]
        middle, reach = (np.array([getattr(one, part) for one in spans]) for part in ("middle", "reach"))
        self.cluster_centers_ = middle + _centres(model) * reach / SIDE


def _centres(model: Model) -> Whole:
    if not isinstance(model.fitted, Centres):
        raise TypeError("it has no centres")
    return np.array(model.fitted.centres, dtype=np.int64)


# ---- what fits


def _fits(task: ScaledTask, many: int, by: int) -> bool:
    largest = Gathering.largest(many, len(task.columns), by)
    try:
        certify(largest.plans(task, Fraction(1))[-1], task.schema, task.currency)
    except Refused:
        return False
    return True


def _least_ways(columns: int) -> int:
    """Groups of rows that are alike in some columns are told apart by others."""
    return min(-(-columns // MOST_BY), MOST_LEAST)


@lru_cache(maxsize=32)  # of a task it is asked several times; no two tasks are equal
def _most(task: ScaledTask, by: int, most: int, least: int = 0) -> int:
    """How many centres a plan can tell apart, of so many at most; `least` are known to fit."""
    return next((many for many in range(most, least, -STEP_MANY) if _fits(task, many, by)), least)


# ---- histograms, and points that are like them


def histogram(task: ScaledTask, place: int, share: Fraction) -> Plan:
    end = Fraction(2 * SIDE + 1, 2)
    return task.plan((), Histogram(Grid(task.columns[place].column, -end, end, CELLS)), share)


@dataclass(frozen=True, slots=True)
class Around:
    """Public centres to begin with, and the points that they were made of."""

    gathering: Gathering
    points: Whole


@dataclass(frozen=True, slots=True)
class Steps:
    """Noisy numbers of rows in 16 steps of every column, and the standard deviation of these in 256ths."""

    task: ScaledTask
    tables: tuple[Counts, ...]
    noise: int

    @classmethod
    def drawn(cls, task: ScaledTask, envelope: Envelope, share: Fraction, *, round_: int) -> "Steps":
        part, places = share / len(task.columns), range(len(task.columns))
        releases = envelope.ask_all([histogram(task, place, part) for place in places], round_=round_)
        return cls(task, tuple(map(cells_of, releases)), noise_of_sums(task, 1, part))

    @property
    def rows(self) -> int:
        return max(0, sum(int(table.sum()) for table in self.tables) // len(self.tables))

    def scattered(self, share: Fraction, k: int, most: int, coins: Stream) -> list[Around]:
        """As many centres as there are rows enough for; in several ways if there are more, or many columns."""
        part, least = share * (1 - COUNTED) / len(self.tables), _least_ways(len(self.tables))
        wanted = self.rows * SIDE * PARTS // (ROWS_OF_ONE * noise_of_sums(self.task, SIDE, part))
        many = min(max(wanted // least, 2 * k), most)
        ways = max(min(wanted // most, MOST_WAYS), least)
        widest = sorted(range(len(self.tables)), key=lambda place: -self._spread(place))
        # Every way has columns of its own, and the widest of all others as far as there is room.
        told = [list(dict.fromkeys([*widest[way::ways], *widest]))[:MOST_BY] for way in range(ways)]
        return [self._around(many, sorted(by), coins) for by in told]

    def _around(self, many: int, by: list[int], coins: Stream) -> Around:
        points = self._points(max(POINTS, POINTS_OF_ONE * many), coins)
        alike = np.ones(len(points), dtype=np.int64)
        told_apart = centres_of(points[:, by], alike, many, coins, starts=1, rounds=ROUNDS_OF_POINTS)
        own = nearest(points[:, by], told_apart)
        sums, rows = np.zeros((many, points.shape[1]), dtype=np.int64), np.bincount(own, minlength=many)[:, None]
        np.add.at(sums, own, points)
        centres = np.where(rows > 0, divided(sums, np.maximum(rows, 1)), 0)
        return Around(Gathering.around(centres, by, points, alike), points)

    def _weights(self, place: int) -> Counts:
        """Rows in the cells of a column that are above the noise; all alike where none is."""
        table = self.tables[place]
        weights = np.where(PARTS * table > ABOVE * self.noise, table, 0)
        return weights if weights.any() else np.ones_like(weights)

    def _spread(self, place: int) -> Fraction:
        """The variance of a column, in cells."""
        weights = [int(one) for one in self._weights(place)]
        rows, added, squares = (sum(one * cell**power for cell, one in enumerate(weights)) for power in range(3))
        return Fraction(squares * rows - added**2, rows**2)

    def _points(self, many: int, coins: Stream) -> Whole:
        """Of the product of the histograms: in every column a cell with its weight, and anywhere in it."""
        columns = []
        for place in range(len(self.tables)):
            cells = coins.categories(self._weights(place), many)
            columns.append(np.floor((cells + coins.uniform(many)) * (2 * SIDE + 1) / CELLS).astype(np.int64) - SIDE)
        return np.column_stack(columns)


# ---- from many centres to few


def _gathered(
    task: ScaledTask, envelope: Envelope, asked: Sequence[Gathering], share: Fraction, *, round_: int
) -> list[Gathered]:
    """Rows around centres, in as many ways as there are gatherings, each at an equal part; in one draw."""
    part = share / len(asked)
    plans = [one.plans(task, part) for one in asked]
    releases = iter(envelope.ask_all([plan for own in plans for plan in own], round_=round_))
    return [one.gathered(task, [next(releases) for _ in own], part) for one, own in zip(asked, plans, strict=True)]


def _few(found: Sequence[Gathered], around: Sequence[Around], k: int, coins: Stream) -> Gathering:
    """k centres of the noisy means, of those that are sure; of the fullest if too few are."""
    means, counts, sure = (
        np.concatenate(parts) for parts in zip(*((one.moved(), one.counts, one.sure) for one in found), strict=True)
    )
    chosen = np.flatnonzero(sure) if sure.sum() >= k else np.argsort(-counts, kind="stable")[:k]
    made = centres_of(means[chosen], weighed(counts[chosen]), k, coins, starts=STARTS, rounds=ROUNDS)
    alike = [one.like_rows(own.points) for one, own in zip(found, around, strict=True)]
    points, weights = (np.concatenate(parts) for parts in zip(*alike, strict=True))
    return Gathering.around(divided(made, np.array(FINE)), range(points.shape[1]), points, weights)


def _fitted(last: Gathered) -> Centres:
    """Centres moved by what is around them, if that is more than noise; the fullest first."""
    sure = last.sure[:, None]
    centres = np.where(sure, divided(last.moved(), np.array(FINE)), last.gathering.array)
    errors = np.where(sure, last.errors(), PARTS * np.array(last.gathering.reach))
    order = np.argsort(-last.counts, kind="stable")
    return Centres(
        tuple(tuple(int(one) for one in centres[place]) for place in order),
        tuple(tuple(int(one) for one in errors[place]) for place in order),
        tuple(int(last.counts[place]) for place in order),
        held_in_file(-(-last.noise // PARTS)),
    )
