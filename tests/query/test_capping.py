"""Caps of a question: at or below the owner's, in the plan, in the noise, in the ledger."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.answers import offers
from sfumato.errors import UsageError
from sfumato.kernel.certify import certify
from sfumato.plan.caps import Caps
from sfumato.query.capping import OWNERS, AskedCaps
from sfumato.query.planned import planned
from sfumato.schema.table import Schema
from tests.query.asking import COLUMNS, JOINED, RHO, Terms

PERSON = Schema("people", sf.Person("who", max_rows=6, max_groups=4), COLUMNS)
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
COUNT = "SELECT COUNT(*) AS n FROM people"


def plan(question: str, schema: Schema = PERSON, **caps: Any) -> Any:
    price = Terms(RHO).price(sf.Spend(1).epsilon)
    return planned(question, schema, price, caps=AskedCaps(**caps)).certified


@pytest.mark.parametrize(
    ("given", "caps"),
    [
        ({}, None),
        ({"max_rows": 6}, None),
        ({"max_rows": 6, "max_groups": 4, "max_rows_per_group": 6}, None),
        ({"max_rows": 1}, Caps(1, 1, 1)),
        ({"max_rows": 3}, Caps(3, 3, 3)),
        ({"max_rows_per_group": 2}, Caps(6, 4, 2)),
        ({"max_groups": 2}, Caps(6, 2, 6)),
        ({"max_rows": 2, "max_groups": 2, "max_rows_per_group": 1}, Caps(2, 2, 1)),
    ],
)
def test_caps_are_the_owners_unless_less_is_asked_for(given: dict[str, int], caps: Caps | None) -> None:
    assert plan(BY_SEX, **given).plan.caps == caps


def test_fewer_rows_need_less_noise_and_are_another_question() -> None:
    usual, one, each = plan(BY_SEX), plan(BY_SEX, max_rows=1), plan(BY_SEX, max_rows_per_group=1)
    squares = [found.releases[0].sensitivity.l2_squared for found in (usual, one, each)]
    assert squares == [36, 1, 2]  # two groups are declared
    assert len({found.digest for found in (usual, one, each)}) == 3
    assert plan(BY_SEX, max_rows=6).digest == usual.digest


@pytest.mark.parametrize(
    ("question", "schema", "given", "said"),
    [
        (COUNT, PERSON, {"max_rows": 7}, "max_rows is 7, and the owner allows 6"),
        (COUNT, PERSON, {"max_groups": 5}, "max_groups is 5, and the owner allows 4"),
        (COUNT, PERSON, {"max_rows_per_group": 7}, "max_rows_per_group is 7, and the owner allows 6"),
        (COUNT, PERSON, {"max_rows": 2, "max_groups": 3}, "max_groups is 3, and of a person 2 rows count in all"),
        (COUNT, PERSON, {"max_rows": 1, "max_groups": 2}, "max_groups is 2, and of a person 1 row counts in all"),
        (COUNT, PERSON, {"max_rows": 2, "max_rows_per_group": 3}, "max_rows_per_group is 3, and of a person 2 rows"),
        (COUNT, PERSON, {"max_rows": 0}, "max_rows must"),
        (COUNT, PERSON, {"max_groups": -1}, "max_groups must"),
        (COUNT, PERSON, {"max_rows": 1.5}, "max_rows must"),
        (COUNT, PERSON, {"max_rows": True}, "max_rows must"),
        (COUNT, PERSON, {"max_rows_per_group": "2"}, "max_rows_per_group must"),
        (COUNT, Schema("people", sf.Row(), COLUMNS), {"max_rows": 1}, "does not say whose its rows are"),
        (COUNT, Schema("people", sf.UpTo(3), COLUMNS), {"max_rows_per_group": 1}, "does not say whose its rows are"),
        (
            "SELECT AVG(k) AS m FROM (SELECT who, COUNT(*) AS k FROM people GROUP BY who) AS v",
            JOINED,
            {"max_rows": 1},
            "here everybody has one row",
        ),
    ],
)
def test_caps_that_cannot_be_are_refused_in_words(
    question: str, schema: Schema, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        plan(question, schema, **given)


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ({"max_row": 1}, 'a question takes no "max_row". Did you mean "max_rows"?', "max_rows_per_group"),
        ({"frsh": True}, 'takes no "frsh". Did you mean "fresh"?', "fresh"),
        ({"clipped": 1}, "clipped is True or False, and was given as int.", "max_rows"),
        ({"max_rows": 0}, "max_rows must be 1 or more, not 0.", "max_rows=1"),
    ],
)
def test_a_slip_is_refused_before_the_charge(hospital: sf.Session, given: dict[str, Any], said: str, hint: str) -> None:
    asked = (
        lambda: hospital.ask(COUNT, spend=1, **given),
        lambda: hospital.ask_all([COUNT], spend=1, **given),
        lambda: hospital.query().count("n").ask(spend=1, **given),
    )
    for ask in asked:
        with pytest.raises(UsageError) as refused:
            ask()
        assert said in refused.value.message
        assert hint in refused.value.hint
    assert hospital.history() == []


def test_a_slip_of_a_free_look_is_refused_with_its_own_arguments(hospital: sf.Session) -> None:
    with pytest.raises(UsageError, match='Did you mean "rows"'):
        hospital.explain(COUNT, spend=1, row=5)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match='Did you mean "confidence"'):
        hospital.spend_for(COUNT, error=5, confidenc=0.9)  # type: ignore[call-arg]


def test_none_given_is_none() -> None:
    assert AskedCaps() == AskedCaps(max_rows=None) == OWNERS
    with pytest.raises(TypeError):
        AskedCaps(max_row=1)  # type: ignore[call-arg]


# ---- through a session

Open = Callable[..., sf.Session]


@pytest.fixture
def hospital(tmp_path: Path) -> sf.Session:
    """Everybody has five rows, of which one in each of two wards and three in the third."""
    import pyarrow as pa

    people = range(2000)
    table = pa.table(
        {"who": [one for one in people for _ in range(5)], "ward": [ward for _ in people for ward in "abccc"]}
    )
    return sf.protect(
        table,
        table="visits",
        unit=sf.Person("who", max_rows=5, max_groups=3),
        columns={"ward": sf.Category(["a", "b", "c"])},
        budget=sf.Budget(10**6),
        ledger=tmp_path / "hospital.ledger",
    )


def counts(answer: sf.Answer) -> list[int]:
    return [round(row["n"], -1) for row in answer.rows]


def test_answers_count_what_the_caps_say(hospital: sf.Session) -> None:
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    assert counts(hospital.ask(question, spend=1000)) == [2000, 2000, 6000]
    assert counts(hospital.ask(question, spend=1000, max_rows_per_group=1)) == [2000, 2000, 2000]
    assert sum(counts(hospital.ask(question, spend=1000, max_rows=1))) == pytest.approx(2000, abs=15)  # rounded, each
    assert sum(counts(hospital.query().group_by("ward").count("n").ask(spend=1000, max_groups=2))) < 10_000


def test_the_ledger_tells_caps_apart_and_recalls_them(hospital: sf.Session) -> None:
    question = "SELECT COUNT(*) AS n FROM visits"
    usual, fewer = hospital.ask(question, spend=1), hospital.ask(question, spend=1, max_rows=1)
    assert not fewer.cached
    assert hospital.ask(question, spend=1, max_rows=1).rows == fewer.rows
    (recalled,) = hospital.recall(fewer.receipt)
    assert (recalled.rows, recalled.notes) == (fewer.rows, fewer.notes)
    assert hospital.recall(usual.receipt)[0].notes == usual.notes != fewer.notes
    assert "at most 1 row;" in fewer.notes[-1]
    assert "max_rows=1,\n" in fewer.script()
    assert "max_rows" not in usual.script().partition("session.ask")[2]
    assert hospital.spend_for(question, error=10, max_rows=1) < hospital.spend_for(question, error=10)


def test_explain_offers_what_needs_less_noise(hospital: sf.Session) -> None:
    told = hospital.explain("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", spend=1)
    assert [offer.partition(":")[0] for offer in told.cheaper] == ["--max-rows-per-group 1", "--max-rows 1"]
    errors = [float(offer.partition("±")[2].partition(" ")[0]) for offer in told.cheaper]
    assert told.expected_error["n"] > errors[0] > errors[1]
    assert told.to_dict()["cheaper"] == list(told.cheaper)
    assert "Cheaper:\n  --max-rows-per-group 1: one row of each person counts in each group; n ±" in str(told)
    fewer = hospital.explain("SELECT COUNT(*) AS n FROM visits", spend=1, max_rows=1)
    assert fewer.cheaper == ()
    assert fewer.expected_error["n"] == errors[1]


def test_an_answer_offers_what_needs_less_noise(hospital: sf.Session) -> None:
    """In the note, with what it means; it is never applied, and who has said what counts is left alone."""
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    answer = hospital.ask(question, spend=1)
    told = hospital.explain(question, spend=1)
    now, each, one = (told.expected_error["n"], *(_error(offer) for offer in told.cheaper))
    assert now > 2 * one
    in_each = f"another question in which one row of each person counts in each group: n ±{each:g} instead of ±{now:g}."
    assert [note for note in answer.notes if note.startswith("Less noise")] == [
        *([f"Less noise with max_rows_per_group=1 (--max-rows-per-group 1), {in_each}"] if now > 2 * each else []),
        "Less noise with max_rows=1 (--max-rows 1), another question in which one row of each person counts: "
        f"n ±{one:g} instead of ±{now:g}.",
    ]
    assert answer.to_dict()["notes"] == list(answer.notes)
    assert hospital.recall(answer.receipt)[0].notes == answer.notes
    assert not any("Less noise" in note for note in hospital.ask(question, spend=1, max_rows=2).notes)
    assert not any("Less noise" in note for note in hospital.ask(question, spend=1, max_rows=5, max_groups=2).notes)


def test_other_caps_are_certified_when_notes_are_looked_at(
    hospital: sf.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    certified = []

    def counted(*arguments: Any) -> Any:
        certified.append(arguments)
        return certify(*arguments)

    monkeypatch.setattr(offers, "certify", counted)
    answer = hospital.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", spend=1)
    assert answer.rows
    assert certified == []
    assert answer.notes == answer.notes
    assert len(certified) == 2  # each once


def _error(offer: str) -> float:
    return float(offer.partition("±")[2].partition(" ")[0].replace(",", ""))


def test_a_mean_is_offered_in_words(tmp_path: Path) -> None:
    three = ("default_max_rows = 2\nmax_rows_per_group = 2\n", "default_max_rows = 3\n")
    with clinic(tmp_path, three) as session:
        question = "SELECT AVG(chol) AS chol FROM labs"
        by_person = (
            "chol: AVG(chol) of each person in a sub-query (GROUP BY who), and AVG of that, is the mean of people's "
            "means, another question in which one row of each person counts"
        )
        assert session.explain(question, spend=1).cheaper == (
            "--max-rows 1: one row of each person counts; chol 3 times less, on the rows that count",
            by_person,
        )
        assert any(note.startswith(by_person) for note in session.ask(question, spend=1).notes)
        folded = "SELECT AVG(m) AS chol FROM (SELECT who, AVG(chol) AS m FROM labs GROUP BY who) AS p"
        assert session.explain(folded, spend=1).cheaper == ()
        assert not [note for note in session.ask(folded, spend=1).notes if "another question" in note]


def bars_in(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"±(\d+(?:\.\d+)?)", text)]


def close(one: float, other: float) -> bool:
    """As shown, with three digits."""
    return abs(one - other) <= 0.006 * other


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_the_bar_of_a_mean_that_is_offered_is_what_that_question_says(tmp_path: Path, delta: str) -> None:
    three = ("default_max_rows = 2\nmax_rows_per_group = 2\n", "default_max_rows = 3\n")
    with clinic(tmp_path, three, ("epsilon = 1000", f"epsilon = 1000\ndelta = {delta}")) as session:
        question = "SELECT AVG(chol) AS chol FROM labs"
        folded = "SELECT AVG(m) AS chol FROM (SELECT who, AVG(chol) AS m FROM labs GROUP BY who) AS p"
        told = session.explain(question, spend=1, rows=3000)
        fewer, by_person = map(bars_in, told.cheaper)
        for said, other, caps in ((fewer, question, {"max_rows": 1}), (by_person, folded, {})):
            best, worst, now = said
            assert close(now, told.expected_error["chol"] or 0)
            for bar, rows in ((best, 3000), (worst, 1000)):
                assert close(bar, session.explain(other, spend=1, rows=rows, **caps).expected_error["chol"] or 0)
        # Everybody has more than three rows, so that a third of them count: the farther end is met.
        answer, one = session.ask(question, spend=200), session.ask(question, spend=200, max_rows=1)
        (best, worst, now), (low, high) = bars_in(answer.notes[-2]), one.interval()[0]["chol"]
        assert "the more rows people have the wider" in answer.notes[-2]
        assert best < worst <= 1.05 * now
        assert worst == pytest.approx((high - low) / 2, rel=0.25)
        assert bars_in(answer.notes[-1])[1] == pytest.approx(worst, rel=0.01)
        grouped = session.ask("SELECT BIN(chol, 200) AS b, AVG(chol) AS chol FROM labs GROUP BY b", spend=200)
        assert not any("±" in note for note in grouped.notes if "another question" in note)


# ---- each table has its own

LABS = sf.Table("labs.csv", {"chol": sf.Int(0, 400)}, max_rows=513, max_groups=5, default_max_rows=60)
VISITS = sf.Table("visits.csv", {"day": sf.Int(1, 7)})
CLINIC = Schema("people", sf.Person("who", max_rows=1), COLUMNS, tables={"labs": LABS, "visits": VISITS})
BY_BIN = "SELECT COUNT(*) AS n FROM labs GROUP BY BIN(chol, 50)"
BOTH = "SELECT sex, AVG(chol) AS chol FROM people JOIN labs USING (who) GROUP BY sex"
COUNTED = "(SELECT who, COUNT(*) AS many FROM labs GROUP BY who) AS v"
FOLDED = f"SELECT AVG(v.many) AS many FROM people JOIN {COUNTED} USING (who)"


@pytest.mark.parametrize(
    ("question", "given", "caps"),
    [
        (COUNT, {}, Caps(1, 1, 1)),
        ("SELECT COUNT(*) AS n FROM visits", {}, Caps(1, 1, 1)),
        (BY_BIN, {}, Caps(60, 5, 60)),
        (BY_BIN, {"max_rows": 513}, Caps(513, 5, 513)),
        (BY_BIN, {"max_rows": 513, "max_rows_per_group": 2}, Caps(513, 5, 2)),
        (BY_BIN, {"max_rows": 3}, Caps(3, 3, 3)),
        (BOTH, {}, Caps(60, 2, 60)),  # two groups are declared
        (BOTH, {"max_rows": 100, "max_groups": 1}, Caps(100, 1, 100)),
        (FOLDED, {}, Caps(1, 1, 1)),
    ],
)
def test_every_table_has_its_default_and_a_join_the_larger(question: str, given: dict[str, int], caps: Caps) -> None:
    assert plan(question, CLINIC, **given).plan.capped == caps


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        (COUNT, {"max_rows": 2}, "max_rows is 2, and the owner allows 1"),
        (BY_BIN, {"max_rows": 514}, "max_rows is 514, and the owner allows 513"),
        (BY_BIN, {"max_groups": 6}, "max_groups is 6, and the owner allows 5"),
        (BY_BIN, {"max_rows_per_group": 61}, "max_rows_per_group is 61, and of a person 60 rows count in all"),
        (BOTH, {"max_rows": 514}, "max_rows is 514, and the owner allows 513"),
        (FOLDED, {"max_rows": 2}, "max_rows is 2, and the owner allows 1"),
    ],
)
def test_every_table_has_its_ceiling(question: str, given: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        plan(question, CLINIC, **given)
    assert error.value.hint


def test_a_questions_caps_are_of_the_outermost_rows_alone() -> None:
    """Folds and sides of joins keep what their tables allow."""
    usual, fewer = plan(BOTH, CLINIC).plan, plan(BOTH, CLINIC, max_rows=1).plan
    assert usual.table == fewer.table
    assert (usual.table.left_rows, usual.table.right_rows) == (1, 513)
    assert plan(FOLDED, CLINIC).plan.table.right.rows == 513
    wide = Schema("labs", sf.Person("who", max_rows=64, default_max_rows=2), LABS.columns)
    assert plan("SELECT COUNT(*) AS n FROM labs AS a JOIN labs AS b USING (who)", wide).plan.table.left_rows == 64


def test_a_ceiling_that_is_raised_makes_no_other_question() -> None:
    unit = sf.Person("who", max_rows=60, max_groups=20, default_max_rows=6, default_max_groups=4)
    higher = Schema("people", unit, COLUMNS)
    assert plan(BY_SEX, higher).digest == plan(BY_SEX).digest
    assert plan(BY_SEX, higher, max_rows=7).digest != plan(BY_SEX).digest


POLICY = """
[data]
source = "people.csv"
[unit]
id = "who"
max_rows = 1
[budget]
epsilon = 1000
[columns]
sex = { type = "category", values = ["f", "m"] }
[tables.labs]
source = "labs.csv"
max_rows = 3
default_max_rows = 2
max_rows_per_group = 2
[tables.labs.columns]
chol = { type = "int", lower = 0, upper = 400 }
"""


def clinic(folder: Path, *changes: tuple[str, str]) -> sf.Session:
    """Everybody twice among the people, and with five values."""
    if not (folder / "people.csv").exists():
        values = [f"{who},{who},{chol}\n" for who in range(100) for chol in range(5)]
        (folder / "people.csv").write_text("who,card,sex\n" + "".join(f"{who},{who},f\n" * 2 for who in range(100)))
        (folder / "labs.csv").write_text("who,card,chol\n" + "".join(values))
    text = POLICY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "clinic.toml").write_text(text, encoding="utf-8")
    return sf.open(folder / "clinic.toml")


def test_a_policy_caps_every_table_and_is_not_believed(tmp_path: Path) -> None:
    with clinic(tmp_path) as session:
        counted = [
            session.ask(question, spend=50, **given).rows[0]["n"]
            for question, given in (
                ("SELECT COUNT(*) AS n FROM people", {}),
                ("SELECT COUNT(*) AS n FROM labs", {}),
                ("SELECT COUNT(*) AS n FROM labs", {"max_rows": 1}),
                ("SELECT COUNT(*) AS n FROM labs", {"max_rows": 3}),  # of which two count in a group
                ("SELECT COUNT(*) AS n FROM people JOIN labs USING (who)", {}),
            )
        ]
    assert counted == pytest.approx([100, 200, 100, 200, 200], abs=2)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("default_max_rows = 2", "default_max_rows = 4", r"\[tables.labs\]: default_max_rows=4 is above max_rows=3"),
        ("max_rows = 3\ndefault_max_rows = 2", "default_max_rows = 2", r"\[tables.labs\]: a table has .* no max_rows"),
        ("max_rows = 3", "max_rows = 2.5", r"\[tables.labs\]: max_rows must be a whole number"),
        ("max_rows = 3", "max_row = 3", r'\[tables.labs\] does not know "max_row". Did you mean "max_rows"'),
        ("max_rows = 1", "max_rows = 1\nmax_rows_per_group = 2", r"\[unit\]: max_rows_per_group=2 is above max_rows=1"),
    ],
)
def test_caps_that_a_policy_cannot_have(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        clinic(tmp_path, (old, new))


def test_caps_may_change_under_a_ledger_and_the_id_may_not(tmp_path: Path) -> None:
    question = "SELECT COUNT(*) AS n FROM labs"
    with clinic(tmp_path) as session:
        first = session.ask(question, spend=1)
    with clinic(tmp_path, ("max_rows = 3", "max_rows = 9"), ("max_rows = 1", "max_rows = 4")) as session:
        assert session.ask(question, spend=1).cached  # what counts is the same
    with clinic(tmp_path, ("default_max_rows = 2", "default_max_rows = 1")) as session:
        fewer = session.ask(question, spend=1)
        assert not fewer.cached
        assert len(session.history()) == 2
        (again,) = session.recall(first.receipt)
        assert (again.rows, again.notes, again.unit) == (first.rows, first.notes, first.unit)
        assert first.unit == "person (who: at most 2 rows in 1 group)"
        assert fewer.unit == "person (who: at most 1 row in 1 group)"
    with pytest.raises(UsageError, match="the unit"):
        clinic(tmp_path, ('id = "who"', 'id = "card"'))


# ---- bad input, before anything is paid

BAD: list[tuple[dict[str, Any], str]] = [
    ({"max_rows": 0}, "max_rows must be 1 or more"),
    ({"max_rows": -3}, "max_rows must be 1 or more"),
    ({"max_groups": 0}, "max_groups must be 1 or more"),
    ({"max_rows_per_group": 0}, "max_rows_per_group must be 1 or more"),
    ({"max_rows": 1.0}, "max_rows must be a whole number"),
    ({"max_groups": "2"}, "max_groups must be a whole number"),
    ({"max_rows_per_group": True}, "max_rows_per_group must be a whole number"),
    ({"max_rows": float("nan")}, "max_rows must be a whole number"),
    ({"max_rows": 6}, "the owner allows 5"),
    ({"max_rows": 10**400}, "the owner allows 5"),
    ({"max_groups": 4}, "the owner allows 3"),
    ({"max_rows_per_group": 6}, "the owner allows 5"),
    ({"max_rows": 2, "max_groups": 3}, "max_groups is 3, and of a person 2 rows count in all"),
    ({"max_rows": 2, "max_rows_per_group": 3}, "max_rows_per_group is 3, and of a person 2 rows count in all"),
]


@pytest.mark.parametrize(("given", "said"), BAD)
def test_bad_caps_are_refused_in_words_and_nothing_is_paid(
    hospital: sf.Session, given: dict[str, Any], said: str
) -> None:
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    for ask in (
        lambda: hospital.ask(question, spend=1, **given),
        lambda: hospital.ask_all([question], spend=1, **given),
        lambda: hospital.explain(question, spend=1, **given),
        lambda: hospital.spend_for(question, error=10, **given),
        lambda: hospital.query().group_by("ward").count("n").ask(spend=1, **given),
    ):
        with pytest.raises(UsageError, match=said) as error:
            ask()
        assert error.value.hint
    assert hospital.history() == []


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--max-rows", "0"], "max_rows must be 1 or more"),
        (["--max-rows", "7"], "the owner allows 3"),
        (["--max-rows", "1", "--max-groups", "2"], "the owner allows 1"),
        (["--max-rows", "one"], "--max-rows"),
        (["--max-rows-per-group", "1.5"], "--max-rows-per-group"),
        (["--max-groups", "-1"], "max_groups must be 1 or more"),
    ],
)
def test_bad_caps_in_the_shell(tmp_path: Path, shell: Any, typed: list[str], said: str) -> None:
    clinic(tmp_path).close()
    policy = str(tmp_path / "clinic.toml")
    code, printed, error = shell("ask", policy, "SELECT COUNT(*) AS n FROM labs", "--spend", "1", *typed)
    assert (code, printed) == (2, "")
    assert said in error
    with sf.open(policy) as session:
        assert session.history() == []
