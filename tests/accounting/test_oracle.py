"""L9: dp-accounting, run beside us. It is in the group dev, and nothing here is skipped without it."""

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb, exp
from typing import Any

import dp_accounting
import pytest
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

from sfumato.accounting import compose, gaussian_sigma
from sfumato.accounting.events import plan
from sfumato.accounting.losses import losses
from sfumato.accounting.pld import delta_of
from tests.accounting.peer import COUNT, LONGEST, SEQUENCES, adaptive, peer_epsilon, peer_law
from tests.marks import one_in

FIRST = 1000  # seeds apart from those whose numbers are kept in sequences.json
STEP = 1e-3  # of the peer's grid: coarse, and coarser for long sequences, because it must be quick
PARTS = 10

CASES = {
    "laplace": [["laplace", 0.1, 100]],
    "laplace, large": [["laplace", 1.5, 20]],
    "gaussian": [["gaussian", 7, 64]],
    "laplace and gaussian": [["laplace", 0.1, 50], ["gaussian", 10, 50]],
    "several of each": [["laplace", 0.05, 30], ["laplace", 0.2, 10], ["gaussian", 20, 30], ["gaussian", 4, 5]],
    "whole numbers": [["geometric", 0.2, 3, 8]],
    "one coin": [["randomised_response", 0.7, 1]],
}


def ours(events: Sequence[Sequence[Any]], delta: float) -> float:
    return compose([tuple(given[:-1]) for given in events], delta).epsilon


@lru_cache
def peer(seed: int) -> tuple[float, float]:
    """Its optimistic and its pessimistic estimate."""
    case = adaptive(seed)
    step = STEP if len(case["events"]) < 50 else 2 * STEP
    low, high = (peer_epsilon(case["events"], case["delta"], pessimistic=side, step=step) for side in (False, True))
    return low, high


# ---- two hundred sequences that an analyst could have chosen


@pytest.mark.parametrize("part", one_in(5, range(PARTS)))
def test_l9_the_report_lies_between_the_peers_estimates_and_grows(part: int) -> None:
    for seed in range(FIRST + part, FIRST + COUNT, PARTS):
        case = adaptive(seed)
        events, delta = case["events"], case["delta"]
        assert len(events) <= LONGEST
        reported = ours(events, delta)
        low, high = peer(seed)
        # The peer sums its probabilities in doubles, as we do: the last three digits belong to nobody.
        assert low <= reported * (1 + 1e-12), seed
        assert reported <= 1.05 * high, seed
        lengths = sorted({len(events) // 2, len(events) - 1} - {0})
        grown = [*(ours(events[:length], delta) for length in lengths), reported]
        assert all(before <= after for before, after in pairwise(grown)), (seed, grown)


def test_l9_there_are_two_hundred_of_all_lengths() -> None:
    lengths = [len(adaptive(seed)["events"]) for seed in range(FIRST, FIRST + COUNT)]
    assert len(lengths) == COUNT == 200
    assert (min(lengths), max(lengths)) == (1, LONGEST) == (1, 100)


@pytest.mark.parametrize("factor", [0.99, 1.06])
def test_l9_a_twin_that_is_off_by_a_few_percent_is_flagged(factor: float) -> None:
    """One percent too little or six too much, over ten sequences of the same kind."""
    wrong = 0
    for seed in range(FIRST, FIRST + 10):
        case = adaptive(seed)
        reported = factor * ours(case["events"], case["delta"])
        low, high = peer(seed)
        wrong += not low <= reported <= 1.05 * high
    assert wrong == 10


@pytest.mark.parametrize("seed", [2, 7, 31, 64])
def test_l9_the_kept_numbers_are_the_peers(seed: int) -> None:
    """tests/accounting/sequences.json was written by the peer, on a finer grid."""
    case = next(one for one in map(adaptive, range(seed, COUNT)) if len(one["events"]) <= 5)
    (kept,) = (one for one in kept_numbers() if one["events"] == case["events"] and one["delta"] == case["delta"])
    for name, pessimistic in (("optimistic", False), ("pessimistic", True)):
        assert peer_epsilon(case["events"], case["delta"], pessimistic=pessimistic) == pytest.approx(kept[name])


def kept_numbers() -> list[dict[str, Any]]:
    return list(json.loads(SEQUENCES.read_text(encoding="utf-8")))


# ---- exact values


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
@pytest.mark.parametrize("count", [1, 2, 10, 57, 100])
def test_l9_coins_have_their_exact_value(epsilon: float, count: int) -> None:
    """Randomised response, k times: δ(ε) is a sum of binomials, so ε for δ is known to the last digit."""
    target = 1e-6
    reported = compose([("randomised_response", epsilon)] * count, target).epsilon
    assert coins_delta(epsilon, count, reported * (1 + 1e-9)) <= target * (1 + 1e-9)
    assert coins_delta(epsilon, count, reported * (1 - 1e-6)) > target


def coins_delta(epsilon: float, count: int, at: float) -> float:
    odds = exp(epsilon)
    terms = (
        comb(count, lies) * max(0.0, odds ** (count - lies) - exp(at) * odds**lies) / (1 + odds) ** count
        for lies in range(count + 1)
    )
    return float(sum((Fraction(term) for term in terms), Fraction(0)))


# ---- kind by kind, on the peer's finer grid


@lru_cache
def laws(name: str) -> tuple[Any, Any]:
    # It rounds the losses of whole-number noise up to its grid, once a mechanism: there it needs a finer one.
    step = 1e-5 if name.startswith("whole") else 1e-4
    return peer_law(CASES[name], pessimistic=False, step=step), peer_law(CASES[name], pessimistic=True, step=step)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-8])
def test_within_a_ten_thousandth_of_the_peer(name: str, delta: float) -> None:
    """Between its optimistic and its pessimistic estimate, and within 1e-4 of the latter."""
    reported = compose({tuple(given[:-1]): given[-1] for given in CASES[name]}, delta).pld
    below, above = (law.get_epsilon_for_delta(delta) for law in laws(name))
    assert below <= reported * (1 + 1e-12)
    assert above - 1e-4 <= reported <= above + 1e-6


@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-8])
def test_whole_number_gaussian_noise(delta: float) -> None:
    """Here its optimistic estimate exceeds the exact value (40 digits) by up to 2e-8."""
    events = [["discrete_gaussian", 4, 3]]
    reported = compose({("discrete_gaussian", 4): 3}, delta).pld
    below, above = (peer_epsilon(events, delta, pessimistic=side, step=1e-5) for side in (False, True))
    assert below - 1e-7 <= reported <= above + 1e-6
    assert above - reported <= 1e-4


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_delta_of_the_peer(epsilon: float) -> None:
    law = privacy_loss_distribution.from_laplace_mechanism(10.0, value_discretization_interval=1e-5).self_compose(100)
    found = delta_of(losses(plan([("laplace", 0.1)] * 100), delta=1e-5), epsilon)
    assert found == pytest.approx(law.get_delta_for_epsilon(epsilon), rel=1e-4)


def test_approximate_events_are_the_peers_privacy_parameters() -> None:
    parameters = privacy_loss_distribution.common.DifferentialPrivacyParameters(0.2, 1e-8)
    law = privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=1e-4)
    found = compose([("approximate", 0.2, 1e-8)] * 30).optimal
    assert found == pytest.approx(law.self_compose(30).get_epsilon_for_delta(1e-5), abs=1e-4)


def test_renyi_orders_do_not_lose_to_the_peers() -> None:
    orders = [1 + 2.0**place for place in range(-6, 12)]
    accountant = RdpAccountant(orders)
    for _ in range(30):
        accountant.compose(dp_accounting.GaussianDpEvent(6.0))
        accountant.compose(dp_accounting.LaplaceDpEvent(8.0))
    found = compose({("gaussian", 6): 30, ("laplace", 0.125): 30}, 1e-6).rdp
    theirs = accountant.get_epsilon(1e-6)
    assert 0.9 * theirs <= found <= theirs * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-6), (5.0, 1e-8)])
def test_the_deviation_of_gaussian_noise(epsilon: float, delta: float) -> None:
    theirs = dp_accounting.get_sigma_gaussian(epsilon, delta)
    assert gaussian_sigma(epsilon, delta) == pytest.approx(theirs, rel=1e-5)


def test_randomised_response_means_the_same_in_both() -> None:
    law = privacy_loss_distribution.from_randomized_response(2 / (1 + exp(0.7)), 2)
    assert law.get_epsilon_for_delta(0.0) == pytest.approx(0.7, abs=1e-4)
