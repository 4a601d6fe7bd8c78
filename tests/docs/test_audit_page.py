"""The page of the auditor: its code runs, its table names every check, and the hour names files that exist."""

import itertools
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from docs.audit import END, PAGE, START, table

from sfumato.audit import learners, trustless
from sfumato.audit.catalogue import MECHANISMS, aggregates
from sfumato.audit.runs import by_law
from sfumato.audit.twins import subjects
from tests.architecture.ring import FILES

ROOT = Path(__file__).parents[2]
HOUR = ROOT / "docs" / "explanation" / "audit-in-an-hour.md"


def test_the_table_names_every_mechanism_aggregate_and_twin_and_none_escaped() -> None:
    measured = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    own, _, planted = measured.partition("planted violations flagged")
    assert all(f"| {subject.name} |" in own for subject in (*MECHANISMS, *aggregates(), *trustless.subjects()))
    assert all(f"| {subject.name} |" in planted for subject in subjects())
    assert all(f"| {subject.name} | membership |" in own for subject in learners.subjects())
    assert all(f"| {subject.name} | membership |" in planted for subject in learners.twins())
    assert "| VIOLATED |" not in own
    assert "| holds |" not in planted


def test_the_table_is_written_from_findings() -> None:
    finding = by_law(next(subject for subject in MECHANISMS if subject.name == "randomised_response"))
    assert "| randomised_response | law | p ≥ 1e-06 |" in table([finding])


def test_the_code_of_the_page_prints_what_the_page_says() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(code) == 2
    printed = []
    for block in code:
        out = StringIO()
        with redirect_stdout(out):
            exec(block, {})  # noqa: S102 - the code of our own page
        printed.append(out.getvalue())
    assert "VIOLATED" in printed[0]
    assert "local 90" in printed[1]
    assert "global 120" in printed[1]
    assert "nothing bounds it" in printed[1]


def test_the_hour_reads_all_of_the_trusted_ring_minute_by_minute() -> None:
    text = HOUR.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| [\d–]+ \| `([a-z_/]+\.py)`", text, flags=re.MULTILINE)) == FILES
    minutes = [tuple(map(int, span)) for span in re.findall(r"^\| (\d+)–(\d+) \|", text, flags=re.MULTILINE)]
    assert minutes[0][0] == 0
    assert all(one[1] == two[0] or two[0] == 0 for one, two in itertools.pairwise(minutes))
