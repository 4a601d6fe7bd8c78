"""sfumato anonymise and sfumato risk, from files to files."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.cli.main import run

POLICY = """
[data]
source = "people.csv"
[unit]
kind = "row"
[budget]
epsilon = 1
[columns]
name = { type = "identifier" }
age = { type = "int", lower = 0, upper = 120, role = "quasi-identifier" }
town = { type = "text", role = "quasi-identifier" }
ill = { type = "text", role = "sensitive" }
pay = { type = "float", role = "other" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = np.random.default_rng(2)
    count = 300
    table = pd.DataFrame(
        {
            "name": [f"n{place}" for place in range(count)],
            "age": source.integers(18, 60, count),
            "town": source.choice(["aa", "ab", "ba"], count),
            "ill": source.choice(["flu", "cold"], count),
            "pay": source.integers(1000, 9000, count),
        }
    )
    table.to_csv(tmp_path / "people.csv", index=False)
    table.to_parquet(tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        run(list(arguments))
    captured = capsys.readouterr()
    return int(left.value.code or 0), captured.out, captured.err


METHODS: list[tuple[str, list[str]]] = [
    ("k-anonymity", ["--quasi", "age,town", "--k", "4", "--sensitive", "ill", "--hierarchy", "age=intervals:5,10"]),
    (
        "k-anonymity",
        ["--quasi", "age", "--quasi", "town", "--k", "4", "--suppression", "0.1", "--search", "exhaustive"],
    ),
    ("mondrian", ["--quasi", "age,town", "--k", "4", "--sensitive", "ill", "--l", "2"]),
    ("suppress", ["--quasi", "age,town", "--k", "3", "--limit", "0.5"]),
    ("aggregate", ["--by", "town", "--measure", "pay=mean", "--least", "10"]),
    ("deidentify", []),
    ("pseudonyms", ["--column", "name", "--key-file", "key"]),
    ("additive-noise", ["--column", "age,pay", "--scale", "0.3"]),
    ("multiplicative-noise", ["--column", "pay"]),
    ("rotation", ["--column", "age,pay", "--seed", "4"]),
    ("microaggregation", ["--column", "age,pay", "--k", "5"]),
    ("swapping", ["--column", "town", "--share", "0.4"]),
]


@pytest.mark.parametrize("ending", ["csv", pytest.param("parquet", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("method", "options"), METHODS, ids=[f"{m}-{n}" for n, (m, _) in enumerate(METHODS)])
def test_every_method_reads_and_writes(
    folder: Path, capsys: pytest.CaptureFixture[str], method: str, options: list[str], ending: str
) -> None:
    call = ["anonymise", method, f"people.{ending}", *options, "--output", f"out.{ending}", "--format", "json"]
    code, out, error = shell(capsys, *call)
    assert code == 0, error
    told = json.loads(out)
    assert told["notice"].startswith("not differentially private")
    again = sf.anonymise.tables.read_table(folder / f"out.{ending}").table
    assert again.num_rows == told["rows"]
    if told["quasi_identifiers"] and method != "aggregate":
        assert sf.anonymise.verify(folder / f"out.{ending}", told["quasi_identifiers"]).k == told["k"]


@pytest.mark.parametrize("format", ["table", "csv"])
def test_other_formats(folder: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    code, out, _ = shell(capsys, "anonymise", "mondrian", "people.csv", "--quasi", "age", "--format", format)
    assert code == 0
    assert "k (measured)" in out
    if format == "table":
        assert "Not differentially private" in out
        assert "Nothing was written" in out


def test_roles_come_from_the_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["anonymise", "k-anonymity", "people.csv", "--policy", "people.toml", "--k", "4", "--format", "json"]
    told = json.loads(shell(capsys, *ask, "--output", "out.csv")[1])
    assert told["quasi_identifiers"] == ["age", "town"]
    assert told["sensitive"] == ["ill"]
    assert told["lost"]["columns"] == ["name"]
    risk = json.loads(shell(capsys, "risk", "people.csv", "--policy", "people.toml", "--format", "json")[1])
    assert risk["quasi_identifiers"] == ["age", "town"]
    said = json.loads(
        shell(capsys, "anonymise", "classify", "people.csv", "--policy", "people.toml", "--format", "json")[1]
    )
    assert {row["column"]: row["role"] for row in said} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "town": "quasi-identifier",
        "ill": "sensitive",
        "pay": "other",
    }


def test_a_wrong_role_is_a_wrong_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "people.toml").write_text(POLICY.replace('"sensitive"', '"sensitiv"'), encoding="utf-8")
    code, _, error = shell(capsys, "risk", "people.csv", "--policy", "people.toml")
    assert code == 2
    assert 'Did you mean "sensitive"' in error


def test_a_pseudonym_key_is_made_once_and_kept_from_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["anonymise", "pseudonyms", "people.csv", "--column", "name", "--key-file", "secret.key", "--output"]
    assert shell(capsys, *call, "one.csv")[0] == 0
    assert (folder / "secret.key").stat().st_mode & 0o077 == 0
    assert shell(capsys, *call, "two.csv")[0] == 0
    assert (folder / "one.csv").read_text() == (folder / "two.csv").read_text()


def test_risk_prints_and_draws(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["risk", "people.parquet", "--quasi", "age,town", "--sensitive", "ill", "--report", "risk.html"]
    code, out, _ = shell(capsys, *call)
    assert code == 0
    assert "unique rows" in out
    assert "Three attackers" in (folder / "risk.html").read_text(encoding="utf-8")
    assert shell(capsys, *call, "--format", "csv")[1].splitlines()[0].startswith("columns,unique")


WRONG: list[tuple[list[str], int, str]] = [
    (["risk", "people.csv"], 2, "no quasi-identifier"),
    (["risk", "people.csv", "--quasi", "agee"], 2, 'Did you mean "age"'),
    (["risk", "absent.csv", "--quasi", "age"], 5, "no file"),
    (["anonymise", "k-anonymity", "people.csv", "--quasi", "age", "--k", "301"], 3, "300 rows"),
    (["anonymise", "k-anonymity", "people.csv", "--quasi", "age", "--hierarchy", "age"], 2, "name=value"),
    (["anonymise", "k-anonymity", "people.csv", "--quasi", "age", "--output", "o.xls"], 2, "neither .csv"),
    (["anonymise", "pseudonyms", "people.csv", "--column", "name"], 2, "secret key"),
    (["anonymise", "rotation", "people.csv", "--column", "age,town"], 2, "needs numbers"),
]


@pytest.mark.parametrize(("call", "code", "says"), WRONG, ids=[says for *_, says in WRONG])
def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], call: list[str], code: int, says: str) -> None:
    left, _, error = shell(capsys, *call)
    assert left == code
    assert says in error


def test_slow_work_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.cli import progress as bars

    started: list[Any] = []
    appeared = Event()
    monkeypatch.setattr(bars.Console, "is_terminal", property(lambda self: True))
    monkeypatch.setattr(bars.Progress, "start", lambda self: (started.append(self), appeared.set()))
    with bars.progress("…") as report:
        report(0.5)
    assert not started  # what is quick has none
    monkeypatch.setattr(bars, "SLOW", 0.0)
    with bars.progress("…") as report:
        assert appeared.wait(20)
        report(0.5)
        report(0.7)
    assert len(started) == 1
