"""Models from their files, ready to predict."""

from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.learn.clustering.clusters import Clusters
from sfumato.learn.files.file import read
from sfumato.learn.learner import Learner
from sfumato.learn.linear.correlation import Components, Correlation
from sfumato.learn.linear.linear import Linear
from sfumato.learn.scores.additive import Additive
from sfumato.learn.scores.bayes import NaiveBayes
from sfumato.learn.synthesis.synthetic import Synthetic
from sfumato.learn.trees.forest import Forest
from sfumato.learn.trees.tree import Tree

LEARNERS: tuple[type[Learner[Any]], ...] = (
    NaiveBayes,
    Additive,
    Tree,
    Forest,
    Linear,
    Correlation,
    Components,
    Clusters,
    Synthetic,
)
KINDS = {kind.learner: kind for kind in LEARNERS}


def load(path: str | PathLike[str]) -> Learner[Any]:
    """A model that `save` wrote: it predicts, and says what it cost; fitting it again takes a session and a spend."""
    model = read(Path(path))
    learner = KINDS[model.learner]()
    if learner.supervised:
        learner.set_params(target=model.target)
    if "k" in learner.get_params():
        learner.set_params(k=model.parameters.get("k", learner.get_params()["k"]))
    learner._adopt(model)
    return learner
