"""Private choice among public questions to the rows of every group: how well each divides them, or misses a model.

Scores are whole numbers, made here of counts that an engine found: no logarithm, no quotient that is not rounded down.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from sfumato.errors import plan_refused
from sfumato.kernel.cost import Currency
from sfumato.kernel.entropy import Entropy
from sfumato.kernel.mechanisms.choice import InGroups, law_for
from sfumato.kernel.mechanisms.protocol import Added, CellCounts, Numbers, Released, Tables
from sfumato.plan.nodes import Choose, Gap, Question, Score
from sfumato.schema.allow import Family

GINI_STEPS = 64
# How far one row moves a score, and whether it moves all scores one way.
MOVED: Mapping[Score, tuple[int, bool]] = MappingProxyType(
    {"gini": (2 * GINI_STEPS, True), "max": (1, True), "gap": (1, False)}
)


@dataclass(frozen=True, slots=True)
class QuestionChoice(InGroups):
    """Chooses one of the questions for every group, by their scores. Proof: docs/proofs/split-scores.md"""

    asked: Choose

    def __post_init__(self) -> None:
        sensitivity, monotone = MOVED[self.asked.score]
        if self.law.sensitivity != sensitivity or self.law.monotone is not monotone:
            raise ValueError("a row moves the scores of such questions otherwise")

    @classmethod
    def for_share(
        cls, share: Fraction, currency: Currency, l1: int, l2_squared: int, asked: Choose
    ) -> "QuestionChoice":
        sensitivity, monotone = MOVED[asked.score]
        law = law_for(share, currency, l1, l2_squared, sensitivity, monotone=monotone)
        return cls(law, l1, l2_squared, asked)

    @property
    def family(self) -> Family:
        return "splits"

    def check(self, entry: Added) -> None:
        sizes = [cells.size for cells in self.asked.counted]
        if not isinstance(entry, tuple) or len(entry) != len(sizes):
            raise plan_refused("the engine answered with something else than tables")
        if not all(isinstance(one, CellCounts) and one.fit(size) for one, size in zip(entry, sizes, strict=True)):
            raise plan_refused("the engine answered with something else than cells")

    def draw(self, entries: Sequence[Added], entropy: Entropy) -> list[Released]:
        found = scores(self.asked, [entry for entry in entries if isinstance(entry, tuple)])
        return [self.law.draw(group, entropy) for group in found]


def scores(asked: Choose, groups: Sequence[Tables]) -> Numbers:
    """One row a group, with a score for each question.

    Claim: of one row more in the tables of a group, each in at most one cell of a table, every score of that group
    moves by at most what MOVED says, and where that says so none rises ("gini") or none falls ("max").
    Needs: no more than 2^32 rows in a table, so that scores fit 64 bits.
    Proof: docs/proofs/split-scores.md
    """
    found, sizes = np.zeros((len(groups), len(asked.questions)), dtype=np.int64), [one.size for one in asked.counted]
    own: dict[int, list[int]] = {}
    for place, question in enumerate(asked.questions):
        own.setdefault(question.table, []).append(place)
    for table, places in own.items():
        counts = np.array([group[table].dense(sizes[table]) for group in groups], dtype=np.int64)
        questions = [asked.questions[place] for place in places]
        if asked.classes is None:
            found[:, places] = _gaps(counts, [one for one in questions if isinstance(one, Gap)])
        else:
            divided = counts.reshape(len(groups), -1, asked.classes.size)
            found[:, places] = _divided(divided, [one for one in questions if isinstance(one, Question)], asked.score)
    return found


def _gaps(counts: Numbers, gaps: Sequence[Gap]) -> Numbers:
    """How many rows of each group are elsewhere than in the model, less a penalty."""
    models = [np.array(gap.model, dtype=np.int64) for gap in gaps]
    missed = [np.abs(counts - model).sum(axis=1) - gap.penalty for gap, model in zip(gaps, models, strict=True)]
    return np.column_stack(missed)


def _divided(counts: Numbers, questions: Sequence[Question], score: Score) -> Numbers:
    """Of groups, cells and classes: the scores of all children of a question, added up."""
    children = [np.array(question.children) for question in questions]
    widths = [int(own.max()) + 1 for own in children]
    member = np.concatenate([own == np.arange(width)[:, None] for own, width in zip(children, widths, strict=True)])
    # Python's own numbers: squares of counts do not fit 64 bits.
    inside = np.einsum("kc,gcj->gkj", member.astype(np.int64), counts).astype(object)
    if score == "max":
        each = inside.max(axis=2)
    else:
        rows = inside.sum(axis=2)
        each = GINI_STEPS * (inside**2).sum(axis=2) // np.maximum(rows, 1) - GINI_STEPS * rows
    starts = np.cumsum([0, *widths[:-1]])
    return np.add.reduceat(each, starts, axis=1).astype(np.int64)
