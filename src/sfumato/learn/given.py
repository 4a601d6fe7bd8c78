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
def opened(X: Any, y: Any, learner: "Learner[Any]") -> Iterator[Session]:  # noqa: N803 - as scikit-learn calls it
    """A session on a table in memory. Bounds are declared, never read off it; no cell decides how another is read."""
    if learner.target is None:
        raise target_missing()
    y = y if learner.supervised else None
    known = isinstance(learner.columns, Mapping) and (not learner.supervised or learner.target in learner.columns)
    if not known or learner.ledger is None:
        raise columns_needed(target=learner.supervised)
    X, y = _native(X), _native(y)  # noqa: N806
    if callable(getattr(type(X), "collect", None)):
        X = X.collect()  # noqa: N806
    if learner.supervised and y is None and learner.target not in getattr(X, "column_names", getattr(X, "columns", ())):
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


def _native(table: Any) -> Any:
    """What a table only stands for, as narwhals' do."""
    return table.to_native() if callable(getattr(type(table), "to_native", None)) else table
