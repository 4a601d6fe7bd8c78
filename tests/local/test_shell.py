"""sfumato local: files and pipes in every format, streaming, and refusals that name row and reason."""

import io
import json
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import local_files, progress
from sfumato.cli.main import run

DRINKS = ["tea", "coffee", "water"]


class Shell:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *arguments: str, stdin: str = "", code: int = 0) -> tuple[str, str]:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as left:
            run(["local", *arguments])
        out, err = self._capsys.readouterr()
        assert (left.value.code or 0) == code, err
        return out, err


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)


@pytest.fixture
def spec(shell: Shell) -> str:
    out, _ = shell("plan", "--domain", "tea,coffee,water", "--epsilon", "5", "--output", "survey.json")
    assert "Chosen: grr" in out
    return "survey.json"


def counts(out: str) -> dict[str, float]:
    return {row["value"]: row["count"] for row in json.loads(out)["rows"]}


def test_a_pipe_from_end_to_end(shell: Shell, spec: str) -> None:
    reports, err = shell("randomise", "--spec", spec, stdin="tea\n" * 600 + "coffee\n" * 400)
    assert "1,000 reports by grr, epsilon 5 each." in err
    assert len(reports.splitlines()) == 1000
    out, _ = shell("estimate", "--spec", spec, "--format", "json", stdin=reports)
    found = counts(out)
    assert found["tea"] == pytest.approx(600, abs=60)
    assert sum(found.values()) == pytest.approx(1000)
    table, _ = shell("estimate", "--spec", spec, stdin=reports)
    assert "1,000 reports by grr, epsilon 5 each; low and high hold the truth with 95 %." in table
    rows, _ = shell("estimate", "--spec", spec, "--format", "csv", stdin=reports)
    assert rows.splitlines()[0] == "value,count,unbiased,low,high"


def write_values(kind: str, path: Path) -> None:
    drinks = DRINKS * 100
    match kind:
        case "csv":
            path.write_text("id,drink\n" + "".join(f"{i},{drink}\n" for i, drink in enumerate(drinks)))
        case "jsonl":
            path.write_text("".join(json.dumps({"id": i, "drink": drink}) + "\n" for i, drink in enumerate(drinks)))
        case "parquet":
            pq.write_table(pa.table({"id": range(300), "drink": drinks}), path)
        case _:
            path.write_text("".join(f"{drink}\n" for drink in drinks))


@pytest.mark.parametrize("values", ["csv", "jsonl", "parquet", "txt"])
@pytest.mark.parametrize("reports", ["jsonl", "csv", "parquet"])
def test_every_format(shell: Shell, spec: str, values: str, reports: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_files, "BATCH", 64)  # several batches
    write_values(values, Path(f"values.{values}"))
    column = [] if values == "txt" else ["--column", "drink"]
    shell("randomise", f"values.{values}", "--spec", spec, *column, "--output", f"reports.{reports}")
    assert not Path(f"reports.{reports}.part").exists()
    out, _ = shell("estimate", f"reports.{reports}", "--spec", spec, "--format", "json")
    assert json.loads(out)["users"] == 300
    assert counts(out)["water"] == pytest.approx(100, abs=30)


def test_a_device_reports_the_same_again_and_refuses_a_second_answer(shell: Shell, spec: str) -> None:
    first, err = shell("report", "me.json", "tea", "--spec", spec)
    assert "Spent epsilon 5; 0 left." in err
    assert shell("report", "me.json", "-", "--spec", spec, stdin="tea\n")[0] == first
    assert json.loads(first)["protocol"] == sf.local.load(spec).fingerprint
    assert Path("me.json").stat().st_mode & 0o077 == 0
    _, err = shell("report", "me.json", "water", "--spec", spec, code=4)
    assert "this device has 0 left of 5" in err
    _, err = shell("report", "me.json", "milk", "--spec", spec, code=2)
    assert "not in the domain" in err
    _, err = shell("report", "me.json", "tea", "--spec", spec, "--repeat", "fresh", code=2)
    assert "needs a budget" in err
    out, _ = shell("estimate", "--spec", spec, "--format", "json", stdin=first * 3)
    assert json.loads(out)["users"] == 3


def test_a_device_answers_several_questions(shell: Shell) -> None:
    questions = ["--attribute", "drink=tea,coffee", "--attribute", "age=0:120"]
    shell("plan", *questions, "--epsilon", "1", "--output", "several.json")
    out, _ = shell("report", "me.json", '{"age": 30, "drink": "tea"}', "--spec", "several.json")
    assert json.loads(out)["report"][0] in (0, 1)
    for answer in ("tea", '{"age": 30}', "[1]"):
        _, err = shell("report", "other.json", answer, "--spec", "several.json", code=2)
        assert "every question" in err


def test_parquet_from_a_pipe(spec: str) -> None:
    write_values("parquet", Path("values.parquet"))
    command = [sys.executable, "-m", "sfumato", "local"]
    made = subprocess.run(
        [*command, "randomise", "-", "--from", "parquet", "--column", "drink", "--spec", spec, "--output", "r.parquet"],
        input=Path("values.parquet").read_bytes(),
        capture_output=True,
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    done = subprocess.run(
        [*command, "estimate", "-", "--from", "parquet", "--spec", spec, "--format", "json"],
        input=Path("r.parquet").read_bytes(),
        capture_output=True,
        timeout=120,
    )
    assert json.loads(done.stdout)["users"] == 300
    done = subprocess.run(
        [*command, "estimate", "-", "--from", "parquet", "--spec", spec],
        input=b"PAR1",
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 5
    assert b"not a Parquet file" in done.stderr


@pytest.mark.parametrize("protocol", ["rr", "grr", "sue", "oue", "olh", "hadamard", "subset", "rappor", "auto"])
def test_every_protocol_without_a_file(shell: Shell, protocol: str) -> None:
    given = ["--protocol", protocol, "--domain", "no,yes", *([] if protocol == "rr" else ["--epsilon", "6"])]
    reports, _ = shell("randomise", *given, stdin="yes\n" * 3000 + "no\n" * 1000)
    out, _ = shell("estimate", *given, "--format", "json", stdin=reports)
    assert counts(out)["yes"] == pytest.approx(3000, abs=600)  # seven deviations of RAPPOR, the widest


def test_ranges_numbers_and_attributes(shell: Shell) -> None:
    reports, _ = shell("randomise", "--domain", "0..9", "--epsilon", "9", stdin="3\n" * 200)
    out, _ = shell("estimate", "--domain", "0..9", "--epsilon", "9", "--format", "json", stdin=reports)
    assert counts(out)[3] == pytest.approx(200, abs=20)
    bounds = ["--lower", "-5", "--upper", "5", "--epsilon", "8"]
    reports, _ = shell("randomise", *bounds, stdin="1.5\n" * 400)
    out, _ = shell("estimate", *bounds, "--format", "json", stdin=reports)
    assert json.loads(out)["rows"][0]["mean"] == pytest.approx(1.5, abs=0.6)
    sf.local.attributes({"drink": DRINKS, "age": (0, 100)}, epsilon=4).save("both.json")
    reports, _ = shell("randomise", "--spec", "both.json", stdin="age,drink\n" + "50,tea\n" * 500)
    out, _ = shell("estimate", "--spec", "both.json", stdin=reports)
    assert "attribute" in out


def test_several_questions_and_texts_are_planned_in_the_shell(shell: Shell) -> None:
    shell(
        "plan", "--attribute", "drink=tea,coffee", "--attribute", "age=0:120", "--epsilon", "4", "--output", "two.json"
    )
    reports, _ = shell("randomise", "--spec", "two.json", stdin="drink,age\n" + "tea,60\n" * 400)
    found = json.loads(shell("estimate", "--spec", "two.json", "--format", "json", stdin=reports)[0])
    assert [row["attribute"] for row in found["rows"]] == ["drink", "drink", "age"]
    shell("plan", "--alphabet", "abc", "--length", "3", "--epsilon", "5", "--output", "texts.json")
    reports, _ = shell("randomise", "--spec", "texts.json", stdin="abc\n" * 900)
    assert "abc" in shell("estimate", "--spec", "texts.json", stdin=reports)[0]
    for bad in (["--attribute", "x"], ["--attribute", "x=1,2", "--alphabet", "ab"], ["--attribute", "x=1:y"]):
        shell("plan", *bad, "--epsilon", "1", code=2)
    shell("plan", "--alphabet", "ab", code=2)


def test_reports_are_not_loaded_at_once() -> None:
    """Peak memory of 400,000 lines is that of a batch, not of all."""
    protocol = sf.local.protocol("grr", domain=range(10), epsilon=1)
    line = json.dumps(protocol.client().report(3))
    tracemalloc.start()
    server = protocol.server().add(line for _ in range(400_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert server.users == 400_000
    assert peak < 60_000_000


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "says"),
    [
        (["randomise", "--spec", "survey.json"], "tea\nmilk\n", 2, "row 2: the answer is not in the domain"),
        (["randomise", "--spec", "survey.json"], "tea\n\n", 2, "row 2: the answer is not in the domain"),
        (["randomise", "--spec", "survey.json"], "", 2, "no answer"),
        (["randomise", "--spec", "survey.json", "--column", "x"], "drink\ntea\n", 5, 'no column "x"'),
        (["randomise", "--spec", "survey.json", "--from", "csv"], "a,b\n1,2\n", 2, "several columns"),
        (["randomise", "--spec", "survey.json", "--from", "csv"], "a\n1,2\n", 5, "row 1 has 2 fields, the header 1"),
        (["randomise", "--spec", "survey.json", "--from", "jsonl"], '"tea"\n{\n', 5, "row 2: this is not JSON"),
        (["randomise", "--spec", "survey.json", "--from", "xml"], "", 2, "no format"),
        (["randomise", "--spec", "survey.json", "--domain", "a,b"], "", 2, "already"),
        (["randomise", "nowhere.csv", "--spec", "survey.json"], "", 5, "there is no file"),
        (["randomise", "data.xls", "--spec", "survey.json"], "", 5, "there is no file"),
        (["randomise", "/dev/null", "--spec", "survey.json"], "", 5, "there is no file"),
        (["randomise", "--spec", "survey.json", "--output", "r.xls"], "tea\n", 2, "how to write reports"),
        (["randomise", "--spec", "survey.json", "--to", "arrow"], "tea\n", 2, "how to write reports"),
        (["randomise", "--spec", "nowhere.json"], "", 5, "cannot be read"),
        (["randomise"], "", 2, "what people may answer"),
        (["randomise", "--domain", "a,b"], "", 2, "needs an epsilon"),
        (["randomise", "--domain", "a,b", "--epsilon", "x"], "", 2, "epsilon must be a number"),
        (["estimate", "--spec", "survey.json"], "", 2, "no report"),
        (["estimate", "--spec", "survey.json"], "tea\n", 5, "row 1: this is not JSON"),
        (["estimate", "--spec", "survey.json"], '{"protocol":"0","report":1}\n', 3, "row 1: .*other parameters"),
        (["estimate", "--spec", "survey.json", "--confidence", "2"], "", 2, "confidence"),
        (["simulate", "--protocol", "rappor"], "", 2, "no protocol"),
        (["shuffle", "--epsilon", "1", "--users", "20", "--delta", "1"], "", 2, "delta"),
    ],
)
def test_refusals(shell: Shell, spec: str, arguments: list[str], stdin: str, code: int, says: str) -> None:
    _, err = shell(*arguments, stdin=stdin, code=code)
    assert re.search(says, err), err
    assert "milk" not in err
    _, err = shell(*arguments, *(["--format", "json"] if arguments[0] != "randomise" else []), stdin=stdin, code=code)
    if arguments[0] != "randomise":
        assert re.search(says, json.loads(err)["message"] + json.loads(err)["hint"])


def test_row_numbers_count_through_the_whole_file(shell: Shell, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_files, "BATCH", 10)
    _, err = shell("randomise", "--spec", spec, "--output", "out.jsonl", stdin="tea\n" * 37 + "milk\n", code=2)
    assert "row 38: " in err
    assert not list(Path().glob("out.jsonl*")), "nothing half written"


def test_simulate_and_shuffle(shell: Shell) -> None:
    out, _ = shell("simulate", "--values", "5", "--users", "2000", "--rounds", "5", "--liars", "20", "--format", "json")
    found = json.loads(out)
    assert found["shift"] == pytest.approx(found["shift_bound"])
    assert found["error"] == pytest.approx(found["expected"], rel=0.8)
    told, _ = shell("simulate", "--values", "5", "--users", "500", "--rounds", "2")
    assert "by theory" in told
    out, _ = shell("shuffle", "--epsilon", "1", "--users", "48842", "--format", "json")
    assert json.loads(out)["epsilon"] == pytest.approx(0.0225, abs=0.001)
    assert "(0.02" in shell("shuffle", "--epsilon", "1", "--users", "48842")[0]


def test_a_plot(shell: Shell, spec: str) -> None:
    reports, _ = shell("randomise", "--spec", spec, stdin="tea\n" * 50)
    shell("estimate", "--spec", spec, "--plot", "counts.html", stdin=reports)
    assert "plotly" in Path("counts.html").read_text().lower()
    shell("estimate", "--spec", spec, "--plot", "counts.gif", stdin=reports, code=2)


def test_a_bar_appears_after_two_seconds_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(progress.Progress, "start", lambda self: shown.append(self))
    monkeypatch.setattr(progress, "Console", lambda **_: local_files_console())
    clock = iter([0.0, 1.0, 3.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.counting("Counting") as tick:
        tick(5)
        assert not shown
        tick(5)
        assert shown


def local_files_console() -> Any:
    from rich.console import Console

    return Console(file=io.StringIO(), force_terminal=True)
