"""d_X-privacy on a finite set: the nearer two items are, the harder they are to tell apart. Places, words, anything."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.accounting.rounding import up
from sfumato.geo.nearby import LONGEST, MOST_ITEMS, Nearby
from sfumato.geo.wordings import Problem, item_unknown, no_places, not_a_metric, vectors_unusable
from sfumato.kernel.entropy import Entropy, SystemEntropy
from sfumato.kernel.mechanisms.choice import Exponential
from sfumato.schema.numbers import GivenNumber, exact_positive

Distance = Callable[[Any, Any], float] | npt.ArrayLike
Steps = npt.NDArray[np.int64]
Quick = Callable[[Fraction, Steps, Entropy], Steps]

RESOLUTION = 1 << 40  # steps in the largest distance
CHECKED = 400  # up to so many items every triangle is looked at
SLACK = 3
LARGEST = 1e100  # of a number in a vector, so that no square leaves the range of doubles
WORD = re.compile(r"\w+(?:['’-]\w+)*")


@dataclass(frozen=True, slots=True)
class Metric:
    """Replaces an item by one of the same set: z with probability proportional to exp(-epsilon · d(x, z) / 2).

    Claim: for items x, x′ the probabilities of any output differ by a factor of at most exp(loss(x, x′)): epsilon · d,
    in whole steps of 2^-40 of the largest distance, rounded up; three steps more where triangles are not checked.
    Proof: docs/proofs/metric-privacy.md
    """

    items: tuple[Hashable, ...]
    epsilon: Fraction  # per unit of distance
    step: Fraction
    rows: Callable[[int], Steps]  # the distances from one item, in steps
    slack: int = 0  # steps by which rounded distances may break a triangle
    quick: Quick | None = None  # a sampler of the same law for many items
    places: dict[Hashable, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {item: place for place, item in enumerate(self.items)})

    def protect(self, values: Sequence[Hashable] | Any, *, entropy: Entropy | None = None) -> Any:
        """One output a value; a single item gives a single output."""
        if isinstance(values, str) or not isinstance(values, Sequence):
            return self.protect([values], entropy=entropy)[0]
        missing = [number for number, value in enumerate(values, start=1) if value not in self.places]
        if missing:
            raise item_unknown(missing, len(self.items))
        found = self._draw(np.array([self.places[value] for value in values], dtype=np.int64), entropy)
        return [self.items[place] for place in found]

    def law(self, item: Hashable) -> dict[Hashable, float]:
        """The probability of each output."""
        weights = np.exp(-float(self.epsilon * self.step) / 2 * self.rows(self.places[item]))
        return dict(zip(self.items, (weights / weights.sum()).tolist(), strict=True))

    def loss(self, one: Hashable, two: Hashable) -> float:
        """epsilon · d: what an output can tell the two apart by, rounded up."""
        steps = int(self.rows(self.places[one])[self.places[two]])
        return up(self.epsilon * self.step * (steps + (self.slack if one != two else 0)))

    def event(self) -> dict[str, str]:
        """What is done, for a record."""
        return {"mechanism": "metric", "epsilon_per_unit": str(self.epsilon)}

    def _draw(self, places: npt.NDArray[np.int64], entropy: Entropy | None) -> list[int]:
        source = SystemEntropy() if entropy is None else entropy
        mechanism = Exponential(self.epsilon * self.step, Fraction(1))
        if self.quick is not None:
            return [int(place) for place in self.quick(mechanism.rate, places, source)]
        found = np.empty(len(places), dtype=np.int64)
        for place in np.unique(places):
            where = np.flatnonzero(places == place)
            found[where] = mechanism.draws(-self.rows(int(place)), len(where), source)
        return [int(place) for place in found]


def metric(items: Sequence[Hashable], distance: Distance, *, epsilon: GivenNumber) -> Metric:
    """d_X-privacy over a finite set; `distance` is a function of two items or a table of distances.

    Needs: a metric. Symmetry and zeros are checked, triangles too up to 400 items.
    """
    listed = tuple(items)
    if not listed or len(set(listed)) < len(listed):
        raise no_places() if not listed else not_a_metric("an item is listed twice")
    if callable(distance):
        table = np.array([[float(distance(one, two)) for two in listed] for one in listed])
    else:
        table = np.asarray(distance, dtype=np.float64)
    steps, step = _checked(table, len(listed))
    slack = 0 if len(listed) <= CHECKED else SLACK
    return Metric(listed, exact_positive(epsilon, "epsilon"), step, lambda place: steps[place], slack)


def _checked(table: npt.NDArray[np.float64], count: int) -> tuple[Steps, Fraction]:
    if table.shape != (count, count):
        raise not_a_metric(f"the table is not {count} by {count}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise not_a_metric("a distance is negative or not a number")
    if (np.diag(table) != 0).any() or (table != table.T).any():
        raise not_a_metric("an item is not at distance 0 from itself, or there and back differ")
    step = _step(float(table.max()))
    steps = np.ceil(table / float(step)).astype(np.int64)
    for middle in range(count if count <= CHECKED else 0):
        if (steps > steps[:, middle, None] + steps[None, middle, :]).any():
            raise not_a_metric("a detour over a third item is shorter than the direct way")
    return steps, step


def _step(largest: float) -> Fraction:
    """A power of two; 2^40 steps or a few more reach the largest distance."""
    exponent = int(np.ceil(np.log2(largest))) if largest > 0 else 0
    return Fraction(2) ** exponent / RESOLUTION


@dataclass(frozen=True, slots=True)
class Words:
    """Replaces words by words with near vectors; a text of n words costs n times as much as one."""

    mechanism: Metric

    def protect(self, text: str, *, on_unknown: str = "refuse", entropy: Entropy | None = None) -> str:
        """The text with every word replaced; what stands between words stays.

        A word without a vector cannot be replaced: it is refused by its place, or left out with on_unknown="skip".
        """
        found = list(WORD.finditer(text))
        words = [match.group().casefold() for match in found]
        known = self.mechanism.places
        missing = [number for number, word in enumerate(words, start=1) if word not in known]
        if missing and on_unknown != "skip":
            raise item_unknown(missing, len(known))
        drawn = iter(self.mechanism.protect([word for word in words if word in known], entropy=entropy))
        parts, end = [], 0
        for match, word in zip(found, words, strict=True):
            parts += [text[end : match.start()], next(drawn) if word in known else ""]
            end = match.end()
        return "".join([*parts, text[end:]])

    def unknown(self, text: str) -> list[Problem]:
        """Which words of a text, counted from 1, have no vector."""
        known = self.mechanism.places
        return [
            (number, "no vector")
            for number, match in enumerate(WORD.finditer(text), start=1)
            if match.group().casefold() not in known
        ]


def words(vectors: Mapping[str, Sequence[float]], *, epsilon: GivenNumber) -> Words:
    """Word replacement with vectors of your own, Euclidean distance; epsilon is per unit of distance.

    Claim: epsilon · ‖v - v′‖ for every replaced word; sums over a text. Vocabulary and vectors are public.
    Proof: docs/proofs/metric-privacy.md
    """
    names = tuple(word.casefold() for word in vectors)
    if not names or len(set(names)) < len(names):
        raise vectors_unusable("there is none" if not names else "two words differ in capitals only")
    try:
        table = np.array([vectors[word] for word in vectors], dtype=np.float64)
    except (TypeError, ValueError):
        raise vectors_unusable("they differ in length or hold something else than numbers") from None
    if table.ndim != 2 or not np.isfinite(table).all():
        raise vectors_unusable("a number is missing or not finite")
    if len(table) > MOST_ITEMS or table.shape[1] > LONGEST:
        raise vectors_unusable(f"there are more than {MOST_ITEMS:,}, or one has more than {LONGEST:,} entries")
    if (np.abs(table) > LARGEST).any() or (np.abs(table[table != 0]) < 1 / LARGEST).any():
        raise vectors_unusable("a number other than 0 is beyond 10^100 or nearer to 0 than 10^-100")
    step = _step(2 * float(np.linalg.norm(table - table.mean(axis=0), axis=1).max()))
    nearby = Nearby.of(table, step)
    return Words(Metric(names, exact_positive(epsilon, "epsilon"), step, nearby.rows, SLACK, nearby.draw))
