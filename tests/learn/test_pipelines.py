"""scikit-learn's conventions, without it and with it: parameters, clones, pipelines, and its own checks."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, NotFittedError, UsageError
from tests.learn.people import COLUMNS, FEATURES, LEARNERS, NUMBERS, learner, people
from tests.marks import few


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
def test_parameters_are_stored_as_they_are_given(kind: Any) -> None:
    columns = ["age"]
    model = kind("y", spend=1, columns=columns)
    assert model.get_params()["columns"] is columns
    assert kind(**model.get_params()).get_params() == model.get_params()
    assert model.set_params(spend=2, max_rows=1) is model
    assert (model.spend, model.max_rows) == (2, 1)
    with pytest.raises(UsageError, match=r'there is no parameter spent\. Did you mean "spend"\?'):
        model.set_params(spent=1)
    assert repr(kind("y", spend=1)) == f"{kind.__name__}(target='y', spend=1)"


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
def test_before_it_has_learnt_anything_it_says_so(kind: Any) -> None:
    model = kind("y")
    assert not model.__sklearn_is_fitted__()
    for act in (lambda: model.predict([]), lambda: model.to_sql(), lambda: model.card_, lambda: model.save("x")):
        with pytest.raises(NotFittedError, match=f"this {kind.__name__} has not learnt anything yet"):
            act()


def given(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"target": "y", "spend": 1, "columns": COLUMNS, "ledger": tmp_path / "x.ledger", **more}


def test_fit_of_x_and_y_goes_the_same_way(tmp_path: Path) -> None:
    frame = people(300).to_pandas()
    X, y = frame[FEATURES], frame["y"].to_numpy()
    model = sf.learn.NaiveBayes(**given(tmp_path)).fit(X, y)
    assert model.feature_names_in_.tolist() == FEATURES
    assert (model.n_features_in_, model.cost_.epsilon, model.left_.epsilon) == (len(FEATURES), 1.0, 0.0)
    again = sf.learn.NaiveBayes(**given(tmp_path)).fit(X, y)
    assert again.model_ == model.model_, "the same rows again are free"
    with pytest.raises(BudgetExceeded):
        sf.learn.NaiveBayes(**given(tmp_path)).fit(X[:200], y[:200])
    whole = sf.learn.NaiveBayes(**given(tmp_path / "..", ledger=tmp_path / "z.ledger")).fit(frame)
    assert whole.receipt_ == 2, "the target may be a column of X"
    assert 0 <= model.score(X, y) <= 1
    larger = sf.learn.NaiveBayes(**given(tmp_path, ledger=tmp_path / "w.ledger", budget=sf.Budget(2)))
    larger.fit(X, y)
    larger.fit(X[:200], y[:200])


def test_bounds_are_never_read_off_x(tmp_path: Path) -> None:
    frame = people(50).to_pandas()
    for changes in ({"columns": None}, {"columns": ["age"]}, {"ledger": None}, {"columns": {"age": sf.Int(0, 9)}}):
        with pytest.raises(UsageError, match="needs the bounds of every column"):
            sf.learn.NaiveBayes(**given(tmp_path, **changes)).fit(frame[FEATURES], frame["y"])
    with pytest.raises(UsageError, match="requires y to be passed"):
        sf.learn.NaiveBayes(**given(tmp_path)).fit(frame[FEATURES])
    with pytest.raises(UsageError, match="target is missing"):
        sf.learn.NaiveBayes(**given(tmp_path, target=None)).fit(frame[FEATURES], frame["y"])
    with pytest.raises(UsageError, match="sparse input is not supported"):
        sf.learn.NaiveBayes(**given(tmp_path)).fit(type("Sparse", (), {"tocsr": None})(), frame["y"])
    assert not (tmp_path / "x.ledger").exists()


def test_learning_does_not_need_scikit_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.exceptions", raising=False)
    frame = people(100).to_pandas()
    learner(sf.learn.Tree, columns=COLUMNS, ledger=tmp_path / "a.ledger").fit(frame[FEATURES], frame["y"])
    with pytest.raises(NotFittedError):
        sf.learn.Tree("y").predict(frame)


# ---- with scikit-learn


def test_clones_pipelines_and_scorers(tmp_path: Path) -> None:
    from sklearn.base import clone, is_classifier
    from sklearn.exceptions import NotFittedError as Theirs
    from sklearn.inspection import permutation_importance
    from sklearn.metrics import get_scorer
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    frame = people(400, holes=False).to_pandas()
    X, y = frame[FEATURES], frame["y"]
    model = sf.learn.Additive(**given(tmp_path))
    assert clone(model).get_params() == model.get_params()
    assert is_classifier(model)
    with pytest.raises(Theirs):
        check_is_fitted(model)
    with pytest.raises(Theirs):
        model.predict(X)
    piped = Pipeline([("model", model)]).fit(X, y)
    assert piped.predict_proba(X).shape == (400, 2)
    assert 0 <= get_scorer("roc_auc")(piped, X, y) <= 1
    assert len(permutation_importance(piped, X[:50], y[:50], n_repeats=1).importances_mean) == len(FEATURES)


WITHOUT_TARGET = (sf.learn.Correlation, sf.learn.Components, sf.learn.Clusters, sf.learn.Synthetic)


@pytest.mark.parametrize("kind", WITHOUT_TARGET, ids=lambda kind: kind.__name__)
def test_what_has_no_target_is_cloned(kind: Any, tmp_path: Path) -> None:
    from sklearn.base import clone

    model = learner(kind, columns={name: COLUMNS[name] for name in NUMBERS}, ledger=tmp_path / "x.ledger")
    again = clone(model.fit(people(60).to_pandas()[NUMBERS]))
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "model_")


def test_components_and_clusters_are_steps_of_pipelines(tmp_path: Path) -> None:
    """Fitted and applied at once, for one charge."""
    from sklearn.base import is_clusterer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    frame, columns = people(400, holes=False).to_pandas(), {name: COLUMNS[name] for name in NUMBERS}
    components = sf.learn.Components(2, spend=1, columns=columns, ledger=tmp_path / "a.ledger")
    piped = Pipeline([("components", components), ("model", LogisticRegression())])
    assert len(piped.fit(frame[NUMBERS], frame["y"]).predict(frame[NUMBERS])) == 400
    assert np.array_equal(components.fit_transform(frame[NUMBERS]), components.transform(frame[NUMBERS]))
    clusters = sf.learn.Clusters(2, spend=1, columns=columns, ledger=tmp_path / "b.ledger")
    assert clusters.fit_predict(frame[NUMBERS]).tolist() == clusters.predict(frame[NUMBERS]).tolist()
    assert is_clusterer(clusters)
    assert (components.receipt_, clusters.receipt_) == (2, 2), "the same fit again is free"


# ---- the checks of scikit-learn


ROWS = "whether a row has a value is private: what is not declared counts as none or as a bound, and nobody is told"
NO_ARRAY = "what only turns itself into an array may look for one type of all cells"
ALONE = {"check_fit2d_1feature": "of one column nothing varies with another: refused, in words of our own"}
EMPTY = "an empty table is fitted like any other: that it is empty is private"
ALWAYS = {"check_estimators_empty_data_messages": EMPTY}
SUPERVISED = {
    **ALWAYS,
    "check_supervised_y_no_nan": ROWS,
    "check_supervised_y_2d": "the warning that it wants is a class of scikit-learn's; a column is taken as it is",
}
OF_CLASSES = {
    **SUPERVISED,
    "check_complex_data": "classes are declared, and complex numbers are no classes",
    "check_classifiers_regression_target": ROWS,
    "check_classifier_data_not_an_array": NO_ARRAY,
}
OF_NUMBERS = {**SUPERVISED, "check_regressor_data_not_an_array": NO_ARRAY}
OF_COMPONENTS = {**ALWAYS, **ALONE, "check_transformer_data_not_an_array": NO_ARRAY}
# Each draws anew where it pays anew, and people are divided among trees by chance: at 12 to 30 rows that shows.
NOISE = {
    "check_fit_idempotent": "two fits that are paid for are two draws of the noise",
    "check_classifiers_one_label": "a class that nobody has may win among thirty rows",
    "check_classifiers_train": "wants the labels of the training rows back, which the noise is there to prevent",
    "check_regressors_train": "wants the numbers of two hundred training rows back, between bounds ten times as wide",
    "check_regressors_int": "two fits that are paid for are two draws of the noise",
}


class Declaring:
    """Declares wide public bounds for all that it is handed, as whoever builds a pipeline does beforehand."""

    kind: Any
    price = 1000
    more: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any = None) -> Any:
        array = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        wide = array.shape[1] if array.ndim == 2 else 0
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{place}" for place in range(wide)]
        columns = {**{name: sf.Float(-10, 10) for name in names}, **self._of_target(y)}
        with TemporaryDirectory() as folder:
            ledger = Path(folder) / "x.ledger"
            target = {"target": "target"} if self.kind.supervised else {}
            inner = learner(self.kind, self.price, columns=columns, ledger=ledger, **target, **self.more).fit(X, y)
        self._adopt(inner.model_)  # type: ignore[attr-defined]
        return self

    def _of_target(self, y: Any) -> dict[str, Any]:
        values: list[Any] = [0, 1] if y is None else np.unique(np.asarray(y)).tolist()
        values = [int(one) if isinstance(one, float) and one == int(one) else one for one in values]
        values += [f"{values[0]}x" if isinstance(values[0], str) else 10**6] if len(values) == 1 else []
        return {"target": sf.Category(values)}


class DeclaringNumber(Declaring):
    """Of a number."""

    def _of_target(self, y: Any) -> dict[str, Any]:
        return {"target": sf.Float(-500, 500)}


class DeclaringNothing(Declaring):
    """Of what has no target."""

    def _of_target(self, y: Any) -> dict[str, Any]:
        return {}


class DeclaringBayes(Declaring, sf.learn.NaiveBayes):
    kind = sf.learn.NaiveBayes


class DeclaringAdditive(Declaring, sf.learn.Additive):
    kind = sf.learn.Additive


class DeclaringTree(Declaring, sf.learn.Tree):
    kind = sf.learn.Tree


class DeclaringForest(Declaring, sf.learn.Forest):
    kind = sf.learn.Forest


class DeclaringLinear(DeclaringNumber, sf.learn.Linear):
    kind = sf.learn.Linear


class DeclaringCorrelation(DeclaringNothing, sf.learn.Correlation):
    kind = sf.learn.Correlation


class DeclaringComponents(DeclaringNothing, sf.learn.Components):
    kind, more = sf.learn.Components, {"k": 1}


class DeclaringClusters(DeclaringNothing, sf.learn.Clusters):
    kind, more = sf.learn.Clusters, {"k": 2}


class DeclaringSynthetic(DeclaringNothing, sf.learn.Synthetic):
    kind = sf.learn.Synthetic


class NoisyBayes(DeclaringBayes):
    price = 1


# What must fail of each, besides what noise may make fail.
DECLARING = {
    **dict.fromkeys((DeclaringBayes, DeclaringAdditive, DeclaringTree, DeclaringForest, NoisyBayes), OF_CLASSES),
    DeclaringLinear: OF_NUMBERS,
    DeclaringCorrelation: {**ALWAYS, **ALONE},
    DeclaringComponents: OF_COMPONENTS,
    DeclaringClusters: ALWAYS,
    DeclaringSynthetic: ALWAYS,
}
MAY_FAIL = {name for must in (NOISE, *DECLARING.values()) for name in must}


FAST = (DeclaringBayes, DeclaringComponents)


@pytest.mark.parametrize("kind", few(DECLARING, lambda kind: kind in FAST), ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_the_checks_of_scikit_learn(kind: Any) -> None:
    """All but those that noise, or what may leave, must fail: each of these has its reason."""
    from sklearn.utils.estimator_checks import check_estimator

    must = DECLARING[kind]
    found = check_estimator(kind(), expected_failed_checks=NOISE | must, on_fail=None)
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert failed == {}
    told = {one["check_name"] for one in found if one["status"] == "xfail"}
    assert told - set(NOISE) == set(must), "the list is exact"
    assert sum(one["status"] == "passed" for one in found) > 30
    if kind is DeclaringBayes:
        assert told == set(must), "at a price without noise there is nothing that noise fails"
    if kind is NoisyBayes:
        assert "check_fit_idempotent" in told


def test_tags_are_only_made_where_they_are_asked_for() -> None:
    tags = sf.learn.Tree("y").__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.non_deterministic
    assert tags.input_tags.allow_nan


def test_frames_with_their_target_are_tables(tmp_path: Path) -> None:
    table = people(60)
    assert isinstance(table.to_pandas(), pd.DataFrame)
    model = sf.learn.Tree(**given(tmp_path), depth=1).fit(table)
    assert model.classes_.tolist() == ["no", "yes"]
