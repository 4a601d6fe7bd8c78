"""The script of an answer runs, costs nothing, and gives the same numbers."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.answers.repeat import constructed, literal, opening_table
from sfumato.errors import UsageError
from sfumato.schema.table import Schema

QUESTION = (
    "SELECT sex, COUNT(*) AS n,\n  AVG(income) AS \"the 'income'\" FROM people WHERE city <> 'it''s\\' GROUP BY sex"
)


def run(script: str, **names: Any) -> sf.Answer:
    exec(compile(script, "script", "exec"), names)  # noqa: S102
    return names["answer"]


@pytest.mark.parametrize("spend", [0.5, 1, Decimal("0.123456789012345678901"), Fraction(1, 3)])
def test_a_policy_is_opened_again(policy: Path, spend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with sf.open(policy, analyst="it's me") as session:
        answer = session.ask(QUESTION, spend=spend)
        charges = len(session.history())
    again = run(answer.script())
    assert again.rows == answer.rows
    assert again.cached is True
    assert capsys.readouterr().out.startswith("sex")
    with sf.open(policy, analyst="it's me") as session:
        assert len(session.history()) == charges == 1


def test_a_file_is_protected_again(crowd: pa.Table, tmp_path: Path) -> None:
    source = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(crowd, source)
    columns = {
        "age": sf.Int(17, 90),
        "income": sf.Float(Decimal("0.1"), 200_000),
        "sex": sf.Category(["m", "f"]),
        "city": sf.Text(),
        "name": sf.Identifier(),
        "wealth": sf.Float(),
    }
    given = {"unit": sf.Person("user_id", 2, 2), "columns": columns, "budget": sf.Budget(3, Decimal("1e-6"))}
    for anchor in (None, tmp_path / "anchor"):
        ledger = tmp_path / f"{anchor is None}.ledger"
        with sf.protect(source, **given, ledger=ledger, anchor=anchor, analyst="a") as session:
            answer = session.ask(QUESTION, spend=0.5)
        again = run(answer.script())
        assert (again.rows, again.cached) == (answer.rows, True)


@pytest.mark.parametrize("spend", [0.5, sf.Spend(0.5, delta=Decimal("1e-9"))])
def test_questions_asked_together_are_asked_together_again(
    open_crowd: Callable[..., sf.Session], crowd: pa.Table, spend: Any
) -> None:
    questions = [
        QUESTION,
        "SELECT COUNT(*) AS n FROM people",
        "SELECT city, COUNT(*) FROM people GROUP BY city",
        QUESTION,
    ]
    with open_crowd(budget=sf.Budget(3, 1e-6)) as session:
        answers = session.ask_all(questions, spend=spend)
    for answer in answers:
        again = run(answer.script(), data=crowd)
        assert (again.question, again.rows, again.cached) == (answer.question, answer.rows, True)
    with open_crowd(budget=sf.Budget(3, 1e-6)) as session:
        assert len(session.history()) == 1
        (twice, _) = session.ask_all(["SELECT SUM(age) FROM people"] * 2, spend=0.5)
    again = run(twice.script(), data=crowd)
    assert (again.rows, again.cached) == (twice.rows, True)


@pytest.mark.parametrize(
    "limits", [sf.Limits(memory="1 GB"), sf.Limits("2 GiB", seconds=50, threads=1), sf.Limits(seconds=9)]
)
def test_limits_are_written_so_that_they_are_read(
    open_crowd: Callable[..., sf.Session], crowd: pa.Table, limits: sf.Limits
) -> None:
    with open_crowd(limits=limits) as session:
        answer = session.ask(QUESTION, spend=0.5)
    again = run(answer.script(), data=crowd)
    assert (again.rows, again.cached) == (answer.rows, True)


def test_a_table_in_memory_is_called_data(open_crowd: Callable[..., sf.Session], crowd: pa.Table) -> None:
    answer = open_crowd().ask(QUESTION, spend=0.5)
    assert "# `data` is the table in memory that was protected." in answer.script()
    assert "\n    data,\n" in answer.script()
    again = run(answer.script(), data=crowd)
    assert (again.rows, again.cached) == (answer.rows, True)


def test_an_answer_that_knows_no_session_says_so(open_crowd: Callable[..., sf.Session]) -> None:
    session = open_crowd()
    session._opening = None
    with pytest.raises(UsageError, match="does not know how its session was opened"):
        session.ask(QUESTION, spend=0.5).script()


@given(st.fractions(max_denominator=10**40) | st.decimals(allow_nan=False, allow_infinity=False).map(Fraction))
def test_a_number_is_written_as_it_is(number: Fraction) -> None:
    read = eval(literal(number), {"Decimal": Decimal, "Fraction": Fraction})  # noqa: S307
    assert (Fraction(repr(read)) if isinstance(read, float) else Fraction(read)) == number


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), min_size=1, unique=True
    )
)
def test_declarations_are_written_as_they_are(values: list[str]) -> None:
    column = sf.Category(values)
    assert eval(constructed(column), {"sf": sf}) == column  # noqa: S307


@pytest.mark.parametrize(
    "value", [sf.Int(1, 2), sf.Int(), sf.Text(), sf.Row(), sf.Person("id", 3), sf.Budget(Fraction(1, 3))]
)
def test_declarations_of_every_kind(value: Any) -> None:
    assert eval(constructed(value), {"sf": sf, "Fraction": Fraction}) == value  # noqa: S307


def test_further_options_are_written_unless_they_are_none(tmp_path: Path) -> None:
    schema = Schema("t", sf.Row(), {"a": sf.Int(0, 1)})
    written = opening_table(
        tmp_path / "t.csv",
        schema,
        sf.Budget(1),
        ledger="l",
        anchor=None,
        analyst="a",
        more={"b": sf.Float(0, Decimal("0.5"))},
        place=tmp_path,
        nothing=None,
    )
    seen: dict[str, Any] = {}

    class Recorder:
        Row, Int, Float, Budget = sf.Row, sf.Int, sf.Float, sf.Budget

        @staticmethod
        def protect(source: str, **given: Any) -> None:
            seen.update(given, source=source)

    eval(written, {"sf": Recorder})  # noqa: S307
    assert (seen["source"], seen["place"]) == (str(tmp_path / "t.csv"), str(tmp_path))
    assert (seen["more"], seen["columns"]) == ({"b": sf.Float(0, Decimal("0.5"))}, {"a": sf.Int(0, 1)})
    assert "nothing" not in seen
    assert "anchor" not in seen
