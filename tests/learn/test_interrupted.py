"""Fits that end in the middle: killed in every round, two at once, data that change under them."""

import json
import os
import signal
from itertools import count
from pathlib import Path

import pyarrow.parquet
import pytest

from sfumato.errors import SfumatoError
from tests.learn.fitting import KINDS, fit, learner, opened, table
from tests.learn.people import people
from tests.ledger.payments import in_child
from tests.ledger.workers import at_once
from tests.marks import few
from tests.session.drawing import dying

MOST_ENTRIES = 15
ONE_ROUND = ("bayes", "bayes of several classes", "linear", "correlation", "components")


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("name", few(KINDS, lambda name: name == "tree"))
def test_killed_at_every_entry_it_goes_on_and_pays_once(tmp_path: Path, name: str, moment: str) -> None:
    """kill -9 right before or after the charge, and every draw and release of every round, until none is left."""
    for death in count():
        folder = tmp_path / str(death)
        folder.mkdir()
        table(folder)

        def to_death(folder: Path = folder, death: int = death) -> None:
            dying(death, moment)
            fit(folder, name)

        if (ended := in_child(to_death)) == 0:
            break
        assert ended == -signal.SIGKILL
        told = folder / "told.json"
        assert in_child(lambda told=told, folder=folder: told.write_text(json.dumps(fit(folder, name)))) == 0
        found, again = json.loads(told.read_text()), fit(folder, name)
        assert found["model"] == again["model"]
        assert again["spent"] == 1
        assert again["kinds"].count("charge") == 1
        assert again["kinds"].count("draw") >= again["kinds"].count("release") > 0
    assert 3 <= death <= MOST_ENTRIES


@pytest.mark.parametrize("name", few(KINDS, lambda name: name == "tree"))
def test_processes_that_fit_the_same_at_once_pay_once(tmp_path: Path, name: str) -> None:
    table(tmp_path)
    told = at_once("fit-the-same", 2, tmp_path, name)
    assert len(told) == 2
    assert len(set(told)) == 1, "both have the same model"
    assert json.loads(told[0])["spent"] == 1
    with opened(tmp_path) as session:
        assert len(session.history()) == 1


@pytest.mark.parametrize("name", KINDS)
def test_data_that_change_in_mid_fit_end_it(tmp_path: Path, name: str) -> None:
    """The rest is refused, in words that say nothing of rows; a new fit is of the new data, and a new charge."""
    table(tmp_path)
    rounds = count()

    def changed(share: float, what: str) -> None:
        if next(rounds) == (0 if name in ONE_ROUND else 1):
            pyarrow.parquet.write_table(people(150, seed=3), tmp_path / "people.parquet")
            os.utime(tmp_path / "people.parquet", (1, 1))

    with opened(tmp_path) as session:
        with pytest.raises(SfumatoError, match="changed"):
            learner(name).fit(session, progress=changed)
        assert len(session.history()) == 1
    after = fit(tmp_path, name)
    assert after["spent"] == 2
    assert after["kinds"].count("charge") == 2
