"""The page on sources runs as printed, and says what the code says."""

import ast
import re
import tomllib
from pathlib import Path

import duckdb
import pytest

from sfumato import engines
from sfumato.engines import wordings
from sfumato.engines.duckdb.files import KINDS
from sfumato.engines.duckdb.tables import DAMAGED
from sfumato.engines.ticks import ticks
from sfumato.schema.limits import Limits
from sfumato.schema.policy import SECTIONS
from tests.pages import blocks, text, typed, written

NAME = "reference/sources.md"
PAGE = text(NAME)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    written(blocks(NAME, "python")[0], NAME, names)
    assert names["answer"].rows[0].keys() == {"n"}  # type: ignore[attr-defined]
    for command in blocks(NAME, "sh")[0].splitlines():
        typed(command, capsys)
        if "init" in command:
            drafted = Path("visits.toml").read_text(encoding="utf-8")
            assert blocks(NAME, "toml")[0] in drafted


def test_ids_with_a_gap_are_mended_as_the_page_says() -> None:
    names: dict[str, object] = {}
    written(blocks(NAME, "python")[1], NAME, names)
    assert str(names["frame"].patient_id.dtype) == "Int64"  # type: ignore[attr-defined]


def test_long_cells_are_cut_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    duckdb.execute("COPY (SELECT 'x' || repeat('y', 5000) AS note, 1 AS n) TO 'people.parquet'")
    written(blocks(NAME, "python")[2], NAME, {})
    assert duckdb.execute("SELECT length(note), n FROM 'short.parquet'").fetchall() == [(1000, 1)]


def test_every_ending_and_every_limit_is_on_the_page() -> None:
    for ending in KINDS:
        assert f"`{ending}`" in PAGE
    limits = tomllib.loads(blocks(NAME, "toml")[1])["limits"]
    assert set(limits) == set(SECTIONS["limits"])
    assert Limits(**limits).seconds == 60
    assert [f"{tick / 1e6:.3g} ms" for tick in ticks()[:3]] == ["5 ms", "5.11 ms", "5.22 ms"]


def test_every_reason_of_an_unreadable_file_is_on_the_page() -> None:
    reasons = {DAMAGED}
    for path in Path(str(engines.__file__)).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "file_unreadable":
                reasons |= {part.value for part in call.args[1:] if isinstance(part, ast.Constant)}
    assert len(reasons) >= 5
    assert [reason for reason in reasons if f"cannot be read: {reason}." not in PAGE] == []


def test_every_wording_is_on_the_page() -> None:
    rows = [line.split(" | ")[0].strip("| `") for line in PAGE.splitlines() if line.startswith("| `")]
    patterns = [re.compile(".*".join(map(re.escape, row.split("…")))) for row in rows]
    usage = {"source_table_unwanted", "names_alike", "session_closed", "session_of_another_process"} | {
        "engine_failed",
        "broken_off",
        "check_unfinished",
        "asked_meanwhile",
    }
    for name, wording in vars(wordings).items():
        if callable(wording) and getattr(wording, "__module__", "") == wordings.__name__ and name not in usage:
            names = wording.__code__.co_varnames[: wording.__code__.co_argcount]
            message = wording(*(() if argument == "tables" else "people" for argument in names)).message
            assert any(pattern.match(message) for pattern in patterns), message
