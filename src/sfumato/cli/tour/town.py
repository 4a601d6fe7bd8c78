"""Scene 1: a town of people who do not exist."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.cli.tour.stage import Stage
from sfumato.datasets import population

SHOWN = ("name", "birth_date", "sex", "zip", "diagnosis", "income")
HOW_MANY = """
    WITH person AS (
      SELECT ANY_VALUE((zip, birth_date, sex)) AS known, COUNT(*) AS visits FROM town GROUP BY person_id),
    crowd AS (SELECT visits, COUNT(*) OVER (PARTITION BY known) AS size FROM person)
    SELECT SUM(visits), COUNT(*), COUNT(*) FILTER (size = 1), MAX(visits) FROM crowd"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the scene found: visits, persons, and how many of them zip, birth date and sex single out."""

    rows: int
    persons: int
    unique: int
    unique_share: float
    most_visits: int


@dataclass(frozen=True, slots=True)
class Town:
    """The table, and the database of a hospital that answers every question exactly."""

    table: pa.Table
    database: duckdb.DuckDBPyConnection

    def number(self, question: str) -> float:
        """The one exact number that a question asks for."""
        return float(self.rows(question)[0][0])

    def rows(self, question: str) -> list[tuple[Any, ...]]:
        return self.database.execute(question).fetchall()


def play(stage: Stage, path: Path, *, rows: int, seed: int) -> tuple[Town, Facts]:
    stage.scene(1, "A town that visits a clinic")
    with stage.working(f"Making a town of {rows:,} visits …"):
        town = _made(path, rows, seed)
        visits, persons, unique, most = (int(found) for found in town.rows(HOW_MANY)[0])
    facts = Facts(visits, persons, unique, unique / persons, most)
    stage.say(f"{facts.rows:,} visits of {facts.persons:,} people to one clinic. Nobody in it exists.")
    first = town.table.select(list(SHOWN)).slice(0, 5).to_pylist()
    stage.table(
        SHOWN,
        [[f"{row[name]:,.0f}" if name == "income" else str(row[name]) for name in SHOWN] for row in first],
        right=["income"],
        narrow="diagnosis",
    )
    stage.say(
        f"Zip code, birth date and sex look harmless. Together they single out {facts.unique:,} of the people: "
        f"{100 * facts.unique_share:.0f} % of the town."
    )
    return town, facts


def _made(path: Path, rows: int, seed: int) -> Town:
    table = population(rows, seed)
    pq.write_table(table, path)
    database = duckdb.connect(":memory:")
    database.register("town", table)
    return Town(table, database)
