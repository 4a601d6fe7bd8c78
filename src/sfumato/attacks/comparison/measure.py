"""What a publication is worth and what it gives away: query error, people re-identified, secrets and values learnt."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.baseline import OUTSIDERS, TRIED
from sfumato.attacks.comparison.methods import FACTOR, NOISE, Publication
from sfumato.attacks.comparison.setting import Floats, People, Setting, Strings
from sfumato.attacks.denoise import shrunk
from sfumato.attacks.matrices import best_window, spanning
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.rotate import linear_back

# How near a value must come, in standard deviations, and what counts as equally near.
NEAR, SAME = 0.1, 1e-12
PAIRS_AT_ONCE = 2_000_000
FRACTION = 0.01
NAMES = ("linking", "secret", "value")
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]


class Hits(NamedTuple):
    """For each person how surely the attacker names the right record, secret and value."""

    link: Floats
    secret: Floats
    value: Floats

    @classmethod
    def none(cls, people: int) -> "Hits":
        return cls(np.zeros(people), np.zeros(people), np.zeros(people))


Reader = Callable[[People], Hits]


def query_error(publication: Publication, setting: Setting) -> float | None:
    """The median over the questions of |answer - truth| / max(truth, 1 % of the people), if any is answered."""
    if publication.answer is None:
        return None
    least = FRACTION * setting.table.num_rows
    errors = []
    for question in setting.questions:
        truth = question.count(setting.known)
        errors.append(abs(publication.answer(question) - truth) / max(truth, least))
    return float(np.median(errors))


def attacked(publication: Publication, setting: Setting) -> list[AttackResult[None]]:
    """Linking, the secret and the value, by the attack that suits the publication best, on members and on outsiders."""
    read = _reader(publication, setting)
    inside, outside = read(setting.members), read(setting.outsiders)
    usual = _usual(setting)(setting.members)
    chances = {"linking": 1 / setting.table.num_rows, "secret": usual.secret.mean(), "value": usual.value.mean()}
    bases = chances | {"secret": _from_cells(publication, setting)}
    return [
        AttackResult(
            name,
            [],
            float(mine.mean()),
            float(chances[name]),
            most_hits(float(bases[name]), publication.epsilon),
            len(mine),
            {OUTSIDERS: float(theirs.mean()), TRIED: float(len(theirs))},
        )
        for name, mine, theirs in zip(NAMES, inside, outside, strict=True)
    ]


def _reader(publication: Publication, setting: Setting) -> Reader:
    if publication.counts is not None:
        return _by_counts(publication, setting)
    if publication.guess is not None:
        return _by_guess(publication.guess, setting)
    if publication.low is not None and publication.high is not None:
        return _by_classes(publication.low, publication.high, setting)
    return _by_records(_cleaned(publication, setting), setting)


def _cleaned(publication: Publication, setting: Setting) -> Floats:
    """The records after the perturbation has been taken out as far as statistics can."""
    rows = np.asarray(publication.rows, dtype=np.float64)
    original = np.column_stack([setting.known, setting.values])
    match publication.kind:
        case "noisy":
            return shrunk(rows, NOISE * _spread(original))
        case "factors":
            return _without_factors(rows)
        case "rotated":
            known = spanning(original)
            return linear_back(rows, original[known], rows[known])
        case _:
            return rows


def _without_factors(rows: Floats) -> Floats:
    """In logarithms where a column is positive; others stay as they are."""
    cleaned = rows.copy()
    positive = (rows > 0).all(axis=0)
    if positive.any():
        logs = np.log(rows[:, positive])
        cleaned[:, positive] = np.exp(shrunk(logs, np.full(int(positive.sum()), FACTOR)))
    return cleaned


def _by_records(rows: Floats, setting: Setting) -> Reader:
    """Each person of the register is matched with the nearest record, and the record is read."""
    scale, near, secrets = _spread(setting.known), _near(setting), setting.secrets

    def read(people: People) -> Hits:
        hits = Hits.none(len(people.known))
        at_once = max(1, PAIRS_AT_ONCE // len(rows))
        for start in range(0, len(people.known), at_once):
            part = slice(start, start + at_once)
            best = _nearest(people.known[part] / scale, rows[:, : people.known.shape[1]] / scale)
            person, record = np.nonzero(best)
            weight = 1 / best.sum(axis=1)[person]
            at = person + start
            for hit, right in (
                (hits.link, people.own[at] == record),
                (hits.secret, people.secrets[at] == secrets[record]),
                (hits.value, np.abs(people.values[at] - rows[record, -1]) <= near),
            ):
                np.add.at(hit, at, weight * right)
        return hits

    return read


def _nearest(ours: Floats, theirs: Floats) -> Flags:
    """For each of ours which of theirs are nearest."""
    gaps = np.zeros((len(ours), len(theirs)))
    for mine, other in zip(ours.T, theirs.T, strict=True):
        gaps += np.square(mine[:, None] - other[None, :])
    return np.asarray(gaps <= gaps.min(axis=1, keepdims=True) + SAME, dtype=np.bool_)


def _by_classes(low: Floats, high: Floats, setting: Setting) -> Reader:
    """Each person is in the nearest class; its most common secret and its middle value are guessed."""
    boxes, group = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    group, sides = group.reshape(-1), low.shape[1]
    sizes = np.bincount(group)
    possible = np.array(setting.possible)
    counts = np.zeros((len(sizes), len(possible)))
    np.add.at(counts, (group, np.searchsorted(possible, setting.secrets)), 1)
    middle = np.array([np.median(setting.values[group == place]) for place in range(len(sizes))])
    scale, near = _spread(setting.known), _near(setting)

    def read(people: People) -> Hits:
        gaps = np.zeros((len(people.known), len(boxes)))
        for side, column in enumerate(people.known.T):
            below, above = boxes[:, side] - column[:, None], column[:, None] - boxes[:, side + sides]
            gaps += np.square(np.maximum(np.maximum(below, above), 0) / scale[side])
        fits = (gaps <= gaps.min(axis=1, keepdims=True) + SAME).astype(np.float64)
        crowd, own = fits @ sizes, people.own >= 0
        mine = fits[np.arange(len(fits)), group[people.own]] * own
        value = (fits @ (sizes * middle)) / crowd
        return Hits(
            mine / crowd,
            (possible[(fits @ counts).argmax(axis=1)] == people.secrets).astype(np.float64),
            (np.abs(value - people.values) <= near).astype(np.float64),
        )

    return read


def _by_counts(publication: Publication, setting: Setting) -> Reader:
    """The most common secret of a person's cell; the counts say nothing about values, and hold no record."""
    guesses, secrets = np.asarray(publication.counts).argmax(axis=-1), np.array(publication.secrets)
    return _by_guess(lambda known: secrets[guesses[_cell_of(publication, known)]], setting)


def _by_guess(guess: Callable[[Floats], Strings], setting: Setting) -> Reader:
    """What is said of each person's secret; of the value the best constant guess, and nobody is beside a record."""
    usual = _usual(setting)

    def read(people: People) -> Hits:
        right = (guess(people.known) == people.secrets).astype(np.float64)
        return usual(people)._replace(link=np.zeros(len(right)), secret=right)

    return read


def _usual(setting: Setting) -> Reader:
    """The best guess that is the same for everybody, in the table or not."""
    values, counts = np.unique(np.concatenate([setting.members.secrets, setting.outsiders.secrets]), return_counts=True)
    near = _near(setting)
    common = values[counts.argmax()]
    middle = best_window(np.concatenate([setting.members.values, setting.outsiders.values]), near)

    def read(people: People) -> Hits:
        return Hits(
            np.zeros(len(people.known)),
            (people.secrets == common).astype(np.float64),
            (np.abs(people.values - middle) <= near + SAME).astype(np.float64),
        )

    return read


def _from_cells(publication: Publication, setting: Setting) -> float:
    """What the most common secret of each cell hits: at least what other people's records say about anybody's."""
    if publication.counts is not None:
        cell = np.ravel_multi_index(_cell_of(publication, setting.known), publication.counts.shape[:-1])
    else:
        cell = np.unique(setting.known, axis=0, return_inverse=True)[1].reshape(-1)
    codes = np.searchsorted(np.array(setting.possible), setting.secrets)
    pairs, counts = np.unique(np.stack([cell, codes], axis=1), axis=0, return_counts=True)
    most = np.zeros(int(cell.max()) + 1)
    np.maximum.at(most, pairs[:, 0], counts)
    return float(most.sum() / len(cell))


def _cell_of(publication: Publication, known: Floats) -> tuple[Places, ...]:
    return tuple(
        np.searchsorted(edge, column, side="right") - 1
        for edge, column in zip(publication.edges, known.T, strict=False)
    )


def _spread(known: Floats) -> Floats:
    spread = known.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _near(setting: Setting) -> float:
    return float(NEAR * (setting.values.std() or 1.0))
