"""Runs the check of a task and says its verdict in words: the same for the notebook and for the grader."""

import hashlib
from collections.abc import Sequence

from sfumato.labs import judge
from sfumato.labs.answers import Answers
from sfumato.labs.filling import Filling
from sfumato.labs.source import Cell, Lab
from sfumato.labs.variant import Variant
from sfumato.labs.verdict import StudentError, Value, Verdict
from sfumato.labs.wordings import no_check
from sfumato.labs.words import filled, text


def seed_of(variant: Variant, task: str) -> int:
    """The seed of a task's judges: another for every student and task, the same at home and at the teacher's."""
    name = f"{variant.lab}|{variant.number}|{variant.seed}|{task}"
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:5], "big")


def verdict_of(lab: Lab, task: str, answers: Answers, variant: Variant) -> Verdict:
    """What the task's check says; whatever goes wrong on the student's side is a verdict too."""
    check = getattr(lab.module("checks"), task, None)
    if check is None:
        raise no_check(lab.slug, task)
    with judge.seeded(seed_of(variant, task)):
        try:
            verdict = check(answers, variant)
        except StudentError as error:
            return error.verdict
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # The check met an answer of a form that nobody thought of; reference solutions never come here (selftest).
            return Verdict(False, "check_failed", {"error": type(error).__name__})
    if not isinstance(verdict, Verdict):
        raise no_check(lab.slug, task)
    return verdict


def needed(lab: Lab, task: str) -> list[Cell]:
    """The task's cell after those of all tasks that it needs, in the order of the lab."""
    wanted, queue = {task}, [task]
    while queue:
        for name in lab.cell(queue.pop()).needs:
            if name not in wanted:
                wanted.add(name)
                queue.append(name)
    before = [cell for cell in lab.tasks if cell.id in wanted and cell.id != task]
    return [*before, lab.cell(task)]


def said(verdict: Verdict, lab: Lab, variant: Variant, lang: str) -> str:
    """The verdict in the student's language: this lab's own words first, then those that all labs share."""
    own = lab.words(lang).messages
    values = {**verdict.values, "times": _times(verdict.values.get("factor", 0), lang)}
    if verdict.code in own:
        words = filled(Filling(lab, variant, lang).prose(own[verdict.code]), lang, values, key=verdict.code)
    else:
        words = text(f"verdict.{verdict.code}", lang, **values)
    if "asked" in values:
        words += " " + text("verdict.asked", lang, **values)
    return words


def _times(factor: Value, lang: str) -> str:
    """The word after a factor, where a language has several: в 131 раз, в 2 раза, в 2,5 раза."""
    whole = isinstance(factor, int | float) and factor == int(factor)
    few = not whole or (int(factor) % 10 in (2, 3, 4) and int(factor) % 100 not in (12, 13, 14))
    return text("verdict.times_few" if few else "verdict.times", lang)


def hints_of(lab: Lab, variant: Variant, task: str, lang: str) -> Sequence[str]:
    filling = Filling(lab, variant, lang)
    return [filling.prose(hint) for hint in lab.words(lang).hints.get(task, ())]
