"""Attacks to try on a release before somebody else does.

    linking         names come back to a table without names
    differencing    two totals give away one person's value

Every attack returns an AttackResult: what was recovered, how often it is right, what chance would give, and what the
promised epsilon allows.
"""

from sfumato.attacks.difference import differencing
from sfumato.attacks.link import linking
from sfumato.attacks.result import AttackResult

__all__ = ["AttackResult", "differencing", "linking"]
