"""Views of several analysts on one table, their histories a page at a time, and what they are told of failures."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import sfumato as sf
from sfumato import errors
from sfumato.engines import wordings as of_engines
from sfumato.errors import DataUnreadable, EngineFailed, LedgerDamaged, Refused, SfumatoError, Unavailable, UsageError
from sfumato.kernel import wordings as of_the_kernel
from sfumato.ledger import wordings as of_the_ledger
from sfumato.schema import wordings as of_declarations

Open = Callable[..., sf.Session]
COUNT = "SELECT COUNT(*) AS n FROM people"


# ---- as_analyst


def test_a_view_is_charged_for_itself_and_shares_the_rest(open_crowd: Open) -> None:
    session = open_crowd(analyst="owner")
    ada, bob = session.as_analyst("ada"), session.as_analyst("bob")
    first = ada.ask(COUNT, spend=0.5)
    assert not bob.ask(COUNT, spend=0.5).cached
    assert [charge.analyst for charge in session._ledger.history()] == ["ada", "bob"]
    assert [charge.analyst for charge in ada.history()] == ["ada"]
    assert session.history() == []
    assert session.budget.spent.epsilon == ada.budget.spent.epsilon == 1
    assert ada._engine is session._engine
    assert ada._ledger is session._ledger
    assert (ada.analyst, session.analyst) == ("ada", "owner")
    assert ada.recall(first.receipt)[0].rows == first.rows
    with pytest.raises(UsageError, match="no answer of yours"):
        bob.recall(first.receipt)


def test_the_limit_of_an_analyst_holds_for_the_view(open_crowd: Open) -> None:
    session = open_crowd()
    session._ledger.limit_analyst("ada", sf.Budget(1).epsilon)
    assert session.as_analyst("ada").questions_left(0.25) == 4
    assert session.as_analyst("bob").questions_left(0.25) == 12


def test_closing_a_view_closes_nothing_and_closing_the_session_all(open_crowd: Open) -> None:
    session = open_crowd()
    with session.as_analyst("ada") as ada, ada.as_analyst("bob") as bob:
        bob.ask(COUNT, spend=0.5)
    assert ada.ask(COUNT, spend=0.5).rows
    assert session.ask(COUNT, spend=0.5).rows
    other = session.as_analyst("eve")
    session.close()
    with pytest.raises(UsageError, match="closed"):
        other.ask(COUNT, spend=0.25)


@pytest.mark.parametrize("name", ["", " ada", "a\nb", "ａda", 7, None])
def test_names_are_checked_as_elsewhere(open_crowd: Open, name: Any) -> None:
    with pytest.raises(UsageError):
        open_crowd().as_analyst(name)


def test_a_script_opens_the_view_or_says_what_it_was_told_to(policy: Path) -> None:
    with sf.open(policy) as session:
        own = session.as_analyst("ada").ask(COUNT, spend=0.5).script()
        assert f"sf.open({str(policy)!r}, analyst='ada')" in own.replace("PosixPath", "")
        told = session.as_analyst("ada", opening='sf.open("town.toml")').ask(COUNT, spend=0.5)
        assert 'with sf.open("town.toml") as session:' in told.script()
        assert str(policy.parent) not in told.script()
        for opening in (7, object()):
            with pytest.raises(UsageError, match="opening"):
                session.as_analyst("ada", opening=opening)  # type: ignore[arg-type]


# ---- histories, a page at a time


def test_a_history_is_read_a_page_at_a_time(open_crowd: Open) -> None:
    session = open_crowd(budget=sf.Budget(100))
    ada = session.as_analyst("ada")
    for number in range(7):
        (ada if number % 2 else session).ask(f"{COUNT} WHERE age > {17 + number}", spend=0.5)
    everything = session.history()
    assert len(everything) == 4
    assert session.history(limit=2) == everything[2:]
    assert session.history(limit=20) == everything
    assert session.history(before=everything[2].entry, limit=2) == everything[:2]
    assert session.history(before=everything[2].entry) == everything[:2]
    assert session.history(before=1) == []
    assert [charge.analyst for charge in ada.history(limit=1)] == ["ada"]
    for wrong in ({"limit": 0}, {"limit": 1.5}, {"before": 0}, {"before": "7"}):
        with pytest.raises(UsageError):
            session.history(**wrong)


def test_what_a_reader_makes_of_a_page_is_theirs_alone(open_crowd: Open) -> None:
    session = open_crowd()
    session.ask(COUNT, spend=0.5)
    before = str(session.history())
    session.history()[0].releases[0]["mechanism"] = "forged"
    session.as_analyst(session.analyst).history()[0].releases[0].clear()
    assert str(session.history()) == str(session._ledger.history()) == before


def test_the_owner_pages_through_everybodys(shell: Any, policy: Path) -> None:
    with sf.open(policy) as session:
        for name in ("ada", "bob", "ada"):
            session.as_analyst(name).ask(COUNT, spend=0.5, fresh=True)
    with sf.Protected.open(policy) as owned:
        every = owned.history()
        assert [charge.analyst for charge in every] == ["ada", "bob", "ada"]
        assert owned.history(limit=1) == every[2:]
        assert owned.history("ada", before=every[2].entry) == every[:1]
    _, out, _ = shell("history", policy, "--analyst=ada", "--limit=1", "--format=csv")
    assert [line.split(",")[2] for line in out.splitlines()[1:]] == ["ada"]
    _, out, _ = shell("history", policy, f"--before={every[1].entry}", "--format=csv")
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == [str(every[0].entry)]


# ---- what an analyst elsewhere is told

PLACE = "somewhere/secret/people"


def unavailable() -> list[SfumatoError]:
    """Every failure of data and ledger, rendered with a place wherever a text may stand."""
    made = []
    for module in (errors, of_engines, of_declarations, of_the_ledger, of_the_kernel):
        for function in vars(module).values():
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                hints = get_type_hints(function)
                kind = hints.pop("return", None)
                if isinstance(kind, type) and issubclass(kind, Unavailable):
                    made.append(function(*(7 if hint is int else [PLACE] if hint is not str else PLACE
                                           for hint in hints.values())))  # fmt: skip
    return made


def test_no_failure_tells_analysts_of_places() -> None:
    told = unavailable()
    assert len(told) > 30
    assert sum(PLACE in str(error) for error in told) > 20
    for error in told:
        said = error.for_analysts()
        assert type(said) is type(error)
        assert PLACE not in str(said)
        assert said.exit_code == error.exit_code
        assert (said.__cause__, said.__context__) == (None, None)
    assert len({str(error.for_analysts()) for error in told if isinstance(error, LedgerDamaged)}) == 1
    assert len({str(error.for_analysts()) for error in told if isinstance(error, DataUnreadable)}) == 1


def test_what_is_no_matter_of_the_owner_is_told_as_it_is() -> None:
    for error in (Refused("a.", "b."), UsageError("a.", "b."), EngineFailed("a.", "b.")):
        assert error.for_analysts() is error
