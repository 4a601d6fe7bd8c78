"""The quick way in doubles and the slow way in integers: the same bits, for every kind of array."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from math import floor, inf, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato.noise as noise
from sfumato.errors import UsageError
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.samplers import CHUNK
from sfumato.noise import pieces
from sfumato.noise.calibration import Calibrated, Price, added, calibrated
from sfumato.noise.grid import Grid
from sfumato.noise.pieces import noisy_reals
from sfumato.noise.values import Entries, real_entries
from tests.noise.seeded import SeededEntropy

F = Fraction
PRICES: dict[str, dict[str, Any]] = {"laplace": {"epsilon": 1}, "gaussian": {"epsilon": 1, "delta": 1e-6}}
CALLS = {"laplace": noise.laplace, "gaussian": noise.gaussian}
SOURCE = np.random.default_rng(3)


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def large_and_small() -> np.ndarray[Any, Any]:
    """Most pieces are within 2^52 steps, and one number is not."""
    values = SOURCE.normal(size=3 * CHUNK)
    values[CHUNK + 5] = 1e300
    return values


VALUES: dict[str, Any] = {
    "a number": 2.5,
    "a whole number": -7,
    "a huge whole number": 2**80 + 1,
    "doubles": SOURCE.normal(size=2 * CHUNK + 17) * 100,
    "float32": SOURCE.normal(size=500).astype(np.float32),
    "float16": SOURCE.normal(size=50).astype(np.float16),
    "swapped bytes": SOURCE.normal(size=50).astype(">f8"),
    **{
        kind: np.array([np.iinfo(kind).min, 0, 1, np.iinfo(kind).max], dtype=kind)
        for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    },
    "int64 below 2^53": np.array([2**53 - 1, 1 - 2**53]),
    "objects": np.array([2**70, -(2**70), 3, 0], dtype=object),
    "mixed objects": np.array([1, 2.5, F(1, 3), Decimal("0.1"), np.float32(0.1)], dtype=object),
    "list": [0.5, -0.5, 1, 1e17],
    "list of huge": [10**300, -3],
    "two dimensions": SOURCE.normal(size=(30, 40)),
    "no dimension": np.array(3.25),
    "not contiguous": SOURCE.normal(size=(40, 50))[::2, ::-3],
    "columns first": np.asfortranarray(SOURCE.normal(size=(40, 50))),
    "read-only": frozen(SOURCE.normal(size=100)),
    "zeros of both signs": np.array([0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e-300]),
    "large and small": large_and_small(),
    "as large as doubles go": np.array([1.7e308, -1.7e308, 1.0]),
    "matrix": np.array([[1.5, 2.5], [3.5, -4.5]]).view(np.matrix),
}


def slowly(value: object, mechanism: str, sensitivity: Fraction) -> list[float]:
    """By the definition, in rationals."""
    entries = real_entries(value)
    setup = calibrated(mechanism, sensitivity, price=Price(**PRICES[mechanism]), entries=len(entries.numbers))
    drawn = setup.law.draw(len(entries.numbers), SeededEntropy(1)).tolist()
    step, half = setup.grid.step, F(1, 2)
    exact = (
        floor(F(number) / step + half) + noise for number, noise in zip(entries.numbers.tolist(), drawn, strict=True)
    )
    return [float(whole * step) for whole in exact]


@pytest.mark.parametrize("mechanism", CALLS)
@pytest.mark.parametrize("sensitivity", [F(2), F(10) ** 12, F(1, 10**12)], ids=["middle", "large", "small"])
@pytest.mark.parametrize("name", VALUES)
def test_every_kind_of_value_gets_what_the_definition_gives(name: str, sensitivity: Fraction, mechanism: str) -> None:
    value = VALUES[name]
    before = value.copy() if isinstance(value, np.ndarray) else None
    answer = CALLS[mechanism](value, sensitivity=sensitivity, **PRICES[mechanism], entropy=SeededEntropy(1))
    assert np.asarray(answer).ravel().tobytes() == np.array(slowly(value, mechanism, sensitivity)).tobytes()
    if before is None:
        assert type(answer) is (list if isinstance(value, list) else float)
    else:
        assert (type(answer), answer.shape, answer.dtype) == (np.ndarray, value.shape, np.float64)
        assert np.array_equal(before, value)


class Scripted:
    """A law that serves these draws in pieces, some of them empty."""

    def __init__(self, *served: list[int]) -> None:
        self.served = served

    def pieces(self, count: int, entropy: Entropy) -> Iterator[Any]:
        del count, entropy
        for draws in self.served:
            try:
                yield np.array(draws, dtype=np.int64)
            except OverflowError:
                yield np.array(draws, dtype=object)


def through(numbers: list[float], exponent: int, *served: list[int]) -> list[float]:
    law: Any = Scripted(*served)
    setup = Calibrated(law, 1, Grid(exponent, len(numbers)), ())
    return noisy_reals(real_entries(numbers), setup, SeededEntropy(1)).tolist()


def test_pieces_of_any_length_and_size() -> None:
    numbers = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert through(numbers, 0, [10], [], [20, 2**60], [], [-(2**70), 0]) == [11, 22, 2.0**60, -(2.0**70), 5]


NEAR = [0.5, 1.5, 2.5, 0.49999999999999994, 2.0**51, 2.0**51 - 0.5, 2.0**52, 2.0**53, 5e-324, 1e-310]


@pytest.mark.parametrize("exponent", [0, -20, 7, -1000, 1000, -1030])
@pytest.mark.parametrize("sign", [1, -1])
def test_ties_and_their_neighbours(exponent: int, sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    doubles = [near for value in NEAR for near in (nextafter(value, -inf), value, nextafter(value, inf))]
    numbers = [float(np.ldexp(sign * value, min(max(exponent, -960), 960))) for value in doubles]
    drawn = [(-1) ** place * place for place in range(len(numbers))]
    grid = Grid(exponent, len(numbers))
    slow = grid.reals(added(grid.integers(np.array(numbers)), np.array(drawn))).tolist()
    single = [through([number], exponent, [noise])[0] for number, noise in zip(numbers, drawn, strict=True)]
    assert single == slow
    monkeypatch.setattr(pieces, "QUICK", 0.0)
    assert through(numbers, exponent, drawn) == slow


@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.integers(-(2**54), 2**54)), min_size=1, max_size=5),
    st.sampled_from([-30, -22, -3, 0, 3]),
)
def test_any_numbers_and_any_noise(pairs: list[tuple[float, int]], exponent: int) -> None:
    numbers, drawn = [number for number, _ in pairs], [noise for _, noise in pairs]
    step = F(2) ** exponent
    expected = [float((floor(F(number) / step + F(1, 2)) + noise) * step) for number, noise in pairs]
    assert through(numbers, exponent, drawn) == expected


def test_most_arrays_take_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests above compare the slow way with itself."""

    def refuse(*_: object) -> None:
        raise AssertionError("the slow way")

    monkeypatch.setattr(pieces, "added", refuse)
    for name in ("doubles", "float32", "uint8", "not contiguous", "a number", "list", "zeros of both signs"):
        value = VALUES[name] if name != "list" else [0.5, 1, -3]
        assert np.shape(noise.laplace(value, sensitivity=2, epsilon=1)) == np.shape(value)
    with pytest.raises(AssertionError, match="slow way"):
        noise.laplace(VALUES["large and small"], sensitivity=2, epsilon=1)


def test_the_largest_entry_is_known_or_infinite() -> None:
    assert real_entries([1.0, -3.0]).largest == 3
    assert real_entries(np.array([1, -7], dtype=np.int8)).largest == 7
    assert real_entries(2**80).largest == inf
    assert Entries(np.array([1.0]), None, False).largest == inf


@pytest.mark.parametrize("call", [noise.laplace, noise.gaussian, noise.geometric])
def test_a_hidden_entry_is_not_uncovered(call: Any) -> None:
    price = {"rho": 1} if call is noise.gaussian else {"epsilon": 1}
    hidden = np.ma.masked_array([1, 2, 3], [False, True, False])
    with pytest.raises(UsageError, match="masked array"):
        call(hidden, sensitivity=1, **price)


def test_entries_of_a_matrix_get_noise_of_their_own() -> None:
    noisy = noise.geometric(np.zeros((1, 4), dtype=np.int64).view(np.matrix), sensitivity=1, epsilon=1e-6)
    assert noisy.shape == (1, 4)
    assert len(set(noisy.ravel().tolist())) == 4
