"""Learners: clients of a session that pay once and see nothing but releases.

import sfumato as sf
model = sf.learn.Additive(target="income", spend=1).fit(session)
model.predict(frame)
"""

from sfumato.learn.clustering.clusters import Clusters
from sfumato.learn.evaluation import Evaluation
from sfumato.learn.files.loading import load
from sfumato.learn.linear.coefficients import Coefficient
from sfumato.learn.linear.correlation import Components, Correlation
from sfumato.learn.linear.linear import Linear
from sfumato.learn.schedule import Schedule
from sfumato.learn.scores.additive import Additive
from sfumato.learn.scores.bayes import NaiveBayes
from sfumato.learn.shown.card import Card
from sfumato.learn.synthesis.comparison import Comparison
from sfumato.learn.synthesis.synthetic import Synthetic
from sfumato.learn.trees.forest import Forest
from sfumato.learn.trees.tree import Tree

__all__ = [
    "Additive",
    "Card",
    "Clusters",
    "Coefficient",
    "Comparison",
    "Components",
    "Correlation",
    "Evaluation",
    "Forest",
    "Linear",
    "NaiveBayes",
    "Schedule",
    "Synthetic",
    "Tree",
    "load",
]
