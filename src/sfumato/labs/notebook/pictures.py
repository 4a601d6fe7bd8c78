"""`show.t3()`: what the student's function gives, drawn against the law it should follow."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.labs import judge
from sfumato.labs.answers import Answers
from sfumato.labs.judge import Seen
from sfumato.labs.languages import language
from sfumato.labs.laws import Array, Bits, Categories, Every, Scaled
from sfumato.labs.notebook.values import written
from sfumato.labs.running import said, verdict_of
from sfumato.labs.source import Lab
from sfumato.labs.variant import Variant
from sfumato.labs.verdict import Verdict
from sfumato.labs.wordings import student_needs_matplotlib
from sfumato.labs.words import text

_BINS = 60
_VALUES = 8
_SHOWN = 6  # coordinates of a vector that are drawn


def picture(lab: Lab, task: str, answers: Answers, variant: Variant, lang: str) -> str:
    """Draws what the check of a task looks at, and returns a sentence about it."""
    return shown(*looked(lab, task, answers, variant), lab, variant, lang)


def looked(lab: Lab, task: str, answers: Answers, variant: Variant) -> tuple[Verdict, list[Seen]]:
    """What the check says, and all that it looked at."""
    with judge.watched() as seen:
        verdict = verdict_of(lab, task, answers, variant)
    return verdict, seen


def shown(verdict: Verdict, seen: Sequence[Seen], lab: Lab, variant: Variant, lang: str) -> str:
    """The same for people: a plot where something was drawn, values in words where not."""
    drawn = next((one for one in seen if one.kind != "value"), None)
    words = said(verdict, lab, variant, lang)
    if drawn is None:
        if not seen:
            return words
        values = language(lang).semicolon.join(written(one.draws, lang) for one in seen[:_VALUES])
        return words + "\n" + text("verdict.your_value", lang, value=values)
    plots = _pyplot()
    _draw(plots, drawn)
    plots.show()
    return words + "\n" + text(f"verdict.picture_{drawn.kind}", lang)


def _pyplot() -> Any:
    try:
        return import_module("matplotlib.pyplot")
    except ImportError:
        raise student_needs_matplotlib() from None


def _draw(plots: Any, seen: Seen) -> None:
    if seen.kind == "pair":
        figure, axes = plots.subplots(figsize=(6, 3.2))
        for sample, label in zip(seen.draws, ("D", "D′"), strict=True):
            _histogram(axes, np.asarray(sample).reshape(len(sample), -1)[:, 0], label)
        axes.legend()
        figure.tight_layout()
        return
    law = _law(seen.law)
    draws = np.asarray(seen.draws)
    rows = draws.reshape(len(draws), -1)
    count = 1 if isinstance(law, Bits | Categories) else min(rows.shape[1], _SHOWN)
    figure, grid = plots.subplots(1, count, figsize=(max(6, 2.6 * count), 3.2), squeeze=False)
    for column, axes in enumerate(grid[0]):
        _against(axes, rows, column, law)
    grid[0][0].legend()
    figure.tight_layout()


def _law(test: Any) -> Any:
    """The law among several tests of the same draws."""
    if isinstance(test, Every):
        return next((one for one in test.tests.values() if isinstance(one, Scaled | Bits | Categories)), None)
    return test


def _against(axes: Any, rows: Array, column: int, law: Any) -> None:
    match law:
        case Scaled():
            made, loc, scale = law.columns(rows)
            _histogram(axes, made[:, column], "yours")
            low, high = axes.get_xlim()
            spread = 8 * float(scale[column])
            at = np.linspace(max(low, loc[column] - spread), min(high, loc[column] + spread), 400)
            axes.plot(at, law.family.density((at - loc[column]) / scale[column]) / scale[column], label="expected")
        case Bits():
            chances = np.broadcast_to(np.ravel(law.p), (rows.shape[1],))
            _bars(axes, [str(place + 1) for place in range(rows.shape[1])], rows.mean(axis=0), chances)
        case Categories():
            shares = [float(np.mean(rows[:, 0] == value)) for value in law.values]
            _bars(axes, [str(value) for value in law.values], shares, law.chances)
        case _:
            _histogram(axes, rows[:, column], "yours")


def _histogram(axes: Any, values: Array, label: str) -> None:
    if values.dtype.kind == "U":
        names, counts = np.unique(values, return_counts=True)
        axes.bar([str(name) for name in names], counts / counts.sum(), alpha=0.5, label=label)
        return
    axes.hist(values.astype(float), bins=_BINS, density=True, alpha=0.5, label=label)


def _bars(axes: Any, names: list[str], yours: Any, expected: Any) -> None:
    places = np.arange(len(names))
    axes.bar(places - 0.2, yours, 0.4, label="yours")
    axes.bar(places + 0.2, expected, 0.4, label="expected")
    axes.set_xticks(places, names, rotation=90 if max(map(len, names)) > 3 else 0)
