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
from sfumato.learn.sql import left_of
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


def test_several_classes_and_the_name_of_the_table(many: pa.Table, tmp_path: Path) -> None:
    columns = COLUMNS | {"y": sf.Category(["no", "yes"])}
    with opened(tmp_path, people(3000), columns=columns) as session:
        for kind in (sf.learn.NaiveBayes, sf.learn.Tree):
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
