"""What was asked is planned again from the ledger, with the same digest; and earlier answers are recalled."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers.recalled import Kept
from sfumato.errors import EngineFailed, UsageError
from sfumato.query.planned import planned_again
from sfumato.query.sql import parse
from sfumato.query.sql_parts import _meaning, written_back

Open = Callable[..., sf.Session]
LEDGERS = Path(__file__).parents[1] / "fixtures" / "ledgers"
RHO = sf.Budget(epsilon=100, delta=1e-6)
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM people",
    "select sex, avg(age) as a, SUM(income) FROM people /* why */ WHERE age >= 30 GROUP BY sex HAVING a > 3 ORDER BY a",
    "SELECT MEDIAN(age), QUANTILE(income, 0.25), MODE(sex) FROM people",
    "SELECT BIN(age, 10) AS b, COUNT(*) FROM people\n-- a remark\nGROUP BY b LIMIT 3",
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city",
    "SELECT HISTOGRAM(age, 7), CDF(income, 5), VARIANCE(age) FROM people",
)


def charges(session: sf.Session) -> list[Any]:
    return [entry for entry in session._ledger.records.chain.entries() if entry.kind == "charge"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_charge_planned_again_gives_the_same_digest(open_crowd: Open, question: str) -> None:
    session = open_crowd(budget=RHO)
    answer = session.ask(question, spend=sf.Spend(0.3, delta=1e-9) if "city" in question else 0.3)
    (charge,) = charges(session)
    again = planned_again(charge, session.schema)
    assert again is not None
    assert " ".join(one.certified.digest for one in again) == charge.content["digest"]
    assert again[0].question == charge.content["sql"][0]
    (recalled,) = session.recall(answer.receipt)
    assert isinstance(recalled, sf.Answer)
    assert (recalled.rows, recalled.columns, recalled.notes) == (answer.rows, answer.columns, answer.notes)
    assert (recalled.interval(), recalled.cost, recalled.when) == (answer.interval(), answer.cost, recalled.when)
    assert recalled.cached


def test_questions_that_were_paid_together_are_recalled_together(open_crowd: Open) -> None:
    session = open_crowd(budget=RHO)
    answers = session.ask_all([QUESTIONS[0], QUESTIONS[1], QUESTIONS[0]], spend=1)
    (charge,) = charges(session)
    assert (charge.content["together"], len(charge.content["sql"])) == (2, 2)
    assert [one.rows for one in session.recall(answers[0].receipt)] == [one.rows for one in answers[:2]]


def test_it_needs_no_engine_and_no_unchanged_data(
    open_crowd: Open, crowd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_crowd()
    answer = session.ask(QUESTIONS[0], spend=0.5)
    later = open_crowd(crowd.slice(0, 10), unit=sf.Person("user_id", max_rows=7, max_groups=3))
    for name in ("run", "rows", "version"):
        monkeypatch.setattr(later._engine, name, lambda *_: pytest.fail("the engine was asked"))
    (recalled,) = later.recall(answer.receipt)
    assert isinstance(recalled, sf.Answer)
    assert (recalled.rows, recalled.interval()) == (answer.rows, answer.interval()), "with the caps of its time"
    assert "at most 2 rows" in recalled.unit
    assert len(later.history()) == 1


def test_only_the_own_answers_are_recalled(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = open_crowd()
    answer = session.ask(QUESTIONS[0], spend=0.5)
    for number in (0, 1, 3, 99, -1):
        with pytest.raises(UsageError, match="there is no answer of yours"):
            session.recall(number)
    with pytest.raises(UsageError, match="there is no answer of yours"):
        open_crowd(analyst="press").recall(answer.receipt)
    with pytest.raises(UsageError, match="receipt"):
        session.recall("2")  # type: ignore[arg-type]

    def failing(*_: object) -> None:
        raise EngineFailed("it failed.")

    monkeypatch.setattr(session._engine, "rows", failing)
    with pytest.raises(EngineFailed):
        session.ask(QUESTIONS[0], spend=0.25)
    with pytest.raises(EngineFailed, match=r"it failed\."):
        session.recall(4)


def test_what_cannot_be_planned_again_is_shown_as_it_was_kept(open_crowd: Open) -> None:
    session = open_crowd(budget=RHO)
    answer = session.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", spend=90)
    found = session.ask(QUESTIONS[4], spend=5)
    other = open_crowd(budget=RHO, columns={"age": sf.Int(17, 90)})
    (kept,) = other.recall(answer.receipt)
    assert isinstance(kept, Kept)
    counted = {row["sex"]: row["n"] for row in answer.rows}
    assert [row["m0"] for row in kept.rows] == [counted["m"], counted["f"]]
    assert [row["group"] for row in kept.rows] == [0, 1]
    assert "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex" in str(kept)
    (open_keys,) = other.recall(found.receipt)
    assert [row["group"][0] for row in open_keys.rows] == [row["city"] for row in found.rows]


def test_an_answer_of_an_old_version_is_shown_by_the_number_of_its_group(open_crowd: Open, tmp_path: Path) -> None:
    path = tmp_path / "0.1.0.ledger"
    for name in (path.name, f"{path.name}.anchor"):
        shutil.copy(LEDGERS / name, tmp_path / name)
    session = open_crowd(ledger=path, budget=sf.Budget(1), analyst="research")
    (kept,) = session.recall(3)
    assert isinstance(kept, Kept)
    assert kept.rows == [{"group": 0, "m0": 42, "m1": (1, -(10**40))}]
    assert kept.questions == ()
    assert str(kept).splitlines()[0].startswith("Entry 3, ")
    first, second = session.recall(8)
    assert [row["group"] for row in first.rows] == [("Malmö", 0), ("Ulm", 1)]
    assert second.rows == [{"group": 0, "m0": 7}]
    assert not session.ask("SELECT COUNT(*) AS n FROM people", spend=0.1).cached


def test_history_says_what_was_asked(open_crowd: Open) -> None:
    session = open_crowd(budget=RHO)
    session.ask(QUESTIONS[3], spend=1)
    (line,) = session.history()
    assert line.questions == ("SELECT BIN(age, 10) AS b, COUNT(*) FROM people GROUP BY b LIMIT 3",)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(DATE_DIFF('year', born, '2024-01-31')) -- no\nFROM people;",
        'SELECT COUNT(*) AS "a;b" FROM "people" WHERE s = \'--\'',
        "WITH p AS (SELECT age FROM people) SELECT AVG(age) FROM p",
    ],
)
def test_what_is_written_back_is_the_same_question_in_one_line(text: str) -> None:
    written = written_back(text)
    assert _meaning(parse(written)) == _meaning(parse(text))
    assert "\n" not in written
    assert written_back(written) == written


def test_what_neither_way_writes_back_stays_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.query.sql_parts.words", lambda text: ["SELECT"])
    text = "SELECT AVG(DATE_DIFF('year', born,  '2024-01-30')) FROM people"
    assert written_back(text) == text
