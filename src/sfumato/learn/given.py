"""`fit(X, y)`: a table in memory, protected row by row with declared columns, and fitted like any other."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.learn.frames import cells_by_name
from sfumato.learn.wordings import columns_needed, target_missing, target_not_given
from sfumato.protected import column_of, protect
from sfumato.schema.budget import Budget
from sfumato.schema.unit import Row
from sfumato.session import Session

if TYPE_CHECKING:
    from sfumato.learn.learner import Learner


@contextmanager
def opened(X: Any, y: Any, learner: "Learner") -> Iterator[Session]:  # noqa: N803 - as scikit-learn calls it
    """A session on a table in memory. Bounds are declared, never read off it; no cell decides how another is read."""
    if learner.target is None:
        raise target_missing()
    if not isinstance(learner.columns, Mapping) or learner.ledger is None or learner.target not in learner.columns:
        raise columns_needed()
    if hasattr(X, "collect"):
        X = X.collect()  # noqa: N806
    if y is None and learner.target not in getattr(X, "column_names", getattr(X, "columns", ())):
        raise target_not_given()
    names = [name for name in learner.columns if y is None or name != learner.target]
    columns = {name: column_of(cells) for name, cells in cells_by_name(X, names).items()}
    if y is not None:
        columns[learner.target] = column_of(y)
    budget = Budget(learner.spend) if learner.budget is None else learner.budget
    session = protect(
        pa.table(columns), unit=Row(), columns=dict(learner.columns), budget=budget, ledger=learner.ledger
    )
    with session:
        yield session
