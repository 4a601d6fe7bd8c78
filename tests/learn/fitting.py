"""Real learners on a small table in a file, for processes that tests start, kill, or let go at once."""

from pathlib import Path
from typing import Any

import pyarrow.parquet

import sfumato as sf
from tests.learn.people import COLUMNS, people

KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "tree": (sf.learn.Tree, {"target": "y", "depth": 2}),
    "additive": (sf.learn.Additive, {"target": "y"}),
    "bayes": (sf.learn.NaiveBayes, {"target": "y"}),
    "bayes of several classes": (sf.learn.NaiveBayes, {"target": "grade"}),
    "tree of several classes": (sf.learn.Tree, {"target": "grade", "depth": 2}),
    "forest": (sf.learn.Forest, {"target": "y", "depth": 2, "trees": 3, "expected_rows": 10**6}),
    "additive of a number": (sf.learn.Additive, {"target": "mood"}),
    "additive of several classes": (sf.learn.Additive, {"target": "grade", "columns": ["city"]}),
    "tree of a number": (sf.learn.Tree, {"target": "mood", "depth": 2}),
    "linear": (sf.learn.Linear, {"target": "mood"}),
    "correlation": (sf.learn.Correlation, {"columns": ["age", "mood"]}),
    "components": (sf.learn.Components, {"k": 1, "columns": ["age", "mood"]}),
    "clusters": (sf.learn.Clusters, {"k": 2, "columns": ["age", "mood"]}),
    "synthetic": (sf.learn.Synthetic, {"columns": ["age", "city", "member"]}),
}
COLUMNS_USED = ["age", "city"]


def table(folder: Path, rows: int = 200) -> None:
    pyarrow.parquet.write_table(people(rows), folder / "people.parquet")


def opened(folder: Path) -> sf.Session:
    return sf.protect(folder / "people.parquet", unit=sf.Row(), columns=COLUMNS, budget=sf.Budget(10))


def learner(name: str) -> Any:
    kind, more = KINDS[name]
    return kind(**({"spend": 1, "columns": COLUMNS_USED} | more))


def fit(folder: Path, name: str) -> dict[str, Any]:
    """The model, what was spent, and which entries that took."""
    with opened(folder) as session:
        model = learner(name).fit(session).to_json()
        kinds = [str(entry.kind) for entry in session._ledger.records.chain.entries()]
        session._ledger.verify()
        return {"model": model, "spent": session.budget.spent.epsilon, "kinds": kinds}
