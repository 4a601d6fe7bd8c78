"""A target that is a number: what is summed, what is learnt without noise, and what a model of it says and does not."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.errors import Refused, UsageError
from sfumato.kernel.certify import certify
from sfumato.learn.frames import codes_of
from sfumato.learn.model import TO_AN_END
from sfumato.learn.numeric import is_number, number_task
from sfumato.learn.scores.boosting import CELLS, _Spread, _State, residual_plan
from sfumato.learn.trees import grading
from sfumato.plan.sources import outermost
from tests.learn.people import COLUMNS, FEATURES, opened, people
from tests.learn.test_sql import said_by


def truth(table: Any, name: str) -> Any:
    """The numbers that are known, and which rows they are of."""
    values = np.array([np.nan if value is None else float(value) for value in table.column(name).to_pylist()])
    return values, np.isfinite(values)


def test_what_is_a_number_follows_from_its_declaration() -> None:
    numbers = [sf.Float(0, 1), sf.Int(0, 32), sf.Int(-5, 5000)]
    others = [
        sf.Float(),
        sf.Int(),
        sf.Int(0, 31),
        sf.Category([1, 2]),
        sf.Text(),
        sf.Date("2000-01-01", "2001-01-01"),
        None,
    ]
    assert all(map(is_number, numbers))
    assert not any(map(is_number, others))


def test_a_residual_is_what_a_number_exceeds_its_prediction_by(tmp_path: Path) -> None:
    """The engine's sums against NumPy, row by row; half a step may be rounded either way."""
    table = people(400)
    with opened(tmp_path, table) as session:
        task = number_task(session.schema, "epsilon", target="age", columns=["mood", "city", "wealth"])
        rng = np.random.default_rng(5)
        weights = [rng.integers(-900, 900, one.size) for one in task.columns]
        state = _State(-37, weights, 1500, [], [], 1.0)
        certified = certify(residual_plan(task, state, 1, Fraction(1)), session.schema, "epsilon")
        assert certified.releases[0].sensitivity.l1 == 1500
        (kept,) = outermost(certified.plan.table)
        with session._engine.kept(kept.source, session.schema, session._engine.version()) as name:
            sql = written(certified, session._engine.dialect, {kept: name})
            found = look(session._engine, certified.countings, sql)
    sums = dict(zip(found.entries[0][0].places.tolist(), found.entries[0][0].sums, strict=True))
    codes, (age, known) = codes_of(table, task.features), truth(table, "age")
    steps = np.rint((np.clip(age, 17, 90) - 53.5) / 36.5 * TO_AN_END)
    score = -37 + sum(column[codes[:, place]] for place, column in enumerate(weights))
    residuals = np.clip(steps - score, -1500, 1500)
    for cell in range(task.columns[1].size):
        rows = known & (codes[:, 1] == cell)
        assert abs(sums.get(cell, 0) - residuals[rows].sum()) <= rows.sum(), cell
    assert set(sums) <= set(codes[known, 1].tolist()), "rows without the number are in no cell"


def test_how_a_number_is_spread() -> None:
    counts = np.zeros(CELLS, dtype=np.int64)
    counts[[15, 16]] = 1000
    assert _Spread.of(counts, 1.0) == _Spread(0, round(0.6826 * TO_AN_END * 2 / CELLS))
    counts[2] = 250
    assert abs(_Spread.of(counts, 1.0).middle) < TO_AN_END / CELLS, "a cell far away hardly moves it"
    faint = np.zeros(CELLS, dtype=np.int64)
    faint[8:12] = 40
    assert _Spread.of(faint, 20.0).middle == -TO_AN_END // 4 - TO_AN_END // 8, "neighbours count together"
    anywhere = _Spread.of(np.full(CELLS, -3), 100.0)
    assert anywhere.middle == 0
    assert anywhere.deviation == pytest.approx(0.6826 * TO_AN_END, rel=0.01), "if all is noise, it is anywhere"


def test_without_noise_it_is_near_least_squares(tmp_path: Path) -> None:
    with opened(tmp_path, people(4000), epsilon=2000) as session:
        model = sf.learn.Additive("age", spend=1000).fit(session)
    fitted, others = people(4000), people(4000, seed=21)
    features = model.model_.features
    (age, known), (new, also) = truth(fitted, "age"), truth(others, "age")
    design = [
        np.hstack([np.eye(one.size)[codes_of(rows, [one])[:, 0]] for one in features]) for rows in (fitted, others)
    ]
    inside = np.clip(age[known], 17, 90)
    normal = design[0][known].T @ design[0][known] + np.eye(design[0].shape[1])
    solved = np.linalg.solve(normal, design[0][known].T @ (inside - inside.mean()))
    best = inside.mean() + design[1][also] @ solved
    right = np.clip(new[also], 17, 90)
    squares = ((right - best) ** 2).sum() / ((right - right.mean()) ** 2).sum()
    own = 1 - model.score(others.filter(also), right)
    assert own < 0.9, "it has learnt something"
    assert own < squares + 0.03


def test_groups_of_a_number_have_about_as_many_rows_each() -> None:
    rising = np.arange(grading.CELLS)
    found = grading.Groups.of(rising, 0.1)
    rows = np.bincount(found.of_cells, rising, minlength=grading.GROUPS)
    assert rows == pytest.approx(rows.mean(), rel=0.3)
    assert list(found.of_cells) == sorted(found.of_cells)
    assert list(found.middles) == sorted(found.middles)
    lone = np.zeros(grading.CELLS, dtype=np.int64)
    lone[5] = 1000
    middle = round((5.5 / grading.CELLS * 2 - 1) * TO_AN_END)
    near = np.array(grading.Groups.of(lone, 1.0).middles)
    assert np.abs(near - middle).max() <= TO_AN_END / grading.CELLS, "all rows are there"
    lone[30] = 40
    assert np.abs(np.array(grading.Groups.of(lone, 1.0).middles)[:-1] - middle).max() <= TO_AN_END / grading.CELLS
    noise = grading.Groups.of(np.full(grading.CELLS, -2), 50.0)
    assert noise == grading.Groups.even(), "if all is noise, rows are anywhere"
    assert abs(sum(noise.middles)) <= grading.GROUPS


def test_a_leaf_says_the_mean_of_its_rows_without_noise(tmp_path: Path) -> None:
    table = people(4000)
    with opened(tmp_path, table, epsilon=20_000) as session:
        model = sf.learn.Tree("age", spend=10_000, depth=3).fit(session)
    (age, known), said = truth(table, "age"), model.predict(table)
    inside, step = np.clip(age, 17, 90), 73 / grading.CELLS
    assert len(set(said.tolist())) > 4
    for one in set(said[known].tolist()):
        rows = known & (said == one)
        assert one == pytest.approx(inside[rows].mean(), abs=2 * step + 4 * 73 / grading.GROUPS / rows.sum() ** 0.5)
    assert model.score(table.filter(known), inside[known]) > 0.1
    assert "on average" in model.plot().to_json()


def test_numbers_are_predicted_within_bounds_and_without_classes(tmp_path: Path) -> None:
    with opened(tmp_path, people(600)) as session:
        model = sf.learn.Additive("wealth", spend=1, holdout=0.2).fit(session)
        with pytest.raises(UsageError, match="tells no classes apart"):
            session.evaluate(model, spend=1)
        for kind in (sf.learn.NaiveBayes, sf.learn.Forest):
            with pytest.raises(Refused, match="no public list of classes"):
                kind("wealth", spend=1).fit(session)
        assert session.budget.spent.epsilon == 1
    found = model.predict(people(50))
    assert found.dtype == np.float64
    assert ((found >= 0) & (found <= 100_000)).all()
    assert list(model.predicted(people(50))) == ["prediction"]
    assert not hasattr(model, "classes_")
    with pytest.raises(UsageError, match="is a number and has no classes"):
        model.predict_proba(people(50))
    assert model.__sklearn_tags__().estimator_type == "regressor"
    assert sf.learn.Additive("wealth").__sklearn_tags__().estimator_type == "classifier", "before it knows"


def test_an_engine_says_what_predict_says(tmp_path: Path) -> None:
    many = people(20_000, seed=11)
    with opened(tmp_path, people(2000), epsilon=40) as session:
        for target in ("mood", "age", "wealth"):
            columns = [name for name in FEATURES if name != target]
            for kind, least in ((sf.learn.Additive, 100), (sf.learn.Tree, 4)):
                model = kind(target, spend=5, columns=columns).fit(session)
                found, said = said_by(model.to_sql("some rows"), many)["prediction"], model.predict(many)
                assert np.abs(found - said).max() <= 1e-9 * np.abs(said).max()
                assert len(set(said.tolist())) > least


def test_a_card_and_curves_are_in_units_of_the_target(tmp_path: Path) -> None:
    with opened(tmp_path, people(1219), epsilon=60) as session:
        model = sf.learn.Additive("age", spend=50, columns=["y", "city"]).fit(session)
    text = str(model.card_)
    assert "age: about 5" in text
    assert "Classes:" not in text
    assert "1219" not in text
    assert "R² on rows of your own" in text
    assert model.card_.figure("y").layout.yaxis.title.text == "age"
    assert max(model.card_.figure("y").data[0].y) > 3, "years"
    assert "what it adds to age" in model.card_.to_html()


def test_fit_of_x_and_y_takes_numbers(tmp_path: Path) -> None:
    frame = people(300, holes=False).to_pandas()
    columns = {name: COLUMNS[name] for name in ("kids", "city", "age")}
    model = sf.learn.Additive("age", spend=5, columns=columns, ledger=tmp_path / "x.ledger")
    model.fit(frame[["kids", "city"]], frame["age"])
    assert model.feature_names_in_.tolist() == ["kids", "city"]
    assert model.predict(frame).shape == (300,)
