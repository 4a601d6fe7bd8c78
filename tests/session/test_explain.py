"""Explaining touches neither data nor budget, and promises what asking then does."""

import json
from collections.abc import Callable

import pytest

import sfumato as sf
from sfumato.errors import Refused

Open = Callable[..., sf.Session]
QUESTION = "SELECT sex, COUNT(*) AS n, SUM(age) AS years, AVG(income) AS income FROM people GROUP BY sex"


@pytest.fixture
def blind(open_crowd: Open, monkeypatch: pytest.MonkeyPatch) -> sf.Session:
    """A session that can neither look at its data nor pay."""
    session = open_crowd()

    def never(*_: object, **__: object) -> None:
        pytest.fail("explain must not do that")

    monkeypatch.setattr(session, "_engine", None)
    for name in ("charge", "store", "balance"):
        monkeypatch.setattr(session._ledger, name, never)
    return session


def test_it_touches_neither_data_nor_ledger(blind: sf.Session) -> None:
    before = blind._ledger.verify()
    explanation = blind.explain(QUESTION, spend=0.5)
    assert explanation.groups == 2
    assert blind._ledger.verify() == before == 1
    assert blind.history() == []


def test_it_explains_what_nobody_could_pay(blind: sf.Session) -> None:
    assert blind.explain(QUESTION, spend=1000).cost.epsilon == 1000


def test_it_shows_every_release_with_its_sensitivity_and_rule(blind: sf.Session) -> None:
    steps = blind.explain(QUESTION, spend=0.5).steps
    assert [step.measures for step in steps] == [
        "number of rows (for n)",
        "sum of clamped values (for years)",
        "sum of clamped values around the centre of their bounds (for income)",
        "number of values (for income)",
    ]
    assert [step.sensitivity for step in steps[:2]] == [2, 180]
    assert steps[0].rule == "one person adds at most 2 rows, each at most 1"
    assert sum(step.share for step in steps) == pytest.approx(1)
    assert steps[0].event == {"mechanism": "discrete_laplace", "scale": "12", "sensitivity": "2"}


def test_it_promises_what_asking_does(open_crowd: Open) -> None:
    session = open_crowd()
    explanation, answer = session.explain(QUESTION, spend=0.5), session.ask(QUESTION, spend=0.5)
    charge = session.history()[0]
    assert explanation.digest == charge.digest
    assert [step.event for step in explanation.steps] == list(charge.releases)
    assert (explanation.cost, explanation.unit) == (answer.cost, answer.unit)
    for row, interval in zip(answer.rows, answer.interval(), strict=True):
        for name in ("n", "years"):
            error = explanation.expected_error[name]
            assert interval[name] == (row[name] - error, row[name] + error)
    assert explanation.expected_error["income"] is None


def test_it_reads_as_text_and_as_json(blind: sf.Session) -> None:
    explanation = blind.explain(QUESTION, spend=0.5)
    text = str(explanation)
    for part in ("Question: SELECT", "Protects: one person", "Costs:    epsilon 0.5", "Error bars (95 %):", "SQL:"):
        assert part in text
    said = json.loads(json.dumps(explanation.to_dict()))
    assert list(said) == [
        *("question", "unit", "groups", "keys", "cost", "price", "refused", "steps", "expected_error"),
        *("confidence", "rows", "supposed", "supposing", "notes", "cheaper", "without_delta", "sql", "digest"),
    ]
    assert said["sql"] not in text
    assert explanation.as_text(sql=True).endswith(f"SQL:\n{said['sql']}")


def test_it_says_what_a_budget_without_delta_would_do(open_crowd: Open) -> None:
    """The same numbers as a ledger without delta gives; nothing where Gaussian noise is smaller, or keys are open."""
    count, many = "SELECT COUNT(*) AS n FROM people", ", ".join(f"SUM(age + {i}) AS s{i}" for i in range(18))
    with_delta = open_crowd(budget=sf.Budget(3, 1e-6)).explain(count, spend=0.5, max_rows=1)
    without = open_crowd(budget=sf.Budget(3)).explain(count, spend=0.5, max_rows=1)
    assert without.without_delta == {}
    assert with_delta.without_delta == without.expected_error
    assert f"with delta = 0 in the policy: ±{without.expected_error['n']:.6g}," in str(with_delta)
    several = open_crowd(budget=sf.Budget(3, 1e-6)).explain(f"SELECT {many} FROM people", spend=0.5)
    assert several.without_delta == {}


def test_it_refuses_what_asking_refuses(blind: sf.Session) -> None:
    with pytest.raises(Refused, match='Did you mean "income"'):
        blind.explain("SELECT AVG(incom) AS a FROM people", spend=0.5)
