"""Scene 2: the clinic publishes its table without names, and the names come back."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sfumato.attacks import linking
from sfumato.cli.tour.stage import BAD, Stage
from sfumato.cli.tour.town import Town
from sfumato.datasets import deidentify, voter_list
from sfumato.errors import UsageError
from sfumato.plots.bars import percent

KNOWN = ("zip", "birth_date", "sex")
SHOWN = 3
# People whom zip, birth date and sex single out, with one visit: their salary is the whole of a difference.
ALONE = """
    SELECT name FROM town WHERE income BETWEEN 20000 AND 150000
    QUALIFY COUNT(*) OVER (PARTITION BY zip, birth_date, sex) = 1 AND COUNT(*) OVER (PARTITION BY person_id) = 1"""


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody whose record got its name back."""

    name: str
    birth_date: str
    sex: str
    zip: str
    diagnosis: str
    income: float


@dataclass(frozen=True, slots=True)
class Linked:
    """What the scene found; success and chance are shares of the released records."""

    records: int
    voters: int
    named: int
    success: float
    chance: float
    shown: tuple[Named, ...]


def play(stage: Stage, town: Town, *, seed: int) -> Linked:
    stage.scene(2, "“De-identified”")
    stage.say("The clinic strikes out names and ids and publishes the rest. A voter list is public, too.")
    with stage.working("Linking the two …"):
        released, voters = deidentify(town.table), voter_list(town.table, seed=seed)
        result = linking(released, voters, on=KNOWN, identity="name", truth=town.table["name"])
        alone = {name for (name,) in town.rows(ALONE)}
        shown = _three((found for found in result.recovered if found["identity"] in alone), town)
    linked = Linked(released.num_rows, voters.num_rows, len(result.recovered), result.success, result.chance, shown)
    stage.say(f"The list holds {linked.voters:,} voters with zip, birth date and sex. One join gives names back:")
    stage.table(
        ["name", "born", "sex", "zip", "diagnosis"],
        [[(one.name, "title"), one.birth_date, one.sex, one.zip, (one.diagnosis, BAD)] for one in shown],
        narrow="diagnosis",
    )
    stage.say(
        f"{percent(linked.success)} of the records are named rightly; guessing names {percent(linked.chance)}. "
        "Nothing was promised to these people, and nothing was kept."
    )
    return linked


def _three(found: Iterable[dict[str, Any]], town: Town) -> tuple[Named, ...]:
    """The first few rightly named people, each with another diagnosis."""
    names = town.table["name"]
    by_diagnosis: dict[str, Named] = {}
    for record in found:
        if names[record["row"]].as_py() == record["identity"] and record["diagnosis"] != "Routine check-up":
            person = {column: record[column] for column in ("sex", "zip", "diagnosis", "income")}
            named = Named(name=record["identity"], birth_date=str(record["birth_date"]), **person)
            by_diagnosis.setdefault(named.diagnosis, named)
        if len(by_diagnosis) == SHOWN:
            return tuple(by_diagnosis.values())
    raise UsageError("this town is too small for the demo.", "Ask for more visits, e.g. --rows 4000.")
