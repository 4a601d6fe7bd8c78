"""Sources of randomness for tests: a seeded one, one that reads from a list, and one that tries every choice."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

BLOCK = 1 << 13


class SeededEntropy:
    """SHAKE-256 of a seed and a counter. `words` and `below` read two streams, so that chunking changes neither."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._blocks = {"words": 0, "below": 0}
        self._words = np.empty(0, dtype=np.uint64)
        self._pool = b""
        self.words_read = 0
        self.extensions = 0  # how often `below` was called

    def below(self, bound: int) -> int:
        self.extensions += 1
        bits = (bound - 1).bit_length()
        length = (bits + 7) // 8
        while True:
            value = int.from_bytes(self._take(length), "little") >> (8 * length - bits)
            if value < bound:
                return value

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        self.words_read += count
        parts = [self._words]
        while sum(map(len, parts)) < count:
            parts.append(np.frombuffer(self._block("words"), dtype=np.uint64))
        if len(parts) > 1:
            self._words = np.concatenate(parts)
        served, self._words = self._words[:count], self._words[count:]
        return served

    def _take(self, length: int) -> bytes:
        while len(self._pool) < length:
            self._pool += self._block("below")
        taken, self._pool = self._pool[:length], self._pool[length:]
        return taken

    def _block(self, stream: str) -> bytes:
        self._blocks[stream] += 1
        return hashlib.shake_256(f"{self._seed}/{stream}/{self._blocks[stream]}".encode()).digest(BLOCK)


class ScriptedEntropy:
    """Serves the given words and choices, and complains when they do not suffice."""

    def __init__(self, words: Iterable[int] = (), choices: Iterable[int] = ()) -> None:
        self._words = list(words)
        self._choices = list(choices)

    def below(self, bound: int) -> int:
        choice = self._choices.pop(0)
        assert 0 <= choice < bound
        return choice

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        assert count <= len(self._words), "the script has too few words"
        served, self._words = self._words[:count], self._words[count:]
        return np.array(served, dtype=np.uint64)

    @property
    def unread(self) -> int:
        return len(self._words) + len(self._choices)


class RepeatedEntropy:
    """Serves the same words to each run, and seeded extensions."""

    def __init__(self, words: np.ndarray[Any, np.dtype[np.uint64]], seed: str) -> None:
        self._words = words
        self._position = 0
        self._seeded = SeededEntropy(seed)

    def below(self, bound: int) -> int:
        return self._seeded.below(bound)

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        served = self._words[self._position : self._position + count]
        assert len(served) == count, "too few words were prepared"
        self._position += count
        return served

    @property
    def extensions(self) -> int:
        return self._seeded.extensions


class Undecided(Exception):
    """The tape ended; the sampler wanted one of `weights` (relative probabilities that add up to 1)."""

    def __init__(self, weights: Sequence[Any]) -> None:
        super().__init__()
        self.weights = weights


class Restart(Exception):
    """A rejection loop begins anew, with nothing kept of what it rejected."""


class ChoiceTape:
    """Replays a list of choices; at its end, says what could come next.

    `coin` and `pick` are ideal callees: they stand in for a sampler that has a test of its own. The call named by
    `once` opens the rejection loop of the sampler under test: when it comes a second time the run is a restart.
    """

    def __init__(self, choices: Sequence[int], once: str | None = None) -> None:
        self._choices = choices
        self._position = 0
        self._once = once
        self._opened = False

    def below(self, bound: int) -> int:
        self._open("below")
        return self._next(_Equal(bound))

    def coin(self, probability: Decimal | Fraction) -> bool:
        return self._next((1 - probability, probability)) == 1

    def pick(self, weights: Sequence[Decimal]) -> int:
        self._open("pick")
        return self._next(weights)

    def _open(self, call: str) -> None:
        if call == self._once and self._opened:
            raise Restart
        self._opened = self._opened or call == self._once

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        raise AssertionError("a tape serves choices only")

    def _next(self, weights: Any) -> int:
        if self._position == len(self._choices):
            raise Undecided(weights)
        self._position += 1
        return self._choices[self._position - 1]


class _Equal(Sequence[Fraction]):
    """`bound` choices of the same probability."""

    def __init__(self, bound: int) -> None:
        self.bound = bound

    def __len__(self) -> int:
        return self.bound

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < self.bound:
            raise IndexError
        return Fraction(1, self.bound)


def every_choice(
    sampler: Callable[[ChoiceTape], Any], *, undecided: float, once: str | None = None
) -> tuple[Counter[Any], Any]:
    """The mass of each outcome (and of `Restart`) found so far, and the mass of all runs not followed to their end.

    The likeliest unfinished run is followed first, until less than `undecided` is left. The probability of an
    outcome lies, with certainty, between its mass and its mass plus what is left. Masses are fractions, or decimals
    in the current context where ideal callees with real probabilities take part.
    """
    masses: Counter[Any] = Counter()
    left: Any = 1
    order = count()
    heap: list[tuple[float, int, Any, tuple[int, ...]]] = [(-1.0, next(order), 1, ())]
    while heap and left >= undecided:
        _, _, mass, choices = heapq.heappop(heap)
        try:
            outcome = sampler(ChoiceTape(choices, once))
        except Restart:
            outcome = Restart
        except Undecided as branch:
            for choice, weight in enumerate(branch.weights):
                part = _product(mass, weight)
                if part:
                    heapq.heappush(heap, (-float(part), next(order), part, (*choices, choice)))
            continue
        masses[outcome] += mass
        left = _difference(left, mass)
    return masses, left


def _product(mass: Any, weight: Any) -> Any:
    """Fractions stay fractions until they meet a decimal."""
    if isinstance(mass, Decimal) and isinstance(weight, Fraction):
        return mass * weight.numerator / weight.denominator
    if isinstance(mass, Fraction) and isinstance(weight, Decimal):
        return weight * mass.numerator / mass.denominator
    return mass * weight


def _difference(left: Any, mass: Any) -> Any:
    if isinstance(left, Fraction) and isinstance(mass, Decimal):
        left = Decimal(left.numerator) / left.denominator
    if isinstance(left, Decimal) and isinstance(mass, Fraction):
        mass = Decimal(mass.numerator) / mass.denominator
    return left - mass
