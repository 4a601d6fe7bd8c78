"""Synthetic tables: which pairs, what they cost, rows that follow them, files that say what they are."""

import json
from dataclasses import astuple, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import sfumato as sf
from sfumato.errors import NotFittedError, Refused, UsageError
from sfumato.kernel.certify import certify
from sfumato.learn.frames import codes_of
from sfumato.learn.synthesis.cleaning import WHOLE, Fit, Measured, _on_simplex, apportioned, rows_in
from sfumato.learn.synthesis.likeness import POINTS
from sfumato.learn.synthesis.pairs import (
    LARGEST_PAIR,
    MOST_FURTHER,
    MOST_OFFERED,
    Division,
    Parts,
    any_choice,
    edges_of,
    further_for,
    measurable,
    offered,
    penalty,
    worth,
)
from sfumato.learn.synthesis.raking import WEIGHT, Weighted, downwards, drawn_rows, resampled
from sfumato.learn.synthesis.sampling import MARK, usual_rows
from sfumato.learn.task import task_of
from sfumato.simulate import Simulator
from tests.contract.check_learner import CHECKS, DELTAS, fresh
from tests.learn.people import CITIES, COLUMNS, learner, opened, people

SYNTHETIC = sf.learn.Synthetic


@pytest.mark.parametrize(
    "check", ["shares add up", "again is free", "resumes", "sees releases alone", "keeps to its bounds"]
)
def test_it_keeps_the_contract_of_learners(check: str, tmp_path: Path) -> None:
    assert CHECKS[check](SYNTHETIC, tmp_path) == []


class LeavesSomeUndrawn(SYNTHETIC):
    """Pays for all, and draws less."""

    def _division(self, task: Any, rows: int | None) -> Any:
        return TooLittle(*astuple(super()._division(task, rows)))


class TooLittle(Division):
    @property
    def pair(self) -> Fraction:
        return super().pair / 2


class TakesTooMuch(SYNTHETIC):
    """Draws twice for pairs what it paid for them."""

    def _division(self, task: Any, rows: int | None) -> Any:
        return TooMuch(*astuple(super()._division(task, rows)))


class TooMuch(Division):
    @property
    def pair(self) -> Fraction:
        return 2 * super().pair


class TossesGlobalCoins(SYNTHETIC):
    """Its number of rows comes from nowhere."""

    def _learnt(self, task: Any, envelope: Any, told: Any) -> Any:
        fitted, notes = super()._learnt(task, envelope, told)
        return replace(fitted, rows=fitted.rows + int(np.random.default_rng().integers(1, 10**6))), notes


def test_twins_are_flagged_by_the_contract(tmp_path: Path) -> None:
    assert any("of the price was drawn" in told for told in CHECKS["shares add up"](LeavesSomeUndrawn, tmp_path))
    assert CHECKS["sees releases alone"](TossesGlobalCoins, tmp_path) == [
        f"{currency}: its model depends on more than releases" for currency in DELTAS
    ]
    with opened(fresh(tmp_path)) as session:
        with pytest.raises(sf.errors.SfumatoError):
            learner(TakesTooMuch, columns=["age", "kids", "city"]).fit(session)
        assert session.budget.spent.epsilon <= 1, "the ledger gives no more than was paid, whatever a learner reckons"


# ---- as scikit-learn wants it


def test_parameters_and_clones() -> None:
    model = SYNTHETIC(spend=1, columns=["age"])
    assert repr(clone(model)) == repr(model) == "Synthetic(spend=1, columns=['age'])"
    assert model.set_params(spend=2, max_rows=1).get_params()["spend"] == 2
    assert not model.__sklearn_is_fitted__()
    for act in (model.sample, model.to_json, lambda: model.card_, lambda: model.write("rows.csv")):
        with pytest.raises(NotFittedError, match="this Synthetic has not learnt anything yet"):
            act()


def test_fit_of_x_goes_the_same_way(tmp_path: Path) -> None:
    frame = people(200).to_pandas()[list(COLUMNS)]
    model = SYNTHETIC(spend=1, columns=COLUMNS, ledger=tmp_path / "x.ledger").fit(frame)
    assert (model.cost_.epsilon, model.left_.epsilon) == (1.0, 0.0)
    assert model.sample(9).column_names == list(COLUMNS)
    assert SYNTHETIC(spend=1, columns=COLUMNS, ledger=tmp_path / "x.ledger").fit(frame).model_ == model.model_


# ---- which pairs, and what they cost


def test_pairs_that_are_too_large_are_not_measured() -> None:
    assert measurable([2, 3, 4]) == ((0, 1), (0, 2), (1, 2))
    assert measurable([LARGEST_PAIR // 2, 2, 3]) == ((0, 1), (1, 2))
    assert measurable([5]) == ()
    assert edges_of(3, measurable([2, 3, 4])) == 2
    assert edges_of(3, ((0, 1),)) == 1
    wide = [100] * 100
    assert not measurable(wide), "together the tables of a tree have to fit into a file"


def test_pairs_join_parts() -> None:
    parts = Parts(4)
    assert parts.joining([(0, 1), (1, 2), (0, 2)]) == [[(0, 1)], [(1, 2)], [(0, 2)]]
    assert parts.join((0, 1))
    assert parts.joining([(0, 1), (1, 2), (0, 2), (2, 3)]) == [[(1, 2), (0, 2)], [(2, 3)]]
    assert not parts.join((0, 1))


def test_how_many_further_pairs_follows_from_what_a_table_is_worth() -> None:
    assert [further_for(one) for one in (0, 4884, 5000, 48_842, 5e5, 1e12)] == [0, 0, 0, 10, 20, MOST_FURTHER]


@given(
    sizes=st.lists(st.integers(2, 300), min_size=1, max_size=12),
    further=st.integers(0, 50),
)
def test_the_price_is_divided_to_the_last_digit(sizes: list[int], further: int) -> None:
    pairs = measurable(sizes)
    division = Division.of(len(sizes), pairs, further)
    times = division.measured if division.choosing else 0
    assert len(sizes) * division.one + times * division.choice + division.measured * division.pair == Fraction(1)
    assert division.measured <= len(pairs)


def test_a_person_with_several_rows_makes_a_table_worth_less(tmp_path: Path) -> None:
    for unit, delta, expected in ((sf.Row(), 0, 1000.0), (sf.Person("id", max_rows=2), 0, 500.0)):
        with opened(tmp_path, people(20), unit=unit, delta=delta, ledger=tmp_path / f"{expected}.ledger") as session:
            task = task_of(session.schema, session.price(1).currency, target="", columns=["age", "city"])
            assert worth(Fraction(1, 10), 10_000, task) == expected


def test_no_more_pairs_are_offered_than_a_plan_may_have(tmp_path: Path) -> None:
    columns = {f"x{place}": sf.Int(0, 9) for place in range(60)}
    table = pa.table({name: [1, 2] for name in columns})
    with opened(tmp_path, table, columns=columns) as session:
        task = task_of(session.schema, "epsilon", target="")
        many = len(offered(task))
        assert 1 < many <= MOST_OFFERED < len(measurable([one.size for one in task.columns]))
        certify(any_choice(task, offered(task), Fraction(1)), session.schema, "epsilon")
        model = SYNTHETIC(spend=1, columns=list(columns)[:20]).fit(session)
        assert len(model.model_.fitted.tables) == 19


def test_penalties_are_whole_and_bounded() -> None:
    assert penalty(100, 10.0) == round(1000 * (2 / np.pi) ** 0.5)
    assert penalty(10**4, 1e12) == 1 << 32


# ---- what tables say


def test_without_noise_shares_are_what_was_counted() -> None:
    stream = Simulator(1).stream("rows")
    one = stream.integers(0, 3, 4000)
    other = np.where(stream.uniform(4000) < 0.7, one % 3, stream.integers(0, 2, 4000))
    table = np.bincount(one * 3 + other, minlength=12).reshape(4, 3)
    measured = Measured((table.sum(axis=1), table.sum(axis=0)), 1e-6, (False, True), {(0, 1): table}, 1e-6)
    assert measured.rows == 4000
    fit = Fit.of(measured)
    assert fit.ones[0] / WHOLE == pytest.approx(table.sum(axis=1) / 4000, abs=1e-6)
    assert fit.tables[0, 1] / WHOLE == pytest.approx(table / 4000, abs=1e-4)
    assert [int(one.sum()) for one in (*fit.ones, *fit.tables.values())] == [WHOLE] * 3


def test_a_pair_that_is_all_noise_is_as_if_independent() -> None:
    ones = (np.arange(1, 21) * 10, np.arange(1, 16)[::-1] * 17)
    ones = (ones[0], np.rint(ones[1] * ones[0].sum() / ones[1].sum()).astype(np.int64))
    noise = 500 * Simulator(2).stream("noise").normal(300).reshape(20, 15)
    table = np.rint(np.outer(*ones) / ones[0].sum() + noise).astype(np.int64)
    fit = Fit.of(Measured(ones, 1e-6, (False, False), {(0, 1): table}, 500.0))
    thought = np.outer(*fit.ones) / WHOLE
    assert np.abs(fit.tables[0, 1] - thought).sum() < 0.05 * WHOLE


def test_neighbours_on_a_line_help_and_what_stands_out_is_kept() -> None:
    true = np.full(33, 300)
    true[16], true[-1] = 5000, 0
    drawn = true + np.rint(100 * Simulator(3).stream("noise").normal(33)).astype(np.int64)
    plain, smooth = (Measured((drawn,), 100.0, (line,)).shares()[0] / WHOLE for line in (False, True))
    shares = true / true.sum()
    assert np.abs(smooth - shares).sum() < 0.7 * np.abs(plain - shares).sum()
    assert smooth[16] == pytest.approx(shares[16], abs=0.03)


def test_what_did_not_change_is_not_fitted_again() -> None:
    counts = np.array([[50, 10], [20, 70]])
    ones = (counts.sum(axis=1), counts.sum(axis=0), np.array([90, 60]), np.array([75, 75]))
    before = Fit.of(Measured(ones, 2.0, (False,) * 4, {(0, 1): counts}, 2.0))
    after = Fit.of(Measured(ones, 2.0, (False,) * 4, {(0, 1): counts, (2, 3): counts}, 2.0), before)
    assert after.tables[0, 1] is before.tables[0, 1]
    assert set(after.tables) == {(0, 1), (2, 3)}


@given(st.lists(st.integers(-50, 200), min_size=1, max_size=40), st.booleans(), st.floats(1e-9, 1e6))
def test_whatever_noise_makes_of_counts_they_are_shares(counts: list[int], line: bool, noise: float) -> None:
    (found,) = Measured((np.array(counts),), noise, (line,)).shares()
    assert found.min() >= 0
    assert found.sum() == WHOLE


def test_a_sum_beside_huge_noise_is_kept() -> None:
    """A few rows, and counts beyond all that doubles tell apart from one another."""
    found = _on_simplex(np.array([2.0**60, 0.0, 2.0**60, -(2.0**62)]), 1.0)
    assert found.tolist() == [0.5, 0.0, 0.5, 0.0]
    (shares,) = Measured((np.array([2**58, -(2**58), 3]),), 2.0**57, (False,)).shares()
    assert shares.tolist() == [WHOLE, 0, 0]


def test_shares_are_apportioned_to_the_last_part() -> None:
    assert apportioned(np.array([1.0, 1.0, 1.0])).tolist() == [5592406, 5592405, 5592405]
    assert rows_in([np.array([-3, -9])]) == 1
    assert rows_in([np.array([60, 40]), np.array([30, 30, 30, 30])]) == round((100 / 2 + 120 / 4) / (1 / 2 + 1 / 4))


# ---- rows


def test_rows_follow_the_tables_of_a_tree() -> None:
    stream = Simulator(4).stream("rows")
    ones = [np.array([WHOLE // 2, WHOLE // 2]), np.array([WHOLE // 4, 3 * WHOLE // 4]), np.array([WHOLE, 0])]
    table = np.array([[WHOLE // 4, WHOLE // 4], [0, WHOLE // 2]])
    codes = drawn_rows(ones, {(0, 1): table}, 1000, stream)
    assert np.bincount(codes[:, 0] * 2 + codes[:, 1]).tolist() == [250, 250, 0, 500], "in numbers as even as can be"
    assert (codes[:, 2] == 0).all()
    assert downwards(4, [(1, 3), (0, 3)]) == [(0, None), (3, 0), (1, 3), (2, None)]


def test_raking_makes_rows_weigh_what_was_measured() -> None:
    stream = Simulator(5).stream("rows")
    codes = np.column_stack([stream.integers(0, 2, 3000), stream.integers(0, 3, 3000), stream.integers(0, 1, 3000)])
    rows = Weighted(codes, [3, 4, 2])
    wanted = {(0, 1): apportioned(np.arange(1.0, 13).reshape(3, 4)), (1, 2): apportioned(np.ones((4, 2)))}
    rows.rake(wanted, 1)
    one_sweep = [
        np.abs(rows.expected(10**6, pair) - table.ravel() / WHOLE * 10**6).sum() for pair, table in wanted.items()
    ]
    assert max(one_sweep) > 1000
    wanted = {(0, 1): wanted[0, 1], (1, 2): apportioned(wanted[0, 1].sum(axis=0)[:, None] * np.array([0.3, 0.7]))}
    rows.rake(wanted, 15)
    for pair, table in wanted.items():
        assert np.abs(rows.expected(10**6, pair) - table.ravel() / WHOLE * 10**6).max() < 100
    assert rows.weights.sum() == pytest.approx(3000, rel=1e-3)


def test_rows_are_taken_about_as_often_as_they_weigh() -> None:
    weights = np.array([WEIGHT, 0, 3 * WEIGHT, WEIGHT // 2, WEIGHT // 2])
    for begin in (0.0, 0.5, 0.999999):
        often = np.bincount(resampled(weights, 5, begin), minlength=5)
        assert often[[0, 1, 2]].tolist() == [1, 0, 3]
        assert often.sum() == 5


# ---- fitted


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """With hardly any noise, and all columns."""
    with opened(tmp_path_factory.mktemp("synthetic"), people(4000), epsilon=10**4, expected_rows=4000) as session:
        return SYNTHETIC(spend=500).fit(session)


def shares(codes: np.ndarray, sizes: list[int], *places: int) -> np.ndarray:
    cells, many = np.zeros(len(codes), dtype=np.int64), 1
    for place in places:
        cells, many = cells * sizes[place] + codes[:, place], many * sizes[place]
    return np.bincount(cells, minlength=many) / len(codes)


def test_a_synthetic_table_is_like_the_real_one(fitted: Any) -> None:
    assert fitted.sample().num_rows == pytest.approx(4000, abs=3)
    table = fitted.sample(POINTS)  # so many that chance among rows hardly counts
    features = fitted.model_.features
    sizes = [feature.size for feature in features]
    real, made = codes_of(people(4000), features), codes_of(table, features)
    for place in range(len(sizes)):
        assert np.abs(shares(real, sizes, place) - shares(made, sizes, place)).sum() / 2 < 0.02
    names = [feature.name for feature in features]
    age, answer = names.index("age"), names.index("y")
    both = np.abs(shares(real, sizes, age, answer) - shares(made, sizes, age, answer)).sum() / 2
    assert both < 0.05, "who is older says yes more often, here too"


def test_values_are_as_they_are_declared(fitted: Any) -> None:
    table = fitted.sample(3000, seed=1)
    assert table.column_names == list(COLUMNS)
    kinds = [str(table.schema.field(name).type) for name in COLUMNS]
    assert kinds == ["int64", "int64", "double", "double", "int64", "string", "int64", "bool", "date32[day]", "string"]
    for name, declared in COLUMNS.items():
        values = [value for value in table.column(name).to_pylist() if value is not None]
        if isinstance(declared, sf.Category):
            assert set(values) <= set(declared.values)
        else:
            assert min(values) >= declared.lower
            assert max(values) <= declared.upper
    assert 0 < table.column("age").null_count < 600, "what is missing is missing here, too"
    assert len(set(table.column("wealth").to_pylist())) > 2000, "inside of a cell values differ"
    assert isinstance(table.column("since")[0].as_py(), date | None)


def test_the_same_model_gives_the_same_rows(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 2 * 10**6
    loaded = sf.learn.load(tmp_path / "model.json")
    assert type(loaded) is SYNTHETIC
    assert loaded.model_ == fitted.model_
    assert loaded.to_json() == fitted.to_json()
    assert loaded.sample().equals(fitted.sample())
    assert loaded.sample(50, seed=3).equals(fitted.sample(50, seed=3))
    assert not loaded.sample(50, seed=4).equals(fitted.sample(50, seed=3))
    assert loaded.sample(7).num_rows == 7
    assert loaded.sample(2 * POINTS).num_rows == 2 * POINTS


def test_files_of_rows_say_that_they_are_synthetic(fitted: Any, tmp_path: Path) -> None:
    fitted.write(tmp_path / "rows.parquet", 20)
    read = pyarrow.parquet.read_table(tmp_path / "rows.parquet")
    mark = json.loads(read.schema.metadata[MARK.encode()])
    assert mark["synthetic"] is True
    assert (mark["epsilon"], mark["delta"], mark["unit"], mark["receipt"]) == ("500", "0.0", "row", fitted.receipt_)
    assert read.equals(fitted.sample(20))
    fitted.write(tmp_path / "rows.csv", 20, seed=5)
    beside = json.loads((tmp_path / "rows.csv-metadata.json").read_text())
    assert beside["url"] == "rows.csv"
    assert beside[MARK] == mark | {"seed": 5}
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 21
    with pytest.raises(UsageError, match=r"rows\.xlsx is neither \.parquet nor \.csv"):
        fitted.write(tmp_path / "rows.xlsx")
    with pytest.raises(UsageError, match="cannot be written"):
        fitted.write(tmp_path / "nowhere" / "rows.csv")


def test_rows_that_cannot_be_drawn_are_refused(fitted: Any) -> None:
    for wrong in ({"n": 0}, {"n": 1.5}, {"n": 10**9}, {"seed": -1}, {"seed": "x"}):
        with pytest.raises(UsageError):
            fitted.sample(**wrong)
    with pytest.raises(NotFittedError):
        SYNTHETIC(spend=1).sample()
    with pytest.raises(UsageError, match="no SQL of it"):
        fitted.to_sql()
    with pytest.raises(UsageError, match="says nothing of single rows"):
        fitted.predicted(people(3))


def test_its_card_says_what_it_is(fitted: Any) -> None:
    told = str(fitted.card_)
    assert told.startswith("Synthetic rows: people\n")
    for words in ("a tree of pairs: ", "No row is of a person", "One row, added or removed, at epsilon 500"):
        assert words in told
    assert "4," in told.split("Learnt:")[1].splitlines()[1]
    figure = fitted.plot()
    assert sum(figure.data[0].y) == pytest.approx(fitted.model_.fitted.rows, abs=40)
    assert len(figure.data) == 1
    page = fitted.card_.to_html()
    assert page.count("rows of the synthetic table by cell") == len(COLUMNS)
    with pytest.raises(UsageError, match="no street to draw"):
        fitted.card_.figure("street")


def test_it_is_compared_with_counts_that_are_paid_for(tmp_path: Path) -> None:
    with opened(tmp_path, people(2000), epsilon=100) as session:
        model = learner(SYNTHETIC, 10).fit(session)
        found = model.compared_in(session, spend=5)
        assert session.budget.spent.epsilon == 15
        assert [one.name for one in found.columns] == ["age", "kids", "city", "member", "y"]
        assert all(one.distance < 0.1 + one.by_noise for one in found.columns)
        assert sum(found.columns[2].private) == pytest.approx(2000, abs=60)
        again = model.compared_in(session, spend=5)
        assert again.receipt == found.receipt
        assert session.budget.spent.epsilon == 15, "the same again is free"
        one = model.compared_in(session, spend=1, columns=["city"])
        assert [each.name for each in one.columns] == ["city"]
        with pytest.raises(UsageError, match="has no street"):
            model.compared_in(session, spend=1, columns=["street"])
    figure = found.plot("city")
    assert [len(trace.y) for trace in figure.data] == [len(CITIES) + 1] * 2
    assert "of rows elsewhere (noise alone:" in str(found)
    assert found.to_dict()["columns"][0]["name"] == "age"
    assert len(found.figures()) == 5
    assert found.plot().layout.title.text in COLUMNS
    with pytest.raises(UsageError, match="has no street to draw"):
        found.plot("street")
    others = COLUMNS | {"city": sf.Category(["Roma"])}
    with opened(tmp_path, people(20), columns=others, ledger=tmp_path / "b.ledger") as session:
        with pytest.raises(Refused, match='"city" is declared otherwise'):
            model.compared_in(session, spend=1)
        assert session.history() == []


def test_how_many_further_pairs_is_told_before_it_is_paid(tmp_path: Path) -> None:
    with opened(tmp_path, people(100)) as session:
        columns = ["age", "kids", "city", "grade", "member", "y"]
        known = SYNTHETIC(spend=1, columns=columns, expected_rows=20_000).explain(session)
        assert known.settings["further"] == 6
        assert [stage.times for stage in known.stages] == [6, 11, 11]
        unknown = SYNTHETIC(spend=1, columns=columns).explain(session)
        assert unknown.settings["further"] is None
        assert "if the noisy number of rows allows" in unknown.stages[1].what
        every = SYNTHETIC(spend=1, columns=columns[:3], expected_rows=10**7).explain(session)
        assert [stage.times for stage in every.stages] == [3, 3], "where all are measured, nothing is chosen"


@pytest.mark.parametrize("rows", [None, 10**7])
def test_where_all_pairs_are_measured_nothing_is_chosen(tmp_path: Path, rows: int | None) -> None:
    with opened(tmp_path, people(500), epsilon=50) as session:
        model = SYNTHETIC(spend=5, columns=["age", "city"], expected_rows=rows).fit(session)
        more = SYNTHETIC(spend=5, columns=["kids", "city", "y"], expected_rows=rows).fit(session)
    assert model.model_.fitted.pairs == ((0, 1),)
    assert [stage.mechanism for stage in model.model_.schedule] == ["discrete_laplace"] * 2
    assert len(more.model_.fitted.pairs) == (3 if rows else 2)
    assert len(more.model_.fitted.tables) == 2


# ---- odd tables

ODD: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "one value": ({"x": sf.Int(0, 9), "c": sf.Category(["a"])}, {"x": [3] * 50, "c": ["a"] * 50}),
    "all missing": ({"x": sf.Int(0, 9), "c": sf.Category(["a", "b"])}, {"x": [None] * 50, "c": [None] * 50}),
    "a thousand values": (
        {"x": sf.Int(0, 9), "c": sf.Category([f"v{place}" for place in range(1000)]), "f": sf.Float(0, 1)},
        {"x": [3] * 50, "c": [f"v{place * 7}" for place in range(50)], "f": [0.5] * 50},
    ),
    "a million values": (
        {"x": sf.Int(0, 10**6), "z": sf.Int(-(10**9), 10**9), "w": sf.Int(-(1 << 62), 1 << 62)},
        {"x": list(range(0, 10**6, 20_000)), "z": [5] * 50, "w": [1 << 61] * 50},
    ),
    "empty": ({"x": sf.Int(0, 9), "c": sf.Category(["a", "b"]), "d": sf.Date("2020-01-01", "2020-01-03")}, {}),
    "one row": ({"x": sf.Int(0, 9), "c": sf.Category(["a", "b"])}, {"x": [1], "c": ["a"]}),
    "one column": ({"x": sf.Float(-1, 1)}, {"x": [0.1] * 50}),
}
TYPES = {sf.Int: pa.int64(), sf.Category: pa.string(), sf.Float: pa.float64(), sf.Date: pa.date32()}


@pytest.mark.parametrize("spend", [0.01, 5])
@pytest.mark.parametrize("name", ODD)
def test_whatever_the_rows_are_a_table_is_made(tmp_path: Path, name: str, spend: float) -> None:
    columns, rows = ODD[name]
    table = pa.table({one: pa.array(rows.get(one, []), TYPES[type(kind)]) for one, kind in columns.items()})
    with opened(tmp_path, table, columns=columns) as session:
        model = SYNTHETIC(spend=spend).fit(session)
    made = model.sample(200)
    assert made.column_names == list(columns)
    for one, kind in columns.items():
        values = [value for value in made.column(one).to_pylist() if value is not None]
        assert all(
            value in kind.values if isinstance(kind, sf.Category) else kind.lower <= value <= kind.upper
            for value in values
        )
    model.save(tmp_path / "odd.json")
    assert sf.learn.load(tmp_path / "odd.json").sample(200).equals(made)
    if spend < 1 or name in ("empty", "one row"):
        assert any("oise" in note for note in model.notes_)


def test_columns_that_fit_with_no_other_stand_alone(tmp_path: Path) -> None:
    columns = {"a": sf.Category([f"v{place}" for place in range(900)]), "b": sf.Float(0, 1)}
    with opened(tmp_path, pa.table({"a": ["v1"] * 9, "b": [0.5] * 9}), columns=columns) as session:
        model = SYNTHETIC(spend=1).fit(session)
    assert model.model_.fitted.pairs == ()
    assert "by itself, whatever the others are: a, b" in str(model.card_)
    assert any("too many cells" in note for note in model.notes_)


def test_what_cannot_be_drawn_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    columns = {"name": sf.Text(), "open": sf.Float(), "x": sf.Int(0, 9)}
    columns |= {f"c{one}": sf.Category([f"v{place}" for place in range(1000)]) for one in range(2)}
    columns["many"] = sf.Category([f"v{place}" for place in range(10**6)])
    table = pa.table({"name": ["a"], "open": [1.5], "x": [1], "c0": ["v1"], "c1": ["v2"], "many": ["v3"]})
    with opened(tmp_path, table, columns=columns) as session:
        for changes, words in (
            ({"columns": ["name"]}, "free text"),
            ({"columns": ["open"]}, "has no bounds"),
            ({"columns": ["z"]}, "z"),
            ({"columns": []}, "no column to learn from"),
            ({"columns": ["x", "x"]}, "twice"),
            ({"columns": ["c0", "c1"]}, "Name fewer columns"),
            ({"columns": ["many"]}, "tell 4,096 apart"),
            ({"columns": ["x"], "spend": None}, "spend"),
            ({"columns": ["x"], "max_rows": 2}, "row"),
        ):
            with pytest.raises(sf.errors.SfumatoError, match=words):
                SYNTHETIC(**({"spend": 1} | changes)).fit(session)
        assert session.history() == []


@settings(max_examples=8, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(-3, 12), st.sampled_from(["a", "b", "x", None]), st.floats(-2, 2)), max_size=30
    ),
    spend=st.sampled_from([0.01, 1, 8]),
    delta=st.sampled_from([0, 1e-6]),
)
def test_random_tables(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], spend: float, delta: float) -> None:
    columns = {"i": sf.Int(0, 9), "c": sf.Category(["a", "b"]), "f": sf.Float(-1, 1)}
    table = pa.table({
        "i": pa.array([row[0] for row in rows], pa.int64()),
        "c": pa.array([row[1] for row in rows], pa.string()),
        "f": pa.array([row[2] for row in rows], pa.float64()),
    })  # fmt: skip
    with opened(tmp_path_factory.mktemp("random"), table, columns=columns, delta=delta) as session:
        model = SYNTHETIC(spend=spend).fit(session)
        assert model.sample(10).num_rows == 10
        assert session.budget.spent.epsilon == pytest.approx(spend)


# ---- files of models


def put(said: dict[str, Any], *path: Any) -> None:
    *before, last, value = path
    for step in before:
        said = said[step]
    said[last] = value


WRONG: dict[str, tuple[Any, ...]] = {
    "a target": ("target", "y"),
    "classes": ("classes", ["a", "b"]),
    "no rows": ("model", "rows", 0),
    "half a row": ("model", "rows", 1.5),
    "ends too few": ("model", "ends", []),
    "ends of listed values": ("model", "ends", 2, [0, 1]),
    "no ends of a line": ("model", "ends", 0, None),
    "ends that are apart too far": ("model", "ends", 0, [-(1 << 62), 1 << 62]),
    "ends that fall": ("model", "ends", 0, [90, 17]),
    "a day that is none": ("model", "ends", 3, [0, 10**9]),
    "a share too few": ("model", "ones", 0, [WHOLE]),
    "shares that do not add up": ("model", "ones", 1, 0, 17),
    "a column too few": ("model", "ones", []),
    "a pair of one column": ("model", "pairs", 0, [1, 1]),
    "a pair of three": ("model", "pairs", 0, [0, 1, 2]),
    "a pair of columns that are not there": ("model", "pairs", 0, [0, 9]),
    "pairs that fall": ("model", "pairs", 0, [1, 0]),
    "a table too many": ("model", "tables", [[WHOLE]] * 9),
    "a table of another size": ("model", "tables", 0, [WHOLE]),
    "a weight too few": ("model", "weights", [1]),
    "no weight at all": ("model", "weights", [0] * POINTS),
    "a negative weight": ("model", "weights", 0, -1),
    "a huge weight": ("model", "weights", 0, 1 << 50),
    "something more": ("model", "code", "import os"),
}


def test_a_file_that_is_not_as_save_writes_it_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, people(300)) as session:
        SYNTHETIC(spend=1, columns=["age", "kids", "city", "since"]).fit(session).save(tmp_path / "right.json")
    text = (tmp_path / "right.json").read_text()
    for change in WRONG.values():
        said = json.loads(text)
        put(said, *change)
        (tmp_path / "wrong.json").write_text(json.dumps(said))
        with pytest.raises(sf.errors.DataUnreadable, match=r"wrong\.json is no model of Sfumato"):
            sf.learn.load(tmp_path / "wrong.json")
    said = json.loads(text)
    pairs = said["model"]["pairs"][: len(said["model"]["tables"])]
    said["model"]["pairs"] = [pairs[0], pairs[0], *pairs[2:]]
    (tmp_path / "wrong.json").write_text(json.dumps(said))
    with pytest.raises(sf.errors.DataUnreadable):
        sf.learn.load(tmp_path / "wrong.json")
    said = json.loads(text)
    said["privacy"]["envelope"] = "any text"
    (tmp_path / "other.json").write_text(json.dumps(said))
    assert sf.learn.load(tmp_path / "other.json").sample(5).num_rows == 5


def test_a_small_file_draws_no_gigabytes(fitted: Any, tmp_path: Path) -> None:
    """Every column takes 50,000 points, and where nobody says how many rows there are, the file does."""
    said = json.loads(fitted.to_json())
    for many in (600, 601):
        said["features"] = [{"name": f"c{place}", "cells": {"values": ["u"]}} for place in range(many)]
        said["model"] |= {"ends": [None] * many, "ones": [[WHOLE, 0]] * many, "pairs": [], "tables": []}
        (tmp_path / "model.json").write_text(json.dumps(said))
        if many == 600:
            assert sf.learn.load(tmp_path / "model.json").n_features_in_ == 600
        else:
            with pytest.raises(sf.errors.DataUnreadable):
                sf.learn.load(tmp_path / "model.json")
    assert usual_rows(1 << 62, 600) * 600 <= 2 * 10**8
    assert usual_rows(1 << 62, 3) == 10**7
    assert usual_rows(7, 600) == 7


@pytest.mark.parametrize("values", [[2**64 - 1, 3], [-(2**63), 3], [2**64 - 1, -1], [1 - 2**64, 0]])
def test_categories_of_large_whole_numbers_are_drawn_and_written(values: list[int], tmp_path: Path) -> None:
    table, known = pa.table({"c": [3] * 60, "k": ["a", "b"] * 30}), sf.Category(["a", "b"])
    columns, ledger = {"c": sf.Category(values), "k": known}, tmp_path / "t.ledger"
    with sf.protect(table, table="t", unit=sf.Row(), columns=columns, budget=sf.Budget(9), ledger=ledger) as session:
        model = SYNTHETIC(spend=0.01).fit(session)
    model.save(tmp_path / "model.json")
    drawn = sf.learn.load(tmp_path / "model.json").sample(300).column("c").to_pylist()
    assert {int(one) for one in drawn if one is not None} <= set(values)
    for name in ("rows.csv", "rows.parquet"):
        model.write(tmp_path / name, n=50)
        assert (tmp_path / name).stat().st_size > 50
