"""dp-accounting, run beside us: it must be installed (dependency group dev), and nothing here is skipped without it."""

from math import exp

import dp_accounting
import pytest
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

from sfumato.accounting import compose, gaussian_sigma
from sfumato.accounting.events import plan
from sfumato.accounting.losses import losses
from sfumato.accounting.pld import delta_of
from tests.accounting.peer import adaptive, peer_epsilon

CASES = {
    "laplace": [["laplace", 0.1, 100]],
    "laplace, large": [["laplace", 1.5, 20]],
    "gaussian": [["gaussian", 7, 64]],
    "laplace and gaussian": [["laplace", 0.1, 50], ["gaussian", 10, 50]],
    "several of each": [["laplace", 0.05, 30], ["laplace", 0.2, 10], ["gaussian", 20, 30], ["gaussian", 4, 5]],
    "whole numbers": [["geometric", 0.2, 3, 40]],
    "one coin": [["randomised_response", 0.7, 1]],
    "whole-number gaussian": [["discrete_gaussian", 4, 10]],
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("delta", [1e-3, 1e-5, 1e-8])
def test_within_a_ten_thousandth_of_the_peer(name: str, delta: float) -> None:
    """Between its optimistic and its pessimistic estimate, and within 1e-4 of the latter."""
    events = CASES[name]
    # It rounds the losses of whole-number noise up to its grid, once a mechanism: there it needs a finer one.
    step = 1e-6 if name.startswith("whole") else 1e-4
    ours = compose({tuple(given[:-1]): given[-1] for given in events}, delta).pld
    assert peer_epsilon(events, delta, pessimistic=False, step=step) <= ours
    above = peer_epsilon(events, delta, pessimistic=True, step=step)
    assert above - 1e-4 <= ours <= above + 1e-6


@pytest.mark.parametrize("seed", [1000, 1001, 1002, 1003, 1004])
def test_sequences_nobody_has_seen_before(seed: int) -> None:
    case = adaptive(seed)
    ours = compose([tuple(given[:-1]) for given in case["events"]], case["delta"]).epsilon
    assert peer_epsilon(case["events"], case["delta"], pessimistic=False) <= ours
    assert ours <= 1.05 * peer_epsilon(case["events"], case["delta"], pessimistic=True)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_delta_of_the_peer(epsilon: float) -> None:
    law = privacy_loss_distribution.from_laplace_mechanism(10.0, value_discretization_interval=1e-5).self_compose(100)
    ours = delta_of(losses(plan([("laplace", 0.1)] * 100), delta=1e-5), epsilon)
    assert ours == pytest.approx(law.get_delta_for_epsilon(epsilon), rel=1e-4)


def test_approximate_events_are_the_peers_privacy_parameters() -> None:
    parameters = privacy_loss_distribution.common.DifferentialPrivacyParameters(0.2, 1e-8)
    law = privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=1e-4)
    ours = compose([("approximate", 0.2, 1e-8)] * 30).optimal
    assert ours == pytest.approx(law.self_compose(30).get_epsilon_for_delta(1e-5), abs=1e-4)


def test_renyi_orders_do_not_lose_to_the_peers() -> None:
    orders = [1 + 2.0**place for place in range(-6, 12)]
    accountant = RdpAccountant(orders)
    for _ in range(30):
        accountant.compose(dp_accounting.GaussianDpEvent(6.0))
        accountant.compose(dp_accounting.LaplaceDpEvent(8.0))
    ours = compose({("gaussian", 6): 30, ("laplace", 0.125): 30}, 1e-6).rdp
    theirs = accountant.get_epsilon(1e-6)
    assert 0.9 * theirs <= ours <= theirs * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.1, 1e-6), (5.0, 1e-8)])
def test_the_deviation_of_gaussian_noise(epsilon: float, delta: float) -> None:
    theirs = dp_accounting.get_sigma_gaussian(epsilon, delta)
    assert gaussian_sigma(epsilon, delta) == pytest.approx(theirs, rel=1e-5)


def test_randomised_response_means_the_same_in_both() -> None:
    law = privacy_loss_distribution.from_randomized_response(2 / (1 + exp(0.7)), 2)
    assert law.get_epsilon_for_delta(0.0) == pytest.approx(0.7, abs=1e-4)
