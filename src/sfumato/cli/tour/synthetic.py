"""Scene 8: a table of nobody to pass on, and three questions that asking answers with an error bar."""

from dataclasses import dataclass

import duckdb
import pyarrow as pa

from sfumato.cli.tour.files import Files
from sfumato.cli.tour.stage import Stage
from sfumato.cli.tour.town import Town
from sfumato.learn import Synthetic
from sfumato.learn.synthesis.sampling import likeness_of
from sfumato.protected import open_policy

COLUMNS = ("age", "sex", "education", "marital_status")
SPEND = 0.5  # for the table, and as much for asking
SHOWN = 4
MARRIED = "sex = 'Female' AND marital_status = 'Married-civ-spouse'"
QUESTIONS = {
    "women": "sex = 'Female'",
    "married women": MARRIED,
    "married women from 30 to 39 with a bachelor": f"{MARRIED} AND age BETWEEN 30 AND 39 AND education = 'Bachelors'",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """People: how many there are, how many rows of the synthetic table say so, and how many were answered."""

    who: str
    true: int
    synthetic: int
    asked: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the scene found."""

    path: str
    epsilon: float
    rows: int
    pairs: tuple[tuple[str, str], ...]
    answers: tuple[Answered, ...]
    notes: tuple[str, ...]


def play(stage: Stage, town: Town, files: Files) -> Drawn:
    stage.scene(8, "A table of nobody")
    with open_policy(files.policy) as session:
        learner = Synthetic(spend=SPEND, columns=COLUMNS, max_rows=1)
        with stage.working("Measuring pairs of columns …"):
            learner.fit(session)
            learner.write(files.synthetic)
        asked = session.ask_all([_people(where) for where in QUESTIONS.values()], spend=SPEND)
    made = learner.sample()
    answers = []
    for (who, where), answer in zip(QUESTIONS.items(), asked, strict=True):
        true, alike = int(town.number(_people(where))), _rows(made, where)
        answers.append(Answered(who, true, alike, answer.rows[0]["people"], *answer.interval()[0]["people"]))
    names = [feature.name for feature in learner.model_.features]
    pairs = tuple((names[one], names[other]) for one, other in likeness_of(learner.model_).pairs)
    drawn = Drawn(str(files.synthetic), SPEND, made.num_rows, pairs, tuple(answers), learner.notes_)
    _show(stage, drawn, made)
    return drawn


def _people(where: str) -> str:
    return f"SELECT COUNT(DISTINCT person_id) AS people FROM town WHERE {where}"


def _rows(made: pa.Table, where: str) -> int:
    with duckdb.connect() as connection:
        connection.register("made", made)
        ((found,),) = connection.execute(f"SELECT COUNT(*) FROM made WHERE {where}").fetchall()
        return int(found)


def _show(stage: Stage, drawn: Drawn, made: pa.Table) -> None:
    told = ", ".join(f"{one} with {other}" for one, other in drawn.pairs)
    stage.say(
        f"{drawn.rows:,} rows that nobody is, for {SPEND:g}, to be opened anywhere; measured were {told}. "
        f"{drawn.path} says itself that it is synthetic:"
    )
    stage.table(COLUMNS, [[str(row[name]) for name in COLUMNS] for row in made.slice(0, SHOWN).to_pylist()])
    stage.say(f"Whoever knows the question asks it. People by the table, and asked for {SPEND:g} in all:")
    stage.table(
        ["who", "true", "table", "asked", "95 %"],
        [
            [one.who, f"{one.true:,}", (f"{one.synthetic:,}", "number"), (f"{one.asked:,}", "number"), _interval(one)]
            for one in drawn.answers
        ],
        right=["true", "table", "asked"],
        narrow="who",
    )
    stage.say("The table has no error bar, and what four columns do together it never measured.")


def _interval(one: Answered) -> str:
    return f"{one.low:,.0f} to {one.high:,.0f}"
