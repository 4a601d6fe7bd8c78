"""Attack every claim: your own mechanism, a learner, and Sfumato itself.

An audit can refute a claim and never prove one: what it does not find may still be there.
"""

from sfumato.audit.canaries import epsilon_from_guesses, one_run
from sfumato.audit.events import mechanism
from sfumato.audit.findings import Finding, violations
from sfumato.audit.neighbours import Measured, Sensitivities, sensitivity
from sfumato.audit.runs import everything

__all__ = [
    "Finding",
    "Measured",
    "Sensitivities",
    "epsilon_from_guesses",
    "everything",
    "mechanism",
    "one_run",
    "sensitivity",
    "violations",
]
