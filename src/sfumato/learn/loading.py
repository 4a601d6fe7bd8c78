"""Models from their files, ready to predict."""

from os import PathLike
from pathlib import Path

from sfumato.learn.additive import Additive
from sfumato.learn.bayes import NaiveBayes
from sfumato.learn.file import read
from sfumato.learn.forest import Forest
from sfumato.learn.learner import Learner
from sfumato.learn.tree import Tree

KINDS: dict[str, type[Learner]] = {kind.learner: kind for kind in (NaiveBayes, Additive, Tree, Forest)}


def load(path: str | PathLike[str]) -> Learner:
    """A model that `save` wrote: it predicts, and says what it cost; fitting it again takes a session and a spend."""
    model = read(Path(path))
    learner = KINDS[model.learner]().set_params(target=model.target)
    learner._adopt(model)
    return learner
