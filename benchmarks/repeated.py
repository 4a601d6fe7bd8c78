"""One question, answered many times: rows are counted once, and each time released anew and read as an answer is.

All that a question passes through but the ledger, which would only add time: the plan, the engine, the gate, the bars.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sfumato as sf
from sfumato.answers.answer import CONFIDENCE, Answer, finish
from sfumato.answers.columns import Noises, interval_of
from sfumato.door import written
from sfumato.engines.arrange import look_at_all
from sfumato.kernel.entropy import SystemEntropy
from sfumato.kernel.gate import Found, Receipt, Release, release
from sfumato.query.capping import AskedCaps
from sfumato.query.planned import Planned
from sfumato.query.rewrite import KeyColumn

NO_CAPS: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Counted:
    """A question with what the engine found for it."""

    session: sf.Session
    planned: Planned
    found: Found

    def released(self) -> Release:
        certified = self.planned.certified
        return release(certified, Receipt(1, certified.digest), self.found, SystemEntropy())

    def answer(self) -> Answer:
        planned, balance = self.planned, self.session.budget
        return finish(
            planned.question,
            planned.certified,
            planned.columns,
            self.released(),
            cost=balance.cost(Fraction(1), Fraction(0)),
            balance=balance,
            when="",
            cached=True,
            after=planned.after,
        )

    def answers(self, runs: int) -> Iterator[Answer]:
        return (self.answer() for _ in range(runs))

    def intervals(self) -> list[dict[str, Any]]:
        """`Answer.interval` of a fresh answer, without the answer: group by group, as the plan has them."""
        noises = Noises(tuple(one.mechanism for one in self.planned.certified.releases), CONFIDENCE)
        measured = [column for column in self.planned.columns if not isinstance(column, KeyColumn)]
        return [
            {column.name: interval_of(column, row, noises) for column in measured} for row in self.released().values
        ]


class Counting:
    """Rows of a session; what was counted before with the same SQL is not counted again."""

    def __init__(self, session: sf.Session) -> None:
        self.session = session
        self._known: dict[tuple[str, ...], Found] = {}

    def of(self, question: str, spend: float, caps: Mapping[str, int] = NO_CAPS) -> Counted:
        (planned,) = self.session._prepare(question, spend, AskedCaps(**caps)).planned
        engine = self.session._engine
        told = written(planned.certified, engine.dialect)
        if told not in self._known:
            with engine.slot():
                countings = planned.certified.countings
                (self._known[told],) = look_at_all(engine, [(countings, told)], engine.version())
        return Counted(self.session, planned, self._known[told])
