"""A question in steps. Each step gives a new builder; the text they make walks through the same gate as any other."""

from dataclasses import dataclass, field, replace
from typing import Protocol, Self, Unpack

from sfumato.answers.answer import Answer
from sfumato.answers.columns import CONFIDENCE
from sfumato.answers.explain import Explanation
from sfumato.answers.wordings import nothing_asked, parts_differ
from sfumato.plan.expressions import AllOf, Condition
from sfumato.query.capping import CapsGiven
from sfumato.query.question import Question, SelectedKey
from sfumato.query.sql import parse
from sfumato.query.sql_parts import Part, read_part, written_name
from sfumato.query.wordings import part_refused
from sfumato.schema.numbers import GivenNumber, exact, shown, whole

MOST_ROWS_SHOWN = 10**9 - 1


class Asked(Protocol):
    """Whoever answers questions in SQL."""

    def ask(
        self,
        question: str,
        *,
        spend: GivenNumber | None = None,
        fresh: bool = False,
        request: str | None = None,
        **caps: Unpack[CapsGiven],
    ) -> Answer: ...
    def explain(
        self, question: str, *, spend: GivenNumber | None = None, rows: int | None = None, **caps: Unpack[CapsGiven]
    ) -> Explanation: ...
    def spend_for(
        self,
        question: str,
        *,
        error: GivenNumber,
        column: str | None = None,
        confidence: float = CONFIDENCE,
        rows: int | None = None,
        **caps: Unpack[CapsGiven],
    ) -> float: ...


@dataclass(frozen=True, slots=True)
class Builder:
    """`session.query().where("age >= 30").group_by("education").count("n").ask(spend=0.5)`

    Claim: means what its SQL means; each part is read alone first, so none can reach into another.
    """

    _session: Asked = field(repr=False)
    _table: str
    _where: tuple[Part, ...] = ()
    _keys: tuple[Part, ...] = ()
    _rolled: bool = False
    _calls: tuple[str, ...] = ()
    _having: tuple[Part, ...] = ()
    _order: tuple[str, ...] = ()
    _limit: str = ""

    def where(self, condition: str) -> Self:
        """Only rows that meet this condition; several must all be met."""
        part = read_part(condition, "a condition")
        self._filtered(part)
        return replace(self, _where=(*self._where, part))

    def group_by(self, *keys: str) -> Self:
        """A row for each value of these columns."""
        parts = tuple(read_part(key, "a column") for key in keys)
        for part, text in zip(parts, keys, strict=True):
            grouped = self._grouped(part)
            if len(grouped.keys) != 1 or grouped.after.rolled:
                raise part_refused("a column", text)
        return replace(self, _keys=(*self._keys, *parts))

    def rollup(self) -> Self:
        """Also rows of totals, as GROUP BY ROLLUP: over the last key, the last two, …, all of them; free."""
        return replace(self, _rolled=True)

    def count(self, name: str | None = None) -> Self:
        """The number of rows."""
        return self.aggregate("COUNT(*)", name)

    def count_values(self, value: str, name: str | None = None) -> Self:
        """The number of rows in which this has a value."""
        return self._called("COUNT", value, name)

    def count_if(self, condition: str, name: str | None = None) -> Self:
        """The number of rows that meet a condition, beside other numbers of the same rows."""
        return self.aggregate(f"COUNT_IF({read_part(condition, 'a condition').text})", name)

    def sum(self, value: str, name: str | None = None) -> Self:
        return self._called("SUM", value, name)

    def mean(self, value: str, name: str | None = None) -> Self:
        return self._called("AVG", value, name)

    def variance(self, value: str, name: str | None = None) -> Self:
        return self._called("VARIANCE", value, name)

    def stddev(self, value: str, name: str | None = None) -> Self:
        return self._called("STDDEV", value, name)

    def count_distinct(self, value: str, name: str | None = None) -> Self:
        """The number of different values; of the unit id, of people."""
        return self.aggregate(f"COUNT(DISTINCT {read_part(value, 'a value').text})", name)

    def median(self, value: str, name: str | None = None) -> Self:
        return self._called("MEDIAN", value, name)

    def quantile(self, value: str, level: GivenNumber, name: str | None = None) -> Self:
        """The value below which this part of all values lies."""
        return self._called("QUANTILE", value, name, shown(exact(level, "level")))

    def min(self, value: str, name: str | None = None) -> Self:
        return self._called("MIN", value, name)

    def max(self, value: str, name: str | None = None) -> Self:
        return self._called("MAX", value, name)

    def mode(self, value: str, name: str | None = None) -> Self:
        """The most frequent value."""
        return self._called("MODE", value, name)

    def histogram(self, value: str, bins: int, name: str | None = None) -> Self:
        return self._called("HISTOGRAM", value, name, str(whole(bins, "bins", least=1)))

    def cdf(self, value: str, points: int, name: str | None = None) -> Self:
        """Which part of all values is at most so large, at so many points."""
        return self._called("CDF", value, name, str(whole(points, "points", least=1)))

    def aggregate(self, call: str, name: str | None = None) -> Self:
        """Any aggregate of the language, or what is computed of some: .aggregate("AVG(income / 12)", "monthly")."""
        text = read_part(call, "an aggregate").text
        if name is not None:
            text += f" AS {written_name(name, 'a name')}"
        selected = self._selected(text).selected
        if len(selected) != 1 or isinstance(selected[0], SelectedKey):
            raise part_refused("an aggregate", call)
        return replace(self, _calls=(*self._calls, text))

    def having(self, condition: str) -> Self:
        """Show only rows whose noisy numbers meet this; free."""
        return replace(self, _having=(*self._having, read_part(condition, "a condition")))

    def order_by(self, column: str, *, descending: bool = False) -> Self:
        """Sort by a column of the answer; free. A second call sorts what the first left equal."""
        text = read_part(column, "a column").text + (" DESC" if descending else "")
        return replace(self, _order=(*self._order, text))

    def limit(self, rows: int, *, offset: int = 0) -> Self:
        """Show so many rows; free."""
        most = whole(rows, "rows", least=0, most=MOST_ROWS_SHOWN)
        first = whole(offset, "offset", least=0, most=MOST_ROWS_SHOWN)
        return replace(self, _limit=f"LIMIT {most}" + (f" OFFSET {first}" if first else ""))

    def sql(self) -> str:
        """The question as text: `session.ask` of it is the same question, and free if it was asked before."""
        return self._text()

    def ask(
        self,
        *,
        spend: GivenNumber | None = None,
        fresh: bool = False,
        request: str | None = None,
        **caps: Unpack[CapsGiven],
    ) -> Answer:
        return self._session.ask(self._text(), spend=spend, fresh=fresh, request=request, **caps)

    def explain(
        self, *, spend: GivenNumber | None = None, rows: int | None = None, **caps: Unpack[CapsGiven]
    ) -> Explanation:
        return self._session.explain(self._text(), spend=spend, rows=rows, **caps)

    def spend_for(
        self,
        *,
        error: GivenNumber,
        column: str | None = None,
        confidence: float = CONFIDENCE,
        rows: int | None = None,
        **caps: Unpack[CapsGiven],
    ) -> float:
        """The smallest spend whose error bar is at most ±error."""
        return self._session.spend_for(
            self._text(), error=error, column=column, confidence=confidence, rows=rows, **caps
        )

    def __str__(self) -> str:
        return self._text()

    @property
    def _source(self) -> str:
        return written_name(self._table, "a table")

    def _called(self, function: str, value: str, name: str | None, *more: str) -> Self:
        arguments = ", ".join([read_part(value, "a value").text, *more])
        return self.aggregate(f"{function}({arguments})", name)

    def _text(self) -> str:
        """The parts put together; what the gate reads in the whole must be what it read in each."""
        if not self._calls:
            raise nothing_asked()
        keys = [part.text for part in self._keys]
        grouping = ", ".join(keys)
        clauses = [
            f"SELECT {', '.join([*keys, *self._calls])} FROM {self._source}",
            f"WHERE {' AND '.join(part.text for part in self._where)}" if self._where else "",
            f"GROUP BY {f'ROLLUP ({grouping})' if self._rolled else grouping}" if keys or self._rolled else "",
            f"HAVING {' AND '.join(part.text for part in self._having)}" if self._having else "",
            f"ORDER BY {', '.join(self._order)}" if self._order else "",
            self._limit,
        ]
        text = " ".join(clause for clause in clauses if clause)
        read = parse(text)
        asked = tuple(self._selected(call).selected[0] for call in self._calls)
        grouped = tuple(self._grouped(part).keys[0] for part in self._keys)
        rolled = tuple(range(len(keys) - 1, -1, -1)) if self._rolled else ()
        shown = read.selected[: len(keys)], read.selected[len(keys) :]
        meant = self._table, self._condition(), grouped, rolled, asked
        if (read.table, read.where, read.keys, read.after.rolled, shown[1]) != meant or not all(
            isinstance(item, SelectedKey) for item in shown[0]
        ):
            raise parts_differ()
        return text

    # ---- questions that hold one part and nothing else

    def _filtered(self, part: Part) -> Question:
        return parse(f"SELECT COUNT(*) FROM {self._source} WHERE {part.text}")

    def _grouped(self, part: Part) -> Question:
        return parse(f"SELECT COUNT(*) FROM {self._source} GROUP BY {part.text}")

    def _selected(self, call: str) -> Question:
        return parse(f"SELECT {call} FROM {self._source}")

    def _condition(self) -> Condition | None:
        """What the WHERE of the whole must mean: the parts, one beside the other."""
        found: list[Condition] = []
        for part in self._where:
            condition = self._filtered(part).where
            if part.joined and isinstance(condition, AllOf):
                found += condition.operands
            elif condition is not None:
                found.append(condition)
        return AllOf(tuple(found)) if len(found) > 1 else found[0] if found else None
