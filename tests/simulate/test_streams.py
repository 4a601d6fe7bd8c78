import hashlib

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.errors import UsageError
from sfumato.simulate import Simulator
from sfumato.simulate.quantiles import normal_quantile


def test_the_same_name_and_seed_give_the_same_values_for_ever() -> None:
    values = Simulator(0).stream("age").uniform(3)
    assert [value.hex() for value in values.tolist()] == [
        "0x1.2f85ebe76452ap-1",
        "0x1.95fda55a4b77ap-2",
        "0x1.5ee1dfc2c02b8p-3",
    ]


def test_uniform_uses_the_raw_words_of_the_generator_only() -> None:
    sequence = np.random.SeedSequence(7, spawn_key=(_key_of("age"),))
    raw = np.random.PCG64(sequence).random_raw(5).tolist()
    assert Simulator(7).stream("age").uniform(5).tolist() == [(word >> 11) / 2**53 for word in raw]


def test_streams_differ_by_name_and_by_seed() -> None:
    first, other_name, other_seed = (
        Simulator(seed).stream(name).uniform(20_000) for seed, name in ((0, "age"), (0, "sex"), (1, "age"))
    )
    for other in (other_name, other_seed):
        assert abs(np.corrcoef(first, other)[0, 1]) * np.sqrt(20_000) < 6


def test_asking_for_one_more_stream_changes_no_other() -> None:
    simulator = Simulator(3)
    before = simulator.stream("age").uniform(10).tolist()
    simulator.stream("new column").uniform(10)
    assert simulator.stream("age").uniform(10).tolist() == before


def test_a_longer_draw_starts_like_a_shorter_one() -> None:
    assert Simulator(3).stream("age").uniform(10).tolist()[:4] == Simulator(3).stream("age").uniform(4).tolist()


def test_integers_reach_both_ends_evenly() -> None:
    drawn = Simulator(0).stream("dice").integers(1, 6, 60_000)
    counts = np.bincount(drawn, minlength=8)
    assert counts[0] == counts[7] == 0
    assert np.all(np.abs(counts[1:7] - 10_000) / np.sqrt(60_000 * 5 / 36) < 6)


def test_categories_follow_the_weights_and_never_take_a_zero() -> None:
    drawn = Simulator(0).stream("urn").categories([0, 3, 0, 1, 0], 40_000)
    counts = np.bincount(drawn, minlength=5)
    assert counts[[0, 2, 4]].tolist() == [0, 0, 0]
    assert abs(counts[1] - 30_000) / np.sqrt(40_000 * 3 / 16) < 6


def test_conditional_draws_from_the_row_asked_for() -> None:
    rows = np.array([0, 1, 2] * 1_000)
    drawn = Simulator(0).stream("urn").conditional([[1, 0, 0], [0, 0, 5], [0, 2, 0]], rows)
    assert drawn.tolist() == [0, 2, 1] * 1_000


@pytest.mark.parametrize("weights", [[0.5, 0.5], [-1, 2], [0, 0]])
def test_weights_that_make_no_sense_are_refused(weights: list[float]) -> None:
    with pytest.raises(UsageError, match="weights"):
        Simulator(0).stream("urn").categories(weights, 3)


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(UsageError, match="no whole number"):
        Simulator(0).stream("dice").integers(6, 1, 3)


def test_normal_quantile_agrees_with_scipy() -> None:
    probabilities = np.concatenate([np.linspace(1e-9, 1 - 1e-9, 10_001), 10.0 ** -np.arange(1.0, 300.0)])
    np.testing.assert_allclose(normal_quantile(probabilities), norm.ppf(probabilities), rtol=1e-14, atol=1e-14)


def test_normal_has_mean_zero_and_deviation_one() -> None:
    drawn = Simulator(0).stream("height").normal(20_000)
    assert abs(drawn.mean()) * np.sqrt(20_000) < 6
    assert abs(drawn.var() - 1) * np.sqrt(20_000 / 2) < 6


def test_permutation_holds_every_number_once() -> None:
    drawn = Simulator(0).stream("order").permutation(1_000)
    assert sorted(drawn.tolist()) == list(range(1_000))
    assert drawn.tolist() != list(range(1_000))


@pytest.mark.parametrize("seed", [-1, 0.5, "0", True, None])
def test_a_seed_is_a_whole_number_from_zero(seed: object) -> None:
    with pytest.raises(UsageError, match="seed"):
        Simulator(seed)  # type: ignore[arg-type]


def test_a_numpy_integer_is_a_seed() -> None:
    assert Simulator(np.int64(5)).stream("age").uniform(2).tolist() == Simulator(5).stream("age").uniform(2).tolist()


def _key_of(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")
