"""Mechanisms that an owner switches off: refused before anything is paid, and what was paid before stays free."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import door
from sfumato.errors import Refused, UsageError
from sfumato.kernel.certify import certify
from sfumato.kernel.cost import Cost
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.gate import Receipt, release
from sfumato.kernel.wordings import SWITCHED_OFF, mechanism_switched_off
from sfumato.ledger.payment import Draw, Sealing
from sfumato.plan.expressions import Column
from sfumato.plan.nodes import Choose, ListedKey, Measure, Plan, Question, RangeKey
from sfumato.schema.allow import FAMILIES, check_allowed

QUESTIONS = {
    "additive": "SELECT COUNT(*) AS n FROM data",
    "keys": "SELECT town, COUNT(*) AS n FROM data GROUP BY town",
    "ranks": "SELECT MEDIAN(age) AS m FROM data",
    "choice": "SELECT MODE(sex) AS m FROM data",
    "found_bounds": "SELECT SUM(debt) AS s FROM data",
    "running": "SELECT CDF(age, 8) AS c FROM data",
}
COLUMNS = {
    "age": sf.Int(17, 90),
    "sex": sf.Category(["f", "m"]),
    "town": sf.Text(),
    "debt": sf.Int(private_bounds=0.1),
}
SPEND = 0.2


def opened(folder: Path, allow: Any = None) -> sf.Session:
    folder.mkdir(exist_ok=True)
    ages = np.arange(400) % 60 + 20
    table = pa.table(
        {"age": ages, "sex": ["f", "m"] * 200, "town": ["here"] * 400, "debt": pa.array(ages * 3, pa.int64())}
    )
    budget = sf.Budget(epsilon=3, delta=1e-6)
    return sf.protect(
        table, unit=sf.Row(), columns=COLUMNS, budget=budget, ledger=folder / "data.ledger", version="1", allow=allow
    )


def without(*families: str) -> list[str]:
    return [family for family in FAMILIES if family not in families]


def test_there_is_a_question_and_a_wording_for_every_family() -> None:
    assert (*QUESTIONS, "splits") == FAMILIES
    assert set(FAMILIES) == set(SWITCHED_OFF)
    for family in FAMILIES:
        said = str(mechanism_switched_off(family))
        assert f"({family}) off" in said
        assert "[allow] mechanisms" in said


@pytest.mark.parametrize("family", QUESTIONS)
def test_what_is_switched_off_is_refused_and_costs_nothing(family: str, tmp_path: Path) -> None:
    with opened(tmp_path, without(family)) as session:
        with pytest.raises(Refused, match=rf"switched .*\({family}\) off"):
            session.ask(QUESTIONS[family], spend=SPEND)
        assert session.history() == []
        for other in QUESTIONS:
            # A count is part of questions that discover keys.
            if other != family and (family, other) != ("additive", "keys"):
                session.ask(QUESTIONS[other], spend=SPEND)
        assert len(session.history()) == 5 - (family == "additive")


def test_a_learner_is_not_given_what_is_switched_off(tmp_path: Path) -> None:
    """No text asks for a choice among questions: what is drawn from an envelope is refused all the same."""
    by_sex, old = ListedKey(Column("sex"), ("f", "m")), RangeKey(Column("age"), 17, 90)
    asked = Choose((by_sex,), old, (Question(0, (0, 1)),))
    plan = Plan("data", sf.Row(), None, (), (Measure(asked, "exponential", Fraction(1, 10**6)),))
    for allow, entries in ((without("splits"), 2), (None, 4)):
        with opened(tmp_path / str(entries), allow) as session:
            ledger, engine = session._ledger, session._engine
            cost = Cost("rho", Fraction(1, 1000))
            sealed = ledger.seal(Sealing("{}", session.analyst, Fraction(1, 5), cost, engine.version()))
            certified = certify(plan, session.schema, "rho")
            draw = Draw((certified,), session.analyst, sealed.entry, 1, engine.version())
            if allow is None:
                assert door.answer(ledger, draw, engine, SystemEntropy()).releases[0].values == ((0,),)
            else:
                with pytest.raises(Refused, match=r"\(splits\) off"):
                    door.answer(ledger, draw, engine, SystemEntropy())
            assert len(list(ledger.records.chain.entries())) == entries


@pytest.mark.parametrize("family", QUESTIONS)
def test_what_was_answered_before_stays_free(family: str, tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        before = session.ask(QUESTIONS[family], spend=SPEND)
    with opened(tmp_path, without(family)) as session:
        again = session.ask(QUESTIONS[family], spend=SPEND)
        assert (again.rows, again.cached) == (before.rows, True)
        with pytest.raises(Refused, match="switched"):
            session.ask(QUESTIONS[family], spend=SPEND, fresh=True)
        with pytest.raises(Refused, match="switched"):
            session.ask(QUESTIONS[family], spend=SPEND / 2)
        assert len(session.history()) == 1


def test_an_explanation_says_so_beforehand(tmp_path: Path) -> None:
    with opened(tmp_path, ["additive"]) as session:
        told = session.explain(QUESTIONS["ranks"], spend=SPEND)
        assert "Refused:  the owner has switched choosing quantiles" in str(told)
        assert "(ranks) off" in told.to_dict()["refused"]
        assert "Refused" not in str(session.explain(QUESTIONS["additive"], spend=SPEND))


def test_several_questions_are_refused_for_one_of_them(tmp_path: Path) -> None:
    with opened(tmp_path, ["additive"]) as session:
        with pytest.raises(Refused, match="rank"):
            session.ask_all([QUESTIONS["additive"], QUESTIONS["ranks"]], spend=SPEND)
        assert session.history() == []


def test_a_charge_from_before_is_not_drawn_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process died after it had paid. The owner has reasons: nothing new comes from the mechanism."""

    def dies(*_: Any) -> Any:
        raise KeyboardInterrupt

    with opened(tmp_path) as session:
        monkeypatch.setattr("sfumato.door.look_at_all", dies)
        with pytest.raises(KeyboardInterrupt):
            session.ask(QUESTIONS["ranks"], spend=SPEND)
        monkeypatch.undo()
    with opened(tmp_path, without("ranks")) as session, pytest.raises(Refused, match="switched"):
        session.ask(QUESTIONS["ranks"], spend=SPEND)
    with opened(tmp_path) as session:
        assert session.ask(QUESTIONS["ranks"], spend=SPEND).rows
        assert len(session.history()) == 1


def test_the_gate_stays_shut_whoever_has_a_receipt(tmp_path: Path) -> None:
    with opened(tmp_path, without("additive")) as session:
        certified = session._prepare(QUESTIONS["additive"], SPEND).planned[0].certified
        with pytest.raises(Refused, match="switched"):
            release(certified, Receipt(1, certified.digest), [(400,)], session._entropy)


def test_a_scan_of_bounds_obeys_too(tmp_path: Path) -> None:
    """It takes running totals where these are allowed, and else cells."""
    with opened(tmp_path, ["ranks"]) as session, pytest.raises(Refused, match="switched"):
        session.bounds("age", spend=SPEND)


def test_a_script_opens_the_table_with_what_was_allowed(tmp_path: Path) -> None:
    with opened(tmp_path, ["additive", "ranks"]) as session:
        assert "allow=['additive', 'ranks']" in session.ask(QUESTIONS["additive"], spend=SPEND).script()
    with opened(tmp_path) as session:
        assert "allow" not in session.ask(QUESTIONS["additive"], spend=SPEND).script()


@pytest.mark.parametrize("given", ["ranks", 5, [], [5], ["rank"], {"ranks": 1, "x": 2}])
def test_what_names_no_mechanism_is_refused(given: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        opened(tmp_path, given)
    with pytest.raises(UsageError, match='Did you mean "ranks"'):
        check_allowed(["rank"])
    assert not (tmp_path / "data.ledger").exists()


def policy(folder: Path, lines: str) -> Path:
    (folder / "data.csv").write_text("age\n30\n40\n")
    path = folder / "data.toml"
    path.write_text(
        f'[data]\nsource = "data.csv"\n[unit]\nkind = "row"\n[budget]\nepsilon = 3\n{lines}\n'
        "[columns]\nage = { type = 'int', lower = 17, upper = 90 }\n"
    )
    return path


def test_a_policy_names_what_is_allowed(tmp_path: Path) -> None:
    with sf.open(policy(tmp_path, '[allow]\nmechanisms = ["additive"]')) as session:
        assert session.schema.allow == {"additive"}
        assert session.ask("SELECT COUNT(*) AS n FROM data", spend=1).rows
        with pytest.raises(Refused, match="HISTOGRAM and CDF"):
            session.ask("SELECT MEDIAN(age) AS m FROM data", spend=1)
    with sf.open(policy(tmp_path, "")) as session:
        assert session.schema.allow == set(FAMILIES)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('[allow]\nmechanisms = ["rank"]', 'Did you mean "ranks"'),
        ('[allow]\nmechanisms = "ranks"', "a list"),
        ("[allow]\nmechanisms = []", "one mechanism or more"),
        ("[allow]\nmechanisms = [3]", 'no mechanism "3"'),
        ('[allow]\nmechanism = ["ranks"]', 'Did you mean "mechanisms"'),
        ('allow = ["ranks"]', "budget"),
    ],
)
def test_a_policy_is_read_strictly(lines: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        sf.open(policy(tmp_path, lines))
