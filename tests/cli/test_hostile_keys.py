"""Keys that somebody chose to put into the table: nothing that is shown lets them steer a terminal or hide."""

import csv
import io
import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import DataUnreadable
from tests.plots.reading import read, runs_nothing_foreign

EACH = 60
HOSTILE = {
    "\x1b[31mred\x1b[0m": r"\x1b[31mred\x1b[0m",
    "clear\x9b2J": r"clear\x9b2J",
    "bell\x07back\x08\x7f": r"bell\x07back\x08\x7f",
    "nul\x00key": r"nul\x00key",
    "line\nbreak\r\nagain": r"line\nbreak\r\nagain",
    "tab\tkey": r"tab\tkey",
    "turned\u202e321": r"turned\u202e321",
    "isolate\u2066x\u2069": r"isolate\u2066x\u2069",
    "zero\u200bwidth\u2060\ufeff": r"zero\u200bwidth\u2060\ufeff",
    "lines\u2028and\u2029": r"lines\u2028and\u2029",
    "tags\U000e0041\U000e0042": r"tags\U000e0041\U000e0042",
    "variant\ufe0f": r"variant\ufe0f",
    "filler\u3164": r"filler\u3164",
    "wide\u00a0blank": r"wide\xa0blank",
    "own\ue000": r"own\ue000",
    "[bold]loud[/bold]": "[bold]loud[/bold]",
    "[/nothing]": "[/nothing]",
    "=1+1": "=1+1",
    "Köln 東京 😀": "Köln 東京 😀",
}
QUESTION = "SELECT town, COUNT(*) AS n, SUM(debt) AS debt, MODE(colour) AS colour FROM people GROUP BY town"
POLICY = """
[data]
source = "people.parquet"
[unit]
kind = "row"
[budget]
epsilon = 1e6
delta = 1e-3
[columns]
town = { type = "text" }
debt = { type = "float", private_bounds = 0.1 }
colour = { type = "category", values = ["re\\u001bd", "blue"] }
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    towns = [town for town in HOSTILE for _ in range(EACH)]
    people = pa.table({"town": towns, "debt": [5.0] * len(towns), "colour": ["re\x1bd"] * len(towns)})
    pyarrow.parquet.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path / "people.toml"


def asked(policy: Path, *more: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "sfumato", "ask", policy.name, QUESTION, "--spend", "9999", *more]
    done = subprocess.run(command, cwd=policy.parent, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done


def is_plain(text: str) -> bool:
    """By the tables of Unicode, not by the code under test."""
    return not any(
        unicodedata.category(sign)[0] == "C" or unicodedata.category(sign) in ("Zl", "Zp")
        for sign in text.replace("\n", "")
    )


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_the_shell_prints_nothing_that_steers_or_hides(policy: Path, form: str) -> None:
    done = asked(policy, "--format", form, "--script", "again.py")
    out, err = done.stdout.decode(), done.stderr.decode()
    assert is_plain(out)
    assert is_plain(err)
    assert is_plain((policy.parent / "again.py").read_text(encoding="utf-8"))
    match form:
        case "table":
            assert all(f" {shown} " in out for shown in HOSTILE.values())
        case "csv":
            rows = list(csv.DictReader(io.StringIO(out)))
            assert sorted(row["town"] for row in rows) == sorted({*HOSTILE.values(), "'=1+1"} - {"=1+1"})
            assert {row["colour"] for row in rows} == {r"re\x1bd"}
            assert r"debt, bell\x07back\x08\x7f:" in err, "the notes name groups"
        case _:
            assert {row["town"] for row in json.loads(out)["rows"]} == HOSTILE.keys(), "a program gets the values"


def test_a_page_shows_them_spelt_out(policy: Path) -> None:
    page = read(asked(policy, "--format", "html").stdout.decode())
    runs_nothing_foreign(page)
    cells = [cell.text for cell in page.all("td")]
    assert set(HOSTILE.values()) <= set(cells)
    for tag in ("td", "th", "p", "code", "dd", "figcaption", "script"):
        assert all(is_plain(element.text) for element in page.all(tag)[: 1 if tag == "script" else None]), tag


def test_an_answer_keeps_the_values_and_shows_them_spelt_out(policy: Path) -> None:
    with sf.open(policy) as session:
        answer = session.ask(QUESTION, spend=9999)
        explained = session.explain(QUESTION + " -- \u202e", spend=1)
    assert {row["town"] for row in answer.rows} == HOSTILE.keys()
    assert answer.to_arrow()["town"].to_pylist() == [row["town"] for row in answer.rows]
    for text in (str(answer), repr(answer), answer._repr_html_(), "".join(answer.notes), str(explained)):
        assert is_plain(text)
        assert "\u3164" not in text
    lines = str(answer).splitlines()
    assert all(any(line.startswith(f"{shown}  ") for line in lines) for shown in HOSTILE.values())
    figure = answer.plot()
    assert sorted(figure.data[0].hovertext) == sorted(HOSTILE.values())
    assert all(is_plain(label) for label in figure.layout.yaxis.ticktext)


def test_a_refusal_spells_out_names_of_a_hostile_file(policy: Path) -> None:
    hostile = policy.with_name("peo\x1b(2Jple.csv")
    hostile.write_text("town,deb\u202et,colour\n", encoding="utf-8")
    named = POLICY.replace('"people.parquet"', r'"peo\u001b(2Jple.csv"' + '\ntable = "people"')
    policy.write_text(named, encoding="utf-8")
    with pytest.raises(DataUnreadable) as refused:
        sf.open(policy)
    assert r'Did you mean "deb\u202et"?' in str(refused.value)
    hostile.unlink()
    with pytest.raises(DataUnreadable) as refused:
        sf.open(policy)
    assert r"peo\x1b(2Jple.csv" in str(refused.value)
    assert is_plain(str(refused.value))
    hostile.write_text("town,deb\u202et,colour\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "init", hostile.name],
        cwd=policy.parent,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert is_plain(done.stdout.decode())
    assert is_plain(hostile.with_suffix(".toml").read_text(encoding="utf-8"))


def printed(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "sfumato", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=True)
    assert is_plain(done.stderr.decode())
    return done.stdout.decode()


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_estimates_and_risks_spell_out_values_and_names(tmp_path: Path, form: str) -> None:
    protocol = sf.local.protocol("grr", domain=["tea\x1b[2J", "coffee\u202e"], epsilon=5)
    protocol.save(tmp_path / "survey.json")
    (tmp_path / "reports.jsonl").write_text("\n".join(protocol.randomise(["tea\x1b[2J"] * 50).lines()) + "\n")
    out = printed(tmp_path, "local", "estimate", "reports.jsonl", "--spec", "survey.json", "--format", form)
    assert is_plain(out)
    if form == "json":
        assert [row["value"] for row in json.loads(out)["rows"]] == ["tea\x1b[2J", "coffee\u202e"]
    else:
        assert r"tea\x1b[2J" in out
    people = pa.table({"ag\x1be": [1, 2, 2], "sex": ["f", "f", "m"]})
    pyarrow.parquet.write_table(people, tmp_path / "people.parquet")
    assert is_plain(printed(tmp_path, "risk", "people.parquet", "--quasi", "ag\x1be,sex", "--format", form))
