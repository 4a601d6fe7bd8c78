"""Every command that reads a table opens the same small table the same way, whatever kind of file holds it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import attack, compare
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataUnreadable
from sfumato.schema.columns import Float, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row
from tests.readers.files import COLUMNS, CSV, KINDS, LINES, stored

Shell = Callable[..., tuple[int, str, str]]

ROWS = [
    {"age": 20 + place % 3, "town": town, "lat": 39.5 + place / 8, "lon": -116.25, "note": note}
    for place, (town, note) in enumerate([("Ulm", 'a "b"'), ("Bad Ems", "c, d; e"), ("Zürich", "f|g"), ("Ulm", "h")])
]
PLACES = [(row["lat"], row["lon"]) for row in ROWS]
PRIVATE = {**CSV, **LINES, "parquet": "a.parquet"}  # what the private engine opens
DRINKS = [{"id": 1, "drink": "tea"}, {"id": 2, "drink": "café"}, {"id": 3, "drink": "tea"}]
SURE = "40"  # an epsilon at which a report is a lie once in 10^17


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(kind: str, tmp_path: Path) -> Path:
    return stored(kind, ROWS, tmp_path)


def good(found: tuple[int, str, str]) -> str:
    code, out, err = found
    assert code == 0, err
    return out


def test_anonymise(shell: Shell, path: Path, tmp_path: Path) -> None:
    good(shell("anonymise", "suppress", path, "--quasi", "age", "--k", "1", "--output", tmp_path / "out.csv"))
    released = sf.anonymise.tables.read_table(tmp_path / "out.csv").table.to_pylist()
    assert [(row["age"], row["town"], row["note"]) for row in released] == [
        (str(row["age"]), row["town"], row["note"]) for row in ROWS
    ]
    told = json.loads(good(shell("anonymise", "aggregate", path, "--by", "town", "--least", "1", "--format", "json")))
    assert told["rows"] == 3


def test_risk(shell: Shell, path: Path) -> None:
    ask = ("--quasi", "age,town", "--sensitive", "note", "--population", path, "--format", "json")
    found = json.loads(good(shell("risk", path, *ask)))
    assert (found["rows"], found["k"], found["l"], found["unique"]) == (4, 1, 1, 0.5)


@pytest.mark.parametrize("command", ["attack", "compare"])
def test_attack_and_compare(command: str, shell: Shell, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both hand on what they read; what they do with it is another test's."""
    taken: list[pa.Table] = []

    class TakenError(Exception):
        pass

    def take(*arguments: Any, **_: Any) -> None:
        taken.append(arguments[-1])
        raise TakenError

    monkeypatch.setattr(attack, "staged", take)
    monkeypatch.setattr(compare, "compared", take)
    with pytest.raises(TakenError):
        shell(*(["attack", "linking"] if command == "attack" else ["compare"]), path)
    assert taken[0].to_pylist() == ROWS
    assert taken[0].schema.types == [pa.int64(), pa.string(), pa.float64(), pa.float64(), pa.string()]


def test_geo(shell: Shell, path: Path) -> None:
    lat, lon, problems = sf.geo.read(path)
    assert (list(zip(lat.tolist(), lon.tolist(), strict=True)), problems) == (PLACES, [])
    assert len(json.loads(good(shell("geo", "report", path, "--format", "json")))["reports"]) == len(ROWS)
    assert "leaves" in good(shell("geo", "tree", path, "--epsilon", "1"))


def test_local(shell: Shell, kind: str, tmp_path: Path) -> None:
    given = ("--domain", "tea,café", "--epsilon", SURE)
    path, reports = stored(kind, DRINKS, tmp_path), tmp_path / "reports.jsonl"
    good(shell("local", "randomise", path, "--column", "drink", *given, "--output", reports))
    made = [json.loads(line) for line in reports.read_text().splitlines()]
    assert [one["report"] for one in made] == [0, 1, 0]
    texts = [{"protocol": one["protocol"], "report": json.dumps(one["report"])} for one in made]
    again = stored(kind, made if "json" in kind or "array" in kind else texts, tmp_path, "reports")
    found = json.loads(good(shell("local", "estimate", again, *given, "--format", "json")))
    assert {row["value"]: round(row["count"]) for row in found["rows"]} == {"tea": 2, "café": 1}


SCHEMA = Schema(
    "people", Row(), {"age": Int(0, 99), "town": Text(), "lat": Float(-90, 90), "lon": Float(-180, 180), "note": Text()}
)


@pytest.mark.parametrize("private", PRIVATE)
def test_the_private_engine_and_init(private: str, shell: Shell, tmp_path: Path) -> None:
    path = stored(private, ROWS, tmp_path)
    engine = DuckDBEngine(path, SCHEMA)
    try:
        found = engine.run("SELECT age, town, lat, lon, note FROM people ORDER BY lat")
    finally:
        engine.close()
    assert found == [tuple(row.values()) for row in ROWS]
    good(shell("init", path))
    drafted = (tmp_path / f"{path.name[0]}.toml").read_text(encoding="utf-8")
    assert f'table = "{path.name[0]}"' in drafted
    assert 'age = { type = "int", lower = 0, upper = 120 }' in drafted
    assert 'town = { type = "text" }' in drafted
    assert 'lat = { type = "float" }' in drafted


@pytest.mark.parametrize("other", [kind for kind in KINDS if kind not in PRIVATE])
def test_what_the_private_engine_does_not_open_is_refused_with_the_cure(
    other: str, shell: Shell, tmp_path: Path
) -> None:
    """No array: one row could make all others unreadable. No mark: DuckDB would lose the first line."""
    path = stored(other, ROWS, tmp_path)
    says = "of no kind" if other in COLUMNS else "byte order mark" if "mark" in other else "one array"
    with pytest.raises(DataUnreadable, match=says):
        DuckDBEngine(path, SCHEMA)
    code, _, err = shell("init", path)
    assert (code, says in err) == (5, True), err


@pytest.mark.parametrize(
    "command",
    [
        ("anonymise", "mondrian", "--quasi", "a"),
        ("risk", "--quasi", "a"),
        ("attack", "linking"),
        ("compare",),
        ("geo", "report"),
        ("geo", "tree", "--epsilon", "1"),
        ("local", "randomise", "--domain", "x,y", "--epsilon", "1", "--column", "a"),
        ("init",),
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.csv", None, "there is no file"),
        ("a.xlsx", b"PK", "is of no kind that is read here"),
        ("a.xlsx", b"PK", "This is a spreadsheet: save the sheet that holds the table as CSV"),
        ("a.ods", b"PK", "This is a spreadsheet"),
        ("a.csv.zip", b"PK", "is of no kind that is read here"),
        ("a.csv", b"\xff\xfea\n1\n", "it is not valid UTF-8"),
        ("a.csv", b"a,a\n1,2\n", "two columns have the same name"),
        ("a.csv", b"\n1\n", "its first line names no column"),
        ("a.csv.gz", b"a,b\n1,2\n", "it is damaged"),
        ("a.parquet", b"PAR1", "it is damaged"),
    ],
)
def test_every_command_refuses_in_the_same_words(
    command: tuple[str, ...], name: str, content: bytes | None, says: str, shell: Shell, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    verbs = 2 if command[0] in ("anonymise", "attack", "geo", "local") else 1
    code, _, err = shell(*command[:verbs], tmp_path / name, *command[verbs:])
    assert (code, says in err) == (5, True), err
