"""What was clipped, counted on request for a tenth of the spend: how many rows and people, in notes and error bars."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Refused, UsageError
from sfumato.kernel.cost import Cost
from sfumato.plan.nodes import CountCut, CountValues
from sfumato.query.capping import AskedCaps
from sfumato.query.clipping import SHARE_OF_CLIPPING
from sfumato.query.planned import planned
from sfumato.schema.table import Schema

PLENTY = 10**7
COLUMNS = {"x": sf.Float(0, 50), "k": sf.Int(0, 9), "g": sf.Category(["a", "b"]), "w": sf.Float(private_bounds=0.3)}
PERSON = sf.Person("who", max_rows=2, max_groups=2)
BY_GROUP = "SELECT g, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY g"


def table() -> pa.Table:
    """400 people: in group a with 1 row each, of which 40 beyond the bounds; in b 100 of them with 3 more rows."""
    who = [*range(400), *(each for each in range(100) for _ in range(3))]
    x = [*(80.0 if each % 10 == 0 else 20.0 for each in range(400)), *([-10.0, 30.0, 30.0] * 100)]
    columns = {"who": who, "x": x, "k": [3] * 700, "g": ["a"] * 400 + ["b"] * 300, "w": x}
    return pa.table(columns)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[sf.Session]:
    with sf.protect(
        table(), table="t", unit=PERSON, columns=COLUMNS, budget=sf.Budget(10**9), ledger=tmp_path / "t.ledger"
    ) as opened:
        yield opened


def test_notes_say_how_many_rows_and_people(session: sf.Session) -> None:
    answer = session.ask(BY_GROUP, spend=PLENTY, clipped=True)
    # Who is in both groups has four rows, and one of each group counts.
    assert [row["n"] for row in answer.rows] == [400, 100]
    assert answer.notes[-6:] == (
        "a: 40 (±0) rows that count lie beyond the bounds of x, 0 to 50.",
        "a: 0 (±0) people have more rows than count.",
        "b: 100 (±0) rows that count lie beyond the bounds of x, 0 to 50.",
        "b: 100 (±0) people have more rows than count.",
        "Error bars of s, m hold what was clamped, "
        "if those rows lie beyond their bounds by no more than 50 on average.",
        "Error bars of n, s, m hold what was cut off, "
        "if in a group that is no more than 2 rows of a person within bounds.",
    )
    assert "s, m: a value of x below 0 counts as 0, one above 50 as 50." in answer.notes
    assert "A person counts with at most 2 rows in at most 2 groups." in answer.notes


def test_error_bars_hold_what_the_rows_say(session: sf.Session) -> None:
    frame = table().to_pandas().groupby("g").x.agg(["count", "sum", "mean"])
    clipped, plain = (session.ask(BY_GROUP, spend=PLENTY, clipped=asked) for asked in (True, False))
    held, missed = 0, 0
    sure = 1 - 1e-9  # at 95 % noise alone makes a bar miss in one run of twenty
    for letter, with_it, without in zip("ab", clipped.interval(sure), plain.interval(sure), strict=True):
        for name, truth in zip(("n", "s", "m"), frame.loc[letter], strict=True):
            held += with_it[name][0] <= truth <= with_it[name][1]
            missed += not without[name][0] <= truth <= without[name][1]
    assert (held, missed) == (6, 4)
    (a, b) = clipped.interval()
    assert a["n"] == (400, 400)
    assert b["n"] == (100, 100 + 100 * 2)
    assert a["s"] == pytest.approx((360 * 20 + 40 * 50 - 40 * 50, 360 * 20 + 40 * 50 + 40 * 50))
    assert clipped.rows[1]["s"] == pytest.approx(100 * 50)  # of three rows the sum is clipped to that of one at 50
    assert b["s"] == pytest.approx((5000 - 100 * 50, 5000 + 100 * 50 + 100 * 2 * 50), abs=0.01)


def test_a_tenth_of_the_spend_and_no_more(session: sf.Session) -> None:
    schema = Schema("t", PERSON, COLUMNS)
    for question in (BY_GROUP, "SELECT COUNT(*) AS n FROM t", "SELECT STDDEV(x) AS s, MEDIAN(k) AS m FROM t"):
        plain, asked = (
            planned(question, schema, Cost("epsilon", Fraction(1)), caps=AskedCaps(clipped=clipped)).certified
            for clipped in (False, True)
        )
        many = len(plain.plan.measures)
        assert asked.cost == plain.cost == Cost("epsilon", Fraction(1))
        for before, after in zip(plain.plan.measures, asked.plan.measures[:many], strict=True):
            assert after.aggregate == before.aggregate
            assert after.share == before.share * (1 - SHARE_OF_CLIPPING)
        further = asked.plan.measures[many:]
        assert sum(measure.share for measure in further) == SHARE_OF_CLIPPING == Fraction(1, 10)
        assert {type(measure.aggregate) for measure in further} <= {CountValues, CountCut}
        assert asked.digest != plain.digest
        for measure, release in zip(further, asked.releases[many:], strict=True):
            caps = asked.plan.capped
            norms = (
                (caps.groups, caps.groups) if isinstance(measure.aggregate, CountCut) else (caps.l1, caps.l2_squared)
            )
            assert (release.sensitivity.l1, release.sensitivity.l2_squared) == norms


def test_every_clamped_value_is_counted_once(session: sf.Session) -> None:
    question = "SELECT SUM(x) AS s, AVG(x) AS m, STDDEV(x) AS d, MEDIAN(x) AS q, HISTOGRAM(x, 5) AS h, CDF(k, 3) AS c"
    told = session.explain(f"{question} FROM t", spend=1, clipped=True)
    for_clipping = [step.measures for step in told.steps if step.measures.endswith("(for what was clipped)")]
    assert for_clipping == [
        "number of values (for what was clipped)",
        "number of values (for what was clipped)",
        "number of people of whom something is cut off (for what was clipped)",
    ]
    answer = session.ask(f"{question} FROM t", spend=PLENTY, clipped=True)
    assert any("rows that count lie beyond the bounds of x, 0 to 50." in note for note in answer.notes)
    assert "0 (±0) rows that count lie beyond the bounds of k, 0 to 9." in answer.notes
    assert any(note.endswith("error bars do not cover what that changes.") for note in answer.notes)
    assert "Other error bars do not cover what is cut off." in answer.notes


def test_where_groups_are_cut_off_bars_do_not_pretend(tmp_path: Path) -> None:
    unit, budget = sf.Person("who", max_rows=2, max_groups=1), sf.Budget(10**9)
    with sf.protect(
        table(), table="t", unit=unit, columns=COLUMNS, budget=budget, ledger=tmp_path / "t.ledger"
    ) as session:
        question = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
        answer = session.ask(question, spend=PLENTY, clipped=True)
        assert all(low == high for row in answer.interval() for low, high in row.values())
        counts = [note.split()[1] for note in answer.notes if "people have more rows or groups than count." in note]
        assert sum(map(int, counts)) == 100  # each in the one group they count in
        assert "Error bars do not cover what is cut off." in answer.notes


def test_rows_without_an_id(tmp_path: Path) -> None:
    for unit in (sf.Row(), sf.UpTo(4)):
        ledger, budget = tmp_path / f"{unit.whose}.ledger", sf.Budget(10**9)
        with sf.protect(table(), table="t", unit=unit, columns=COLUMNS, budget=budget, ledger=ledger) as session:
            answer = session.ask("SELECT SUM(x) AS s FROM t", spend=PLENTY, clipped=True)
            assert "140 (±0) rows that count lie beyond the bounds of x, 0 to 50." in answer.notes
            assert not any("people" in note and "more rows" in note for note in answer.notes)
            with pytest.raises(UsageError, match="nothing is clipped") as error:
                session.ask("SELECT COUNT(*) AS n FROM t", spend=1, clipped=True)
            assert "--clipped" in error.value.hint
            assert len(session.history()) == 1


def test_it_is_asked_recalled_and_repeated(session: sf.Session) -> None:
    question = "SELECT SUM(x) AS s FROM t"
    answer = session.ask(question, spend=1, clipped=True)
    assert not session.ask(question, spend=1).cached
    assert session.ask(question, spend=1, clipped=True).rows == answer.rows
    (again,) = session.recall(answer.receipt)
    assert (again.notes, again.interval()) == (answer.notes, answer.interval())
    assert "clipped=True,\n" in answer.script()
    steps = session.query().sum("x", "s")
    assert steps.ask(spend=1, clipped=True).cached
    (both,) = session.ask_all([question], spend=1, clipped=True)
    assert both.notes == answer.notes


def test_its_error_depends_on_the_answer(session: sf.Session) -> None:
    assert session.explain("SELECT SUM(x) AS s FROM t", spend=1, clipped=True).expected_error == {"s": None}
    with pytest.raises(Refused, match="depends on the answer"):
        session.spend_for("SELECT SUM(x) AS s FROM t", error=10, clipped=True)
    assert session.explain("SELECT SUM(x) AS s FROM t", spend=1, clipped=True).cheaper == ()


@pytest.mark.parametrize("clipped", [1, "yes", None, 0])
def test_it_is_asked_for_or_not(session: sf.Session, clipped: Any) -> None:
    with pytest.raises(UsageError, match="clipped is True or False"):
        session.ask("SELECT SUM(x) AS s FROM t", spend=1, clipped=clipped)
    assert session.history() == []


def test_discovered_keys_can_be_asked_with_it(tmp_path: Path) -> None:
    rows = {"who": range(900), "x": [70.0] * 900, "town": ["here"] * 900}
    with sf.protect(
        pa.table({name: list(values) for name, values in rows.items()}),
        table="t",
        unit=PERSON,
        columns={"x": sf.Float(0, 50), "town": sf.Text()},
        budget=sf.Budget(10**6, 1e-6),
        ledger=tmp_path / "t.ledger",
    ) as session:
        answer = session.ask("SELECT town, SUM(x) AS s FROM t GROUP BY town", spend=1000, clipped=True)
        (note,) = [note for note in answer.notes if "lie beyond the bounds of x" in note]
        assert note.startswith("here: ")
        assert abs(int(note.split()[1].replace(",", "")) - 900) < 30


def test_the_shell_has_it(tmp_path: Path, shell: Any) -> None:
    (tmp_path / "t.csv").write_text("who,x\n" + "".join(f"{who},{who % 100}\n" for who in range(500)))
    (tmp_path / "t.toml").write_text(
        '[data]\nsource = "t.csv"\n[unit]\nid = "who"\nmax_rows = 2\n[budget]\nepsilon = 10000\n'
        '[columns]\nx = { type = "int", lower = 0, upper = 49 }\n'
    )
    code, printed, _ = shell("ask", tmp_path / "t.toml", "SELECT SUM(x) AS s FROM t", "--spend", "1000", "--clipped")
    assert code == 0
    assert "250 (±0) rows that count lie beyond the bounds of x, 0 to 49." in printed
    code, printed, _ = shell("explain", tmp_path / "t.toml", "SELECT SUM(x) AS s FROM t", "--spend", "1", "--clipped")
    assert code == 0
    assert "people of whom something is cut off (for what was clipped)" in printed


@pytest.mark.parametrize("seed", range(3))
def test_bars_hold_noise_and_clipping_at_their_confidence(tmp_path: Path, seed: int) -> None:
    """Forty tables whose values exceed the bounds by less than is supposed: at 95 % nearly all bars hold the truth."""
    chance, held = np.random.default_rng(seed), 0
    for number in range(40):
        people = 300
        who = np.repeat(np.arange(people), chance.integers(1, 5, people))
        x = np.minimum(chance.exponential(25, len(who)), 90.0)
        rows = pa.table({"who": who, "x": x})
        ledger = tmp_path / f"{number}.ledger"
        with sf.protect(
            rows, table="t", unit=PERSON, columns={"x": sf.Float(0, 50)}, budget=sf.Budget(100), ledger=ledger
        ) as session:
            (row,) = session.ask(
                "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t", spend=3, clipped=True
            ).interval()
        truths = {"n": len(who), "s": x.sum(), "m": x.mean()}
        held += sum(low <= truths[name] <= high for name, (low, high) in row.items())
    assert held >= 110  # of 120
