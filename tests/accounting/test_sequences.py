"""Two hundred adaptively chosen sequences against numbers of an independent accountant (see peer.py)."""

import json
from itertools import pairwise

import pytest

from sfumato.accounting import PureFilter, ZcdpFilter, compose
from sfumato.accounting.events import event
from sfumato.kernel.cost import epsilon_for
from sfumato.schema.budget import Budget
from sfumato.schema.numbers import exact
from tests.accounting.peer import COUNT, SEQUENCES

CASES = json.loads(SEQUENCES.read_text(encoding="utf-8"))


def test_the_numbers_are_all_there() -> None:
    assert len(CASES) == COUNT
    assert all(0 <= case["optimistic"] <= case["pessimistic"] for case in CASES)


@pytest.mark.parametrize("part", range(20))
def test_the_report_lies_between_the_peers_estimates(part: int) -> None:
    """Never below its optimistic estimate, and never noticeably above its pessimistic one (1.05 is allowed)."""
    for case in CASES[part::20]:
        bounds = compose([tuple(given[:-1]) for given in case["events"]], case["delta"])
        assert case["optimistic"] <= bounds.epsilon, case
        assert bounds.epsilon <= case["pessimistic"] + 1e-6, case
        for name in ("sequential", "advanced", "zcdp", "rdp", "pld"):
            assert getattr(bounds, name) >= case["optimistic"], (name, case)


@pytest.mark.parametrize("place", [3, 57, 111])
def test_the_report_grows_with_every_mechanism(place: int) -> None:
    case = next(case for case in CASES[place:] if 5 <= len(case["events"]) <= 20)
    events = [tuple(given[:-1]) for given in case["events"]]
    prices = [compose(events[: length + 1], case["delta"]).epsilon for length in range(len(events))]
    assert all(before <= after * (1 + 1e-6) for before, after in pairwise(prices))


def test_filters_charge_at_least_what_was_lost() -> None:
    for case in CASES:
        delta = exact(case["delta"], "delta")
        pure, zcdp = PureFilter(10**6), ZcdpFilter(Budget(10**6, case["delta"]))
        for given in case["events"]:
            released = event(tuple(given[:-1]))
            zcdp = zcdp.grant(released.rho)
            if released.epsilon is not None:
                pure = pure.grant(released.epsilon)
        assert float(epsilon_for(zcdp.spent, delta)) >= case["optimistic"]
        if all(given[0] != "gaussian" for given in case["events"]):
            assert pure.spent >= case["optimistic"]
