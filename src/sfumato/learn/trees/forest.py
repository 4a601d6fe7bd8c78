"""A forest: the units of a table divided among a few trees, each of which sees some columns. It costs as one tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

from sfumato.envelope import Envelope
from sfumato.kernel.cost import Cost
from sfumato.learn.classifier import Classifier
from sfumato.learn.learner import Told
from sfumato.learn.model import Branches, Parameter
from sfumato.learn.schedule import Template
from sfumato.learn.shown.notes import notes_on
from sfumato.learn.task import Task
from sfumato.learn.trees.growing import ENOUGH_TO_SORT, Growth, Level, Roots, grow, root, templates
from sfumato.learn.trees.tree import Pruning, grown_tree, growth_for, possible, room_of_trees
from sfumato.learn.wordings import forest_of_unknown, forest_too_small
from sfumato.schema.budget import Budget, Spend
from sfumato.schema.columns import Declared
from sfumato.schema.numbers import GivenNumber, whole
from sfumato.simulate import Simulator

MOST_TREES = 50
SEEN = 0.6  # of the columns, by each tree


class Forest(Classifier):
    """Several trees on disjoint units: smoother probabilities than one tree, for tables that are large enough."""

    learner = "forest"

    def __init__(
        self,
        target: str | None = None,
        *,
        spend: GivenNumber | Spend | None = None,
        columns: Sequence[str] | Mapping[str, Declared] | None = None,
        trees: int = 5,
        depth: int | None = None,
        min_samples: int = 0,
        min_gain: float = 0.0,
        max_rows: int | None = None,
        expected_rows: int | None = None,
        holdout: GivenNumber | None = None,
        ledger: str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.target = target
        self.spend = spend
        self.columns = columns
        self.trees = trees
        self.depth = depth
        self.min_samples = min_samples
        self.min_gain = min_gain
        self.max_rows = max_rows
        self.expected_rows = expected_rows
        self.holdout = holdout
        self.ledger = ledger
        self.budget = budget

    def _settings(self, task: Task, price: Cost) -> dict[str, Parameter]:
        trees = whole(self.trees, "trees", least=2, most=MOST_TREES)
        if task.expected_rows is None:
            raise forest_of_unknown()
        if self.epsilon * task.expected_rows < ENOUGH_TO_SORT:
            raise forest_too_small(ENOUGH_TO_SORT)
        growth, pruning = self._growth(task, price), Pruning.of(self.min_samples, self.min_gain)
        return {
            "expected_rows": task.expected_rows,
            "trees": trees,
            "depth": growth.depth,
            "leaves": str(growth.leaves),
            "sorting": growth.sorting,
            "min_samples": pruning.min_samples,
            "min_gain": pruning.min_gain,
        }

    def _room(self, task: Task, price: Cost) -> int:
        return room_of_trees(task, self._growth(task, price).depth, len(task.classes), self.trees)

    def _growth(self, task: Task, price: Cost) -> Growth:
        return growth_for(self.epsilon, task, price, self.depth, self._roots(None), self.trees)

    def _templates(self, task: Task, price: Cost) -> list[Template]:
        return list(templates(task, price, self._growth(task, price), self._roots(None)))

    def _roots(self, seed: str | None) -> Roots:
        return _Roots(self.trees, seed)

    def _learnt(self, task: Task, envelope: Envelope, told: Told) -> tuple[Branches, tuple[str, ...]]:
        seen = _seen(len(task.columns), self.trees, envelope.seed)
        grown = grow(
            task, envelope, envelope.price, self._growth(task, envelope.price), self._roots(envelope.seed), told
        )
        pruning, made = Pruning.of(self.min_samples, self.min_gain), []
        for tree in range(self.trees):
            cells = possible(task, [not shown for shown in seen[tree]], grown.orders)
            made.append(grown_tree(grown.levels, grown.leaves, grown.noise, pruning, cells, tree))
        fitted = Branches(tuple(made))
        return fitted, notes_on(fitted)


@dataclass(frozen=True, slots=True)
class _Roots:
    """Roots by a seed; before there is one, those that are most work: to hide a column from one tree is as much as
    from several.
    """

    trees: int
    seed: str | None

    def __call__(self, task: Task) -> Level:
        many = len(task.columns)
        if self.seed is None:
            return root(task, self.trees, 0, ((False,) * many, *((True,) * many for _ in range(self.trees - 1))))
        return root(task, self.trees, int(self.seed[:15], 16), _seen(many, self.trees, self.seed))


def _seen(columns: int, trees: int, seed: str) -> tuple[tuple[bool, ...], ...]:
    """Which columns each tree sees: public coins, of the seed that is in the ledger.

    Columns are shuffled once and hidden in turn, so that each is hidden from as many trees as any other, or one more.
    """
    order = Simulator(int(seed, 16)).stream("columns of trees").permutation(columns).tolist()
    many = columns - max(1, round(SEEN * columns))
    hidden = [{order[(tree * many + turn) % columns] for turn in range(many)} for tree in range(trees)]
    return tuple(tuple(place not in own for place in range(columns)) for own in hidden)
