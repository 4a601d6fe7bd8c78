"""Clusters: which centre is nearest, in engines and without; what centres are made of noise; files, SQL, maps."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.door import written
from sfumato.engines.arrange import look
from sfumato.errors import DataUnreadable, Refused, UsageError
from sfumato.kernel.certify import certify
from sfumato.learn.clustering.centres import MOST_WEIGHT, centres_of, nearest, weighed
from sfumato.learn.clustering.clusters import MOST_BY, MOST_CLUSTERS, MOST_MANY, MOST_WAYS, Steps, _few, _fits, _most
from sfumato.learn.clustering.gathering import COUNTED, FINE, PARTS, Gathered, Gathering
from sfumato.learn.clustering.nearest import Keys
from sfumato.learn.frames import steps_of
from sfumato.learn.model import SIDE
from sfumato.learn.scaled import scaled_task
from sfumato.plan.sources import Kept
from sfumato.plan.work import MOST_NODES, work_of
from sfumato.simulate import Simulator
from tests.contract.check_learner import (
    fresh,
    keeps_to_its_bounds,
    resumes,
    sees_releases_alone,
    shares_add_up,
    watched,
)
from tests.learn.people import COLUMNS, learner, opened, people

NUMBERS = ["age", "kids", "wealth", "mood", "debt", "since"]


def coins(seed: int = 1) -> Any:
    return Simulator(seed).stream("test")


# ---- nearest centres


def test_the_nearest_centre_is_the_first_of_the_nearest() -> None:
    centres = np.array([[10, 0], [-10, 0], [10, 0], [0, 0]])
    points = np.array([[10, 0], [0, 0], [5, 0], [-5, 0], [-6, 3], [127, 127]])
    assert nearest(points, centres).tolist() == [0, 3, 0, 1, 1, 0]
    assert nearest(points[:0], centres).tolist() == []
    many = coins().integers(-SIDE, SIDE, 3 * 70_000).reshape(-1, 3)
    others = coins(2).integers(-SIDE, SIDE, 3 * 20).reshape(-1, 3)
    away = ((many[:, None] - others[None]) ** 2).sum(axis=2)
    assert (nearest(many, others) == away.argmin(axis=1)).all()


@pytest.mark.parametrize("many", [1, 2, 3, 8])
def test_keys_tell_centres_apart_and_two_of_them_fit_one_number(many: int) -> None:
    """At the corners of the lattice too, where sums are largest."""
    stream = coins(many)
    ends = np.array([-SIDE, 0, SIDE])
    centres = ends[stream.integers(0, 2, 4 * many)].reshape(many, 4)
    keys = Keys(tuple(tuple(int(one) for one in centre) for centre in centres), SIDE)
    assert keys.base**2 < 2**52
    points = ends[stream.integers(0, 2, 400)].reshape(-1, 4)
    for x, place in zip(points.tolist(), nearest(points, centres).tolist(), strict=True):
        told = [constant + sum(f * v for f, v in zip(factors, x, strict=True)) for factors, constant in keys.pairs()]
        best = max(max(told) // keys.base, *(one % keys.base for one in told))
        assert many - 1 - best % many == place
        assert all(0 <= one < keys.base**2 for one in told)


def counted(session: Any, task: Any, plans: Any) -> list[Any]:
    """What the engine counts and adds up for plans of one source."""
    state = session._engine.version()
    found, kept = [], next(one.table for one in plans if isinstance(one.table, Kept))
    with (
        session._engine.kept(task.source.source, session.schema, state) as inner,
        session._engine.kept(kept.source, session.schema, state, {task.source: inner}) as name,
    ):
        for plan in plans:
            certified = certify(plan, session.schema, task.currency)
            sql = written(certified, session._engine.dialect, {kept: name})
            found.append(look(session._engine, certified.countings, sql).entries[0][0])
    return found


@pytest.mark.parametrize("many", [1, 2, 5, 12])
def test_the_engine_has_every_row_where_numpy_has_it(tmp_path: Path, many: int) -> None:
    """Counts and sums around centres, two of them equal, against the steps that a model makes of rows, to the last."""
    halves = [one % 5 for one in range(700)]  # 63.5 steps apart
    table = people(700).append_column("half", pa.array(halves))
    columns = COLUMNS | {"half": sf.Int(0, 4)}
    with opened(tmp_path, table, columns=columns) as session:
        task = scaled_task(session.schema, "epsilon", steps=SIDE, columns=[*NUMBERS, "half"])
        drawn = coins(many).integers(-SIDE, SIDE, 7 * many).reshape(many, 7)
        drawn[-1] = drawn[0]
        reach, by = (20, 127, 8, 50, 90, 30, 127), (0, 2, 3, 4, 6)
        asked = Gathering(tuple(tuple(int(one) for one in centre) for centre in drawn), by, reach)
        plans = asked.plans(task, Fraction(1))
        assert sum(plan.measures[0].share for plan in plans) == 1
        counts, *sums = counted(session, task, plans)
    steps = steps_of(table, task.features, SIDE)
    whole = steps[~np.isnan(steps).any(axis=1)].astype(np.int64)
    own = nearest(whole[:, by], drawn[:, by])
    assert counts.counts.tolist() == np.bincount(own, minlength=many)[counts.places].tolist()
    assert counts.counts.sum() == len(whole) < 700, "who lacks a number is left out"
    away = np.clip(whole - drawn[own], -np.array(reach), np.array(reach))
    for column, entry in enumerate(sums):
        expected = np.bincount(own, away[:, column], many).astype(int)
        assert list(entry.sums) == expected[entry.places].tolist()


def work(plan: Any, task: Any) -> int:
    certified, kept = certify(plan, task.schema, task.currency), set[Any]()
    return sum(work_of(counting, task.schema, kept).nodes for counting in certified.countings)


def test_what_was_weighed_before_paying_is_the_most(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        task = scaled_task(session.schema, "epsilon", steps=SIDE, columns=NUMBERS)
        weighed_before = [work(plan, task) for plan in Gathering.largest(9, 6, 5).plans(task, Fraction(1))]
        for seed in range(5):
            drawn = coins(seed).integers(-SIDE, SIDE, 54).reshape(9, 6)
            asked = Gathering(tuple(map(tuple, drawn.tolist())), (0, 1, 2, 3, 4), (9,) * 6)
            made = [work(plan, task) for plan in asked.plans(task, Fraction(1))]
            assert all(one <= other for one, other in zip(made, weighed_before, strict=True))
        most = _most(task, 5, MOST_MANY, least=1)
        assert _fits(task, most, 5)
        assert max(work(plan, task) for plan in Gathering.largest(most, 6, 5).plans(task, Fraction(1))) <= MOST_NODES


# ---- k-means on weighted points


def test_centres_of_groups_are_found() -> None:
    at = np.array([[-900, 0], [0, 800], [1000, -700]])
    points = (at[:, None] + coins().integers(-40, 40, 120).reshape(3, 20, 2)).reshape(-1, 2)
    weights = np.arange(1, 61)
    made = centres_of(points, weights, 3, coins(4), starts=10, rounds=10)
    expected = [
        np.average(points[20 * one : 20 * one + 20], axis=0, weights=weights[20 * one : 20 * one + 20])
        for one in range(3)
    ]
    order = np.argsort(made[:, 0])
    assert np.abs(made[order] - np.array(expected)).max() <= 0.5
    assert (made == centres_of(points, weights, 3, coins(4), starts=10, rounds=10)).all()


def test_fewer_points_than_centres() -> None:
    points = np.array([[3, 4], [3, 4]])
    assert (centres_of(points, np.array([1, 5]), 4, coins(), starts=3, rounds=2) == [3, 4]).all()


def test_weights_stay_within_what_is_exact() -> None:
    assert weighed(np.array([-5, 0, 7])).tolist() == [1, 1, 7]
    large = weighed(np.array([1 << 60, 1 << 59, -(1 << 60)]))
    assert 0 < large.sum() <= MOST_WEIGHT + 3
    assert large[0] == 2 * large[1] > 1000


def test_means_are_believed_as_far_as_they_are_above_the_noise() -> None:
    asked = Gathering(((0, 0), (50, 50), (-50, 0)), (0, 1), (20, 40))
    counts, sums = np.array([1000, 10, -7]), np.array([[10_000, -30_000], [900, 0], [-900, 1]])
    quiet = Gathered(asked, counts, sums, 1, (1, 1))
    assert (quiet.moved() / FINE).round(1).tolist() == [[10, -30], [70, 50], [-70, 1]], "no mean is beyond the reach"
    loud = Gathered(asked, counts, sums, 100 * PARTS, (20 * 500 * PARTS, 40 * 500 * PARTS))
    assert (loud.moved()[0] / FINE).round(1).tolist() == [5, -15], "half, where noise is half of the rows"
    assert np.abs(loud.moved()[1] / FINE - 50).max() < 1
    assert quiet.sure.tolist() == [True, True, False]
    assert loud.sure.tolist() == [True, False, False]
    assert (loud.errors()[0] / PARTS).round(2).tolist() == [5, 10]
    assert loud.errors().max() <= 40 * PARTS
    points, weights = quiet.like_rows(np.array([[0, 0], [1, 0], [50, 50], [-50, 0]]))
    assert points.tolist() == [[10, -30], [11, -30], [70, 50], [-70, 1]]
    assert weights.tolist() == [2000, 2000, 40, 0]


def test_the_reach_holds_most_points() -> None:
    points = np.column_stack([np.arange(-100, 100), np.zeros(200, dtype=int)])
    asked = Gathering.around(np.array([[0, 0]]), [0, 1], points, np.ones(200, dtype=np.int64))
    assert asked.reach == (95, 8)
    nobody = Gathering.around(np.array([[0, 0]]), [0, 1], points, np.zeros(200, dtype=np.int64))
    assert nobody.reach == (SIDE, SIDE)


def test_sums_get_more_where_a_row_can_add_more(tmp_path: Path) -> None:
    asked = Gathering(((0, 0),), (0, 1), (100, 25))
    for delta, ratio in ((0, 2), (1e-6, 4)):
        with opened(fresh(tmp_path), delta=delta) as session:
            task = scaled_task(session.schema, session.price(1).currency, steps=SIDE, columns=["age", "mood"])
            shares = asked.shares(task, Fraction(1))
            assert sum(shares) == 1 - COUNTED
            assert shares[0] == ratio * shares[1]


# ---- fitting

MIDDLES = np.array([[25.0, -0.6], [60.0, 0.5], [80.0, -0.2]])


def blobs(count: int = 3000) -> pa.Table:
    stream = coins(5)
    place = stream.integers(0, 2, count)
    made = MIDDLES[place] + np.column_stack([2 * stream.normal(count), 0.05 * stream.normal(count)])
    return pa.table({"age": np.clip(made[:, 0], 17, 90), "mood": np.clip(made[:, 1], -1, 1)})


BLOBS: dict[str, Any] = {"age": sf.Float(17, 90), "mood": sf.Float(-1, 1)}


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_centres_are_where_the_rows_are(tmp_path: Path, delta: float) -> None:
    with opened(tmp_path, blobs(), columns=BLOBS, delta=delta) as session:
        model = sf.learn.Clusters(3, spend=5).fit(session)
        assert model.cost_.epsilon == 5
    order = np.argsort(model.cluster_centers_[:, 0])
    assert np.abs(model.cluster_centers_[order] - MIDDLES)[:, 0].max() < 1.5
    assert np.abs(model.cluster_centers_[order] - MIDDLES)[:, 1].max() < 0.03
    rows = model.model_.fitted.rows
    assert rows == tuple(sorted(rows, reverse=True)), "the fullest first"
    assert sum(rows) == pytest.approx(3000, abs=60)
    assert model.notes_ == ()
    assert np.bincount(model.predict(blobs()), minlength=3) == pytest.approx(rows, abs=60)
    assert model.feature_names_in_.tolist() == ["age", "mood"]


CHECKS = (shares_add_up, resumes, sees_releases_alone, keeps_to_its_bounds)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract_of_learners(tmp_path: Path, check: Any) -> None:
    assert check(sf.learn.Clusters, tmp_path) == []


def test_the_same_again_is_free(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        first = learner(sf.learn.Clusters).fit(session)
        assert learner(sf.learn.Clusters).fit(session).to_json() == first.to_json()
        assert len(session.history()) == 1
        learner(sf.learn.Clusters, k=4).fit(session)
        learner(sf.learn.Clusters, columns=["age"]).fit(session)
        assert len(session.history()) == 3, "another k, or other columns, are another purpose"
        assert learner(sf.learn.Clusters).fit(session, fresh=True).to_json() != first.to_json()


def test_many_rows_are_gathered_in_two_ways(tmp_path: Path) -> None:
    """Where there are more rows than so many centres need, each way at a half."""
    for spend, ways in ((0.1, 1), (100, MOST_WAYS)):
        with opened(fresh(tmp_path), blobs(), columns=BLOBS, epsilon=100) as session, watched(session) as seen:
            sf.learn.Clusters(2, spend=spend).fit(session)
        costs = [look.certified.cost.amount for look in seen]
        assert len(costs) == 2 + 3 * ways + 3
        assert sum(costs) == Fraction(str(spend))


def test_many_columns_all_tell_rows_apart_in_some_way(tmp_path: Path) -> None:
    """Groups that are alike in five columns differ in others. Twin: the five that vary most, every time."""
    columns = {f"x{place}": sf.Float(-1, 1) for place in range(12)}
    with opened(fresh(tmp_path), pa.table({name: [0.0] for name in columns}), columns=columns) as session:
        task = scaled_task(session.schema, "epsilon", steps=SIDE)
    tables = tuple(np.full(16, 1000, dtype=np.int64) for _ in columns)
    around = Steps(task, tables, noise=1).scattered(Fraction(100), 4, MOST_MANY, coins())
    used = [one.gathering.by for one in around]
    assert len(used) == 3
    assert all(len(by) == len(set(by)) == MOST_BY for by in used)
    assert set().union(*used) == set(range(12))
    few = Steps(task, tables[:MOST_BY], noise=1).scattered(Fraction(1, 10**6), 4, MOST_MANY, coins())
    assert [one.gathering.by for one in few] == [tuple(range(MOST_BY))]


@pytest.mark.parametrize(
    "table",
    [
        people(40).slice(0, 0),
        people(40).slice(0, 1),
        pa.table({name: pa.nulls(40, people(1).schema.field(name).type) for name in people(1).column_names}),
        pa.table({name: [people(1, holes=False).column(name)[0].as_py()] * 50 for name in people(1).column_names}),
        people(6),
    ],
    ids=["empty", "one row", "all missing", "one value", "fewer rows than centres"],
)
def test_whatever_the_rows_are_it_fits_and_says_noise(tmp_path: Path, table: pa.Table) -> None:
    with opened(tmp_path, table) as session:
        model = sf.learn.Clusters(12, spend=0.05, columns=["age", "mood", "since"]).fit(session)
    assert any("oise" in note for note in model.notes_)
    assert model.cluster_centers_.shape == (12, 3)
    found = model.predict(people(60))
    assert set(found.tolist()) <= set(range(-1, 12))
    assert (found[3] == -1) & (found[1] >= 0), "who lacks a number is in no cluster"


def test_one_column_and_one_cluster(tmp_path: Path) -> None:
    with opened(tmp_path, blobs(), columns=BLOBS, epsilon=100) as session:
        model = sf.learn.Clusters(1, spend=50, columns=["age"]).fit(session)
        assert model.cluster_centers_[0, 0] == pytest.approx(np.mean(blobs().column("age").to_numpy()), abs=1)
        assert model.plot().layout.yaxis.title.text == "rows, about"
        assert (model.predict(blobs()) == 0).all()


def test_refusals_come_before_anything_is_paid(tmp_path: Path) -> None:
    columns = COLUMNS | {"name": sf.Text(), "open": sf.Float()}
    table = people(40).append_column("name", pa.array(["a"] * 40)).append_column("open", pa.array([1.5] * 40))
    wrong: list[dict[str, Any]] = [
        {"k": 0}, {"k": MOST_CLUSTERS + 1}, {"k": 2.5}, {"k": None}, {"spend": None}, {"spend": 0}, {"spend": 11},
        {"columns": ["name"]}, {"columns": ["open"]}, {"columns": ["city"]}, {"columns": ["z"]}, {"columns": []},
        {"columns": "age"}, {"columns": ["age", "age"]}, {"max_rows": 1}, {},
    ]  # fmt: skip
    with opened(tmp_path, table, columns=columns) as session:
        for changes in wrong:
            with pytest.raises((Refused, UsageError, sf.errors.SfumatoError)):
                sf.learn.Clusters(**({"k": 2, "spend": 1} | changes)).fit(session)
        model = sf.learn.Clusters(90, spend=1, columns=NUMBERS)
        with pytest.raises(Refused, match=r"with k=90 and 6 columns .* too large a plan") as refused:
            model.fit(session)
        assert session.history() == []
        most = int(refused.value.hint.split("k=")[1].split()[0])
        assert sf.learn.Clusters(most, spend=1, columns=NUMBERS).fit(session).cluster_centers_.shape == (most, 6)
        with pytest.raises(UsageError, match="tells no classes apart"):
            session.evaluate(model, spend=1)
    many = {f"x{place}": sf.Float(0, 1) for place in range(60)}
    with opened(fresh(tmp_path), pa.table({name: [0.5] for name in many}), columns=many) as session:
        with pytest.raises(Refused, match="fewer columns"):
            sf.learn.Clusters(2, spend=1).fit(session)
        assert session.history() == []


def test_few_sure_means_are_filled_up_with_the_fullest() -> None:
    points = coins().integers(-SIDE, SIDE, 400).reshape(-1, 2)
    asked = Gathering(((0, 0), (90, 90), (-90, 0)), (0, 1), (20, 20))
    lost = Gathered(asked, np.array([3, -4, 9]), np.zeros((3, 2), dtype=np.int64), 100 * PARTS, (PARTS, PARTS))
    around: Any = type("Around", (), {"points": points})()
    few = _few([lost], [around], 2, coins())
    assert sorted(few.centres) == [(-90, 0), (0, 0)]
    assert few.reach == (SIDE, SIDE), "nothing is known of how near rows are"


# ---- files, SQL, cards, pipelines


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with opened(tmp_path_factory.mktemp("clusters"), people(2417), epsilon=100) as session:
        return sf.learn.Clusters(4, spend=5, columns=NUMBERS).fit(session)


def test_saved_and_loaded_it_is_the_same(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "clusters.json")
    loaded = sf.learn.load(tmp_path / "clusters.json")
    assert isinstance(loaded, sf.learn.Clusters)
    assert (loaded.k, loaded.model_) == (4, fitted.model_)
    assert (loaded.predict(people(300)) == fitted.predict(people(300))).all()
    assert (loaded.cluster_centers_ == fitted.cluster_centers_).all()
    said = json.loads((tmp_path / "clusters.json").read_text())
    assert "2417" not in json.dumps(said["model"]), "the number of rows is nowhere"


WRONG: dict[str, Any] = {
    "a centre out of bounds": lambda said: said["model"]["centres"][0].__setitem__(0, SIDE + 1),
    "a column too few": lambda said: said["model"]["centres"][0].pop(),
    "a centre too few": lambda said: said["model"]["centres"].pop(),
    "no centres": lambda said: said["model"].update(centres=[], errors=[], rows=[]),
    "a real coordinate": lambda said: said["model"]["centres"][0].__setitem__(0, 0.5),
    "an error below 0": lambda said: said["model"]["errors"][0].__setitem__(0, -1),
    "errors of another size": lambda said: said["model"]["errors"][0].append(1),
    "huge rows": lambda said: said["model"]["rows"].__setitem__(0, 1 << 61),
    "a noise below 0": lambda said: said["model"].update(noise=-1),
    "a target": lambda said: said.update(target="y"),
    "classes": lambda said: said.update(classes=["no", "yes"]),
    "a column of cells": lambda said: said["features"][0].update(cells={"cuts": [1.0], "kind": "real"}),
    "bounds that fall": lambda said: said["features"][0]["cells"].update(lower=900),
    "another learner": lambda said: said.update(learner="tree"),
    "another kind": lambda said: said["model"].update(kind="scores"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_not_as_save_writes_it_is_refused(fitted: Any, tmp_path: Path, name: str) -> None:
    said = json.loads(fitted.to_json())
    WRONG[name](said)
    (tmp_path / "wrong.json").write_text(json.dumps(said))
    with pytest.raises(DataUnreadable, match="is no model of Sfumato"):
        sf.learn.load(tmp_path / "wrong.json")


@pytest.mark.parametrize("seed", range(2))
def test_sql_says_what_predict_says(fitted: Any, tmp_path: Path, seed: int) -> None:
    """Centres anywhere, and rows at halves of steps, beyond bounds, missing, infinite."""
    many = people(100_000, seed=seed)
    mood = many.column("mood").to_pylist()
    mood[:6] = [1e308, -1e308, float("inf"), float("-inf"), 0.5 / SIDE, -1.5 / SIDE]
    many = many.set_column(many.schema.get_field_index("mood"), "mood", pa.array(mood))
    said = json.loads(fitted.to_json())
    drawn = coins(seed).integers(-SIDE, SIDE, 4 * len(NUMBERS)).reshape(4, -1).tolist()
    said["model"]["centres"] = said["model"]["centres"] if seed == 0 else drawn
    (tmp_path / "m.json").write_text(json.dumps(said))
    model = sf.learn.load(tmp_path / "m.json")
    with duckdb.connect() as connection:
        connection.register("some rows", many.append_column("place", pa.array(range(many.num_rows))))
        found = connection.sql(f"SELECT cluster FROM ({model.to_sql('some rows')}) AS t ORDER BY place").fetchnumpy()[
            "cluster"
        ]
    assert (found == model.predict(many)).all()
    assert set(found.tolist()) == {-1, 0, 1, 2, 3}


def test_cards_and_maps(fitted: Any, tmp_path: Path) -> None:
    text = str(fitted.card_)
    for told in ("Clusters: people", "One row, added or removed, at epsilon 5", "cluster 0: about", "Schedule:"):
        assert told in text
    assert "Classes" not in text
    assert "2,417" not in text
    assert "2417" not in text
    page = fitted.card_.to_html(tmp_path / "card.html")
    assert page.count("<figure>") == 1
    assert "No row" not in text
    drawn = fitted.plot()
    assert len(drawn.data) == 4 + 1, "an ellipse a centre, the centres, and no rows"
    assert len(drawn.data[-1].x) == 4
    chosen = fitted.card_.figure("since × age")
    assert chosen.layout.xaxis.title.text == "since"
    assert str(chosen.data[-1].x[0]).startswith("20")
    for wrong in ("age", "age × street", "age × age", "age × mood × since", 3):
        with pytest.raises(UsageError, match="two columns of the model"):
            fitted.card_.figure(wrong)
    assert fitted.card_.to_dict()["learner"] == "clusters"


def test_names_cannot_run(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    table = blobs(50).rename_columns([evil, "centre"])
    with opened(tmp_path, table, columns={evil: BLOBS["age"], "centre": BLOBS["mood"]}) as session:
        model = sf.learn.Clusters(2, spend=1).fit(session)
        assert "<script>alert" not in model.card_.to_html()
        assert "<script>alert" not in str(model.plot().to_json()).replace("\\u003c", "<")
        assert f'"{evil}"' in model.to_sql()


def test_a_schedule_is_shown_before_anything_is_paid(tmp_path: Path) -> None:
    with opened(tmp_path, delta=1e-6) as session:
        schedule = learner(sf.learn.Clusters).explain(session)
        assert sum(stage.share for stage in schedule.stages) == pytest.approx(1, abs=1e-5)
        assert "age (17 to 90)" in str(schedule)
        assert "target" not in str(schedule)
        assert schedule.settings["k"] == 3
        assert session.history() == []


def test_clones_pipelines_and_tags(tmp_path: Path) -> None:
    from sklearn.base import clone, is_clusterer
    from sklearn.exceptions import NotFittedError as Theirs
    from sklearn.pipeline import Pipeline

    model = sf.learn.Clusters(3, spend=1, columns=BLOBS, ledger=tmp_path / "x.ledger")
    assert clone(model).get_params() == model.get_params()
    assert is_clusterer(model)
    assert repr(sf.learn.Clusters(3, spend=1)) == "Clusters(k=3, spend=1)"
    with pytest.raises(Theirs):
        model.predict(blobs(9))
    frame = blobs(400).to_pandas()
    piped = Pipeline([("model", model)]).fit(frame)
    assert piped.predict(frame).shape == (400,)
    assert (piped.predict(frame) == piped.predict(frame.to_numpy())).all()
    with pytest.raises(UsageError, match=r"fit\(X\) needs the bounds"):
        sf.learn.Clusters(3, spend=1).fit(frame)
