"""What a publication is worth and what it gives away: query error, people re-identified, secrets and values learnt."""

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.comparison.methods import FACTOR, NOISE, Publication
from sfumato.attacks.comparison.setting import Floats, Setting
from sfumato.attacks.denoise import shrunk
from sfumato.attacks.matrices import densest
from sfumato.attacks.promise import most_hits
from sfumato.attacks.result import AttackResult
from sfumato.attacks.rotate import linear_back

# How near a value must come, in standard deviations.
NEAR = 0.1
AT_ONCE = 512
FRACTION = 0.01
Strings = NDArray[np.str_]


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
    """Linking, the secret and the value, by the attack that suits the publication best."""
    if publication.counts is not None:
        return [_nobody(publication, setting), *_from_counts(publication, setting)]
    if publication.guesses is not None:
        return [_nobody(publication, setting), *_from_guesses(publication, setting)]
    if publication.low is not None and publication.high is not None:
        return _from_classes(publication, setting)
    return _from_records(_cleaned(publication, setting), setting)


def _cleaned(publication: Publication, setting: Setting) -> Floats:
    """The records after the perturbation has been taken out as far as statistics can."""
    rows = np.asarray(publication.rows, dtype=np.float64)
    original = np.column_stack([setting.known, setting.values])
    spread = np.where(original.std(axis=0) > 0, original.std(axis=0), 1)
    match publication.kind:
        case "noisy":
            return shrunk(rows, NOISE * spread)
        case "factors":
            return _without_factors(rows)
        case "rotated":
            known = np.arange(rows.shape[1] + 1)
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


def _from_records(rows: Floats, setting: Setting) -> list[AttackResult[None]]:
    """Each person of the register is matched with the nearest record, and the record is read."""
    known = setting.known
    spread = np.where(known.std(axis=0) > 0, known.std(axis=0), 1)
    ours, theirs = known / spread, rows[:, : known.shape[1]] / spread
    hit, secret, value = np.zeros(len(known)), np.zeros(len(known)), np.zeros(len(known))
    near = NEAR * (setting.values.std() or 1.0)
    for start in range(0, len(known), AT_ONCE):
        gaps = np.square(ours[start : start + AT_ONCE, None, :] - theirs[None, :, :]).sum(axis=2)
        best = gaps <= gaps.min(axis=1, keepdims=True) + 1e-12
        weight = best / best.sum(axis=1, keepdims=True)
        at = np.arange(start, start + len(best))
        hit[at] = weight[np.arange(len(best)), at]
        secret[at] = (weight * (setting.secrets[None, :] == setting.secrets[at][:, None])).sum(axis=1)
        value[at] = (weight * (np.abs(rows[None, :, -1] - setting.values[at][:, None]) <= near)).sum(axis=1)
    return _results(hit, secret, value, setting)


def _from_classes(publication: Publication, setting: Setting) -> list[AttackResult[None]]:
    """Each person is in a class; its most common secret and its middle value are guessed."""
    together = np.column_stack([np.asarray(publication.low), np.asarray(publication.high)])
    group = np.unique(together, axis=0, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(group)
    values, codes = np.unique(setting.secrets, return_inverse=True)
    counts = np.zeros((len(sizes), len(values)))
    np.add.at(counts, (group, codes), 1)
    middle = np.array([np.median(setting.values[group == place]) for place in range(len(sizes))])
    near = NEAR * (setting.values.std() or 1.0)
    return _results(
        1 / sizes[group],
        (counts.argmax(axis=1)[group] == codes).astype(np.float64),
        (np.abs(middle[group] - setting.values) <= near).astype(np.float64),
        setting,
    )


def _nobody(publication: Publication, setting: Setting) -> AttackResult[None]:
    """No record leaves the house, so nobody can be put beside one."""
    people = setting.table.num_rows
    return AttackResult("linking", [], 0.0, 1 / people, most_hits(1 / people, publication.epsilon), people)


def _from_counts(publication: Publication, setting: Setting) -> list[AttackResult[None]]:
    """The most common secret of a person's cell, and one value for everybody: the counts say nothing about values."""
    counts = np.asarray(publication.counts)
    places = tuple(
        np.searchsorted(edge, column, side="right") - 1
        for edge, column in zip(publication.edges, setting.known.T, strict=False)
    )
    guess = np.array(publication.secrets)[counts.argmax(axis=-1)[places]]
    hit = (guess == setting.secrets).astype(np.float64)
    chance = float(np.unique(setting.secrets, return_counts=True)[1].max() / len(hit))
    cell = np.ravel_multi_index(places, counts.shape[:-1])
    codes = np.unique(setting.secrets, return_inverse=True)[1]
    true = np.zeros((counts[..., 0].size, len(publication.secrets)))
    np.add.at(true, (cell, codes), 1)
    others = float(true.max(axis=1).sum() / len(hit))
    wide = densest(setting.values, NEAR * (setting.values.std() or 1.0))
    return [
        AttackResult("secret", [], float(hit.mean()), chance, most_hits(others, publication.epsilon), len(hit)),
        AttackResult("value", [], wide, wide, most_hits(wide, publication.epsilon), len(hit)),
    ]


def _from_guesses(publication: Publication, setting: Setting) -> list[AttackResult[None]]:
    """What the model says of each person; it says nothing about values."""
    hit = (np.asarray(publication.guesses) == setting.secrets).astype(np.float64)
    alike = np.unique(setting.known, axis=0, return_inverse=True)[1].reshape(-1)
    values, codes = np.unique(setting.secrets, return_inverse=True)
    counts = np.zeros((int(alike.max()) + 1, len(values)))
    np.add.at(counts, (alike, codes), 1)
    chance, best = float(counts.sum(axis=0).max() / len(hit)), float(counts.max(axis=1).sum() / len(hit))
    wide = densest(setting.values, NEAR * (setting.values.std() or 1.0))
    return [
        AttackResult("secret", [], float(hit.mean()), chance, most_hits(best, publication.epsilon), len(hit)),
        AttackResult("value", [], wide, wide, most_hits(wide, publication.epsilon), len(hit)),
    ]


def _results(hit: Floats, secret: Floats, value: Floats, setting: Setting) -> list[AttackResult[None]]:
    people = len(hit)
    common = float(np.unique(setting.secrets, return_counts=True)[1].max() / people)
    wide = densest(setting.values, NEAR * (setting.values.std() or 1.0))
    return [
        AttackResult("linking", [], float(hit.mean()), 1 / people, None, people),
        AttackResult("secret", [], float(secret.mean()), common, None, people),
        AttackResult("value", [], float(value.mean()), wide, None, people),
    ]
