"""No attack without both halves: it works where nothing protects, and a session holds it to what epsilon promises."""

from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.attacks.baseline import luck
from sfumato.attacks.shows import ABOUT, NEEDS, SHOWS
from sfumato.attacks.shows.sampling import ANSWERS
from sfumato.attacks.shows.scene import BARE, Role
from sfumato.session import Session

# The least share of hits on the bare table, and on the older release or desk that does worst against the attack.
TARGETS = {
    "linking": (0.50, 0.28),
    "differencing": (1.0, 1.0),
    "averaging": (1.0, 0.85),
    "tracker": (1.0, 1.0),
    "reconstruction": (1.0, 0.95),
    "marginals": (0.50, 0.45),
    "homogeneity": (0.40, 0.09),
    "background_knowledge": (0.70, 0.43),
    "skewness": (0.75, 0.65),
    "intersection": (0.38, 0.36),
    "known_sample": (1.0, 0.99),
    "known_distribution": (0.98, 0.98),
    "denoise_additive": (1.0, 0.70),
    "denoise_multiplicative": (1.0, 0.70),
    "input_output": (0.99, 0.65),
    "membership": (0.85, 0.75),
    "floating_point": (1.0, 0.98),
    "timing": (1.0, 0.80),
}
# What one answer promises counts here: each attempt sees one answer, about a table of its own.
BY_ANSWER = {"timing": 2 * ANSWERS}


def test_every_attack_has_its_figures() -> None:
    assert list(SHOWS) == list(TARGETS) == list(ABOUT)
    helpers = {"demonstrate", "looping_geometric", "session_desk", "table_desk", "textbook_laplace"}
    assert set(SHOWS) == {name for name in sf.attacks.__all__ if name.islower()} - helpers


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Session, Fraction]]:
    """What each session was paid, while everything runs as ever."""
    paid: list[tuple[Session, Fraction]] = []
    ask = Session.ask

    def recorded(self: Session, question: str, **options: Any) -> Any:
        answer = ask(self, question, **options)
        paid.append((self, Fraction(options["spend"])))
        return answer

    monkeypatch.setattr(Session, "ask", recorded)
    return paid


@pytest.mark.parametrize("name", list(SHOWS))
def test_it_works_before_and_a_session_holds_it_after(name: str, asked: list[tuple[Session, Fraction]]) -> None:
    shown = sf.attacks.demonstrate(name, epsilon=1)
    bare, older, private = shown.cases[0], shown.cases[1:-1], shown.cases[-1]
    assert bare.protection.startswith(BARE)
    assert bare.works
    assert bare.result.success >= TARGETS[name][0]
    assert any(case.works and case.result.success >= TARGETS[name][1] for case in older)
    assert private.protection.startswith("a session, epsilon 1")
    assert private.result.bound is not None
    assert private.result.bound < 1
    assert not private.works
    assert private.result.success <= private.result.bound + luck(private.result.bound, private.result.attempts)
    assert private.result.success < bare.result.success
    sessions = {id(session) for session, _ in asked}
    # Timing asks about two neighbouring tables; others ask about a table without the people who are held out.
    assert len(sessions) == (2 if name in BY_ANSWER or Role.quasi in NEEDS.get(name, ()) else 1)
    for each in sessions:
        assert sum(spend for session, spend in asked if id(session) == each) <= BY_ANSWER.get(name, 1)


@pytest.mark.parametrize("name", ["linking", "marginals", "known_sample", "membership", "floating_point"])
def test_the_bound_follows_epsilon(name: str) -> None:
    bounds = [sf.attacks.demonstrate(name, epsilon=epsilon).cases[-1].result for epsilon in (0.1, 3)]
    assert bounds[0].chance - 0.05 <= bounds[0].bound < bounds[1].bound
