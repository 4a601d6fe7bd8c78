"""From a release to an answer: values, order, formats, and error bars that hold what they promise."""

import builtins
import json
import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import columns as outputs
from sfumato.answers import picture as pictures
from sfumato.answers.answer import UNTOUCHED, Answer, finish
from sfumato.answers.column_kinds import kind_of
from sfumato.errors import MissingExtra, UsageError
from sfumato.kernel.gate import Receipt, Release, release
from sfumato.kernel.mechanisms.additive import Additive, Law
from sfumato.kernel.widths import deviation, error
from sfumato.ledger.balance import Balance
from sfumato.ledger.terms import Amount, Terms
from sfumato.query.ordering import After
from sfumato.query.rewrite import KeyColumn
from sfumato.schema.table import Schema
from tests.entropy import SeededEntropy
from tests.query.asking import COLUMNS, EPSILON, RHO, SCHEMA, Walk, walk

CURRENCIES = pytest.mark.parametrize("budget", [EPSILON, RHO], ids=["epsilon", "rho"])


def law_of(walked: Walk, place: int) -> Law:
    mechanism = walked.certified.releases[place].mechanism
    assert isinstance(mechanism, Additive)
    return mechanism.law


def answered(walked: Walk, values: list[tuple[int, ...]], after: After = UNTOUCHED) -> Answer:
    """The answer that these released integers make."""
    amount = Amount(0.5, 0.0)
    return finish(
        "the question",
        walked.certified,
        walked.draft.columns,
        Release(7, tuple(values)),
        cost=amount,
        balance=Balance(Terms(sf.Budget(3)), (Fraction(1, 2), Fraction(0)), Fraction(5, 2)),
        when="2026-11-15T00:00:00Z",
        cached=False,
        after=after,
    )


# ---- values


def test_rows_are_sorted_by_key_whatever_the_declaration_says() -> None:
    schema = Schema("t", sf.Row(), {"k": sf.Category(["z", "a", "m"]), "n": sf.Int(1, 2)})
    walked = walk("SELECT COUNT(*) AS c, n, k FROM t GROUP BY k, n", schema=schema)
    answer = answered(walked, [(10,), (20,), (30,), (40,), (50,), (60,)])
    assert answer.rows == [
        {"c": 30, "n": 1, "k": "a"},
        {"c": 40, "n": 2, "k": "a"},
        {"c": 50, "n": 1, "k": "m"},
        {"c": 60, "n": 2, "k": "m"},
        {"c": 10, "n": 1, "k": "z"},
        {"c": 20, "n": 2, "k": "z"},
    ]
    assert answer.columns == ("c", "n", "k")
    assert [row["c"][0] < 30 < row["c"][1] for row in answer.interval()] == [True, False, False, False, False, False]


def test_without_keys_there_is_one_row() -> None:
    assert answered(walk("SELECT COUNT(*) FROM people"), [(5,)]).rows == [{"count": 5}]


def test_sums_are_in_units_of_the_data() -> None:
    walked = walk("SELECT SUM(age) AS a, SUM(income) AS i, SUM(income * 1e20) AS h FROM people")
    (row,) = answered(walked, [(70, 3 << 13, 2)]).rows
    assert row == {"a": 70, "i": 3.0, "h": 2 << 54}
    assert [type(row[name]) for name in "aih"] == [int, float, int]
    ((low, high),) = [pair["i"] for pair in answered(walked, [(70, 3 << 13, 2)]).interval()]
    assert (low + high) / 2 == 3.0
    assert high - low == 2 * error(law_of(walked, 1), 0.95) / 2**13


@pytest.mark.parametrize(
    ("centred", "count", "mean"),
    [(0, 10, 60), (100, 10, 70), (-100, 10, 50), (10**6, 10, 120), (-(10**6), 10, 0), (5, 0, 65), (5, -3, 65)],
)
def test_an_average_stays_within_its_bounds(centred: int, count: int, mean: float) -> None:
    walked = walk("SELECT AVG(age) AS a FROM people")
    answer = answered(walked, [(centred, count)])
    assert answer.rows == [{"a": mean}]
    (((low, high),),) = [list(row.values()) for row in answer.interval()]
    assert 0 <= low <= mean <= high <= 120


@CURRENCIES
def test_an_average_over_nobody_may_be_anything(budget: sf.Budget) -> None:
    walked = walk("SELECT AVG(age) AS a FROM people", budget=budget)
    for count in (-50, 0, 1):
        assert answered(walked, [(17, count)]).interval() == [{"a": (0.0, 120.0)}]


# ---- error bars


@CURRENCIES
def test_higher_confidence_widens_every_error_bar(budget: sf.Budget) -> None:
    walked = walk("SELECT COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM people", budget=budget)
    answer = answered(walked, [(5000, 300_000, 900, 5000)])
    levels = [0.1, 0.5, 0.9, 0.95, 0.99, 0.9999]
    for name in ("n", "s", "a"):
        pairs = [answer.interval(level)[0][name] for level in levels]
        assert all(wide[0] <= narrow[0] <= narrow[1] <= wide[1] for narrow, wide in pairwise(pairs))
        assert pairs[0] != pairs[-1]


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, True, "0.9", None, float("nan"), float("inf")])
def test_a_confidence_lies_between_0_and_1(confidence: Any) -> None:
    answer = answered(walk("SELECT COUNT(*) FROM people"), [(5,)])
    with pytest.raises(UsageError, match="confidence must lie between 0 and 1"):
        answer.interval(confidence)


def test_a_key_has_no_error_bar() -> None:
    with pytest.raises(TypeError, match="a key has no error bar"):
        outputs.interval_of(KeyColumn("k", 0), (1,), [])


GROUPS = 6000
MANY = Schema("t", sf.Row(), {**SCHEMA.columns, "g": sf.Int(1, GROUPS)})


Intervals = list[dict[str, tuple[float, float]]]


def coverage(intervals: Intervals, truth: list[dict[str, float]], *, width: float = 1) -> dict[str, float]:
    """The share of groups whose true value lies in the error bar, drawn `width` times as wide."""
    hits = dict.fromkeys(truth[0], 0)
    for row, true in zip(intervals, truth, strict=True):
        for name, expected in true.items():
            low, high = row[name]
            hits[name] += abs(expected - (low + high) / 2) <= width * (high - low) / 2
    return {name: count / len(truth) for name, count in hits.items()}


def simulated(column: str, budget: sf.Budget, *, size: int) -> tuple[Intervals, list[dict[str, float]]]:
    """Error bars of groups of about `size` rows, released with exact noise, and the true values."""
    choose = random.Random(f"{column} {size}")
    walked = walk(
        f"SELECT COUNT(*) AS n, SUM({column}) AS s, AVG({column}) AS a FROM t GROUP BY g",
        schema=MANY,
        budget=budget,
        spend=Fraction(1),
    )
    lattice = walked.draft.columns[1].lattice
    integers, truth = [], []
    for _ in range(GROUPS):
        count = choose.randint(size // 2, size * 3 // 2)
        total = round(count * choose.uniform(lattice.lower, lattice.upper))
        integers.append((count, total, total - lattice.centre * count, count))
        truth.append({"n": count, "s": float(total * lattice.step), "a": float(total * lattice.step / count)})
    drawn = release(
        walked.certified, Receipt(1, walked.certified.digest), integers, SeededEntropy(f"{column}/{size}/{budget}")
    )
    return answered(walked, list(drawn.values)).interval(0.95), truth


@pytest.mark.slow
@pytest.mark.parametrize("column", ["age", "income", "debt"])
@CURRENCIES
def test_95_percent_of_the_error_bars_hold_the_truth(column: str, budget: sf.Budget) -> None:
    """At moderate counts; the deviation of each measured share is 0.3 % in 6,000 groups."""
    intervals, truth = simulated(column, budget, size=400)
    found = coverage(intervals, truth)
    assert all(0.94 <= share <= 0.98 for share in found.values()), found
    # The twin: error bars three quarters as wide are caught.
    narrow = coverage(intervals, truth, width=0.75)
    assert all(share < 0.94 for share in narrow.values()), narrow


@pytest.mark.slow
@pytest.mark.parametrize("column", ["age", "income"])
@CURRENCIES
def test_error_bars_of_averages_of_small_groups_are_rather_too_wide(column: str, budget: sf.Budget) -> None:
    found = coverage(*simulated(column, budget, size=20))
    assert found["a"] >= 0.94, found


@CURRENCIES
def test_the_interval_of_an_average_is_the_set_that_both_noises_allow(budget: sf.Budget) -> None:
    """Fieller's set: a is at its end where |total - a·count| = sqrt(noise_total² + a²·noise_count²)."""
    walked = walk("SELECT AVG(age) AS a FROM people", budget=budget)
    total, count = 60_000, 4000
    ((low, high),) = [row["a"] for row in answered(walked, [(total, count)]).interval()]
    assert 0 < low < 75 < high < 120
    noises = [law_of(walked, place) for place in (0, 1)]
    width = max(error(noise, 0.95) / deviation(noise) for noise in noises)
    of_total, of_count = (width * deviation(noise) for noise in noises)
    for end in (low - 60, high - 60):
        assert abs(total - end * count) == pytest.approx((of_total**2 + (end * of_count) ** 2) ** 0.5, rel=1e-9)


# ---- formats


@pytest.fixture
def answer() -> Answer:
    walked = walk("SELECT sex, member, COUNT(*) AS n, AVG(income) AS mean FROM people GROUP BY sex, member")
    return answered(walked, [(100, 5, 90), (200, 6, 190), (300, 7, 290), (-4, 8, 0)])


def test_what_json_prints(answer: Answer) -> None:
    content = json.loads(json.dumps(answer.to_dict(0.9)))
    assert list(content) == [
        "question",
        "columns",
        "kinds",
        "along",
        "measured",
        "rows",
        "intervals",
        "confidence",
        "spend",
        "cost",
        "spent",
        "left",
        "unit",
        "cached",
        "when",
        "receipt",
        "more",
        "price",
        "notes",
    ]
    assert content["columns"] == ["sex", "member", "n", "mean"]
    assert content["kinds"] == {"sex": "key", "member": "key", "n": "count", "mean": "mean"}
    assert (content["measured"], content["along"], content["spend"]) == (["n", "mean"], {}, 0.5)
    assert content["question"] == "the question"
    assert [list(row) for row in content["intervals"]] == [["n", "mean"]] * 4
    assert content["confidence"] == 0.9
    assert (content["cost"], content["left"]) == ({"epsilon": 0.5, "delta": 0.0}, {"epsilon": 2.5, "delta": 0.0})
    assert (content["unit"], content["cached"], content["receipt"]) == ("row", False, 7)


def test_tables_for_other_tools(answer: Answer) -> None:
    names = ["sex", "member", "n", "mean"]
    arrow, pandas, polars = answer.to_arrow(), answer.to_pandas(), answer.to_polars()
    assert arrow.column_names == list(pandas.columns) == polars.columns == names
    assert arrow.to_pylist() == pandas.to_dict("records") == polars.to_dicts() == answer.rows


@pytest.mark.parametrize(("method", "extra"), [("to_arrow", "all"), ("to_pandas", "pandas"), ("to_polars", "polars")])
def test_a_missing_package_says_what_to_install(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, method: str, extra: str
) -> None:
    def without(name: str, *rest: Any) -> Any:
        if name in ("pyarrow", "pandas", "polars"):
            raise ImportError(name)
        return real(name, *rest)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=rf'pip install "sfumato\[{extra}\]"'):
        getattr(answer, method)()


@pytest.mark.parametrize("column", [None, "n", "mean"])
def test_a_plot_has_a_bar_a_group_with_its_error(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, column: str | None
) -> None:
    def drawn(labels: Any, values: Any, intervals: Any, **options: Any) -> dict[str, Any]:
        return {"labels": labels, "values": values, "intervals": intervals, **options}

    monkeypatch.setattr(pictures, "dots" if column == "mean" else "bars", drawn)
    figure = answer.plot(column)
    chosen = column or "n"
    shown = [0, 1, 3] if column == "mean" else [0, 1, 2, 3]  # of no people no mean is known
    assert figure["labels"] == [["f, False", "f, True", "m, False", "m, True"][place] for place in shown]
    assert figure["values"] == [answer.rows[place][chosen] for place in shown]
    assert figure["intervals"] == [answer.interval()[place][chosen] for place in shown]
    assert figure["title"] == chosen
    assert pictures.left_out(answer, chosen, 0.95) == 4 - len(shown)


def test_a_plot_without_groups_is_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "bars", lambda labels, *rest, **options: labels)
    assert answered(walk("SELECT COUNT(*) AS n FROM people"), [(5,)]).plot() == ["n"]


def test_the_numbers_behind_an_answer_stay_out_of_its_repr(answer: Answer) -> None:
    assert "_numbers" not in repr(answer)


def test_a_long_answer_has_a_short_repr() -> None:
    walked = walk("SELECT age, COUNT(*) AS n FROM people GROUP BY age")
    text = repr(answered(walked, [(age,) for age in range(121)]))
    assert text.startswith("Answer(question=")
    assert "{'age': 2, 'n': 2}, … 118 more], cost=Amount(" in text
    assert len(text) < 300


# ---- once broken


@CURRENCIES
def test_an_average_of_negative_values_over_nobody_may_be_anything(budget: sf.Budget) -> None:
    answer = answered(walk("SELECT AVG(debt) AS a FROM people", budget=budget), [(17, 0)])
    assert answer.interval() == [{"a": (-5000.0, -10.0)}]


def test_noise_too_small_for_a_double_has_error_bars_of_no_width() -> None:
    walked = walk("SELECT AVG(age) AS a FROM people", budget=sf.Budget(10**9), spend=Fraction(10**9))
    assert answered(walked, [(5, 10)]).interval() == [{"a": (60.5, 60.5)}]


def test_a_quantile_is_computed_once_an_answer_and_not_once_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    walked = walk("SELECT COUNT(*) AS n, AVG(income) AS a FROM people GROUP BY age", budget=RHO)
    answer = answered(walked, [(1, 1, 1)] * 121)
    calls = []
    monkeypatch.setattr(outputs, "error", lambda law, level: calls.append(level) or error(law, level))
    answer.interval()
    assert len(calls) <= 6


@pytest.mark.parametrize("column", ["nothing", "sex"])
def test_a_plot_of_something_else_is_a_usage_error(answer: Answer, column: str) -> None:
    with pytest.raises(UsageError):
        answer.plot(column)


KINDS = {
    "COUNT(*)": "count",
    "COUNT(DISTINCT age)": "count",
    "SUM(age)": "sum",
    "SUM(wealth)": "sum",
    "AVG(age)": "mean",
    "AVG(wealth)": "mean",
    "VARIANCE(age)": "variance",
    "STDDEV_POP(age)": "deviation",
    "STDDEV(wealth)": "deviation",
    "MEDIAN(age)": "quantile",
    "MODE(sex)": "mode",
    "HISTOGRAM(age, 5)": "histogram",
    "HISTOGRAM(wealth, 5)": "histogram",
    "CDF(income, 5)": "shares",
    "CDF(wealth, 5)": "shares",
}


@pytest.mark.parametrize("call", KINDS)
def test_a_column_says_of_what_kind_it_is(call: str) -> None:
    schema = Schema("people", sf.Row(), {**COLUMNS, "wealth": sf.Float(private_bounds=0.3)})
    columns = walk(f"SELECT sex, {call} AS x FROM people GROUP BY sex", schema=schema).draft.columns
    assert [kind_of(column) for column in columns] == ["key", KINDS[call]]
