"""The card of a model: one page that says what was protected, how it was learnt, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.accounting.belief import membership_advantage
from sfumato.learn.model import Model, Scores, Stage
from sfumato.learn.pictures import column_figure, described, parts, tree_figure
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
TITLES = {"bayes": "Naive Bayes", "additive": "Additive scores", "tree": "Decision tree", "forest": "Forest"}


@dataclass(frozen=True, slots=True)
class Card:
    """What people should know of a model before they use it."""

    model: Model

    def __str__(self) -> str:
        model = self.model
        lines = [self._title, "", *self._protected(), ""]
        lines += [f"Classes:  {', '.join(map(str, model.classes))}"]
        lines += ["Columns:  " + ", ".join(f"{one.name} ({one.size} cells)" for one in model.features)]
        lines += ["Learnt:", *(f"  {line}" for line in described(model))]
        lines += ["Schedule:", *(f"  {line}" for line in map(_told, model.schedule))]
        lines += [f"Note:     {note}" for note in model.notes]
        return visible_lines("\n".join([*lines, "", USE, NO_SCORE]))

    def to_dict(self) -> dict[str, Any]:
        """What `sfumato card --format json` prints."""
        model = self.model
        return {
            "learner": model.learner,
            "target": model.target,
            "classes": list(model.classes),
            "protected": self._protected(),
            "columns": [{"name": one.name, "cells": one.size} for one in model.features],
            "learnt": described(model),
            "schedule": [_told(stage) for stage in model.schedule],
            "notes": list(model.notes),
            "use": USE,
            "evaluation": NO_SCORE,
        }

    def figure(self, part: str | int | None = None) -> Any:
        """A Plotly figure: the curve of a column (by default of the one that carries most), or a tree (the first)."""
        if isinstance(self.model.fitted, Scores):
            return column_figure(self.model, part)
        return tree_figure(self.model, part)

    def to_html(self, path: str | Path | None = None) -> str:
        """One page that works without a network."""
        model, paid = self.model, self.model.paid
        facts = {"epsilon": f"{float(Fraction(paid.epsilon)):g}", "protects one": paid.unit.partition(" (")[0]}
        drawn: list[Block] = [Figure(self.figure(part), takeaway) for part, takeaway in parts(model)]
        sections = [
            Section("What was protected", self._protected()),
            Section("What it learnt", drawn),
            Section("Columns and their public bins", [_table_of_columns(model)]),
            Section("How it was learnt", [_table_of_stages(model.schedule), *model.notes]),
            Section("Use it for", [USE, NO_SCORE]),
        ]
        text = page(self._title, sections, lead=[Facts(facts)], footer="Made with Sfumato.")
        if path is not None:
            write_page(Path(path), text)
        return text

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(escaped, self._protected()))
        return f"<div><p>{escaped(self._title)}</p><p>{lines}</p>{table(_table_of_columns(self.model))}</div>"

    @property
    def _title(self) -> str:
        return f"{TITLES[self.model.learner]}: {self.model.target} of {self.model.paid.table}"

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


def _told(stage: Stage) -> str:
    many = "" if stage.times == 1 else f"{stage.times} × "
    noise = "chosen privately" if stage.noise is None else f"noise ±{stage.noise:.3g} (one standard deviation)"
    return f"{many}{stage.what}: {100 * stage.share:.3g} % of the price, {noise}"


def _table_of_columns(model: Model) -> Table:
    rows: list[list[Cell]] = [
        [one.name, one.size, ", ".join(one.cells.label(cell) for cell in range(min(one.size, 4))) + " …"]
        for one in model.features
    ]
    return Table(["column", "cells", "the first of them"], rows)


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
