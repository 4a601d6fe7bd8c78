"""How much one unit of a given table matters to a query: local sensitivity, beside the global one noise must cover.

Local sensitivity is itself private: noise scaled to it would tell who is in the table. It is shown for teaching.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.audit.replay import integers_of
from sfumato.engines.arrange import look
from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.counting import emit
from sfumato.errors import UsageError
from sfumato.kernel.cost import Cost
from sfumato.plan.nodes import Aggregate, CentredSum, CountCut, CountDistinct, CountPeople, CountRows, CountValues, Sum
from sfumato.query.planned import planned
from sfumato.schema.columns import Declared
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit, UpTo

Vectors = list[np.ndarray[Any, Any]]

MOST_UNITS = 2_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One number that a query needs; `most` is the most one declared unit could matter, if anything bounds it."""

    name: str
    local: float
    most: float | None
    unit: str

    @property
    def ratio(self) -> float | None:
        return None if self.most is None else self.local / self.most


@dataclass(frozen=True, slots=True)
class Sensitivities:
    question: str
    units: int
    measured: tuple[Measured, ...]

    def __str__(self) -> str:
        lines = [f"{self.question}: what removing each of {self.units:,} units changes"]
        for one in self.measured:
            bound = "nothing bounds it" if one.most is None else f"global {one.most:g}"
            lines.append(f"  {one.name}: local {one.local:g} (without {one.unit}), {bound}")
        return "\n".join(lines)


def sensitivity(
    query: str | Callable[[Any], Any],
    table: Any,
    *,
    columns: Mapping[str, Declared] | None = None,
    unit: Unit | None = None,
    name: str = "data",
) -> Sensitivities:
    """Local and global sensitivity of a query: remove each unit of a small table and see how far the answer moves.

    A question in SQL needs `columns`, as `sf.protect` does, and calls the table `name`. A function is called with a
    pandas frame and returns a number or several; its global sensitivity is unknown, which is why it cannot be answered.
    """
    protected = Row() if unit is None else unit
    frame = _frame(table)
    labels = _labels(frame, protected)
    units = list(dict.fromkeys(label for label in labels if label is not None))
    if not units:
        raise UsageError("there is nobody in the table.", "Give a table with at least one unit.")
    if len(units) > MOST_UNITS:
        raise UsageError(
            f"the table has {len(units):,} units, and each is removed in turn.", f"Give at most {MOST_UNITS:,} of them."
        )
    if callable(query):
        measure, names, bounds = _of_function(query), None, None
        question = getattr(query, "__name__", "the function")
    else:
        if columns is None:
            raise UsageError("a question in SQL needs columns.", 'E.g. columns={"age": sf.Int(0, 120)}.')
        measure, names, bounds = _of_question(query, Schema(name, protected, columns))
        question = query
    whole = measure(frame)
    moved = np.array([_moved(whole, measure(frame[[other != label for other in labels]])) for label in units])
    worst = moved.argmax(axis=0)
    called = names or [f"output {place + 1}" if moved.shape[1] > 1 else "output" for place in range(moved.shape[1])]
    what = "person" if isinstance(protected, Person) else "row"
    return Sensitivities(
        question,
        len(units),
        tuple(
            Measured(
                called[place],
                float(moved[worst[place], place]),
                None if bounds is None else float(bounds[place]),
                f"{what} {units[worst[place]]!r}",
            )
            for place in range(moved.shape[1])
        ),
    )


def _moved(whole: Vectors, less: Vectors) -> list[float]:
    return [float(np.abs(one - other).sum()) for one, other in zip(whole, less, strict=True)]


def _of_function(query: Callable[[Any], Any]) -> Callable[[Any], Vectors]:
    """Each number of the last axis is an output of its own."""

    def measure(frame: Any) -> Vectors:
        outputs = np.atleast_1d(np.asarray(query(frame), dtype=np.float64))
        return list(outputs.reshape(-1, outputs.shape[-1]).T)

    return measure


def _of_question(question: str, schema: Schema) -> tuple[Callable[[Any], Vectors], list[str], list[Fraction]]:
    certified = planned(question, schema, Cost("epsilon", Fraction(1))).certified
    plan = certified.plan
    sql = tuple(emit(counting, schema, DUCKDB) for counting in certified.countings)
    aggregates = [measure.aggregate for measure in plan.measures]
    steps = [_step(aggregate) for aggregate in aggregates]

    def measure(frame: Any) -> Vectors:
        engine = DuckDBEngine(frame, schema)
        try:
            rows = look(engine, certified.countings, sql).entries
        finally:
            engine.close()
        columns = integers_of(plan, rows)
        return [np.array([float(one * step) for one in column]) for column, step in zip(columns, steps, strict=True)]

    bounds = [one.sensitivity.l1 * step for one, step in zip(certified.releases, steps, strict=True)]
    return measure, [_called(aggregate) for aggregate in aggregates], bounds


def _step(aggregate: Aggregate) -> Fraction:
    return aggregate.lattice.step if isinstance(aggregate, Sum | CentredSum) else Fraction(1)


def _called(aggregate: Aggregate) -> str:
    match aggregate:
        case CountRows():
            return "the count"
        case CountValues():
            return "the count of values"
        case Sum():
            return "the sum"
        case CentredSum(lattice=lattice):
            return f"the sum around {float(lattice.centre * lattice.step):g}"
        case CountDistinct():
            return "the count of different values"
        case CountPeople():
            return "the count of people"
        case CountCut():
            return "the count of people above a cap"
        case _:
            return "the counts of cells"


def _frame(table: Any) -> Any:
    import pandas as pd  # noqa: PLC0415 - slow to load

    if isinstance(table, pd.DataFrame):
        return table.reset_index(drop=True)
    if hasattr(table, "to_pandas"):
        return table.to_pandas().reset_index(drop=True)
    raise UsageError(f"a {type(table).__name__} is no table.", "Give a pandas, Polars or Arrow table.")


def _labels(frame: Any, unit: Unit) -> list[Any]:
    if isinstance(unit, UpTo):
        raise UsageError(
            "which rows are whose is not known, so nobody can be removed.",
            f'Name the id, sf.Person("user_id", max_rows={unit.rows}), or remove single rows: sf.Row().',
        )
    if not isinstance(unit, Person):
        return list(range(len(frame)))
    if unit.id not in frame:
        raise UsageError(f'the table has no column "{unit.id}".', "Name the column that says who a row is about.")
    absent = frame[unit.id].isna().tolist()
    return [None if gone else value for value, gone in zip(frame[unit.id].tolist(), absent, strict=True)]
