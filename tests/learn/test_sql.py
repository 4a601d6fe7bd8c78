"""A model as SQL says of every row what `predict` says."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.learn.bins import Feature, Line, Listed
from sfumato.learn.model import Branches, Model, Node, Paid, Scores
from sfumato.learn.shown.sql_cells import left_of
from tests.learn.people import COLUMNS, LEARNERS, learner, opened, people

ROWS = 100_000


@pytest.fixture(scope="module")
def many() -> pa.Table:
    return people(ROWS, seed=11)


def said_by(sql: str, table: pa.Table) -> dict[str, Any]:
    with duckdb.connect() as connection:
        connection.register("some rows", table.append_column("place", pa.array(range(table.num_rows))))
        found = connection.sql(f"SELECT * FROM ({sql}) AS all_of_them ORDER BY place").to_arrow_table()
    return {name: found.column(name).to_numpy(zero_copy_only=False) for name in found.column_names}


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.__name__)
def test_an_engine_says_what_predict_says(kind: Any, many: pa.Table, tmp_path: Path) -> None:
    with opened(tmp_path, people(3000)) as session:
        model = learner(kind, 5).fit(session)
    found = said_by(model.to_sql("some rows"), many)
    shares = model.predict_proba(many)
    assert np.abs(found["probability_yes"] - shares[:, 1]).max() < 1e-9
    assert np.abs(found["probability_no"] - shares[:, 0]).max() < 1e-9
    assert (found["prediction"] == model.predict(many)).all()
    assert len(set(found["prediction"])) == 2, "the test tells classes apart"


@pytest.mark.parametrize("kind", [sf.learn.Linear, sf.learn.Components], ids=lambda kind: kind.__name__)
def test_an_engine_says_what_is_predicted_of_numbers(kind: Any, many: pa.Table, tmp_path: Path) -> None:
    odd = many.slice(0, 4).to_pydict() | {"mood": [np.inf, -np.inf, np.nan, 9.0], "wealth": [-1e300, 1e300, None, 0.0]}
    rows = pa.concat_tables([many, pa.table(odd, schema=many.schema)])
    with opened(tmp_path, people(3000)) as session:
        model = learner(kind, 5).fit(session)
    found, told = said_by(model.to_sql("some rows"), rows), model.predicted(rows)
    for name, values in told.items():
        assert np.abs(found[name].astype(float) - values).max() < 1e-9 * max(1, np.abs(values).max())
        assert len(set(values)) > 1000, "the test tells rows apart"


def test_several_classes_and_the_name_of_the_table(many: pa.Table, tmp_path: Path) -> None:
    columns = COLUMNS | {"y": sf.Category(["no", "yes"])}
    with opened(tmp_path, people(3000), columns=columns, epsilon=20) as session:
        for kind in (sf.learn.NaiveBayes, sf.learn.Additive, sf.learn.Tree):
            model = kind("city", spend=5, columns=["age", "y", "grade", "kids"]).fit(session)
            found = said_by(model.to_sql("some rows"), many)
            assert (found["prediction"] == model.predict(many)).all()
            assert '"people"' in model.to_sql()
    assert 'FROM "a""b" AS people' in model.to_sql('a"b')


PAID = Paid("t", "row", "1", "0", "epsilon", "1", "a", 1, "0", "now")
LINE, LIST = Feature("x", Line((1.0, 2.5), "real")), Feature("c", Listed(("a", "b'")))


@pytest.mark.parametrize("feature", [LINE, LIST], ids=["line", "list"])
def test_every_set_of_cells_is_told_apart(feature: Feature) -> None:
    """Also those that no learner asks for."""
    reals = [0.5, 1.0, 2.0, 2.5, 9.0, None, float("nan"), float("inf")]
    values = pa.array(reals) if feature is LINE else pa.array(["a", "b'", "c", None])
    table = pa.table({feature.name: values})
    leaf = {"column": -1, "right": (), "children": (), "counts": (0, 0), "noise": 1}
    for chosen in range(1, 2**feature.size):
        right = tuple(cell for cell in range(feature.size) if chosen >> cell & 1)
        nodes = (
            Node(0, right, (1, 2), (0, 0), 1, (32768, 32768)),
            Node(**leaf, shares=(65536, 0)),
            Node(**leaf, shares=(0, 65536)),
        )
        model = Model("tree", 1, "y", ("no", "yes"), (feature,), {}, Branches((nodes,)), PAID, (), ())
        fitted = sf.learn.Tree()
        fitted._adopt(model)
        assert (said_by(fitted.to_sql("some rows"), table)["prediction"] == fitted.predict(table)).all(), right
        assert left_of(feature, right)


def test_equal_scores_are_the_first_classes(tmp_path: Path) -> None:
    zeros = tuple((0,) for _ in range(LIST.size))
    scores = Scores((0,), (zeros,), (zeros,), ((0,) * LIST.size,), (1,))
    model = sf.learn.Additive()
    model._adopt(Model("additive", 1, "y", (True, False), (LIST,), {}, scores, PAID, (), ()))
    table = pa.table({"c": ["a"]})
    assert model.predict(table).tolist() == [True]
    assert said_by(model.to_sql("some rows"), table)["prediction"].tolist() == ["true"]


@pytest.mark.parametrize("many", [3, 100])
def test_of_many_classes_the_first_of_the_likeliest_is_predicted(many: int) -> None:
    """Scores so far apart that powers of them are 0 or infinite, and two that are equal."""
    classes = tuple(f"k{place}" for place in range(many))
    cells = tuple(tuple(sign * 10**6 * (place > many // 2) for place in range(1, many)) for sign in (1, -1, 0))
    scores = Scores((0,) * (many - 1), (cells,), (cells,), ((0,) * LIST.size,), (1,))
    model = sf.learn.NaiveBayes()
    model._adopt(Model("bayes", 1, "y", classes, (LIST,), {}, scores, PAID, (), ()))
    table = pa.table({"c": ["a", "b'", None]})
    found = said_by(model.to_sql("some rows"), table)
    assert found["prediction"].tolist() == model.predict(table).tolist() == [f"k{many // 2 + 1}", "k0", "k0"]
    told = np.column_stack([found[f"probability_{one}"] for one in classes])
    assert np.abs(told - model.predict_proba(table)).max() < 1e-12


@pytest.mark.parametrize("kind", ["additive", "tree", "linear", "clusters"])
def test_what_is_infinite_is_learnt_and_predicted_as_the_bound(kind: str, tmp_path: Path) -> None:
    """Of rows that are infinite in every other cell: they are not those whose number is missing."""
    endless, high = np.where(np.arange(600) % 2, np.inf, -np.inf), np.arange(600) % 2 == 1
    table = pa.table({"x": endless, "z": high.astype(float), "y": np.where(high, "yes", "no")})
    known = {"x": sf.Float(-2, 3), "z": sf.Float(0, 1), "y": sf.Category(["no", "yes"])}
    made = {
        "additive": sf.learn.Additive("y", columns=["x"], spend=5),
        "tree": sf.learn.Tree("y", columns=["x"], spend=5, depth=1),
        "linear": sf.learn.Linear("z", columns=["x"], spend=5),
        "clusters": sf.learn.Clusters(2, columns=["x"], spend=5),
    }[kind]
    ledger = tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=sf.Row(), columns=known, budget=sf.Budget(5), ledger=ledger) as session:
        model = made.fit(session)
    rows = pa.table({"x": [np.inf, 1e300, 3.0, -np.inf, -1e300, -2.0, np.nan, None]})
    (name, told), *_ = model.predicted(rows).items()
    assert len(set(told[:3].tolist())) == len(set(told[3:6].tolist())) == 1
    assert told[0] != told[3]
    found = said_by(model.to_sql("some rows"), rows)[name]
    same = np.abs(found.astype(float) - told) < 1e-9 if told.dtype.kind == "f" else found == told
    assert same.all()


@pytest.mark.parametrize("kind", ["bayes", "tree", "linear", "clusters"])
def test_halves_of_whole_numbers_are_rounded_as_predict_rounds_them(kind: str, tmp_path: Path) -> None:
    rows = np.arange(400)
    table = pa.table({"n": rows % 10, "m": rows % 4, "z": rows % 10 / 9, "y": np.where(rows % 2, "yes", "no")})
    known = {"n": sf.Int(0, 9), "m": sf.Category([0, 1, 2, 3]), "z": sf.Float(0, 1), "y": sf.Category(["no", "yes"])}
    made = {
        "bayes": sf.learn.NaiveBayes("y", columns=["n", "m"], spend=50),
        "tree": sf.learn.Tree("y", columns=["n", "m"], spend=50, depth=3),
        "linear": sf.learn.Linear("z", columns=["n", "m"], spend=50),
        "clusters": sf.learn.Clusters(5, columns=["n"], spend=50),
    }[kind]
    ledger = tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=sf.Row(), columns=known, budget=sf.Budget(50), ledger=ledger) as session:
        model = made.fit(session)
    quarters = [place / 4 for place in range(-6, 44)]
    odd = pa.table({"n": [*quarters, None, np.nan], "m": [*quarters[::-1], None, np.nan]})
    (name, told), *_ = model.predicted(odd).items()
    found = said_by(model.to_sql("some rows"), odd)[name]
    same = np.abs(found.astype(float) - told) < 1e-9 if told.dtype.kind == "f" else found == told
    assert same.all()
    whole = pa.table({name: np.rint(odd.column(name).to_numpy()) for name in odd.column_names})
    assert (model.predicted(whole)[name] == told).all()
