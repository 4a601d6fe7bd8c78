"""What it costs: composition of mechanisms, groups and parts, filters, and what an ε means to an attacker.

Everything here is arithmetic before or after the fact; no data, no noise, no ledger. docs/reference/accounting.md
"""

from sfumato.accounting.belief import highest_rate, membership_advantage, posterior
from sfumato.accounting.bounds import Bounds, compose, delta, epsilon
from sfumato.accounting.choices import draw_caps, draw_clipping, draw_keys, draw_quantiles
from sfumato.accounting.events import Event, event
from sfumato.accounting.figures import draw_belief, draw_composition, draw_deviations
from sfumato.accounting.filters import ApproximateFilter, PureFilter, ZcdpFilter
from sfumato.accounting.gaussian import classical_sigma, gaussian_delta, gaussian_epsilon, gaussian_sigma
from sfumato.accounting.people import group, parallel
from sfumato.accounting.planning import Deviations, deviations, error_of, questions, questions_within, spend_for
from sfumato.accounting.worlds import draw_worlds

__all__ = [
    "ApproximateFilter",
    "Bounds",
    "Deviations",
    "Event",
    "PureFilter",
    "ZcdpFilter",
    "classical_sigma",
    "compose",
    "delta",
    "deviations",
    "draw_belief",
    "draw_caps",
    "draw_clipping",
    "draw_composition",
    "draw_deviations",
    "draw_keys",
    "draw_quantiles",
    "draw_worlds",
    "epsilon",
    "error_of",
    "event",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_sigma",
    "group",
    "highest_rate",
    "membership_advantage",
    "parallel",
    "posterior",
    "questions",
    "questions_within",
    "spend_for",
]
