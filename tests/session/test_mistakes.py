"""Arguments of a wrong kind: refused with what to write instead, and nothing is written anywhere."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError, UsageError
from sfumato.ledger.ledger import Ledger
from sfumato.schema.table import Schema

PEOPLE = pd.DataFrame({"user_id": [1, 2, 3], "age": [20, 30, 987_654]})
GIVEN: dict[str, Any] = {
    "unit": sf.Person("user_id", max_rows=2, max_groups=1),
    "columns": {"age": sf.Int(0, 120)},
    "budget": sf.Budget(1),
    "ledger": "people.ledger",
}
COUNT = "SELECT COUNT(*) AS n FROM data"


class Bytes:
    def __fspath__(self) -> bytes:
        return b"people.ledger"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("unit", "user_id", "unit cannot be of type str"),
        ("unit", None, "unit cannot be of type NoneType"),
        ("unit", sf.Row, "unit cannot be the class Row"),
        ("columns", ["age"], "columns cannot be of type list"),
        ("columns", PEOPLE, "columns cannot be of type DataFrame"),
        ("columns", {"age": "int"}, '"age" is declared as str'),
        ("columns", {"age": sf.Int}, '"age" is declared as Int'),
        ("columns", {1: sf.Int()}, "a name of type int is not a usable name"),
        ("columns", {"a\nb": sf.Int()}, "is not a usable name"),
        ("budget", 3, "budget cannot be of type int"),
        ("budget", None, "budget cannot be of type NoneType"),
        ("limits", {"seconds": 5}, "limits cannot be of type dict"),
        ("limits", PEOPLE, "limits cannot be of type DataFrame"),
        ("lookups", ["zip"], "lookups cannot be of type list"),
        ("lookups", np.array([1, 2]), "lookups cannot be of type ndarray"),
        ("lookups", {"zip": "zip.csv"}, '"zip" is not declared as a Lookup'),
        ("lookups", {7: None}, "a name of type int"),
        ("tables", PEOPLE, "tables cannot be of type DataFrame"),
        ("tables", {"visits": PEOPLE}, '"visits" is not declared as a Table'),
        ("ledger", ".", "ledger does not name a file"),
        ("ledger", "", "ledger does not name a file"),
        ("ledger", "/", "ledger does not name a file"),
        ("ledger", "a\0b", "ledger does not name a file"),
        ("ledger", "\ud800", "ledger does not name a file"),
        ("ledger", "x" * 5000, "ledger does not name a file"),
        ("ledger", 7, "ledger cannot be of type int"),
        ("ledger", Bytes(), "ledger cannot be of type bytes"),
        ("ledger", "..", "ledger does not name a file"),
        ("anchor", 7, "anchor cannot be of type int"),
        ("anchor", ".", "anchor does not name a file"),
        ("anchor", "./people.ledger", "the anchor and the ledger are one file"),
        ("analyst", None, "an analyst needs a name"),
        ("analyst", "", "an analyst needs a name"),
        ("analyst", "research ", "looks like another"),
        ("analyst", "Jose\u0301", "looks like another"),
        ("table", 7, "a name of type int"),
        ("source_table", 7, "source_table cannot be of type int"),
        ("source_table", "people", "source_table"),
        ("version", 7, "version cannot be of type int"),
        ("version", "", "'' is not a usable name"),
        ("source", None, "a value of type NoneType"),
        ("source", 7, "a value of type int"),
        ("source", {"age": [1]}, "a value of type dict"),
        ("source", "/", "source does not name a file"),
        ("source", "a\0b.csv", "source does not name a file"),
        ("source", Bytes(), "source cannot be of type bytes"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_written(name: str, wrong: Any, message: str) -> None:
    given = {"source": PEOPLE, **GIVEN, name: wrong}
    with pytest.raises(UsageError) as refused:
        sf.protect(given.pop("source"), **given)
    assert message in refused.value.message
    assert refused.value.hint
    assert "987" not in str(refused.value), "no value is shown"
    assert os.listdir() == []
    with sf.protect(PEOPLE, **GIVEN) as session:
        assert session.ask(COUNT, spend=0.5).columns == ("n",)


def test_a_ledger_needs_a_place_and_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="ledger does not name a file"):
        sf.protect(PEOPLE, **{**GIVEN, "ledger": "folder"})
    with pytest.raises(UsageError, match="source does not name a file"):
        sf.protect("/", **{name: part for name, part in GIVEN.items() if name != "ledger"})
    assert os.listdir() == ["folder"]


@pytest.mark.parametrize("place", ["..", "/", "folder"])
def test_a_ledger_is_a_file(tmp_path: Path, place: str) -> None:
    """Also where a ledger is opened without a session, as `sfumato ledger` does."""
    (tmp_path / "folder").mkdir()
    schema = Schema("data", GIVEN["unit"], GIVEN["columns"])
    with pytest.raises(UsageError, match="ledger does not name a file"):
        Ledger(Path(place), schema=schema, budget=GIVEN["budget"])
    assert os.listdir() == ["folder"]


def test_an_engine_is_closed_when_the_ledger_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []
    monkeypatch.setattr("sfumato.engines.duckdb.engine.DuckDBEngine.close", lambda self: closed.append(self))
    with pytest.raises(SfumatoError, match="no folder for"):
        sf.protect(PEOPLE, **{**GIVEN, "ledger": "missing/people.ledger"})
    assert len(closed) == 1


@pytest.mark.parametrize("wrong", [None, 7, "", ".", "\0", ["people.toml"], "missing.toml"])
def test_a_policy_is_a_file(wrong: Any) -> None:
    with pytest.raises(SfumatoError) as refused:
        sf.open(wrong)
    assert "policy" in refused.value.message
    assert refused.value.hint
    assert os.listdir() == []


def test_an_analyst_is_named_before_a_policy_is_opened() -> None:
    Path("people.csv").write_text("age\n20\n")
    Path("people.toml").write_text(
        '[data]\nsource = "people.csv"\n[unit]\nkind = "row"\n[budget]\nepsilon = 1\n'
        '[columns]\nage = { type = "int" }\n'
    )
    with pytest.raises(UsageError, match="an analyst needs a name"):
        sf.open("people.toml", analyst="")
    assert sorted(os.listdir()) == ["people.csv", "people.toml"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda session: session.ask_all(7, spend=0.1), "a list of 1 to"),
        (lambda session: session.ask_all(iter([COUNT]), spend=0.1), "a list of 1 to"),
        (lambda session: session.ask_all([7], spend=0.1), "text"),
        (lambda session: session.ask(COUNT, spend=0.1, request="\ud800"), "request must be a short text"),
        (lambda session: session.spend_for(COUNT, error=5, column=["n"]), "column cannot be of type list"),
        (lambda session: session.spend_for(COUNT, error=5, confidence=10**5000), "confidence must lie between"),
        (lambda session: session.spend_for(COUNT, error=5, confidence=PEOPLE), "confidence must lie between"),
        (lambda session: session.bounds(7, spend=0.1), "column cannot be of type int"),
        (lambda session: session.bounds("age", spend=0.1, points=10**5000), "points must lie between"),
        (lambda session: session.bounds("age", spend=0.1, points=True), "points must be a whole number"),
    ],
)
def test_a_session_refuses_what_it_cannot_read(call: Callable[[sf.Session], Any], message: str) -> None:
    with sf.protect(PEOPLE, **GIVEN) as session:
        with pytest.raises(SfumatoError) as refused:
            call(session)
        assert message in refused.value.message
        assert "987" not in str(refused.value)
        assert session.history() == []
