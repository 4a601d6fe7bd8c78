"""The card of a model: one page that says what was protected, how it was learnt, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.accounting.belief import membership_advantage
from sfumato.learn.bins import named, values_or_bounds
from sfumato.learn.linear.coefficients import Coefficients
from sfumato.learn.linear.matrices import Correlations, Directions
from sfumato.learn.model import Branches, Centres, Curves, Fitted, Heights, Model, Scores, Stage
from sfumato.learn.shown.pictures import described, figure, parts
from sfumato.learn.synthesis.likeness import Likeness
from sfumato.plots.fragment import fragment
from sfumato.plots.page import Block, Cell, Facts, Figure, Section, Table, escaped, page, table, write_page
from sfumato.visible import visible_lines

NO_SCORE = (
    "No accuracy on the training rows is given: it would tell about them beyond what was paid, and would flatter the "
    "model. session.evaluate(model, spend=…) measures it on rows that were held out, as a question of its own."
)
USE = (
    "Made to predict the target from columns declared as here. Where noise rules, the model says little about people. "
    "What holds for a group is learnt, also about people who are not in the data."
)
NO_SCORE_OF_NUMBERS = (
    "No error on the training rows is given: it would tell about them beyond what was paid, and would flatter the "
    "model. model.score(X, y) measures R² on rows of your own."
)
COMPLETE = "Learnt from complete rows: who lacks a number, or has a value that is not listed, is left out."
NOISE_ALONE = (
    f"± is one standard deviation of the noise; that other people might have been asked comes on top. {COMPLETE}"
)
USE_OF_NUMBERS = f"{USE} Numbers beyond a bound count as at it. {COMPLETE}"
NO_FIT = (
    "No R² on the training rows is given: it would tell about them beyond what was paid, and would flatter the model. "
    "Intervals are for noise and chance together, for rows that a linear model fits."
)
USE_OF_SPREAD = (
    "Made to see which numbers vary together, between the bounds declared here. Where noise rules, it says little of "
    "people. What holds for a group is learnt, also about people who are not in the data."
)
GROUPS = (
    "Made to put rows into groups by columns declared as here, each scaled between its bounds. A centre is where many "
    "rows are near, and nobody's row. What holds for a group is learnt, also about people who are not in the data."
)
NO_LOSS = (
    "How far the rows are from their centres, and which cluster each is in, is not given: it would tell about them "
    "beyond what was paid. model.predict says it of rows of your own."
)
TRY_OUT = (
    "Made to try things out on, and to be passed on. No row is of a person. What was not measured, three columns "
    "together above all, may be nothing like the truth: whoever knows the question asks it, or fits a model for it."
)
NOT_COMPARED = (
    "How like the rows it is, is not told: that would be a question of its own. model.compared_in(session, spend=…) "
    "asks it, column by column."
)
TITLES = {
    "bayes": "Naive Bayes",
    "additive": "Additive scores",
    "tree": "Decision tree",
    "forest": "Forest",
    "linear": "Linear regression",
    "correlation": "Correlations",
    "components": "Principal components",
    "clusters": "Clusters",
    "synthetic": "Synthetic rows",
}


@dataclass(frozen=True, slots=True)
class Card:
    """What people should know of a model before they use it."""

    model: Model

    def __str__(self) -> str:
        model = self.model
        lines = [self._title, "", *self._protected(), ""]
        lines += [f"Classes:  {', '.join(map(str, model.classes))}"] if model.classes else []
        lines += ["Columns:  " + ", ".join(named(*each) for each in _extents(model).items())]
        lines += ["Learnt:", *(f"  {line}" for line in described(model))]
        lines += ["Schedule:", *(f"  {line}" for line in map(_told, model.schedule))]
        lines += [f"Note:     {note}" for note in model.notes]
        return visible_lines("\n".join([*lines, "", *_use(model.fitted)]))

    def to_dict(self) -> dict[str, Any]:
        """What `sfumato card --format json` prints."""
        model, (use, evaluation) = self.model, _use(self.model.fitted)
        return {
            "learner": model.learner,
            "target": model.target,
            "classes": list(model.classes),
            "protected": self._protected(),
            "columns": [{"name": name, "cells": extent} for name, extent in _extents(model).items()],
            "learnt": described(model),
            "schedule": [_told(stage) for stage in model.schedule],
            "notes": list(model.notes),
            "use": use,
            "evaluation": evaluation,
        }

    def figure(self, part: str | int | None = None) -> Any:
        """A Plotly figure of a part: the curve of a column (by default of the one that carries most), a tree (the
        first), or what else a model has.
        """
        return figure(self.model, part)

    def to_html(self, path: str | Path | None = None, *, drawn: Sequence[Block] = (), static: bool = False) -> str:
        """One page that works without a network; `drawn` is shown in place of the model's own figures.

        `static`: with plots that stand still, drawn by Matplotlib; the page is small and runs no script.
        """
        model, paid = self.model, self.model.paid
        facts = {"epsilon": f"{float(Fraction(paid.epsilon)):g}", "protects one": paid.unit.partition(" (")[0]}
        drawn = drawn or [Figure(self.figure(part), takeaway) for part, takeaway in parts(model)]
        sections = [
            Section("What was protected", self._protected()),
            Section("What it learnt", drawn),
            Section("Columns and their public bins", [_table_of_columns(model)]),
            Section("How it was learnt", [_table_of_stages(model.schedule), *model.notes]),
            Section("Use it for", _use(model.fitted)),
        ]
        text = page(self._title, sections, lead=[Facts(facts)], footer="Made with Sfumato.", static=static)
        if path is not None:
            write_page(Path(path), text)
        return text

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(escaped, self._protected()))
        return fragment(f"<p>{escaped(self._title)}</p><p>{lines}</p>{table(_table_of_columns(self.model))}")

    @property
    def _title(self) -> str:
        target, table = self.model.target, self.model.paid.table
        return f"{TITLES[self.model.learner]}: {f'{target} of {table}' if target else table}"

    def _protected(self) -> list[str]:
        paid = self.model.paid
        epsilon, delta = float(Fraction(paid.epsilon)), float(Fraction(paid.delta))
        right = (1 + membership_advantage(epsilon, delta)) / 2
        cost = f"epsilon {epsilon:g}" + (f", delta {delta:g}" if delta else "")
        return [
            f"One {paid.unit}, added or removed, at {cost}, whatever else is known.",
            "If a coin decides whether somebody is in the data, whoever sees this model guesses right in at most "
            f"{100 * right:.1f} % of cases.",
            f"Paid by {paid.analyst} on {paid.when}, entry {paid.receipt} of the ledger.",
        ]


def _extents(model: Model) -> dict[str, int | str]:
    complete = isinstance(model.fitted, Coefficients)
    return {one.name: values_or_bounds(one.cells) if complete else one.cells.extent for one in model.features}


def _use(fitted: Fitted) -> tuple[str, str]:
    """What a model is made for, and how to tell how good it is."""
    match fitted:
        case Scores() | Branches():
            return USE, NO_SCORE
        case Curves() | Heights():
            return USE, NO_SCORE_OF_NUMBERS
        case Coefficients():
            return USE_OF_NUMBERS, NO_FIT
        case Correlations() | Directions():
            return USE_OF_SPREAD, NOISE_ALONE
        case Centres():
            return GROUPS, NO_LOSS
        case Likeness():
            return TRY_OUT, NOT_COMPARED


def _told(stage: Stage) -> str:
    many = "" if stage.times == 1 else f"{stage.times} × "
    noise = "chosen privately" if stage.noise is None else f"noise ±{stage.noise:.3g} (one standard deviation)"
    return f"{many}{stage.what}: {100 * stage.share:.3g} % of the price, {noise}"


def _table_of_columns(model: Model) -> Table:
    rows: list[list[Cell]] = [
        [one.name, one.size, ", ".join(one.cells.label(cell) for cell in range(min(one.size, 4))) + _more(one.size)]
        for one in model.features
    ]
    return Table(["column", "cells", "the first of them"], rows)


def _more(size: int) -> str:
    return " …" if size > 1 else ""


def _table_of_stages(stages: Sequence[Stage]) -> Table:
    rows: list[list[Cell]] = [
        [
            stage.what,
            stage.times,
            f"{100 * stage.share:.3g} %",
            stage.mechanism.replace("_", " "),
            "–" if stage.noise is None else f"{stage.noise:.3g}",
            stage.rule,
        ]
        for stage in stages
    ]
    return Table(["measured", "times", "of the price", "mechanism", "standard deviation", "one unit moves it by"], rows)
