"""What all classifiers share: classes, their probabilities, and how good they are on private rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.learn.evaluation import Evaluation, evaluated, explained_evaluation
from sfumato.learn.frames import codes_of
from sfumato.learn.learner import Learner
from sfumato.learn.model import Model
from sfumato.learn.schedule import Schedule
from sfumato.learn.task import Task, task_of
from sfumato.schema.budget import Spend
from sfumato.schema.columns import plain_text
from sfumato.schema.numbers import GivenNumber
from sfumato.session import Session


class Classifier(Learner[Task]):
    """A classifier that is fitted through a session, for one charge. Besides a learner's attributes: `classes_`."""

    def _task(self, session: Session) -> Task:
        currency = session.price(self.spend).currency
        return task_of(session.schema, currency, target=self.target, columns=self.columns, **self._rows(session))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - as scikit-learn calls it
        """The probability of every class, one row a row, in the order of `classes_`."""
        model = self._known()
        return model.classifying.probabilities(codes_of(X, model.features))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The most probable class of every row."""
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def predicted(self, X: Any) -> dict[str, NDArray[Any]]:  # noqa: N803
        """The columns that `sfumato predict` puts beside the rows of a table: the class, and all probabilities."""
        shares = self.predict_proba(X)
        named = {f"probability_{plain_text(one)}": shares[:, place] for place, one in enumerate(self.classes_.tolist())}
        return {"prediction": np.asarray(self.classes_[shares.argmax(axis=1)]), **named}

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """The share of rows of a table of your own that are predicted right. Of private rows: session.evaluate."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def evaluated_in(
        self, session: Session, *, spend: GivenNumber | Spend | None, confidence: float = 0.95, fresh: bool = False
    ) -> Evaluation:
        """What `session.evaluate(model, spend=…)` calls."""
        return evaluated(self._known(), session, spend=spend, confidence=confidence, fresh=fresh)

    def explain_evaluation(self, session: Session, *, spend: GivenNumber | Spend | None) -> Schedule:
        """What `session.evaluate(model, spend=…)` would measure; touches neither data nor budget."""
        return explained_evaluation(self._known(), session, spend=spend)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags  # noqa: PLC0415 - only whoever has it asks

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def _adopt(self, model: Model) -> None:
        super()._adopt(model)
        self.classes_ = np.array(model.classes)
