"""What names the state of the data: files and content by default, or the owner."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import RequestConflict, UsageError
from tests.engines.stores import FORMS, stored_as

COUNT = "SELECT COUNT(*) AS n FROM people"
BEFORE = pa.table({"age": [20, 30, 40]})
AFTER = pa.table({"age": [20, 30, 41]})


def opened(source: Any, folder: Path, version: str | None = None) -> sf.Session:
    return sf.protect(
        source,
        table="people",
        unit=sf.Row(),
        columns={"age": sf.Int(0, 99)},
        budget=sf.Budget(10),
        ledger=folder / "people.ledger",
        version=version,
    )


def changed(form: str, folder: Path) -> Any:
    """The other table in the place of the first."""
    for path in folder.glob("people*"):
        if ".ledger" not in path.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return stored_as(form, AFTER, folder)


@pytest.mark.parametrize("form", FORMS)
def test_without_a_name_a_repeated_question_tells_that_the_data_changed(form: str, tmp_path: Path) -> None:
    with opened(stored_as(form, BEFORE, tmp_path), tmp_path) as session:
        session.ask(COUNT, spend=1)
    with opened(changed(form, tmp_path), tmp_path) as session:
        assert session.ask(COUNT, spend=1).cached is False


@pytest.mark.parametrize("form", FORMS)
def test_a_named_version_is_what_the_owner_says_and_nothing_else(form: str, tmp_path: Path) -> None:
    with opened(stored_as(form, BEFORE, tmp_path), tmp_path, "2026-11") as session:
        first = session.ask(COUNT, spend=1, request="one")
    source = changed(form, tmp_path)
    with opened(source, tmp_path, "2026-11") as session:
        again = session.ask(COUNT, spend=1, request="one")
        assert (again.rows, again.cached) == (first.rows, True), "the stored release of the old data, for nothing"
        assert len(session.history()) == 1
        assert session.ask(COUNT, spend=1, fresh=True).cached is False
    with opened(source, tmp_path, "2026-12") as session:
        assert session.ask(COUNT, spend=1).cached is False
        with pytest.raises(RequestConflict):
            session.ask(COUNT, spend=1, request="one")
        assert len(session.history()) == 3


def test_a_session_that_stays_open_keeps_the_name_of_a_file_that_changes(tmp_path: Path) -> None:
    with opened(stored_as("parquet", BEFORE, tmp_path), tmp_path, "2026-11") as session:
        session.ask(COUNT, spend=1)
        stored_as("parquet", AFTER, tmp_path)
        assert session.ask(COUNT, spend=1).cached is True


@pytest.mark.parametrize("form", ["memory", "csv", "sqlite"])
def test_no_name_is_that_of_a_file_or_of_a_content(form: str, tmp_path: Path) -> None:
    source = stored_as(form, BEFORE, tmp_path)
    with opened(source, tmp_path) as session:
        session.ask(COUNT, spend=1)
        own = session._engine.version()
    with opened(source, tmp_path, own) as session:
        assert session.ask(COUNT, spend=1).cached is False
        named = session._engine.version()
    with opened(source, tmp_path, named) as session:
        assert session.ask(COUNT, spend=1).cached is False


def test_the_name_is_for_all_tables_of_a_session(tmp_path: Path) -> None:
    def asked(rate: int) -> bool:
        rates = pa.table({"age": [20, 30, 40], "rate": [rate] * 3})
        with sf.protect(
            BEFORE,
            table="people",
            unit=sf.Row(),
            columns={"age": sf.Int(0, 99)},
            budget=sf.Budget(10),
            ledger=tmp_path / "people.ledger",
            lookups={"rates": sf.Lookup(rates, "age", {"rate": sf.Int(0, 9)})},
            version="one",
        ) as session:
            return session.ask(COUNT, spend=1).cached

    assert (asked(1), asked(2)) == (False, True)


def test_the_script_names_the_version(tmp_path: Path) -> None:
    source = stored_as("csv", BEFORE, tmp_path)
    with opened(source, tmp_path, "it's 2026") as session:
        answer = session.ask(COUNT, spend=1)
    names: dict[str, Any] = {}
    exec(compile(answer.script(), "script", "exec"), names)  # noqa: S102
    assert 'version="it\'s 2026",' in answer.script()
    assert names["answer"].cached is True


def policy(folder: Path, line: str) -> Path:
    path = folder / "people.toml"
    path.write_text(
        f'[data]\nsource = "people.csv"\n{line}\n[unit]\nkind = "row"\n[budget]\nepsilon = 9\n'
        '[columns]\nage = { type = "int", lower = 0, upper = 99 }\n',
        encoding="utf-8",
    )
    return path


def test_a_policy_names_the_version(tmp_path: Path) -> None:
    stored_as("csv", BEFORE, tmp_path)
    for version, cached in (("2026-11", False), ("2026-11", True), ("2026-12", False)):
        with sf.open(policy(tmp_path, f'version = "{version}"')) as session:
            assert session.ask(COUNT, spend=1).cached is cached
        changed("csv", tmp_path)


@pytest.mark.parametrize("line", ["version = 2026", "version = 2026-11-01", 'version = ""', r'version = "a\u202eb"'])
def test_a_version_is_a_short_printable_text(line: str, tmp_path: Path) -> None:
    stored_as("csv", BEFORE, tmp_path)
    with pytest.raises(UsageError, match=r"people\.toml: \[data\]: "):
        sf.open(policy(tmp_path, line))
    with pytest.raises(UsageError, match="is not a usable name"):
        opened(BEFORE, tmp_path, "x" * 201)
