"""Choices among many vectors: no bound below its weight, the law of the exponential mechanism, twins."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from sfumato.geo import nearby
from sfumato.geo.metric import _step
from sfumato.geo.nearby import BITS, GROUP, Nearby
from tests.entropy import SeededEntropy
from tests.kernel.laws import chi_square, mutant
from tests.statistics.evidence import ERROR, source

DRAWS = 60_000
TABLES: dict[str, Any] = {
    "cloud": lambda rng: rng.normal(size=(400, 20)),
    "long": lambda rng: rng.normal(size=(40, 3000)) * 1e-3,
    "twins": lambda rng: np.repeat(rng.normal(size=(50, 8)), 4, axis=0) + rng.normal(size=(200, 8)) * 1e-9,
    "far from the origin": lambda rng: 1e8 + rng.normal(size=(100, 5)),
    "one outlier": lambda rng: np.concatenate([rng.normal(size=(99, 5)), np.full((1, 5), 1e30)]),
    "tiny": lambda rng: rng.normal(size=(60, 4)) * 1e-90,
    "all the same": lambda rng: np.ones((30, 3)),
}


def made(module: Any, table: Any) -> Any:
    return module.Nearby.of(table, _step(2 * float(np.linalg.norm(table - table.mean(axis=0), axis=1).max())))


def bounds_of(found: Any, rate: Fraction, places: Any) -> Any:
    """A row an item, as the sampler fills them: by part, group and row."""
    shape = len(places), len(found.tiles), 1, GROUP
    whole = found.bounds(rate, places, np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int32))
    return whole.transpose(0, 2, 1, 3).reshape(len(places), -1)


@pytest.mark.parametrize("loss", [0.01, 1.0, 30.0, 1e4, 1e40])
@pytest.mark.parametrize("name", TABLES)
def test_no_bound_is_below_its_weight_and_few_are_far_above(name: str, loss: float) -> None:
    """`loss` is the rate in units of the largest distance."""
    table = TABLES[name](np.random.default_rng(5))
    found = made(nearby, table)
    places = np.arange(0, len(table), 7)
    rate = Fraction(loss) / (1 << 40)
    bounds = bounds_of(found, rate, places)
    assert (bounds[:, len(table) :] == 0).all()
    bounds = bounds[:, : len(table)].astype(np.int64)
    weights = np.exp(-float(rate) * np.stack([found.rows(place) for place in places]))
    assert (bounds >= weights * 2.0**BITS * (1 - 1e-12)).all()
    assert bounds.max() <= 1 << BITS
    if name in ("cloud", "long") and loss <= 30:
        assert bounds.sum() < 1.02 * weights.sum() * 2.0**BITS


def vectors(table: Any) -> dict[str, Any]:
    return {f"w{place}": row.tolist() for place, row in enumerate(table)}


CLOUD = np.random.default_rng(9).normal(size=(12, 3))


@pytest.mark.parametrize("epsilon", [0.1, 2, 10])
def test_the_law(epsilon: float) -> None:
    mechanism = sf.geo.words(vectors(CLOUD), epsilon=epsilon).mechanism
    drawn = mechanism.protect(["w0", "w5", "w0"] * DRAWS, entropy=source(f"nearby {epsilon}"))
    for word, part in (("w0", drawn[::3]), ("w5", drawn[1::3]), ("w0", drawn[2::3])):
        law = mechanism.law(word)
        assert chi_square([part.count(other) for other in law], list(law.values())) > ERROR


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "np.minimum(whole, 1 << BITS, out=whole)",
            "np.minimum(whole, 1 << (BITS - 1), out=whole)",
        ),  # bounds too small
        ("group * GROUP + cell, inner - below", "group * GROUP + cell, inner * 0"),
        ("taken = self._below(", "taken = ~self._below("),
        ("rate / self.step) * self.scale", "rate / self.step) * self.scale * 1.1"),
    ],
    ids=["bounds", "everything taken", "the rejected ones", "steeper bounds"],
)
def test_slips_show(old: str, new: str) -> None:
    twin, right = made(mutant(nearby, old, new), CLOUD), made(nearby, CLOUD)
    rate = Fraction(3) / right.rows(0).max().item()
    law = np.exp(-float(rate) * right.rows(0))
    law /= law.sum()
    places = np.zeros(4 * DRAWS, dtype=np.int64)
    # "everything taken" has nearly the right law, since bounds are nearly weights: looser ones show it.
    for side in (right, twin):
        loose = _loosened(side)
        counts = np.bincount(loose.draw(rate, places, source(f"nearby slips {new} {side is twin}")), minlength=12)
        assert (chi_square(counts, law.tolist()) > ERROR) == (side is right)


def _loosened(found: Any) -> Any:
    """The same with the bounds of every second item raised to the top."""

    class Loose(type(found)):  # type: ignore[misc]
        __slots__ = ()

        def bounds(self, *given: Any) -> Any:
            whole = super().bounds(*given)
            whole[:, 0, :, :12:2] = whole.max()
            return whole

    return Loose(found.table, found.step, found.scale, found.tiles, found.squares)


def test_blocks_and_repeats_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a high price every word stays itself, whatever block it falls into."""
    monkeypatch.setattr(nearby, "BLOCK", 300)
    monkeypatch.setattr(nearby, "CALM", 6)
    mechanism = sf.geo.words(vectors(CLOUD), epsilon=10_000).mechanism
    asked = [f"w{place}" for place in (3, 11, 0, 3, 7, 11, 2, 2, 9)]
    assert mechanism.protect(asked) == asked
    assert mechanism.protect([]) == []


def test_weights_below_the_last_bit_are_settled_exactly() -> None:
    """2^24 exp(-19) is 0.09: a height of 0 asks for more bits, and is taken one time in eleven."""
    found = Nearby.of(np.array([[0.0], [1.0]]), Fraction(1, 1 << 40))
    steps = int(found.rows(0)[1])
    rate = Fraction(19, steps)
    zeros, ones = np.zeros(20_000, dtype=np.int64), np.ones(20_000, dtype=np.int64)
    taken = found._below(rate, zeros, ones, zeros, SeededEntropy("last bit")).mean()
    chance = exp(-19) * 2.0**BITS
    assert abs(taken - chance) < 6 * (chance / 20_000) ** 0.5


@pytest.mark.parametrize("row", [[1e101], [1e-101], [0.0] * 16_001])
def test_vectors_beyond_the_proof_are_refused(row: list[float]) -> None:
    with pytest.raises(UsageError, match="word vectors"):
        sf.geo.words({"a": row, "b": [0.0] * len(row)}, epsilon=1)
