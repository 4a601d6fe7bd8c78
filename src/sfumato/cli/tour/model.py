"""Scene 7: a model of everybody, for one charge, and how good it is on people it has not seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato.cli.tour.files import Files
from sfumato.cli.tour.stage import Stage
from sfumato.cli.tour.town import Town
from sfumato.learn import Tree
from sfumato.learn.model import SHARES, Branches, Model, Node
from sfumato.learn.shown.pictures import asked
from sfumato.plots.bars import percent
from sfumato.protected import open_policy

TARGET, COLUMNS = "marital_status", ("age", "sex", "education")
SPEND, SPEND_ON_EVALUATION, HELD_OUT = 0.5, 0.5, 0.2
DEPTH = 2
MOST_COMMON = f"SELECT MAX(n) / SUM(n) FROM (SELECT COUNT(*) AS n FROM town GROUP BY {TARGET})"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Who ends there, and what is said of them."""

    who: str
    said: str
    share: float


@dataclass(frozen=True, slots=True)
class Learnt:
    """What the scene found."""

    target: str
    epsilon: float
    draws: int
    leaves: tuple[Leaf, ...]
    accuracy: float | None
    low: float
    high: float
    most_common: float
    notes: tuple[str, ...]


def play(stage: Stage, town: Town, files: Files) -> Learnt:
    stage.scene(7, "A model of everybody")
    with open_policy(files.policy) as session:
        learner = Tree(TARGET, spend=SPEND, columns=COLUMNS, depth=DEPTH, max_rows=1, holdout=HELD_OUT)
        draws = sum(one.times for one in learner.explain(session).stages)
        with stage.working("Growing a tree …"):
            learner.fit(session)
        found = session.evaluate(learner, spend=SPEND_ON_EVALUATION)
    leaves = tuple(_leaves(learner.model_))
    stage.say(
        f"Can marital status be told from {', '.join(COLUMNS[:-1])} and {COLUMNS[-1]}? A tree for {SPEND:g}, one "
        f"charge for all {draws} rounds; a fifth of the people were put aside:"
    )
    stage.table(
        ["who", "most often", "share"],
        [[leaf.who, (leaf.said, "number"), percent(leaf.share)] for leaf in leaves],
        right=["share"],
        narrow="who",
    )
    learnt = Learnt(
        TARGET,
        SPEND,
        draws,
        leaves,
        found.accuracy,
        *found.accuracy_interval,
        town.number(MOST_COMMON),
        (*learner.notes_, *found.notes),
    )
    _show_accuracy(stage, learnt)
    return learnt


def _show_accuracy(stage: Stage, learnt: Learnt) -> None:
    if learnt.accuracy is None:
        stage.say("How good it is on those put aside is lost in the noise: the town is too small for this price.")
        return
    stage.say(
        f"On those put aside, for {SPEND_ON_EVALUATION:g} more: right for {percent(learnt.accuracy)} of visits "
        f"({percent(learnt.low)} to {percent(learnt.high)}); always saying the most common would be for "
        f"{percent(learnt.most_common)}. How good it is on those it was fitted on, it never says."
    )


def _leaves(model: Model) -> Iterator[Leaf]:
    if isinstance(model.fitted, Branches):
        yield from _below(model, model.fitted.trees[0], 0, ())


def _below(model: Model, nodes: Sequence[Node], number: int, before: tuple[str, ...]) -> Iterator[Leaf]:
    node = nodes[number]
    if not node.children:
        best = max(range(len(node.shares)), key=node.shares.__getitem__)
        yield Leaf(" and ".join(before) or "everybody", str(model.classes[best]), node.shares[best] / SHARES)
        return
    yes = asked(model.features[node.column], node.right).removesuffix(" or missing")
    for child, words in zip(node.children, (yes.replace("≥", "<").replace(" = ", " ≠ "), yes), strict=True):
        yield from _below(model, nodes, child, (*before, words))
