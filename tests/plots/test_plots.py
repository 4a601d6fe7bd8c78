"""Plots draw the numbers they were given."""

from math import exp

import pytest

from sfumato.plots.bars import bars, percent, shares
from sfumato.plots.compare import against_truth, estimates
from sfumato.plots.price import belief, beliefs, spending


def test_whiskers_reach_from_the_low_to_the_high_end() -> None:
    (drawn,) = bars(["a", "b"], [10, 20], [(8, 13), (20, 21)], title="n").data
    assert (list(drawn.x), list(drawn.y)) == (["a", "b"], [10, 20])
    assert (list(drawn.error_y.array), list(drawn.error_y.arrayminus)) == ([3, 1], [2, 0])


def test_labels_that_look_like_numbers_stay_in_their_order() -> None:
    assert bars(["9", "10"], [1, 2], [(0, 2), (1, 3)], title="n").layout.xaxis.type == "category"


def test_shares_are_hundredths_and_the_alarming_ones_stand_out() -> None:
    (drawn,) = shares(["named", "guessed"], [0.712, 0.00008], alarming=["named"]).data
    assert list(drawn.x) == pytest.approx([71.2, 0.008])
    assert list(drawn.text) == ["71.2 %", "0.008 %"]
    assert drawn.marker.color[0] != drawn.marker.color[1]


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100.0 %"), (0.0149, "1.5 %"), (8e-5, "0.008 %"), (0.9526, "95.3 %")]
)
def test_a_share_in_words(share: float, text: str) -> None:
    assert percent(share) == text


def test_the_private_number_stands_beside_the_true_one() -> None:
    true, private = against_truth(["a", "b"], [100, 50], [90, 60], [(70, 110), (40, 80)], measure="n").data
    assert (list(true.x), list(private.x)) == ([100, 50], [90, 60])
    assert list(true.y) == list(private.y) == ["a", "b"]
    assert (list(private.error_x.array), list(private.error_x.arrayminus)) == ([20, 20], [20, 20])


def test_estimates_stand_in_their_line_and_the_truth_is_marked() -> None:
    drawn = estimates({"exact": [5.0], "private": [-7.0, 9.0]}, truth=5, measure="salary")
    assert [(list(line.x), set(line.y)) for line in drawn.data] == [([5.0], {"exact"}), ([-7.0, 9.0], {"private"})]
    assert drawn.layout.shapes[0].x0 == 5


def test_spending_starts_at_nothing() -> None:
    sums, cost = spending([1, 0.5, 0.5], [1.0, 1.1, 1.2], limit=3).data
    assert list(sums.y) == [0, 1, 1.5, 2]
    assert list(cost.y) == [0, 1.0, 1.1, 1.2]


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_a_belief_moves_by_a_factor_of_its_odds(prior: float, epsilon: float) -> None:
    low, high = belief(prior, epsilon)
    odds = prior / (1 - prior)
    assert high / (1 - high) / odds == pytest.approx(exp(epsilon))
    assert low / (1 - low) / odds == pytest.approx(exp(-epsilon))


def test_even_odds_at_epsilon_one() -> None:
    assert belief(0.5, 1) == pytest.approx((0.2689, 0.7311), abs=1e-4)
    upper, lower, dots = beliefs([("one", 1.0)]).data
    assert upper.y[0] == lower.y[0] == 50
    assert dots.y[0] == pytest.approx(73.11, abs=0.01)
