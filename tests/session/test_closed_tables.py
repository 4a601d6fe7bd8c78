"""Tables in memory are gone with the session: nothing that was worked out of a question holds their rows."""

import gc
from pathlib import Path
from typing import Any
from weakref import ref

import pandas as pd
import pytest

import sfumato as sf

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT SUM(cost) AS s FROM visits",
    "SELECT z.area, COUNT(*) AS n FROM people AS p JOIN zips AS z ON p.zip = z.zip GROUP BY z.area",
    "SELECT SUM(c) AS s FROM (SELECT user_id, SUM(cost) AS c FROM visits WHERE cost > 1 GROUP BY user_id) AS v",
]


def frames() -> dict[str, pd.DataFrame]:
    return {
        "people": pd.DataFrame({"user_id": range(60), "age": [30] * 60, "zip": ["a", "b"] * 30}),
        "visits": pd.DataFrame({"user_id": [1, 2, 3] * 20, "cost": [1, 2, 3] * 20}),
        "zips": pd.DataFrame({"zip": ["a", "b"], "area": ["north", "south"]}),
    }


def opened(held: dict[str, pd.DataFrame], ledger: Path) -> sf.Session:
    return sf.protect(
        held["people"],
        unit=sf.Person("user_id", max_rows=1, max_groups=1),
        columns={"age": sf.Int(0, 99), "zip": sf.Category(["a", "b"])},
        tables={"visits": sf.Table(held["visits"], {"cost": sf.Int(0, 9)}, max_rows=3)},
        lookups={"zips": sf.Lookup(held["zips"], "zip", {"area": sf.Category(["north", "south"])})},
        budget=sf.Budget(100),
        table="people",
        ledger=ledger,
    )


@pytest.mark.parametrize("asked", [False, True])
def test_no_rows_outlive_the_session(tmp_path: Path, asked: bool) -> None:
    held: Any = frames()
    alive = {name: ref(frame) for name, frame in held.items()}
    with opened(held, tmp_path / "people.ledger") as session:
        for question in QUESTIONS * asked:
            session.explain(question, spend=1)
            session.ask(question, spend=1)
    del held, session
    gc.collect()
    assert [name for name, frame in alive.items() if frame() is not None] == []


@pytest.mark.parametrize("kept", ["session", "guest", "answer"])
def test_no_rows_live_on_in_what_is_kept_of_a_closed_session(tmp_path: Path, kept: str) -> None:
    held: Any = frames()
    alive = {name: ref(frame) for name, frame in held.items()}
    session = opened(held, tmp_path / "people.ledger")
    answer = session.ask(QUESTIONS[1], spend=1)
    script = answer.script()
    session.close()
    left = {"session": session, "guest": session.as_analyst("ada"), "answer": answer}[kept]
    del held, session, answer
    gc.collect()
    assert [name for name, frame in alive.items() if frame() is not None] == []
    assert left
    assert "tables={'visits': sf.Table(source=visits" in script


def test_what_a_session_declares_has_no_rows(tmp_path: Path) -> None:
    with opened(frames(), tmp_path / "people.ledger") as session:
        beside = [*session.schema.tables.values(), *session.schema.lookups.values()]
        assert [one.source for one in beside] == [None, None]
