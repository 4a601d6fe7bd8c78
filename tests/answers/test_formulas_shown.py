"""Whatever is computed of answers, what was paid for is shown: with numbers of any size, and where there is none."""

import tracemalloc
from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused
from sfumato.query.computing import MOST_EXACT

MANY = 150
SURE = 1 - 1e-9  # so that what a bar holds is no matter of chance
NUMBERS = ["0", "1", "2", "7", "60", "-1", "0.5", "1e-100", "9007199254740993", "1e20", "1e100"]
NUMBERS += ["(1e100 * 1e100 * 1e100)", "(1e-100 * 1e-100 * 1e-100)"]
PARTS = ["COUNT(*)", "COUNT(x)", "SUM(x)", "SUM(y)", "AVG(x)", "COUNT_IF(x > 3)", "MEDIAN(x)", "VARIANCE(x)", "MIN(y)"]
PARTS += ["SUM(COUNT(*)) OVER ()", "SUM(SUM(y)) OVER ()", "COUNT(DISTINCT x)"]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sf.Session]:
    table = pa.table({"k": ["a", "b", "b"] * 20, "x": [n % 10 for n in range(60)], "y": [n / 7 for n in range(60)]})
    columns = {"k": sf.Category(["a", "b"]), "x": sf.Int(0, 9), "y": sf.Float(-3, 1e6), "g": sf.Int(0, 9999)}
    table = table.append_column("g", pa.array(range(60)))
    ledger = tmp_path_factory.mktemp("shown") / "l"
    with sf.protect(table, table="t", unit=sf.Row(), columns=columns, budget=sf.Budget(10**9), ledger=ledger) as opened:
        yield opened


def made(draw: Random, depth: int = 4) -> str:
    """A formula that may be as large, as small or as senseless as can be written."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(PARTS if draw.random() < 0.6 else NUMBERS)
    match draw.choice(["+", "-", "*", "/", "*", "POWER", "one", "two", "ROUND", "minus"]):
        case "POWER":
            return f"POWER({made(draw, depth - 1)}, {draw.choice([10, 10, -10, 2, 0.5, -0.5, 0])})"
        case "one":
            function = draw.choice(["ABS", "SQRT", "LN", "LOG10", "EXP", "SIGN", "FLOOR", "CEIL"])
            return f"{function}({made(draw, depth - 1)})"
        case "two":
            function = draw.choice(["LEAST", "GREATEST", "COALESCE", "NULLIF"])
            return f"{function}({made(draw, depth - 1)}, {made(draw, depth - 1)})"
        case "ROUND":
            return f"ROUND({made(draw, depth - 1)}, {draw.choice([-15, -1, 0, 2, 15])})"
        case "minus":
            return f"(- {made(draw, depth - 1)})"
        case operator:
            return f"({made(draw, depth - 1)} {operator} {made(draw, depth - 1)})"


def looked_at(session: sf.Session, answer: sf.Answer) -> None:
    """All that shows an answer."""
    for shown in (str, repr, sf.Answer.to_dict, sf.Answer._repr_html_):
        shown(answer)
    for confidence in (None, 0.9):
        answer.to_pandas(confidence)
        answer.to_polars(confidence)
        answer.to_arrow(confidence)
    for recalled in session.recall(answer.receipt):
        str(recalled)


def test_what_was_paid_for_is_always_shown(session: sf.Session) -> None:
    draw, seen = Random(25), 0
    for _ in range(MANY):
        formula, spend = made(draw), draw.choice([0.01, 1, 10**6])
        having = draw.choice(["", f" HAVING n * n * {draw.choice(NUMBERS)} * {draw.choice(NUMBERS)} / 2 > -1"])
        order = draw.choice(["", " ORDER BY POWER(n, 10) * a"])
        question = f"SELECT k, COUNT(*) AS n, {formula} + 0 * COUNT(*) AS a FROM t GROUP BY k{having}{order}"
        session.explain(question, spend=spend)
        answer = session.ask(question, spend=spend)
        looked_at(session, answer)
        for row, bars in zip(answer.rows, answer.interval(), strict=True):
            seen += row["a"] is not None
            assert row["a"] is None or isinstance(row["a"], float) or abs(row["a"]) <= MOST_EXACT
            if bars["a"] is not None:
                low, high = bars["a"]
                slack = 1e-6 * max(abs(low), abs(high))
                assert low - slack <= row["a"] <= high + slack, question
    assert seen > MANY // 3


@pytest.mark.parametrize(
    ("formula", "number"),
    [
        ("COUNT(*) + LN(1e20)", pytest.approx(60 + 46.0517, abs=1e-3)),
        ("COUNT(*) * (1e100 * 1e100)", pytest.approx(6e201)),
        ("COUNT(*) * 1e100 * 1e100", pytest.approx(6e201)),
        ("COUNT(*) * SIGN(1e60) + ABS(-1e60)", 1e60),
        ("COUNT(*) + FLOOR(1e50)", 1e50),
        ("COUNT(*) * 1e100 * 1e100 * 1e100 * 1e100", None),
        ("COUNT(*) / (1e100 * 1e100 * 1e100 * 1e100)", None),
        ("LEAST(EXP(COUNT(*) * 100), 5)", None),
        ("POWER(POWER(POWER(POWER(POWER(POWER(COUNT(*), 10), 10), 10), 10), 10), 10)", None),
        ("POWER(POWER(COUNT(*), 10), 10)", pytest.approx(60.0**100)),
        ("COALESCE(1 / (COUNT(*) - 60), 7)", 7),
        ("COALESCE(LN(COUNT(*) - 100), 0)", 0),
        ("COALESCE(SQRT(COUNT(*) - 100), -1)", -1),
        ("COALESCE(EXP(1e60), COUNT(*))", 60),
        ("COALESCE(NULLIF(COUNT(*), 60), 5)", 5),
        ("GREATEST(COUNT(*), NULLIF(COUNT(*), 60))", None),
        ("NULLIF(COUNT(*), 1 / 0)", 60),
    ],
)
def test_numbers_of_any_size_and_none(session: sf.Session, formula: str, number: Any) -> None:
    answer = session.ask(f"SELECT {formula} AS f FROM t", spend=10**6)
    looked_at(session, answer)
    assert answer.rows == [{"f": number}]


@pytest.mark.parametrize(
    "condition",
    [
        "a * a * a * a / 2 > 1",
        "-(a * a * a * a) < 1",
        "a * 1e100 * 1e100 * 1e100 * 1e100 IS NULL",
        "a / 0 IS NULL",
        "1 / (a - a) IS NULL",
    ],
)
def test_having_computes_with_numbers_of_any_size(session: sf.Session, condition: str) -> None:
    """4 · 202 digits are no double: the question was paid for, and then failed."""
    question = "SELECT k, COUNT(*) AS n, COUNT(*) * 1e100 AS a FROM t GROUP BY k"
    answer = session.ask(f"{question} HAVING {condition}", spend=10**6)
    looked_at(session, answer)
    assert len(answer.rows) == (2 if "NULL" in condition else 0)


@pytest.mark.parametrize(
    ("formula", "has_bar"),
    [
        ("COALESCE(NULLIF(COUNT(*), 60), 5)", False),
        ("COALESCE(1 / (COUNT(*) - 60), 7)", False),
        ("COALESCE(SQRT(COUNT(*) - 60), 0)", False),
        ("COALESCE(POWER(COUNT(*) - 60, 0.5), 0)", False),
        ("COALESCE(LN(COUNT(*) - 60), 0)", False),
        ("COALESCE(LEAST(EXP(COUNT(*) * 14), 5), 0)", False),
        ("NULLIF(COUNT(*), 60)", False),
        ("SQRT(COUNT(*) - 20)", True),
        ("COALESCE(COUNT(*), 5)", True),
        ("COALESCE(NULLIF(COUNT(*), 0), 5)", True),
        ("100 * COUNT_IF(x > 3) / NULLIF(COUNT(*), 0)", True),
        ("COALESCE(SUM(x) / COUNT(*), 0)", True),
        ("COALESCE(SQRT(COUNT(*)), 0)", True),
    ],
)
def test_a_bar_only_where_the_formula_cannot_jump(session: sf.Session, formula: str, has_bar: bool) -> None:
    """60 rows, give or take a few."""
    (bar,) = session.ask(f"SELECT {formula} AS f FROM t", spend=2).interval(SURE)
    assert (bar["f"] is not None) == has_bar


@pytest.mark.parametrize(
    "formula", ["ABS(MIN(y))", "POWER(MIN(y), 2)", "0 - ABS(MIN(y) * MAX(x))", "ABS(COUNT(*) - 59)"]
)
def test_a_bar_holds_where_sizes_and_squares_turn(session: sf.Session, formula: str) -> None:
    """The least of them is inside, and no corner of the box: bars began above the very number they were of."""
    answer = session.ask(f"SELECT {formula} AS f FROM t", spend=1)
    low, high = answer.interval(SURE)[0]["f"]
    assert min(abs(low), abs(high)) < 1
    assert low <= answer.rows[0]["f"] <= high


def test_what_cannot_be_told_beforehand_is_not(session: sf.Session) -> None:
    """Squares of such deviations are beyond doubles; their root is not."""
    told = session.explain(
        "SELECT COUNT(*) * 1e100 * 1e100 AS a, COUNT(*) * 1e100 * 1e100 * 1e100 * 1e100 AS b FROM t", spend=1
    )
    assert told.expected_error == {"a": pytest.approx(1.6e201, rel=0.9), "b": None}
    with pytest.raises(Refused, match="depends"):
        session.spend_for("SELECT COUNT(*) * 1e100 * 1e100 * 1e100 * 1e100 AS b FROM t", error=3)


SUM_OF_TWELVE = " + ".join(f"COUNT_IF(x = {place % 10} AND k = '{'ab'[place // 10]}')" for place in range(12))


@pytest.mark.parametrize("formula", [SUM_OF_TWELVE, f"ABS({SUM_OF_TWELVE})"])
def test_bars_of_many_groups_take_little_memory(session: sf.Session, formula: str) -> None:
    """Groups times the third power of parts: 1.9 GB."""
    answer = session.ask(f"SELECT g, {formula} AS f FROM t WHERE g < 2000 GROUP BY g", spend=1)
    tracemalloc.start()
    found = answer.interval()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 2000
    assert most < 60_000_000


def test_a_weighted_sum_has_the_bar_that_was_expected(session: sf.Session) -> None:
    """Exactly: it is not searched for."""
    question = f"SELECT {SUM_OF_TWELVE} AS f, 3 * COUNT(*) - SUM(x) / 2 AS d FROM t"
    expected = session.explain(question, spend=1).expected_error
    answer = session.ask(question, spend=1)
    for name, (low, high) in answer.interval()[0].items():
        assert (high - low) / 2 == pytest.approx(expected[name], rel=1e-12)
        assert (high + low) / 2 == pytest.approx(answer.rows[0][name], rel=1e-12)


def test_more_parts_than_there_are_pairs_for(session: sf.Session) -> None:
    """A divisor of many parts may be 0, though none of them is large enough for that alone."""
    parts = [f"COUNT_IF(x = {place % 10} AND y > {place})" for place in range(28)]
    (bar,) = session.ask(f"SELECT 1 / ({' + '.join(parts)}) AS f FROM t", spend=1).interval(SURE)
    assert bar["f"] is None


def test_sums_beyond_64_bits_are_doubles_in_tables(session: sf.Session) -> None:
    answer = session.ask("SELECT SUM(x * 1e60) AS s FROM t", spend=10**6)
    (row,) = answer.rows
    assert type(row["s"]) is int
    looked_at(session, answer)
    assert answer.to_polars().to_dicts() == answer.to_arrow().to_pylist() == [{"s": float(row["s"])}]


def test_kinds_are_of_the_columns_that_are_shown(session: sf.Session) -> None:
    told = session.ask("SELECT k, COUNT(*) * 2 AS a, AVG(x) AS m FROM t GROUP BY k", spend=1).to_dict()
    assert told["kinds"] == {"k": "key", "a": "formula", "m": "mean"}
    assert list(told["kinds"]) == told["columns"]
