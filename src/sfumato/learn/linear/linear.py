"""Linear regression from sums of products: one round of noisy sums, solved where noise lets it be, with intervals."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import held_in_file
from sfumato.learn.frames import scaled_of
from sfumato.learn.learner import Learner, Told
from sfumato.learn.linear.coefficients import Coefficient, Coefficients, Estimate, at_zero, coefficients, fine
from sfumato.learn.linear.moments import STEPS, Pairs, Shares, Tables, block, measured, moved, templates, together
from sfumato.learn.linear.regression import Solution, Sums, solved
from sfumato.learn.model import Model, Parameter
from sfumato.learn.noise import Floats
from sfumato.learn.scaled import ScaledTask, scaled_task, span
from sfumato.learn.schedule import SURE, Template
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.wordings import too_many_coefficients
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import GivenNumber
from sfumato.session import Session
from sfumato.simulate import Simulator

PRODUCTS, WITH_TARGET, SQUARE = Fraction(9, 20), Fraction(9, 20), Fraction(1, 10)  # of the price
MOST_COEFFICIENTS = 150
SCENES, FEWER_SCENES, MANY = 1000, 400, 40  # draws that intervals are made of; fewer for so many coefficients
CONFIDENCE, WIDER = 0.95, 1.05  # of intervals: what was found stands in for the truth, and not exactly


class Linear(Learner[ScaledTask]):
    """A number predicted as a sum over columns: coefficients in their units, each with an interval that covers.

    Besides a learner's attributes: `coefficients_`, each with its interval at 95 %, for noise and chance together;
    `coef_`, the estimates alone; `intercept_`, the prediction where all numbers are 0 and listed values the last ones.
    """

    learner = "linear"

    def __init__(
        self,
        target: str | None = None,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        max_rows: int | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.target = target
        self.spend = spend
        self.columns = columns
        self.max_rows = max_rows
        self.ledger = ledger
        self.budget = budget

    def _task(self, session: Session) -> ScaledTask:
        currency = session.price(self.spend).currency
        shared = {"target": self.target, "columns": self.columns, **self._rows(session)}
        return scaled_task(session.schema, currency, steps=STEPS, categories=True, **shared)

    def _settings(self, task: ScaledTask, price: Cost) -> dict[str, Parameter]:  # noqa: ARG002
        pairs = Pairs(task)
        many = 1 + sum(max(1, pairs.width(place) - 1) for place in _columns(pairs))
        if many > MOST_COEFFICIENTS:
            raise too_many_coefficients(many, MOST_COEFFICIENTS)
        return {"products": str(PRODUCTS), "with_target": str(WITH_TARGET)}

    def _templates(self, task: ScaledTask, price: Cost) -> list[Template]:
        pairs = Pairs(task)
        return templates(pairs, _shares(pairs, price.amount))

    def _learnt(self, task: ScaledTask, envelope: Envelope, told: Told) -> tuple[Coefficients, tuple[str, ...]]:
        pairs = Pairs(task)
        shares = _shares(pairs, envelope.price.amount)
        tables = measured(pairs, shares, envelope, told)
        sums, made = _sums(pairs, tables), Simulator(int(envelope.seed, 16))
        many = len(sums.vector)
        scenes = SCENES if many <= MANY else FEWER_SCENES
        noise = moved(pairs, shares, made, scenes)
        coins = made.stream("rows").normal(2 * scenes * many).reshape(scenes, 2 * many)
        found = solved(sums, _sums(pairs, noise), coins)
        fitted = _coefficients(pairs, tables, found, float(noise[0, 0].std()))
        return fitted, notes_on(fitted) + _held(found)

    # ---- using

    def predict(self, X: Any) -> Floats:  # noqa: N803 - as scikit-learn calls it
        """The number that is predicted of every row, within the declared bounds of the target."""
        model = self._known()
        return _fitted(model).predictions(scaled_of(X, model.features))

    def predicted(self, X: Any) -> dict[str, NDArray[Any]]:  # noqa: N803
        """The column that `sfumato predict` puts beside the rows of a table."""
        return {"prediction": self.predict(X)}

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """R² on rows of your own: which part of the target's variance is explained."""
        truth = np.asarray(y, dtype=np.float64)
        return float(1 - ((truth - self.predict(X)) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags  # noqa: PLC0415 - only whoever has it asks

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _adopt(self, model: Model) -> None:
        super()._adopt(model)
        fitted = _fitted(model)
        self.coefficients_: list[Coefficient] = coefficients(model.features, fitted)
        self.coef_ = np.array([one.estimate for one in self.coefficients_])
        self.intercept_ = at_zero(model.features, fitted)


def _fitted(model: Model) -> Coefficients:
    if not isinstance(model.fitted, Coefficients):
        raise TypeError("it is no linear model")
    return model.fitted


# ---- sums


def _columns(pairs: Pairs) -> range:
    return range(1, len(pairs.task.columns) + 1)


def _shares(pairs: Pairs, amount: Fraction) -> Shares:
    """All pairs of columns at equal parts, each column with the target at equal parts, and the target with itself."""
    own, target = pairs.among([0, *_columns(pairs)]), len(pairs.used)
    beside = [(place, target) for place in (0, *_columns(pairs))]
    return {
        **dict.fromkeys(own, amount * PRODUCTS / len(own)),
        **dict.fromkeys(beside, amount * WITH_TARGET / len(beside)),
        (target, target): amount * SQUARE,
    }


def _sums(pairs: Pairs, tables: Tables) -> Sums:
    """With listed values as corners of a simplex: none of them is apart from the others."""
    places, target = [0, *_columns(pairs)], len(pairs.used)
    bases = {place: corners(pairs.width(place)) for place in places}
    against = [bases[place].T @ block(tables, place, target) for place in places]
    return Sums(
        together(tables, places, bases),
        np.concatenate(against, axis=-2)[..., 0],
        block(tables, target, target)[..., 0, 0],
    )


def corners(width: int) -> Floats:
    """So many points of length 1, equally far from each other, in one dimension less; of one the number 1."""
    if width == 1:
        return np.ones((1, 1))
    found = np.zeros((width, width - 1))
    for place in range(width - 1):
        found[: place + 1, place] = 1
        found[place + 1, place] = -(place + 1)
        found[:, place] /= ((place + 1) * (place + 2)) ** 0.5
    return np.asarray(found * (width / (width - 1)) ** 0.5)


# ---- whole numbers


def _coefficients(pairs: Pairs, tables: Tables, found: Solution, noise: float) -> Coefficients:
    rows = float(tables[0, 0][0, 0])
    believed = max(rows, SURE * noise, 1.0)
    intercept, slopes, means, start = np.eye(1, len(found.coefficients))[0], [], [], 1
    for place in _columns(pairs):
        width = pairs.width(place)
        base = corners(width)
        told = np.zeros((width, len(found.coefficients)))
        told[:, start : start + base.shape[1]] = base if width == 1 else base - base[-1]
        if width > 1:
            intercept[start : start + base.shape[1]] = base[-1]
        slopes.append(tuple(_estimate(one, found) for one in told))
        means.append(_mean(tables[0, place][0] / believed))
        start += base.shape[1]
    response = pairs.task.response
    if response is None:
        raise TypeError("there is nothing to predict")
    target = span(response.feature)
    return Coefficients(
        target, _estimate(intercept, found), tuple(slopes), tuple(means), held_in_file(rows), held_in_file(noise)
    )


def _estimate(told: Floats, found: Solution) -> Estimate:
    """A combination of coefficients, and how far its interval reaches: as far as noise and chance move it once more."""
    reach = WIDER * float(np.quantile(np.abs(found.errors @ told), CONFIDENCE))
    return fine(float(told @ found.coefficients)), fine(reach)


def _mean(shares: Floats) -> tuple[int, ...]:
    """The mean of a number, or the shares of listed values, which add up to 1."""
    if len(shares) == 1:
        return (fine(float(np.clip(shares[0], -1, 1))),)
    known = np.maximum(shares, 0)
    even = np.full(len(shares), 1 / len(shares))
    return tuple(fine(float(one)) for one in (known / known.sum() if known.sum() > 0 else even))


def _held(found: Solution) -> tuple[str, ...]:
    if not found.held:
        return ()
    return (
        f"Noise: {found.held} of {len(found.coefficients)} directions in which columns vary are lost in it, and are "
        "held near 0. Spend more, or use fewer columns.",
    )
