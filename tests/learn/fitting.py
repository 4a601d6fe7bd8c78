"""Real learners on a small table in a file, for processes that tests start, kill, or let go at once."""

from pathlib import Path
from typing import Any

import pyarrow.parquet

import sfumato as sf
from tests.learn.people import COLUMNS, people

KINDS = {
    "tree": (sf.learn.Tree, {"depth": 2}),
    "additive": (sf.learn.Additive, {}),
    "bayes": (sf.learn.NaiveBayes, {}),
}
COLUMNS_USED = ["age", "city"]


def table(folder: Path, rows: int = 200) -> None:
    pyarrow.parquet.write_table(people(rows), folder / "people.parquet")


def opened(folder: Path) -> sf.Session:
    return sf.protect(folder / "people.parquet", unit=sf.Row(), columns=COLUMNS, budget=sf.Budget(10))


def learner(name: str) -> Any:
    kind, more = KINDS[name]
    return kind("y", spend=1, columns=COLUMNS_USED, **more)


def fit(folder: Path, name: str) -> dict[str, Any]:
    """The model, what was spent, and which entries that took."""
    with opened(folder) as session:
        model = learner(name).fit(session).to_json()
        kinds = [str(entry.kind) for entry in session._ledger.records.chain.entries()]
        session._ledger.verify()
        return {"model": model, "spent": session.budget.spent.epsilon, "kinds": kinds}
