"""Evaluating is a question: paid, noisy, on people who were held out; and its error bars hold."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BudgetExceeded, Refused, UsageError
from sfumato.kernel.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from sfumato.learn.evaluation import CELLS, Noise, accuracy, auc_of, estimate
from sfumato.learn.walking import cuts_of_shares
from sfumato.simulate import Simulator
from tests.entropy import SeededEntropy
from tests.learn.people import COLUMNS, LEARNERS, learner, opened, people

LARGE = 10**7


def exact(table: Any, model: Any) -> tuple[float, float]:
    """Accuracy, and the AUC of scores that are rounded as they are measured."""
    known = table.filter(np.array([value in ("no", "yes") for value in table.column("y").to_pylist()]))
    yes = np.array(known.column("y").to_pylist()) == "yes"
    shares = model.predict_proba(known)
    right = float(np.mean((model.predict(known) == "yes") == yes))
    if model.learner in ("tree", "forest"):
        trees = len(model.model_.fitted.trees)
        steps = np.searchsorted(cuts_of_shares(trees), np.rint(shares[:, 1] * 65536 * trees), side="right")
    else:
        odds = np.rint(np.log(shares[:, 1] / shares[:, 0]) * 256)
        steps = np.clip(np.floor((odds + 1024) / 64), 0, CELLS - 1).astype(int)
    tables = np.zeros((1, CELLS, 2))
    np.add.at(tables[0], (steps, yes.astype(int)), 1)
    return right, float(auc_of(tables)[0])


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
def test_with_hardly_any_noise_it_says_what_predict_says(kind: Any, tmp_path: Path) -> None:
    table = people(3000)
    with opened(tmp_path, table, epsilon=2 * LARGE) as session:
        model = learner(kind, 5).fit(session)
        found = session.evaluate(model, spend=LARGE)
    right, auc = exact(table, model)
    assert found.accuracy == pytest.approx(right, abs=1e-9)
    assert found.auc == pytest.approx(auc, abs=1e-9)
    assert found.accuracy_interval[1] - found.accuracy_interval[0] < 1e-3
    assert sum(map(sum, found.confusion)) == sum(value in ("no", "yes") for value in table.column("y").to_pylist())
    assert found.roc[0] == (0, 0, 0, 0)
    assert found.roc[-1][:2] == (1, 1)
    assert "those that the model was fitted on among them" in str(found)


def test_what_it_would_measure_is_told_before_it_is_paid(tmp_path: Path) -> None:
    """The schedule has the plans that are drawn, and what would be refused is refused."""
    with opened(tmp_path) as session:
        model = learner(sf.learn.Additive).fit(session)
        told = model.explain_evaluation(session, spend=2)
        assert [stage.share for stage in told.stages] == [0.25, 0.75]
        assert [stage.cells for stage in told.stages] == [4, 2 * CELLS]
        assert "all" in str(told)
        assert len(session.history()) == 1
        session.evaluate(model, spend=2)
        assert session.history()[-1].purpose == told.purpose
        several = learner(sf.learn.NaiveBayes, target="grade").fit(session)
        assert len(several.explain_evaluation(session, spend=1).stages) == 1
        numbers = (learner(sf.learn.Additive, target="mood"), learner(sf.learn.Linear))
        for number in numbers:
            with pytest.raises(UsageError, match="tells no classes apart"):
                number.fit(session).explain_evaluation(session, spend=1)
    other = opened(tmp_path, columns=COLUMNS | {"kids": sf.Int(0, 9)}, ledger=tmp_path / "other.ledger")
    with other, pytest.raises(Refused):
        model.explain_evaluation(other, spend=1)


def test_people_who_are_held_out_are_not_fitted_on(tmp_path: Path) -> None:
    """Fitted and held out together are everybody, by the person: both rows of one are on the same side."""
    table = people(4000, holes=False)
    unit = sf.Person("id", max_rows=2, max_groups=2)
    with opened(tmp_path, table, unit=unit, epsilon=4 * LARGE) as session:
        model = sf.learn.Tree("y", spend=LARGE, depth=2, holdout=0.25).fit(session)
        found = session.evaluate(model, spend=LARGE)
    fitted, held = sum(model.model_.fitted.trees[0][0].counts), sum(map(sum, found.confusion))
    assert fitted + held == 4000
    assert 850 < held < 1150
    assert held % 2 == 0
    assert "fitted on among them" not in str(found)


def test_it_counts_as_many_rows_of_a_person_as_the_learner_did(tmp_path: Path) -> None:
    unit = sf.Person("id", max_rows=2, max_groups=2)
    with opened(tmp_path, people(2000, holes=False), unit=unit, epsilon=8 * LARGE) as session:
        counted = [
            sum(
                map(
                    sum,
                    session.evaluate(
                        sf.learn.NaiveBayes("y", spend=LARGE, **given).fit(session), spend=LARGE
                    ).confusion,
                )
            )
            for given in ({}, {"max_rows": 1})
        ]
    assert counted == [2000, 1000]


def test_people_who_are_held_out_are_in_no_tree_of_a_forest(tmp_path: Path) -> None:
    with opened(tmp_path, people(4000, holes=False), epsilon=4 * LARGE) as session:
        chosen = {"columns": ["age", "kids"], "trees": 3, "depth": 1, "holdout": 0.25, "expected_rows": 4000}
        model = sf.learn.Forest("y", spend=LARGE, **chosen).fit(session)
        found = session.evaluate(model, spend=LARGE)
    fitted = sum(sum(nodes[0].counts) for nodes in model.model_.fitted.trees)
    assert fitted + sum(map(sum, found.confusion)) == 4000


def test_it_is_paid_repeated_and_refused_like_a_question(tmp_path: Path) -> None:
    with opened(tmp_path, epsilon=2) as session:
        model = learner(sf.learn.NaiveBayes).fit(session)
        first = session.evaluate(model, spend=0.5)
        assert session.evaluate(model, spend=0.5) == first
        assert session.budget.spent.epsilon == 1.5
        assert session.evaluate(model, spend=0.25, confidence=0.5).receipt != first.receipt
        with pytest.raises(BudgetExceeded):
            session.evaluate(model, spend=1)
        with pytest.raises(UsageError, match="spend is missing"):
            session.evaluate(model)
        with pytest.raises(UsageError, match="no learner"):
            session.evaluate("model", spend=0.1)
        with pytest.raises(UsageError, match="has not learnt anything yet"):
            session.evaluate(sf.learn.Tree("y"), spend=0.1)
        with pytest.raises(UsageError, match="confidence"):
            session.evaluate(model, spend=0.1, confidence=2)
        assert set(first.to_dict()) >= {"accuracy", "auc", "confusion", "roc", "calibration", "notes", "cost"}
        assert "Accuracy" in first._repr_html_()
        assert first.plot().data


def test_another_schema_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        model = learner(sf.learn.Tree).fit(session)
    others = {
        "age": ({"age": sf.Int(17, 99)}, '"age" is declared otherwise'),
        "y": ({"y": sf.Category(["yes", "no"])}, '"y" is declared with other classes'),
        "none": ({}, 'there is no column "city"'),
    }
    for name, (changed, words) in others.items():
        (tmp_path / name).mkdir()
        columns = COLUMNS | changed
        if not changed:
            columns = {one: declared for one, declared in COLUMNS.items() if one != "city"}
        with opened(tmp_path / name, columns=columns) as session:
            with pytest.raises(Refused, match=words):
                session.evaluate(model, spend=1)
            assert session.history() == []


def test_of_several_classes_there_is_no_auc(tmp_path: Path) -> None:
    with opened(tmp_path, people(1000), epsilon=100) as session:
        model = sf.learn.NaiveBayes("grade", spend=10, columns=["y", "age"]).fit(session)
        found = session.evaluate(model, spend=10)
    assert (found.auc, found.auc_interval, found.roc) == (None, None, ())
    assert len(found.confusion) == 3
    assert "AUC" not in str(found)


def test_of_an_empty_table_it_says_noise(tmp_path: Path) -> None:
    with opened(tmp_path, people(40).slice(0, 0)) as session:
        model = learner(sf.learn.NaiveBayes, 0.01).fit(session)
        tries = [session.evaluate(model, spend=0.01, fresh=True) for _ in range(7)]
    lost = [one for one in tries if one.accuracy is None]
    assert len(lost) >= 4, "of seven, each of which noise makes look like rows once in 300 times"
    assert (lost[0].auc, lost[0].accuracy_interval) == (None, (0.0, 1.0))
    assert "Noise" in str(lost[0])
    assert "lost in the noise" in str(lost[0])


# ---- error bars

ROWS = 5000


def tables() -> tuple[Any, Any]:
    """Rows by predicted and true class, and by step and class, as of a fair model."""
    stream = Simulator(3).stream("rows")
    odds = 1.5 * stream.normal(ROWS) - 1
    yes = (stream.uniform(ROWS) < 1 / (1 + np.exp(-odds))).astype(int)
    confusion, scored = np.zeros((2, 2), dtype=np.int64), np.zeros((CELLS, 2), dtype=np.int64)
    np.add.at(confusion, ((odds > 0).astype(int), yes), 1)
    np.add.at(scored, (np.clip(np.floor((odds + 4) * 4), 0, CELLS - 1).astype(int), yes), 1)
    return confusion, scored


LAWS: dict[str, Callable[[float], Any]] = {
    "laplace": lambda spend: DiscreteLaplace.for_epsilon(Fraction(spend), 1),
    "gaussian": lambda spend: DiscreteGaussian.for_rho(Fraction(spend) ** 2 / 50, l2_squared=1),
}


@pytest.mark.parametrize("spend", [0.1, 1.0])
@pytest.mark.parametrize("name", LAWS)
def test_error_bars_hold_the_truth_as_often_as_they_say(name: str, spend: float) -> None:
    """93 to 98 of 100, in 1,000 runs of the laws of the kernel."""
    law, simulator = LAWS[name](spend), Simulator(9)
    deviation = float(law.scale) * 2**0.5 if name == "laplace" else float(law.variance) ** 0.5
    noise, entropy = Noise(name == "laplace", deviation), SeededEntropy(f"{name} {spend}")
    for statistic, table in zip((accuracy, auc_of), tables(), strict=True):
        truth = float(statistic(table[None].astype(float))[0])
        scenes, held = noise.scenes(simulator, "test", table.size), 0
        for _ in range(1000):
            noisy = table + law.draw(table.size, entropy).reshape(table.shape)
            low, high = estimate(statistic, noisy, scenes, 0.95)[1]
            held += low <= truth <= high
        assert 930 <= held <= 980, (statistic, held)


def test_bars_without_their_noise_hold_too_little() -> None:
    """The twin: half of the noise is forgotten."""
    law, simulator, entropy = LAWS["laplace"](0.1), Simulator(9), SeededEntropy("twin")
    table = tables()[0]
    truth, held = float(accuracy(table[None].astype(float))[0]), 0
    scenes = Noise(True, 10 * 2**0.5 / 2).scenes(simulator, "test", table.size)
    for _ in range(500):
        noisy = table + law.draw(table.size, entropy).reshape(table.shape)
        low, high = estimate(accuracy, noisy, scenes, 0.95)[1]
        held += low <= truth <= high
    assert held < 440
