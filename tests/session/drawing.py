"""A small adaptive walk through an envelope, for processes that tests start and kill at a given entry.

The plan of a round depends on what the rounds before released, as a learner's does.
"""

import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

import sfumato as sf
from sfumato.ledger.anchor import Anchor
from sfumato.ledger.pen import Pen
from sfumato.plan.expressions import Column, Comparison, Number
from sfumato.plan.nodes import CountRows, ListedKey, Measure, Plan

ROUNDS = 3
PURPOSE = '{"learner":"walk","version":1}'


def tables(folder: Path) -> None:
    rows = range(300)
    people = {"age": [20 + row % 40 for row in rows], "sex": ["f" if row % 3 else "m" for row in rows]}
    pyarrow.parquet.write_table(pa.table(people), folder / "people.parquet")


def opened(folder: Path) -> sf.Session:
    return sf.protect(
        folder / "people.parquet",
        unit=sf.Row(),
        columns={"age": sf.Int(17, 90), "sex": sf.Category(["m", "f"])},
        budget=sf.Budget(epsilon=10),
    )


def draw_all(session: sf.Session, spend: float, *, fresh: bool = False) -> list[list[int]]:
    envelope = session.envelope(PURPOSE, spend=spend, fresh=fresh)
    found: list[list[int]] = []
    for round_ in range(ROUNDS):
        older = Comparison(">", Column("age"), Number(Fraction(sum(map(sum, found)) % 40)))
        measure = Measure(CountRows(), "laplace", envelope.price.amount / ROUNDS)
        keys = (ListedKey(Column("sex"), ("m", "f")),)
        plan = Plan(session.schema.table, session.schema.unit, older, keys, (measure,))
        found.append([int(row[0]) for row in envelope.ask(plan, round_=round_).values])
    return found


def dying(at: int, moment: str) -> None:
    """Let this process be killed before or after the entry of this number, the charge being 0."""
    append, seen = Pen.append, [0]

    def counted(pen: Pen, kind: Any, *given: Any, **named: Any) -> Any:
        place = seen[0]
        if kind != "open":
            seen[0] += 1
        if kind != "open" and place == at and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        return append(pen, kind, *given, **named)

    Pen.append = counted  # type: ignore[method-assign]
    moved = Anchor.advance

    def then_die(anchor: Anchor, *given: Any, **named: Any) -> Any:
        told = moved(anchor, *given, **named)
        if seen[0] == at + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return told

    if moment == "after":
        Anchor.advance = then_die  # type: ignore[method-assign]


def walk(folder: Path) -> dict[str, Any]:
    """All of it twice: what was found, what it cost, and which entries that took."""
    with opened(folder) as session:
        found = draw_all(session, 1)
        kinds = [str(entry.kind) for entry in session._ledger.records.chain.entries()]
        session._ledger.verify()
        return {"found": found, "again": draw_all(session, 1), "spent": session.budget.spent.epsilon, "kinds": kinds}
