"""Every learner keeps the contract; and a wrong one is noticed by the check that is about its mistake."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.learn.bins import binned
from sfumato.learn.scores.bayes import class_tables, class_template, scores
from sfumato.learn.scores.evidence import evidence
from sfumato.learn.shown.notes import notes_on
from sfumato.plan.caps import Caps
from tests.contract.check_learner import CHECKS
from tests.learn.people import LEARNERS, OF_NUMBERS, OF_SEVERAL


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("kind", [*LEARNERS, *OF_SEVERAL, *OF_NUMBERS], ids=lambda kind: kind.__name__)
def test_every_learner_keeps_the_contract(kind: Any, check: str, tmp_path: Path) -> None:
    assert CHECKS[check](kind, tmp_path) == []


# ---- twins: naive Bayes with one mistake each


class LeavesSomeUndrawn(sf.learn.NaiveBayes):
    """Pays for all and draws half."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        told(0.0, "")
        tables, noise = class_tables(task, envelope, envelope.price.amount / 2, round_=0)
        return _bayes(task, tables, noise)


class TellsLess(sf.learn.NaiveBayes):
    """Its schedule is of another price than it draws."""

    def _templates(self, task: Any, price: Any) -> Any:
        return [class_template(task, price.amount / 2)]


class TossesGlobalCoins(sf.learn.NaiveBayes):
    """Its own coins come from nowhere."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        fitted, notes = super()._learnt(task, envelope, told)
        intercept = (fitted.intercept[0] + int(np.random.default_rng().integers(1, 10**6)),)
        return type(fitted)(intercept, fitted.weights, fitted.errors, fitted.rows, fitted.noise), notes


class ForgetsItsColumns(sf.learn.NaiveBayes):
    """All columns have one purpose."""

    def _purpose(self, task: Any, settings: Any) -> str:
        return "the one and only"


class ForgetsItsDefaults(sf.learn.NaiveBayes):
    """However many rows of a person count, it is one purpose."""

    def _purpose(self, task: Any, settings: Any) -> str:
        said = json.loads(super()._purpose(task, settings))
        return json.dumps({part: one for part, one in said.items() if part != "usual"})


class ForgetsItsVersion(sf.learn.NaiveBayes):
    """Whatever version it is of has one purpose."""

    def _purpose(self, task: Any, settings: Any) -> str:
        said = json.loads(super()._purpose(task, settings))
        return json.dumps({**said, "version": 1}, sort_keys=True)


class FailsOnEmptyTables(sf.learn.NaiveBayes):
    """An error that depends on rows."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        fitted, notes = super()._learnt(task, envelope, told)
        if any("of all rows is lost" in note for note in notes):
            raise sf.errors.UsageError("there are too few rows.")
        return fitted, notes


class SaysNothingOfNoise(sf.learn.NaiveBayes):
    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        return super()._learnt(task, envelope, told)[0], ()


class PlansByRows(sf.learn.NaiveBayes):
    """Looks how many rows there are, as no learner can, and asks accordingly."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        told(0.0, "")
        rows = envelope._engine.run('SELECT COUNT(*) FROM "people"')[0][0]
        tables, noise = class_tables(task, envelope, envelope.price.amount / (1 if rows > 250 else 2), round_=0)
        return _bayes(task, tables, noise)


class ReadsItsBins(sf.learn.NaiveBayes):
    """Cells of a column end where the rows do."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        richest = float(envelope._engine.run('SELECT MAX(wealth) FROM "people"')[0][0])
        found = binned("wealth", sf.Float(0, richest), task.expected_rows)
        columns = tuple(found if one.feature.name == "wealth" else one for one in task.columns)
        return super()._learnt(replace(task, columns=columns), envelope, told)


class LeavesUnpaid(sf.learn.Tree):
    """Its leaves have counts that nobody drew."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        fitted, notes = super()._learnt(task, envelope, told)
        rows = envelope._engine.run('SELECT COUNT(*) FROM "people"')[0][0]
        (nodes,) = fitted.trees
        exact = [node if node.children else replace(node, counts=(rows,) * len(node.counts)) for node in nodes]
        return replace(fitted, trees=(tuple(exact),)), notes


class DrawsAfterwards(sf.learn.NaiveBayes):
    """Looks once more, when all is drawn that was paid for."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        made = super()._learnt(task, envelope, told)
        envelope.ask(task.class_table(0, envelope.price.amount / 100), round_=1)
        return made


class TossesOtherCoins(sf.learn.Linear):
    """Its intervals are made of coins that nobody can toss again."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        seeded = SimpleNamespace(
            ask_all=envelope.ask_all, price=envelope.price, seed=f"{np.random.default_rng().integers(1 << 62):x}"
        )
        return super()._learnt(task, seeded, told)


class ForgetsTheSquare(sf.learn.Linear):
    """Draws all but the last of what it says, the target with itself, and makes it up."""

    def _learnt(self, task: Any, envelope: Any, told: Callable[..., None]) -> Any:
        def without(plans: Any, round_: int) -> Any:
            releases = envelope.ask_all(plans[:-1], round_=round_)
            return (*releases, releases[0])

        return super()._learnt(task, SimpleNamespace(ask_all=without, price=envelope.price, seed=envelope.seed), told)


def _bayes(task: Any, tables: Any, noise: Any) -> Any:
    found = evidence(tables, [one.feature.cells for one in task.columns], noise, 1)
    fitted = scores([found], None, tables, noise)
    return fitted, notes_on(fitted)


TWINS = {
    LeavesSomeUndrawn: "shares add up",
    TellsLess: "shares add up",
    TossesGlobalCoins: "again is free",
    ForgetsItsColumns: "again is free",
    ForgetsItsDefaults: "other defaults",
    ForgetsItsVersion: "its version counts",
    FailsOnEmptyTables: "survives",
    SaysNothingOfNoise: "survives",
    PlansByRows: "sees releases alone",
    ReadsItsBins: "sees releases alone",
    LeavesUnpaid: "sees releases alone",
    DrawsAfterwards: "shares add up",
    TossesOtherCoins: "again is free",
    ForgetsTheSquare: "shares add up",
}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_a_broken_twin_is_noticed(twin: Any, tmp_path: Path) -> None:
    try:
        found = CHECKS[TWINS[twin]](twin, tmp_path)
    except SfumatoError as error:  # the ledger noticed it
        found = [str(error)]
    assert found != []


def test_a_twin_that_reads_more_rows_than_it_says_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caps forgotten: a person counts with all rows, and the check of bounds sees it."""
    monkeypatch.setattr(Caps, "l1", property(lambda caps: 1))
    assert any("certified: 1" in told for told in CHECKS["keeps to its bounds"](sf.learn.NaiveBayes, tmp_path))
