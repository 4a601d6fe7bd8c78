"""Naive Bayes and additive scores: what tables say without noise, with it, and in several classes."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.learn.bins import Line, Listed
from sfumato.learn.frames import codes_of
from sfumato.learn.scores.additive import FEW, MANY, PROBABILITIES, _kept, _setting, _State, residual_plan
from sfumato.learn.scores.evidence import Evidence, evidence, kernel, sigmoid, strongest, totals
from sfumato.learn.task import task_of
from tests.learn.people import opened, people


def test_without_noise_weights_are_log_odds() -> None:
    table = np.array([[9000, 1000], [5000, 5000], [1000, 9000], [0, 0]])
    found = evidence([table], [Listed(("a", "b", "c"))], [1e-3], wanted=1)
    assert found.intercept == 0
    assert found.weights[0] == pytest.approx([-np.log(9), 0, np.log(9), 0], abs=0.01)
    assert found.errors[0][3] == pytest.approx(1, abs=0.01), "of an empty cell nothing is known"
    assert found.errors[0][0] < 0.05
    assert found.total == 30_000


def test_noise_makes_weights_small_and_errors_wide() -> None:
    table = np.array([[9, 1], [5, 5], [1, 9], [0, 0]])
    quiet, loud = (evidence([table], [Listed(("a", "b", "c"))], [noise], wanted=1) for noise in (0.1, 100.0))
    assert np.abs(loud.weights[0]).max() < 0.1 < np.abs(quiet.weights[0]).max()
    assert loud.errors[0].min() > 0.95


def test_neighbours_on_a_line_help_each_other() -> None:
    line = Line(tuple(float(cut) for cut in range(1, 20)), "whole")
    known = kernel(line, 2.0)
    assert known[3, 3] == 2
    assert known[3, 4] > known[3, 9] > 0
    assert (known[-1, :-1] == 0).all(), "what is missing has nothing to do with the line"
    assert (kernel(Listed(("a",)), 0.5) == np.eye(2) * 0.5).all()


def test_every_table_tells_how_many_rows_there_are() -> None:
    small, large = np.array([[100, 50]]), np.full((50, 2), [1, 2])
    assert totals([small]).tolist() == [100, 50]
    assert totals([small, large])[0] == pytest.approx((100 + 50 / 50) / (1 + 1 / 50))
    assert totals([np.array([[-5, -7]])]).tolist() == [1, 1]


@pytest.mark.parametrize(
    "kind", [sf.learn.NaiveBayes, sf.learn.Additive, sf.learn.Tree], ids=lambda kind: kind.__name__
)
def test_several_classes(kind: Any, tmp_path: Path) -> None:
    with opened(tmp_path, people(4000), epsilon=100) as session:
        model = kind("grade", spend=50, columns=["y", "age", "city"]).fit(session)
        kids = kind("kids", spend=1, columns=["y"]).fit(session)
    assert model.classes_.tolist() == [1, 2, 3]
    assert kids.classes_.tolist() == [0, 1, 2, 3, 4, 5], "whole numbers are classes, too"
    rows = people(4000)
    shares = model.predict_proba(rows)
    assert shares.sum(axis=1) == pytest.approx(1)
    yes = np.array(rows.column("y").to_pylist()) == "yes"
    grade = np.array([value or 0 for value in rows.column("grade").to_pylist()])
    assert shares[yes, 1].mean() < shares[~yes, 1].mean(), "who says yes is less often of grade 2"
    for place in range(3):
        assert shares[:, place].mean() == pytest.approx((grade == place + 1).mean(), abs=0.03)


# ---- additive


def test_the_setting_follows_from_currency_and_spend_alone() -> None:
    assert _setting(Cost("epsilon", Fraction(1, 2))) is FEW
    assert _setting(Cost("epsilon", Fraction(51, 100))) is MANY
    assert _setting(Cost("rho", Fraction(1, 10**4))) is MANY
    assert _setting(Cost("epsilon", Fraction(1)), told_apart=2) is FEW, "each class has its part"
    assert _setting(Cost("rho", Fraction(1)), told_apart=7) is MANY


def test_columns_that_carry_nothing_are_left_out() -> None:
    weights = tuple(np.array([one, -one]) for one in (0.0, 2.0, 0.1, 1.0))
    rows = tuple(np.array([50.0, 50.0]) for _ in weights)
    found = Evidence(0.0, weights, weights, rows, 100.0)
    assert strongest(found.carried(), 0.95) == [1, 3]
    assert strongest(found.carried(), 0.5) == [1]
    nothing = Evidence(0.0, (weights[0],) * 2, (weights[0],) * 2, rows[:2], 1.0)
    assert strongest(nothing.carried(), 0.9) == [0, 1]
    weak = Evidence(0.0, tuple(one / 10 for one in weights), weights, rows, 100.0)
    assert _kept([found, weak], 0.95) == [[1, 3], []], "of a class that is like all others nothing is asked"
    assert _kept([weak, found], 0.999) == [[1, 3], [1, 3, 2]]


def test_probabilities_are_a_public_list() -> None:
    assert len(PROBABILITIES) == 192
    assert PROBABILITIES[0] == 1
    assert PROBABILITIES[-1] == 255
    assert all(one <= other for one, other in pairwise(PROBABILITIES))


@pytest.mark.parametrize(("target", "wanted", "value"), [("y", 1, "yes"), ("grade", 0, 1), ("grade", 2, 3)])
def test_a_residual_is_what_a_class_exceeds_its_probability_by(
    target: str, wanted: int, value: Any, tmp_path: Path
) -> None:
    """The engine's sums against NumPy, row by row, to the last digit."""
    with opened(tmp_path, people(400)) as session:
        task = task_of(session.schema, "epsilon", target=target, columns=["age", "city", "wealth"])
        rng = np.random.default_rng(5)
        weights = [rng.integers(-600, 600, one.size) for one in task.columns]
        state = _State(-37, weights, [])
        certified = certify(residual_plan(task, state, 1, Fraction(1), wanted), session.schema, "epsilon")
        assert certified.releases[0].sensitivity.l1 == 256
        (kept,) = _outermost(certified.plan.table)
        with session._engine.kept(kept.source, session.schema, session._engine.version()) as name:
            sql = written(certified, session._engine.dialect, {kept: name})
            found = look(session._engine, certified.countings, sql)
    sums = dict(zip(found.entries[0][0].places.tolist(), found.entries[0][0].sums, strict=True))
    table = people(400)
    codes = codes_of(table, [one.feature for one in task.columns])
    score = -37 + sum(column[codes[:, place]] for place, column in enumerate(weights))
    share = np.array(PROBABILITIES)[np.clip(np.floor(score / 16).astype(int) + 96, 0, 191)]
    expected: dict[int, int] = {}
    for row, own in enumerate(table.column(target).to_pylist()):
        if own is not None:
            cell = int(codes[row, 1])
            expected[cell] = expected.get(cell, 0) + (256 if own == value else 0) - int(share[row])
    assert sums == expected


def _outermost(source: Any) -> list[Any]:
    from sfumato.plan.sources import outermost

    return list(outermost(source))


def test_additive_is_near_a_regression_without_noise(tmp_path: Path) -> None:
    with opened(tmp_path, people(4000), epsilon=1000) as session:
        model = sf.learn.Additive("y", spend=500).fit(session)
        alone = sf.learn.NaiveBayes("y", spend=500).fit(session)
    rows = people(4000, seed=21, holes=False)
    yes = np.array(rows.column("y").to_pylist()) == "yes"
    shares = model.predict_proba(rows)[:, 1]
    assert float(np.mean((shares > 0.5) == yes)) > 0.72
    assert shares.mean() == pytest.approx(yes.mean(), abs=0.03), "its probabilities can be believed"
    loss = [-np.log(np.where(yes, p, 1 - p)).mean() for p in (shares, alone.predict_proba(rows)[:, 1])]
    assert loss[0] < loss[1] + 0.01
    assert sigmoid(0.0) == 0.5
