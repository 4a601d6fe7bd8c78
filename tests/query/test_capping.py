"""Caps of a question: at or below the owner's, in the plan, in the noise, in the ledger."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.plan.caps import Caps
from sfumato.query.capping import OWNERS, AskedCaps
from sfumato.query.planned import planned
from sfumato.schema.table import Schema
from tests.query.asking import COLUMNS, JOINED, RHO, Terms

PERSON = Schema("people", sf.Person("who", max_rows=6, max_groups=4), COLUMNS)
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
COUNT = "SELECT COUNT(*) AS n FROM people"


def plan(question: str, schema: Schema = PERSON, **caps: Any) -> Any:
    price = Terms(RHO).price(sf.Spend(1).epsilon)
    return planned(question, schema, price, caps=AskedCaps(**caps)).certified


@pytest.mark.parametrize(
    ("given", "caps"),
    [
        ({}, None),
        ({"max_rows": 6}, None),
        ({"max_rows": 6, "max_groups": 4, "max_rows_per_group": 6}, None),
        ({"max_rows": 1}, Caps(1, 1, 1)),
        ({"max_rows": 3}, Caps(3, 3, 3)),
        ({"max_rows_per_group": 2}, Caps(6, 4, 2)),
        ({"max_groups": 2}, Caps(6, 2, 6)),
        ({"max_rows": 2, "max_groups": 4, "max_rows_per_group": 5}, Caps(2, 2, 2)),
    ],
)
def test_caps_are_the_owners_unless_less_is_asked_for(given: dict[str, int], caps: Caps | None) -> None:
    assert plan(BY_SEX, **given).plan.caps == caps


def test_fewer_rows_need_less_noise_and_are_another_question() -> None:
    usual, one, each = plan(BY_SEX), plan(BY_SEX, max_rows=1), plan(BY_SEX, max_rows_per_group=1)
    squares = [found.releases[0].sensitivity.l2_squared for found in (usual, one, each)]
    assert squares == [36, 1, 2]  # two groups are declared
    assert len({found.digest for found in (usual, one, each)}) == 3
    assert plan(BY_SEX, max_rows=6).digest == usual.digest


@pytest.mark.parametrize(
    ("question", "schema", "given", "said"),
    [
        (COUNT, PERSON, {"max_rows": 7}, "max_rows is 7, and the owner allows 6"),
        (COUNT, PERSON, {"max_groups": 5}, "max_groups is 5, and the owner allows 4"),
        (COUNT, PERSON, {"max_rows_per_group": 7}, "max_rows_per_group is 7, and the owner allows 6"),
        (COUNT, PERSON, {"max_rows": 0}, "max_rows must"),
        (COUNT, PERSON, {"max_groups": -1}, "max_groups must"),
        (COUNT, PERSON, {"max_rows": 1.5}, "max_rows must"),
        (COUNT, PERSON, {"max_rows": True}, "max_rows must"),
        (COUNT, PERSON, {"max_rows_per_group": "2"}, "max_rows_per_group must"),
        (COUNT, Schema("people", sf.Row(), COLUMNS), {"max_rows": 1}, "this table protects single rows"),
        (
            "SELECT AVG(k) AS m FROM (SELECT who, COUNT(*) AS k FROM people GROUP BY who) AS v",
            JOINED,
            {"max_rows": 1},
            "here everybody has one row",
        ),
    ],
)
def test_caps_that_cannot_be_are_refused_in_words(
    question: str, schema: Schema, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        plan(question, schema, **given)


def test_none_given_is_none() -> None:
    assert AskedCaps() == AskedCaps(max_rows=None) == OWNERS
    with pytest.raises(TypeError):
        AskedCaps(max_row=1)  # type: ignore[call-arg]


# ---- through a session

Open = Callable[..., sf.Session]


@pytest.fixture
def hospital(tmp_path: Path) -> sf.Session:
    """Everybody has five rows, of which one in each of two wards and three in the third."""
    import pyarrow as pa

    people = range(2000)
    table = pa.table(
        {"who": [one for one in people for _ in range(5)], "ward": [ward for _ in people for ward in "abccc"]}
    )
    return sf.protect(
        table,
        table="visits",
        unit=sf.Person("who", max_rows=5, max_groups=3),
        columns={"ward": sf.Category(["a", "b", "c"])},
        budget=sf.Budget(10**6),
        ledger=tmp_path / "hospital.ledger",
    )


def counts(answer: sf.Answer) -> list[int]:
    return [round(row["n"], -1) for row in answer.rows]


def test_answers_count_what_the_caps_say(hospital: sf.Session) -> None:
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    assert counts(hospital.ask(question, spend=1000)) == [2000, 2000, 6000]
    assert counts(hospital.ask(question, spend=1000, max_rows_per_group=1)) == [2000, 2000, 2000]
    assert sum(counts(hospital.ask(question, spend=1000, max_rows=1))) == pytest.approx(2000, abs=15)  # rounded, each
    assert sum(counts(hospital.query().group_by("ward").count("n").ask(spend=1000, max_groups=2))) < 10_000


def test_the_ledger_tells_caps_apart_and_recalls_them(hospital: sf.Session) -> None:
    question = "SELECT COUNT(*) AS n FROM visits"
    usual, fewer = hospital.ask(question, spend=1), hospital.ask(question, spend=1, max_rows=1)
    assert not fewer.cached
    assert hospital.ask(question, spend=1, max_rows=1).rows == fewer.rows
    (recalled,) = hospital.recall(fewer.receipt)
    assert (recalled.rows, recalled.notes) == (fewer.rows, fewer.notes)
    assert hospital.recall(usual.receipt)[0].notes == usual.notes != fewer.notes
    assert "at most 1 row;" in fewer.notes[-1]
    assert "max_rows=1,\n" in fewer.script()
    assert "max_rows" not in usual.script().partition("session.ask")[2]
    assert hospital.spend_for(question, error=10, max_rows=1) < hospital.spend_for(question, error=10)


def test_explain_offers_what_needs_less_noise(hospital: sf.Session) -> None:
    told = hospital.explain("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", spend=1)
    assert [offer.partition(":")[0] for offer in told.cheaper] == ["--max-rows-per-group 1", "--max-rows 1"]
    errors = [float(offer.partition("±")[2].partition(" ")[0]) for offer in told.cheaper]
    assert told.expected_error["n"] > errors[0] > errors[1]
    assert told.to_dict()["cheaper"] == list(told.cheaper)
    assert "Cheaper:\n  --max-rows-per-group 1: one row of each person counts in each group; n ±" in str(told)
    fewer = hospital.explain("SELECT COUNT(*) AS n FROM visits", spend=1, max_rows=1)
    assert fewer.cheaper == ()
    assert fewer.expected_error["n"] == errors[1]
