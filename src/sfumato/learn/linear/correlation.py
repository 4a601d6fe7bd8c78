"""How numbers vary together: correlations of every two columns, and the few directions in which they vary most."""

from abc import abstractmethod
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
from sfumato.learn.linear.coefficients import fine
from sfumato.learn.linear.matrices import Correlations, Directions, fine_matrix, plain
from sfumato.learn.linear.moments import STEPS, Pair, Pairs, Shares, measured, moved, templates
from sfumato.learn.linear.spread import Spread, correlations, directions, least_variances, possible, spread
from sfumato.learn.model import Model, Parameter
from sfumato.learn.noise import Floats
from sfumato.learn.scaled import ScaledTask, scaled_task
from sfumato.learn.schedule import Template
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.wordings import too_few_numbers, too_many_components
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import GivenNumber, whole
from sfumato.session import Session
from sfumato.simulate import Simulator

SCENES = 400  # draws of the noise that standard deviations are made of
MOST_COLUMNS = 60
SQUARES = Fraction(1, 3)  # of the price of a product: x² lies between 0 and 1, is known better for it, and matters less
SIXTEENTHS = 16  # shares are whole numbers of these


class _Varying(Learner[ScaledTask]):
    """What is learnt from sums of numbers and of their products."""

    supervised = False

    def _task(self, session: Session) -> ScaledTask:
        currency = session.price(self.spend).currency
        return scaled_task(session.schema, currency, steps=STEPS, columns=self.columns, **self._rows(session))

    def _settings(self, task: ScaledTask, price: Cost) -> dict[str, Parameter]:  # noqa: ARG002
        if not 2 <= len(task.columns) <= MOST_COLUMNS:
            raise too_few_numbers(len(task.columns), MOST_COLUMNS)
        return {}

    def _templates(self, task: ScaledTask, price: Cost) -> list[Template]:
        pairs = Pairs(task)
        return templates(pairs, _shares(pairs, price.amount))

    def _learnt(self, task: ScaledTask, envelope: Envelope, told: Told) -> tuple[Any, tuple[str, ...]]:
        pairs = Pairs(task)
        shares = _shares(pairs, envelope.price.amount)
        tables = measured(pairs, shares, envelope, told)
        noise = moved(pairs, shares, Simulator(int(envelope.seed, 16)), SCENES)
        deviation = float(noise[0, 0].std())
        again = {pair: tables[pair] + noise[pair] for pair in tables}
        fitted = self._fitted(
            spread(pairs, tables, deviation), spread(pairs, again, deviation), held_in_file(deviation)
        )
        return fitted, notes_on(fitted)

    @abstractmethod
    def _fitted(self, found: Spread, again: Spread, noise: int) -> Correlations | Directions:
        """In whole numbers; `again` is what noise makes of it once more, many times."""


class Correlation(_Varying):
    """The correlations of every two numbers, as a matrix that correlations can have.

    Besides a learner's attributes: `correlation_`, the matrix; `error_`, the standard deviations that noise gives it, 1
    where the variance of a column is lost in noise.
    """

    learner = "correlation"

    def __init__(
        self,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        max_rows: int | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.spend = spend
        self.columns = columns
        self.max_rows = max_rows
        self.ledger = ledger
        self.budget = budget

    def _fitted(self, found: Spread, again: Spread, noise: int) -> Correlations:
        least, variances = least_variances(again), np.diagonal(found.covariances)
        matrix, unbounded = correlations(possible(found), least), correlations(found.covariances, least)
        errors = np.sqrt(((correlations(again.covariances, least) - unbounded) ** 2).mean(axis=0))
        lost = variances < least
        unknown = (lost[:, None] | lost[None, :]) & ~np.eye(len(lost), dtype=bool)
        return Correlations(
            fine_matrix(matrix),
            fine_matrix(np.where(unknown, 1, np.minimum(errors, 1))),
            tuple(map(fine, found.means.tolist())),
            tuple(map(fine, np.sqrt(np.clip(variances, 0, 1)).tolist())),
            held_in_file(float(found.rows)),
            noise,
        )

    def _adopt(self, model: Model) -> None:
        super()._adopt(model)
        if not isinstance(model.fitted, Correlations):
            raise TypeError("it has no correlations")
        self.correlation_, self.error_ = plain(model.fitted.matrix), plain(model.fitted.errors)


class Components(_Varying):
    """The few directions in which numbers vary most, each scaled by its declared bounds (principal components).

    Besides a learner's attributes: `components_`, one a row; `explained_variance_ratio_`; `error_`, the standard
    deviations that noise gives the components.
    """

    learner = "components"

    def __init__(
        self,
        k: int = 2,
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

    def _settings(self, task: ScaledTask, price: Cost) -> dict[str, Parameter]:
        told, many = super()._settings(task, price), whole(self.k, "k", least=1)
        if many > len(task.columns):
            raise too_many_components(many, len(task.columns))
        return {**told, "k": many}

    def _fitted(self, found: Spread, again: Spread, noise: int) -> Directions:
        turned, variances = directions(found.covariances, int(self.k))
        others, _ = directions(again.covariances, int(self.k))
        others = others * np.where((others * turned).sum(axis=-1, keepdims=True) < 0, -1, 1)
        errors = np.sqrt(((others - turned) ** 2).mean(axis=0))
        total = max(float(np.diagonal(found.covariances).sum()), float(variances.sum()), 1e-9)
        return Directions(
            fine_matrix(turned),
            fine_matrix(errors),
            tuple(fine(float(one) / total) for one in variances),
            tuple(map(fine, found.means.tolist())),
            held_in_file(float(found.rows)),
            noise,
        )

    def transform(self, X: Any) -> Floats:  # noqa: N803 - as scikit-learn calls it
        """Every row's place along the components; what is missing counts as the mean."""
        model = self._known()
        return _directions(model).along(scaled_of(X, model.features))

    def fit_transform(self, X: Any, y: Any = None) -> Floats:  # noqa: N803
        """`fit(X)`, which is paid for, and the places of these rows."""
        return self.fit(X, y).transform(X)

    def predicted(self, X: Any) -> dict[str, NDArray[Any]]:  # noqa: N803
        """The columns that `sfumato predict` puts beside the rows of a table."""
        places = self.transform(X)
        return {f"component_{number + 1}": places[:, number] for number in range(places.shape[1])}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags  # noqa: PLC0415 - only whoever has it asks

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def _adopt(self, model: Model) -> None:
        super()._adopt(model)
        fitted = _directions(model)
        self.components_, self.error_ = plain(fitted.directions), plain(fitted.errors)
        self.explained_variance_ratio_ = plain(fitted.shares)


def _directions(model: Model) -> Directions:
    if not isinstance(model.fitted, Directions):
        raise TypeError("it has no components")
    return model.fitted


def _shares(pairs: Pairs, amount: Fraction) -> Shares:
    """What enters more correlations gets more: the sum of a column all of its own, the number of rows all there are.

    By cube roots, which make the sum of squared errors least where the means of columns lie at an end of their bounds.
    """
    asked, columns = pairs.among(range(len(pairs.used) + 1)), len(pairs.used)
    sums, rows = _third_root(columns - 1), _third_root(columns * (columns - 1) // 2)

    def weight(pair: Pair) -> Fraction:
        match pair:
            case 0, 0:
                return rows
            case 0, _:
                return sums
            case one, other:
                return SQUARES if one == other else Fraction(1)

    weights = {pair: weight(pair) for pair in asked}
    return {pair: amount * one / sum(weights.values()) for pair, one in weights.items()}


def _third_root(number: int) -> Fraction:
    return Fraction(round(SIXTEENTHS * number ** (1 / 3)), SIXTEENTHS)
