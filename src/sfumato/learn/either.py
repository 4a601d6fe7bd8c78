"""What learners share that tell classes apart or predict a number, by how their target is declared."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.learn.classifier import Classifier
from sfumato.learn.evaluation import Evaluation
from sfumato.learn.frames import codes_of
from sfumato.learn.model import Model, Numbering
from sfumato.learn.numeric import is_number, number_task
from sfumato.learn.schedule import Schedule
from sfumato.learn.task import Task
from sfumato.learn.wordings import no_classes, nothing_to_evaluate
from sfumato.schema.budget import Spend
from sfumato.schema.numbers import GivenNumber
from sfumato.session import Session


class Either(Classifier):
    """A learner of classes; or, of a target that is a Float, or an Int with more than 32 values, of that number.

    Of a number there are no `classes_` and no probabilities; `predict` gives numbers, `score` is R².
    """

    def _task(self, session: Session) -> Task:
        if not is_number(session.schema.columns.get(str(self.target))):
            return super()._task(session)
        currency, target = session.price(self.spend).currency, str(self.target)
        return number_task(session.schema, currency, target=target, columns=self.columns, **self._rows(session))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803 - as scikit-learn calls it
        """The most probable class of every row, or the number that is predicted of it."""
        model = self._known()
        if isinstance(model.fitted, Numbering):
            return model.fitted.predictions(codes_of(X, model.features))
        return super().predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The probability of every class, one row a row, in the order of `classes_`; a number has none."""
        if self._predicts_number:
            raise no_classes(str(self.target))
        return super().predict_proba(X)

    def predicted(self, X: Any) -> dict[str, NDArray[Any]]:  # noqa: N803
        """The columns that `sfumato predict` puts beside the rows of a table."""
        return {"prediction": self.predict(X)} if self._predicts_number else super().predicted(X)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """On rows of your own: the share that is predicted right, or of a number R²."""
        if not self._predicts_number:
            return super().score(X, y)
        truth = np.asarray(y, dtype=np.float64)
        return float(1 - ((truth - self.predict(X)) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())

    def evaluated_in(
        self, session: Session, *, spend: GivenNumber | Spend | None, confidence: float = 0.95, fresh: bool = False
    ) -> Evaluation:
        """What `session.evaluate(model, spend=…)` calls."""
        if self._predicts_number:
            raise nothing_to_evaluate(type(self).__name__)
        return super().evaluated_in(session, spend=spend, confidence=confidence, fresh=fresh)

    def explain_evaluation(self, session: Session, *, spend: GivenNumber | Spend | None) -> Schedule:
        """What `session.evaluate(model, spend=…)` would measure; touches neither data nor budget."""
        if self._predicts_number:
            raise nothing_to_evaluate(type(self).__name__)
        return super().explain_evaluation(session, spend=spend)

    @property
    def _predicts_number(self) -> bool:
        return isinstance(self._known().fitted, Numbering)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.__sklearn_is_fitted__() and self._predicts_number:
            from sklearn.utils import RegressorTags  # noqa: PLC0415 - only whoever has it asks

            tags.estimator_type, tags.classifier_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        return tags

    def _adopt(self, model: Model) -> None:
        super()._adopt(model)
        if self._predicts_number:
            del self.classes_
