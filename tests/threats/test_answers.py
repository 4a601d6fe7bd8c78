"""What surrounds an answer says nothing about anybody (threat C4), and a key cannot run as a formula."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
import sfumato.door
from sfumato.answers import answer as finishing
from sfumato.cli.output import as_csv
from sfumato.kernel import gate
from sfumato.kernel.certify import Certified
from sfumato.kernel.gate import Release
from sfumato.visible import spreadsheet_cell, visible
from tests.threats.test_channels import neighbours, session_on

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT grade, COUNT(*) AS n, AVG(large) AS a, SUM(big) AS s FROM people GROUP BY grade",
    "SELECT kind, STDDEV(infinite) AS d FROM people WHERE zero > 0 GROUP BY kind",
]


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every release has the same numbers, so that whatever still differs comes from elsewhere."""

    def release(certified: Certified, *arguments: Any) -> Release:
        shown = gate.release(certified, *arguments)
        return Release(shown.entry, tuple(tuple(100 + value for value in range(len(row))) for row in shown.values))

    monkeypatch.setattr(sfumato.door, "release", release)
    monkeypatch.setattr(sfumato.door, "now", lambda: "2026-11-16T00:00:00Z")


def surroundings(session: sf.Session, question: str) -> list[Any]:
    """Everything about an answer, its explanation and its budget."""
    explanation = session.explain(question, spend=0.5)
    answer = session.ask(question, spend=0.5)
    script = re.sub(r"'[^']*people\.\w+'", "PATH", answer.script())
    texts = [str(explanation), str(answer), answer.to_html(), answer._repr_html_(), script]
    return [*texts, explanation.to_dict(), answer.to_dict(), session.questions_left(0.5)]


def both(folder: Path, look: Callable[[sf.Session], Any]) -> list[Any]:
    found = []
    for name, table in zip(("with", "without"), neighbours(), strict=True):
        with session_on(table, folder / name, "memory") as session:
            found.append(look(session))
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_everything_around_an_answer_is_the_same_for_neighbours(tmp_path: Path, question: str) -> None:
    one, other = both(tmp_path, lambda session: surroundings(session, question))
    assert one == other


def test_the_check_sees_a_note_that_looks_at_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def telling(session: sf.Session) -> list[Any]:
        largest = str(session._engine.run('SELECT max(age) AS m FROM "people"'))
        monkeypatch.setattr(finishing, "notes", lambda *_: (f"Values up to {largest} were clipped.",))
        return surroundings(session, QUESTIONS[0])

    one, other = both(tmp_path, telling)
    assert one != other


def test_a_spend_for_an_error_is_the_same_for_neighbours(tmp_path: Path) -> None:
    one, other = both(tmp_path, lambda session: session.spend_for(QUESTIONS[1], error=50, column="n"))
    assert one == other


FORMULAS = ["=1+1", "+1", "-1+1", "@SUM(A1)", " =1", "\uff1d1", "\t=1", "\r=1", "|x", "%x", "\u2009=1"]
FORMULAS += [sign + "1" for sign in "﹦﹢﹣﹫﹪＋－＠｜％"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_keys_and_names_are_text_in_a_spreadsheet(formula: str) -> None:
    ((name,), (cell,)) = list(csv.reader(io.StringIO(as_csv([formula], [{formula: formula}]), newline="")))
    assert name == cell == "'" + visible(formula)
    assert spreadsheet_cell(f"n {formula}") == visible(f"n {formula}")


def test_a_hostile_key_leaves_through_csv_as_text(
    tmp_path: Path, shell: Callable[..., tuple[int, str, str]], crowd: pa.Table
) -> None:
    keys = [*(formula for formula in FORMULAS if formula.isprintable()), "<script>alert(1)</script>"]
    pa.csv.write_csv(pa.table({"k": keys}), tmp_path / "t.csv")
    values = ", ".join(f'"{key}"' for key in keys)
    policy = tmp_path / "t.toml"
    policy.write_text(
        f'[data]\nsource = "t.csv"\n[unit]\nkind = "row"\n[budget]\nepsilon = 9\n[columns]\n'
        f'k = {{ type = "category", values = [{values}] }}\n',
        encoding="utf-8",
    )
    question = 'SELECT k, COUNT(*) AS "=n" FROM t GROUP BY k'
    code, out, _ = shell("ask", policy, question, "--spend", "1", "--format", "csv")
    assert code == 0
    cells = [cell for line in csv.reader(io.StringIO(out)) for cell in line]
    assert not [cell for cell in cells if cell[:1] in "=+@" or (cell[:1] == "-" and not cell[1:].isdigit())]
    code, page, _ = shell("ask", policy, question, "--spend", "1", "--format", "html")
    assert code == 0
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
