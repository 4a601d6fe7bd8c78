"""Averaging: fresh noise in every answer, and an attacker who asks again until it has averaged out."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsFloat

import numpy as np

from sfumato.attacks.finite import number_of
from sfumato.attacks.result import AttackResult
from sfumato.attacks.secrets import judged, nearest, possible_values, true_values
from sfumato.attacks.wordings import nothing_to_attack, one_text
from sfumato.errors import BudgetExceeded
from sfumato.schema.numbers import whole


def averaging(
    ask: Callable[[str], SupportsFloat],
    questions: Sequence[str],
    *,
    repeats: int = 100,
    truth: Iterable[Any] | None = None,
    candidates: Sequence[float] = (0, 1),
    epsilon: float | None = None,
    delta: float = 0.0,
) -> AttackResult[float]:
    """Ask each question many times, average the answers, and take the nearest possible value.

    questions: each has an answer that one person decides, e.g. the number of patients with this birthday and HIV.
    truth: the true answers, in their order. candidates: the values that an answer can have.
    epsilon, delta: what all repeats of one question cost together. When `ask` raises BudgetExceeded the attack ends; a
    question answered at least once still counts.

    recovered: a guess for each question. chance: the share of the most common answer.
    bound: see `sfumato.attacks.promise.most_hits`. measures: "answers", how many came back; "repeats_a_question".
    """
    if isinstance(questions, str):
        raise one_text("questions", questions)
    if not questions:
        raise nothing_to_attack("question")
    times, values = whole(repeats, "repeats", least=1), possible_values(candidates)
    answers = true_values(truth, len(questions))
    means: list[float] = []
    given = 0
    for question in questions:
        heard = _heard(ask, question, times)
        given += len(heard)
        if heard:
            means.append(sum(heard) / len(heard))
        if len(heard) < times:
            break
    return judged(
        "averaging",
        nearest(np.array(means, dtype=np.float64), values),
        truth=answers,
        values=values,
        epsilon=epsilon,
        delta=delta,
        measures={"answers": given, "repeats_a_question": given / max(1, len(means))},
    )


def _heard(ask: Callable[[str], SupportsFloat], question: str, times: int) -> list[float]:
    """As many answers as the budget gives, at most `times`."""
    heard: list[float] = []
    for _ in range(times):
        try:
            heard.append(number_of(ask(question)))
        except BudgetExceeded:
            break
    return heard
