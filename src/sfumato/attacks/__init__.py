"""Attacks to try on a release before somebody else does.

    linking                 names come back to a table without names
    differencing            two totals give away one person's value
    averaging               fresh noise averages out
    tracker                 a crowd smuggles one person past a minimum size
    reconstruction          counts of random halves give away everybody's secret
    marginals               so do published tables, taken together
    homogeneity             a class in which all have the same value hides nothing
    background_knowledge    nor one in which a few values can be ruled out
    skewness                nor one in which a value is much more common than elsewhere
    intersection            two k-anonymous releases together are not
    known_sample            a few known rows undo a rotation
    known_distribution      so does knowing how the values are distributed
    denoise_additive        additive noise comes out again
    denoise_multiplicative  multiplicative noise too, in logarithms
    input_output            a few rows known before and after show how all were perturbed
    membership              published means tell who was in them
    floating_point          textbook noise in doubles tells the true value
    timing                  a sampler that loops tells it by the clock

Every attack returns an AttackResult: what was recovered, how often it is right, what chance would give, and what the
promised epsilon allows. `table_desk` and `session_desk` answer the same questions from a bare table and through a
session; `demonstrate` runs one attack on a bare table, an older protection and differential privacy.
"""

from sfumato.attacks.averaging import averaging
from sfumato.attacks.denoise import denoise_additive, denoise_multiplicative, input_output
from sfumato.attacks.desk import session_desk, table_desk
from sfumato.attacks.differencing import differencing
from sfumato.attacks.diversity import background_knowledge, homogeneity, skewness
from sfumato.attacks.floating_point import floating_point, textbook_laplace
from sfumato.attacks.intersection import intersection
from sfumato.attacks.linking import linking
from sfumato.attacks.marginals import marginals
from sfumato.attacks.membership import membership
from sfumato.attacks.reconstruction import reconstruction
from sfumato.attacks.result import AttackResult
from sfumato.attacks.rotate import known_distribution, known_sample
from sfumato.attacks.shows import Demonstration, demonstrate
from sfumato.attacks.timing import looping_geometric, timing
from sfumato.attacks.tracker import tracker

__all__ = [
    "AttackResult",
    "Demonstration",
    "averaging",
    "background_knowledge",
    "demonstrate",
    "denoise_additive",
    "denoise_multiplicative",
    "differencing",
    "floating_point",
    "homogeneity",
    "input_output",
    "intersection",
    "known_distribution",
    "known_sample",
    "linking",
    "looping_geometric",
    "marginals",
    "membership",
    "reconstruction",
    "session_desk",
    "skewness",
    "table_desk",
    "textbook_laplace",
    "timing",
    "tracker",
]
