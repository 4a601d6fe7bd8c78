"""Learners: clients of a session that pay once and see nothing but releases.

import sfumato as sf
model = sf.learn.Additive(target="income", spend=1).fit(session)
model.predict(frame)
"""

from sfumato.learn.additive import Additive
from sfumato.learn.bayes import NaiveBayes
from sfumato.learn.card import Card
from sfumato.learn.evaluation import Evaluation
from sfumato.learn.forest import Forest
from sfumato.learn.loading import load
from sfumato.learn.schedule import Schedule
from sfumato.learn.tree import Tree

__all__ = ["Additive", "Card", "Evaluation", "Forest", "NaiveBayes", "Schedule", "Tree", "load"]
