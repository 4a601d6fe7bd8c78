"""Where an attacker asks: a desk turns a condition into a number, from a bare table or through a session.

The same attack then runs on both, and before and after stand side by side.
"""

from collections.abc import Callable

import pyarrow as pa

from sfumato.attacks.finite import number_of
from sfumato.attacks.tabular import as_arrow
from sfumato.attacks.wordings import set_too_small
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.schema.columns import Declared, Float, Int, Text
from sfumato.schema.numbers import GivenNumber, whole
from sfumato.schema.table import Schema
from sfumato.schema.unit import Row
from sfumato.session import Session
from sfumato.simulate import Simulator

Ask = Callable[[str], float]

TABLE = "desk"


def table_desk(
    table: object,
    *,
    measure: str = "COUNT(*)",
    minimum: int = 0,
    rounding: int = 0,
    noise: float = 0.0,
    seed: int = 0,
) -> Ask:
    """Answers `measure` over the rows that meet a condition, as desks did before differential privacy.

    minimum: refuse fewer rows than this, and all but fewer than this. rounding: to the nearest multiple.
    noise: the scale of Laplace noise, fresh in every answer and never paid for. None of this is differentially private.
    """
    rows = as_arrow(table, "attacked")
    least, step = whole(minimum, "minimum", least=0), whole(rounding, "rounding", least=0)
    engine = DuckDBEngine(rows, Schema(TABLE, Row(), {field.name: _declared(field.type) for field in rows.schema}))
    stream = Simulator(seed).stream("desk")

    def ask(condition: str) -> float:
        # The attacker's own words meet the bare table here: this is what a careless desk does.
        sql = f"SELECT COUNT(*), {measure} FROM {TABLE} WHERE {condition}"  # noqa: S608
        ((count, value),) = engine.run(sql)
        if least and not least <= count <= rows.num_rows - least:
            raise set_too_small(least)
        answer = number_of(0 if value is None else value) + noise * stream.laplace(1)[0]
        return float(step * round(answer / step) if step else answer)

    return ask


def session_desk(session: Session, *, spend: GivenNumber, measure: str = "COUNT(*)", fresh: bool = True) -> Ask:
    """Answers `measure` over the rows that meet a condition, through a session that pays `spend` a question."""
    table = '"' + session.schema.table.replace('"', '""') + '"'

    def ask(condition: str) -> float:
        sql = f"SELECT {measure} AS answer FROM {table} WHERE {condition}"  # noqa: S608
        return number_of(session.ask(sql, spend=spend, fresh=fresh).rows[0]["answer"])

    return ask


def _declared(kind: pa.DataType) -> Declared:
    if pa.types.is_integer(kind):
        return Int()
    return Float() if pa.types.is_floating(kind) else Text()
