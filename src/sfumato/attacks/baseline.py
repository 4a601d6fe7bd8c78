"""The yardstick of a protection: what the same attacker learns about people who are not in the table.

What is true of people like her is learnt without her. Only what is learnt about members beyond that came from their
own records, whatever protects them.
"""

import math
from dataclasses import replace
from typing import Any

from sfumato.attacks.result import AttackResult

# Among the measures of a result: how often the attacker is right about outsiders, and how many he tried. An attack that
# may pass measures how many it made a guess about, of both.
OUTSIDERS, TRIED = "outsiders", "outsiders_tried"
CLAIMED, CLAIMED_OUTSIDE = "claimed", "outsiders_claimed"
# A difference counts from so many standard deviations, and from two in a hundred.
DEVIATIONS, LEAST = 4, 0.02


def beyond(result: AttackResult[Any]) -> bool:
    """Whether the attacker learns more than without these people's records, by more than luck.

    Where outsiders were attacked too, every protection is held against them and against chance. Elsewhere against
    what was promised or, where nothing was, against chance.
    """
    if math.isnan(result.success):
        return False
    if outsiders(result) is not None:
        return _above(result, result.chance) and (_more_hits(result) or _surer(result))
    return _above(result, result.chance) if result.bound is None else exceeds_promise(result)


def exceeds_promise(result: AttackResult[Any]) -> bool:
    return result.bound is not None and result.success > result.bound + luck(result.bound, _tries(result))


def unclear(result: AttackResult[Any]) -> bool:
    """Whether so much more is learnt about members that it would count with four times as many people."""
    others = result.measures[OUTSIDERS]
    return not beyond(result) and result.success - max(others, result.chance) > margin(result) / 2


def outsiders(result: AttackResult[Any]) -> float | None:
    """How often the attacker is right about people who are not in the table, where that was tried."""
    return result.measures.get(OUTSIDERS)


def margin(result: AttackResult[Any]) -> float:
    """The least difference between members and outsiders that is no luck."""
    return _margin(result.success, result.attempts, result.measures[OUTSIDERS], result.measures[TRIED])


def luck(share: float, tries: float) -> float:
    """How far a share of so many tries strays by luck."""
    tries = max(1, tries)
    return max(LEAST, DEVIATIONS * math.sqrt(max(share * (1 - share), 1 / tries) / tries))


def beside(
    inside: AttackResult[Any], some: AttackResult[Any], with_others: AttackResult[Any], others: int
) -> AttackResult[Any]:
    """The attack on members, beside that on others, by a release without them.

    By that release some members were attacked, and then the same with the others: the difference is about the others.
    """

    def left(both: float, first: float) -> float:
        return min(1.0, max(0.0, (both * with_others.attempts - first * some.attempts) / others))

    told = left(with_others.success, some.success)
    if CLAIMED not in inside.measures:
        return _measured(inside, {OUTSIDERS: told, TRIED: float(others)})
    claimed = left(with_others.measures[CLAIMED], some.measures[CLAIMED])
    # No more guesses about others than about members: with fewer people in it, a release makes more classes look pure.
    fair = min(1.0, inside.measures[CLAIMED] / claimed) if claimed else 1.0
    return _measured(inside, {OUTSIDERS: fair * told, CLAIMED_OUTSIDE: fair * claimed, TRIED: float(others)})


def _measured(result: AttackResult[Any], more: dict[str, float]) -> AttackResult[Any]:
    return replace(result, measures={**result.measures, **more})


def _tries(result: AttackResult[Any]) -> float:
    # Pairs that share a person are no tries of their own.
    return result.measures.get("tosses", result.attempts)


def _above(result: AttackResult[Any], share: float) -> bool:
    """More hits than this share, among those about whom a guess was made: about the others neither is right."""
    claimed = result.measures.get(CLAIMED, 1.0)
    if claimed == 0:
        return False
    allowed = min(1.0, share / claimed)
    return result.success / claimed > allowed + luck(allowed, _tries(result) * claimed)


def _more_hits(result: AttackResult[Any]) -> bool:
    return result.success > result.measures[OUTSIDERS] + margin(result)


def _surer(result: AttackResult[Any]) -> bool:
    """Whether a guess about a member is right more often than one about an outsider, where the attack may pass."""
    mine, theirs = result.measures.get(CLAIMED, 0.0), result.measures.get(CLAIMED_OUTSIDE, 0.0)
    if not (mine and theirs):
        return False
    right, right_outside = result.success / mine, min(1.0, result.measures[OUTSIDERS] / theirs)
    tried, tried_outside = mine * result.attempts, theirs * result.measures[TRIED]
    return right > right_outside + _margin(right, tried, right_outside, tried_outside)


def _margin(right: float, tried: float, right_outside: float, tried_outside: float) -> float:
    tried, tried_outside = max(1, tried), max(1, tried_outside)
    together = (tried * right + tried_outside * right_outside) / (tried + tried_outside)
    return luck(min(1.0, together), 1 / (1 / tried + 1 / tried_outside))
