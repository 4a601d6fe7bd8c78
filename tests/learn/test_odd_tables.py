"""Tables that nobody expects: columns of one value or of none, no rows, fewer rows than clusters, a million values.

Whatever the rows are, a fit succeeds for its price, and what it says are numbers within bounds. Whatever the
declarations are, what is refused is refused before it is paid.
"""

import json
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import Refused, UsageError
from tests.contract.check_learner import DELTAS, UNITS
from tests.marks import few

MILLION = 1_000_000
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "bayes": (sf.learn.NaiveBayes, {"target": "class"}),
    "additive": (sf.learn.Additive, {"target": "class"}),
    "additive of a number": (sf.learn.Additive, {"target": "number"}),
    "tree": (sf.learn.Tree, {"target": "class", "depth": 2}),
    "forest": (sf.learn.Forest, {"target": "class", "depth": 2, "trees": 2, "expected_rows": 10**8}),
    "tree of a number": (sf.learn.Tree, {"target": "number", "depth": 2}),
    "linear": (sf.learn.Linear, {"target": "number"}),
    "correlation": (sf.learn.Correlation, {}),
    "components": (sf.learn.Components, {"k": 1}),
    "clusters": (sf.learn.Clusters, {"k": 5}),
    "synthetic": (sf.learn.Synthetic, {}),
}
BOUNDS: dict[str, Any] = {"number": sf.Float(-2, 3), "other": sf.Int(0, 100)}


@st.composite
def declared(draw: st.DrawFn) -> Any:
    """A column, of whichever kind, with bounds that are near, far, or one step apart."""
    match draw(st.sampled_from(["int", "float", "date", "category", "flag"])):
        case "int":
            lower = draw(st.integers(-(10**6), 10**6))
            return sf.Int(lower, lower + draw(st.sampled_from([1, 5, 400, 10**9])))
        case "float":
            lower = draw(st.sampled_from([-1e9, -0.5, 0.0, 7.25]))
            return sf.Float(lower, lower + draw(st.sampled_from([1e-6, 1.0, 600.0, 1e12])))
        case "date":
            first = date(1900, 1, 1) + timedelta(days=draw(st.integers(0, 60_000)))
            return sf.Date(first, first + timedelta(days=draw(st.sampled_from([1, 30, 9000]))))
        case "category":
            return sf.Category([f"v{place}" for place in range(draw(st.integers(2, 6)))])
        case _:
            return sf.Category([True, False])


def value(draw: st.DrawFn, column: Any) -> Any:
    match column:
        case sf.Int():
            return draw(st.sampled_from([int(column.lower), int(column.upper), 10**15, -(10**15)]))
        case sf.Float():
            return draw(
                st.sampled_from([float(column.lower), float(column.upper), 0.1, float("nan"), float("inf"), -1e300])
            )
        case sf.Date():
            return draw(st.sampled_from([column.lower, column.upper, date(1, 1, 1), date(9999, 12, 31)]))
        case _:
            return draw(st.sampled_from([*column.values, type(column.values[0])()]))


TYPES = {sf.Int: pa.int64(), sf.Float: pa.float64(), sf.Date: pa.date32()}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, Any], pa.Table]:
    """Some columns beside the usual ones; each has all values missing, one value in all rows, or any."""
    columns = {**BOUNDS, "class": sf.Category(["a", "b", "c"])}
    columns |= {f"x{place}": draw(declared()) for place in range(draw(st.integers(0, 2)))}
    rows, made = draw(st.sampled_from([0, 1, 2, 40])), {}
    for name, column in columns.items():
        how = draw(st.sampled_from(["missing", "one", "any"]))
        if how == "any":
            few = [None, *(value(draw, column) for _ in range(3))]
            cells = [few[place % 4] for place in range(rows)]
        else:
            cells = [None if how == "missing" else value(draw, column)] * rows
        plain = TYPES.get(type(column)) or pa.array(list(column.values)).type
        made[name] = pa.array(cells, plain)
    return columns, pa.table(made)


def fitted(
    kind: str, known: dict[str, Any], table: pa.Table, spend: float, unit: Any = None, delta: float = 0, **more: Any
) -> Any:
    """A model through a session on a ledger of its own, as its file has it."""
    made, given_to_it = KINDS[kind]
    with TemporaryDirectory() as folder:
        protected = sf.protect(
            table, table="t", unit=unit or sf.Row(), columns=known, budget=sf.Budget(spend, delta),
            ledger=Path(folder) / "t.ledger",
        )  # fmt: skip
        with protected as session:
            model = made(**(given_to_it | more), spend=spend).fit(session)
            assert session.budget.spent.epsilon == pytest.approx(spend)
            assert len(session.history()) == 1
        return kept(model, Path(folder))


def kept(model: Any, folder: Path) -> Any:
    """The same model, saved and loaded."""
    model.save(folder / "model.json")
    found = sf.learn.load(folder / "model.json")
    assert found.to_json() == model.to_json()
    return found


def numbers_of(kind: str, columns: dict[str, Any]) -> dict[str, Any]:
    """What of the columns a learner of numbers takes."""
    if kind not in ("correlation", "components", "clusters"):
        return {}
    return {"columns": [name for name, one in columns.items() if not isinstance(one, sf.Category)]}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(drawn=tables(), unit=st.sampled_from([*UNITS]), delta=st.sampled_from([*DELTAS.values()]))
def test_whatever_the_table_is_it_fits(
    kind: str, drawn: tuple[dict[str, Any], pa.Table], unit: str, delta: float
) -> None:
    columns, table = drawn
    people = table.append_column("id", pa.array([row // 2 for row in range(table.num_rows)], pa.int64()))
    model = fitted(kind, columns, people, 0.01, UNITS[unit], delta, **numbers_of(kind, columns))
    assert str(model.card_)
    if kind == "correlation":
        assert (np.abs(model.correlation_) <= 1 + 1e-9).all()
        return
    if kind == "synthetic":
        assert model.sample(7).column_names == list(columns)
        return
    for name, told in model.predicted(table).items():
        assert len(told) == table.num_rows
        if told.dtype.kind == "f":
            assert np.isfinite(told).all()
        if name == "prediction" and not hasattr(model, "classes_"):
            assert ((told >= -2) & (told <= 3)).all()


# ---- bounds that are near to each other, for doubles

NEAR: dict[str, Any] = {
    "no two doubles": sf.Int(2**62 - 100, 2**62),
    "no two doubles, of reals": sf.Float(Fraction(1), Fraction(10**20 + 1, 10**20)),
    "fewer doubles than cells": sf.Float(1.0, 1.0 + 4e-15),
    "fewer doubles than cells, far away": sf.Float(1e9, 1e9 + 1e-6),
    "no number in a cell": sf.Int(10**18, 10**18 + 1000),
    "fewer whole doubles than cells": sf.Int(10**18, 10**18 + 3000),
    "as many as cells, nearly": sf.Int(10**18, 10**18 + 5000),
    "few single numbers": sf.Int(2**60, 2**60 + 10),
    "next to each other": sf.Float(Fraction(1), Fraction(1) + Fraction(1, 2**52)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NEAR)
def test_bounds_that_doubles_do_not_tell_apart_are_refused_unpaid_or_learnt_and_kept(
    name: str, kind: str, tmp_path: Path
) -> None:
    column = NEAR[name]
    first = int(column.lower) if isinstance(column, sf.Int) else float(column.lower)
    table = pa.table({"x": [first] * 30, "number": np.linspace(-2, 3, 30), "class": ["a", "b"] * 15})
    known = {"x": column, "number": BOUNDS["number"], "class": sf.Category(["a", "b"])}
    made, more = KINDS[kind]
    wanted = [{"columns": ["x"] if "target" in more else ["x", "number"]}]
    wanted += [{"target": "x", "columns": ["number"]}] if more.get("target") == "number" else []
    with sf.protect(
        table, table="t", unit=sf.Row(), columns=known, budget=sf.Budget(2), ledger=tmp_path / "t.ledger"
    ) as session:
        for more_of_it in wanted:
            before = session.budget.spent.epsilon
            learner = made(**(more | more_of_it), spend=1)
            try:
                learner.explain(session)
            except Refused:
                with pytest.raises(Refused, match='the bounds of "x" are so near'):
                    learner.fit(session)
                assert session.budget.spent.epsilon == before
                continue
            model = kept(learner.fit(session), tmp_path)
            if kind == "synthetic":
                assert model.sample(5).num_rows == 5
            elif kind != "correlation":
                assert all(len(told) == 30 for told in model.predicted(table).values())


# ---- noise of any size


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_nothing_but_noise_is_learnt_kept_and_used(kind: str, tmp_path: Path) -> None:
    """As many rows of a person as can be declared, at the least spend that there is."""
    rows = np.arange(40)
    table = pa.table({"id": rows, "number": rows / 8 - 2, "other": rows, "class": ["a", "b", "c", "a"] * 10})
    known = {**BOUNDS, "id": sf.Identifier(), "class": sf.Category(["a", "b", "c"])}
    made, more = KINDS[kind]
    unit, ledger = sf.Person("id", max_rows=10**9), tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=unit, columns=known, budget=sf.Budget(1), ledger=ledger) as session:
        model = made(**(more | numbers_of(kind, BOUNDS)), spend=0.001).fit(session)
        said = json.loads(model.to_json())["model"]
        room = model._room(model._task(session), session.price(0.001))
        assert len(json.dumps(said, separators=(",", ":"))) <= room, "as large as was reckoned, at most"
    model = kept(model, tmp_path)
    assert str(model.card_)
    if kind == "synthetic":
        assert model.sample(5).num_rows == 5
    elif kind != "correlation":
        assert all(len(told) == 40 for told in model.predicted(table).values())


@pytest.mark.parametrize("kind", [sf.learn.Additive, sf.learn.Tree, sf.learn.Forest, sf.learn.Synthetic])
def test_more_rows_than_anybody_expects_are_refused_in_words(kind: Any, tmp_path: Path) -> None:
    table = pa.table({"number": [0.5], "other": [3], "class": ["a"]})
    known = {**BOUNDS, "class": sf.Category(["a", "b"])}
    more = {} if kind is sf.learn.Synthetic else {"target": "class"}
    ledger = tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=sf.Row(), columns=known, budget=sf.Budget(1), ledger=ledger) as session:
        with pytest.raises(UsageError, match="expected_rows must lie between 1 and 1000000000000000"):
            kind(**more, spend=0.5, expected_rows=10**400).fit(session)
        assert session.history() == []


# ---- files that are too large


def test_a_model_that_no_file_holds_is_refused_before_it_is_paid(tmp_path: Path) -> None:
    many = [f"k{place}" for place in range(1000)]
    columns = {f"x{place}": sf.Int(1, 100) for place in range(34)}
    table = pa.table({name: [1, 2] for name in columns} | {"class": ["k1", "k2"]})
    known = columns | {"class": sf.Category(many)}
    ledger = tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=sf.Row(), columns=known, budget=sf.Budget(9), ledger=ledger) as session:
        with pytest.raises(Refused, match="could be larger than 10 MB"):
            sf.learn.NaiveBayes("class", spend=1).fit(session)
        assert session.history() == []
        kept(sf.learn.NaiveBayes("class", spend=1, columns=["x0", "x1"]).fit(session), tmp_path)


# ---- a million values


def spread_out() -> pa.Table:
    """A million rows of which no two have the same number, which rises with one column and not with another, and so
    does a class.
    """
    rows = np.arange(MILLION)
    number = 2 * rows / MILLION - 1 + 0.2 * np.sin(0.7 * rows)
    halves = np.where(2 * rows < MILLION, "a", "b")
    return pa.table({"number": number, "other": rows * 7919 % 101, "far": rows, "class": halves})


OF_CLASSES = ("bayes", "additive", "tree", "forest")


@pytest.mark.parametrize("kind", few(KINDS, lambda kind: kind not in (*OF_CLASSES, "synthetic")))
def test_a_million_values_of_a_number_are_as_good_as_few(kind: str) -> None:
    table, known = spread_out(), {**BOUNDS, "far": sf.Int(0, MILLION)}
    more = {"depth": 4} if kind == "tree of a number" else {}
    if kind in (*OF_CLASSES, "synthetic"):
        known = {**known, "class": sf.Category(["a", "b"])}
        more = {"columns": ["far", "class" if kind == "synthetic" else "other"]}
    model = fitted(kind, known, table, 1.0, **more)
    assert model.notes_ == ()
    match kind:
        case "synthetic":
            made = model.sample()
            assert made.num_rows == pytest.approx(MILLION, abs=1000)
            halves = np.where(2 * made.column("far").to_numpy() < MILLION, "a", "b")
            assert (halves == np.array(made.column("class").to_pylist())).mean() > 0.95
        case "bayes" | "additive" | "tree" | "forest":
            assert model.score(table, table.column("class").to_numpy(zero_copy_only=False)) > 0.9
        case "correlation":
            assert model.correlation_[0, 2] > 0.9
            assert abs(model.correlation_[0, 1]) < 0.1
        case "components":
            assert 0.4 < model.explained_variance_ratio_[0] < 0.7
        case "clusters":
            assert set(model.predict(table).tolist()) == set(range(5))
        case _:
            assert model.score(table, table.column("number").to_numpy()) > 0.8


@pytest.fixture(scope="module")
def listed() -> Any:
    return sf.Category([f"v{place}" for place in range(MILLION)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_million_listed_values_are_refused_before_anything_is_paid(kind: str, listed: Any, tmp_path: Path) -> None:
    columns = {**BOUNDS, "class": sf.Category(["a", "b"]), "name": listed}
    table = pa.table({"number": [0.5], "other": [3], "class": ["a"], "name": ["v7"]})
    made, more = KINDS[kind]
    with sf.protect(
        table, table="t", unit=sf.Row(), columns=columns, budget=sf.Budget(1), ledger=tmp_path / "t.ledger"
    ) as session:
        with pytest.raises(Refused, match='"name" is'):
            made(**more, spend=1, columns=["name", "other"]).fit(session)
        if "target" in more:
            with pytest.raises(Refused, match='"name" is'):
                made(**(more | {"target": "name"}), spend=1, columns=["other"]).fit(session)
        assert session.history() == []


def test_too_many_classes_for_one_table_are_refused_before_anything_is_paid(tmp_path: Path) -> None:
    """Of a thousand a tree has one level, and its evaluation would be a table of a million."""
    many = [f"k{place}" for place in range(1000)]
    table = pa.table({"number": [0.5] * 40, "other": range(40), "class": ["k1", "k2"] * 20})
    known = {**BOUNDS, "class": sf.Category(many), "far": sf.Category([f"v{place}" for place in range(300)])}
    table, ledger = table.append_column("far", pa.array(["v1"] * 40)), tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=sf.Row(), columns=known, budget=sf.Budget(9), ledger=ledger) as session:
        with pytest.raises(Refused, match="cells in one table"):
            sf.learn.NaiveBayes("class", columns=["far"], spend=1).fit(session)
        with pytest.raises(Refused, match="too large a plan"):
            sf.learn.Tree("class", columns=["other"], depth=2, spend=1).fit(session)
        assert session.history() == []
        model = sf.learn.NaiveBayes("class", columns=["other"], spend=1, holdout=0.5).fit(session)
        with pytest.raises(Refused, match="cells in one table"):
            session.evaluate(model, spend=1)
        assert session.budget.spent.epsilon == 1
