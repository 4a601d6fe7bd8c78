"""What all learners share: parameters as scikit-learn wants them, though nothing of it is needed; fitting, keeping.

A learner sees declarations and releases. It owns no mechanism and no sensitivity, and it cannot look at a row.
"""

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.asking import Asking, share_of
from sfumato.learn.files.file import as_json, demand_room, written
from sfumato.learn.given import opened
from sfumato.learn.model import Fitted, Model, Paid, Parameter
from sfumato.learn.schedule import Schedule, Template, explained, stages
from sfumato.learn.shown.card import Card
from sfumato.learn.shown.sql import as_sql
from sfumato.learn.wordings import not_fitted, nothing_to_evaluate, nothing_to_predict, parameter_unknown
from sfumato.schema.budget import Spend
from sfumato.schema.numbers import whole
from sfumato.session import Session

Told = Callable[[float, str], None]
Wanted = TypeVar("Wanted", bound=Asking)


class Learner(ABC, Generic[Wanted]):
    """Whatever is fitted through a session, for one charge.

    Attributes after `fit`: `feature_names_in_`, `n_features_in_`; `cost_`, what it cost; `receipt_`, the number of its
    charge; `left_`, what was left then; `card_`; `model_`, all that its file holds; `notes_`.
    """

    learner: ClassVar[str]
    version: ClassVar[int] = 1
    supervised: ClassVar[bool] = True  # whether there is a target
    target: Any = ""
    spend: Any
    columns: Any
    max_rows: Any
    expected_rows: Any = None
    holdout: Any = None
    ledger: Any
    budget: Any

    # ---- what each learner says of itself

    @abstractmethod
    def _task(self, session: Session) -> Wanted:
        """What is to be learnt, or a refusal."""

    @abstractmethod
    def _settings(self, task: Wanted, price: Cost) -> dict[str, Parameter]:
        """All that decides on plans besides the task: of declarations, parameters and the price alone."""

    @abstractmethod
    def _templates(self, task: Wanted, price: Cost) -> list[Template]:
        """Plans of the size of those that will be drawn; together they cost the price."""

    @abstractmethod
    def _learnt(self, task: Wanted, envelope: Envelope, told: Told) -> tuple[Fitted, tuple[str, ...]]:
        """Draw everything, and what follows from it; with notes on what noise rules."""

    def _room(self, task: Wanted, price: Cost) -> int:  # noqa: ARG002
        """How many bytes the numbers of the fitted model take at most in its file. What is said here is enough where
        there are a few thousand, whatever the declarations are.
        """
        return 10**6

    # ---- fitting

    def fit(
        self,
        session: Any,
        y: Any = None,
        *,
        fresh: bool = False,
        request: str | None = None,
        progress: Told | None = None,
    ) -> Self:
        """Learn from a session's table, for one charge of `spend`.

        Claim: whatever the table holds, it costs its charge and nothing but noisy releases leaves. The same learner on
        the same data again is free and the same, unless `fresh`; broken off, it goes on where it was.

        For pipelines: `fit(X, y)`, with declared `columns` and a `ledger`, which goes the same way.
        """
        if isinstance(session, Session):
            return self._fit(session, fresh, request, progress or _silent)
        with opened(session, y, self) as opening:
            return self._fit(opening, fresh, request, progress or _silent)

    def _fit(self, session: Session, fresh: bool, request: str | None, told: Told) -> Self:
        task, price = self._task(session), session.price(self.spend)
        settings = self._told(task, price)
        schedule = stages(self._templates(task, price), task, price)
        purpose = self._purpose(task, settings)
        with session.envelope(purpose, spend=self.spend, fresh=fresh, request=request) as envelope:
            fitted, notes = self._learnt(task, envelope, told)
        paid = Paid(
            task.schema.table,
            str(task.schema.unit),
            str(envelope.spend),
            repr(envelope.cost.delta),
            price.currency,
            str(price.amount),
            envelope.analyst,
            envelope.receipt,
            envelope.seed,
            envelope.when,
        )
        known = self.learner, self.version, task.target, task.classes, task.features, settings
        self._adopt(Model(*known, fitted, paid, schedule, notes))
        self.cost_, self.left_ = envelope.cost, session.budget.left
        return self

    def explain(self, session: Session) -> Schedule:
        """The schedule: what would be measured, its price and noise; touches neither data nor budget."""
        task, price = self._task(session), session.price(self.spend)
        settings = self._told(task, price)
        purpose = self._purpose(task, settings)
        return explained(session, task, self.learner, self.spend, self._templates(task, price), dict(settings), purpose)

    @property
    def epsilon(self) -> Fraction:
        """The spend as it was typed. Needs: one."""
        return self.spend.epsilon if isinstance(self.spend, Spend) else Spend(self.spend).epsilon

    def _rows(self, session: Session) -> dict[str, Any]:
        """Which rows count, for a task."""
        known = session.schema.expected_rows if self.expected_rows is None else self.expected_rows
        return {"max_rows": self.max_rows, "expected_rows": known, "holdout": self.holdout}

    def _told(self, task: Wanted, price: Cost) -> dict[str, Parameter]:
        told = self._settings(task, price)
        demand_room(task.classes, task.features, self._room(task, price))
        if self.max_rows is not None:
            told["max_rows"] = whole(self.max_rows, "max_rows", least=1)
        if "holdout" in _parameters(type(self)):
            told["holdout"] = None if self.holdout is None else str(share_of(self.holdout))
        return told

    def _purpose(self, task: Wanted, settings: Mapping[str, Parameter]) -> str:
        """In canonical words: another learner, version, parameter, column or bin is another purpose."""
        said = {"learner": self.learner, "version": self.version, **task.says(), "settings": dict(settings)}
        return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    # ---- using

    def predicted(self, X: Any) -> dict[str, NDArray[Any]]:  # noqa: ARG002, N803 - as scikit-learn calls it
        """The columns that `sfumato predict` puts beside the rows of a table."""
        self._known()
        raise nothing_to_predict(type(self).__name__)

    def to_sql(self, table: str | None = None) -> str:
        """The model as one SELECT that says of every row what it says, in any SQL that knows CASE."""
        return as_sql(self._known(), table)

    def evaluated_in(self, *_: Any, **__: Any) -> Any:
        """What `session.evaluate(model, spend=…)` calls."""
        raise nothing_to_evaluate(type(self).__name__)

    def explain_evaluation(self, *_: Any, **__: Any) -> Any:
        """What that would measure; touches neither data nor budget."""
        raise nothing_to_evaluate(type(self).__name__)

    # ---- keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as JSON: whole numbers, no code, and nothing of the rows but what was released."""
        written(self._known(), Path(path))

    def to_json(self) -> str:
        """What `save` writes."""
        return as_json(self._known())

    def plot(self) -> Any:
        """A Plotly figure of the model."""
        return self.card_.figure()

    @property
    def card_(self) -> Card:
        """What was protected, how it was learnt, how sure it is: text in a terminal, a page with to_html."""
        return Card(self._known())

    # ---- as scikit-learn wants it, of which nothing is inherited

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        return {name: getattr(self, name) for name in _parameters(type(self))}

    def set_params(self, **given: Any) -> Self:
        for name, value in given.items():
            if name not in _parameters(type(self)):
                raise parameter_unknown(name, _parameters(type(self)))
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # noqa: PLC0415 - only whoever has it asks

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=self.supervised),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True),
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = {name: value for name, value in self.get_params().items() if value is not defaults[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _known(self) -> Model:
        if not hasattr(self, "model_"):
            raise not_fitted(type(self).__name__)
        found: Model = self.model_
        return found

    def _adopt(self, model: Model) -> None:
        self.model_ = model
        self.feature_names_in_ = np.array([feature.name for feature in model.features], dtype=object)
        self.n_features_in_ = len(model.features)
        self.receipt_, self.notes_ = model.paid.receipt, model.notes


def _parameters(kind: type[Learner[Any]]) -> list[str]:
    return list(inspect.signature(kind).parameters)


def _silent(share: float, what: str) -> None:
    """Nobody asked how far it is."""
