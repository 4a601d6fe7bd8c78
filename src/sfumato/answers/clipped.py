"""What clipping did, where it was counted: how many rows and people, and error bars that hold it. Post-processing only.

How many rows were clamped, and of how many people something was cut off, is a noisy count; how far it reaches is not
seen. Error bars suppose a distance, and the note under an answer says which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.answers.columns import CONFIDENCE, Interval, Intervals, Noises, interval_of
from sfumato.answers.notes import named, shown
from sfumato.errors import so_many
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.protocol import Mechanism, Released
from sfumato.kernel.widths import error, error_of_sum
from sfumato.plan.nodes import CountRows, CountValues, Plan
from sfumato.query.rewrite import Clamped, Clipping, CountColumn, KeyColumn, MeanColumn, OutputColumn, SumColumn

MOST_NOTES = 12
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Clipped:
    """What was counted of clipping, and in which plan."""

    certified: Certified
    clipping: Clipping

    @property
    def plan(self) -> Plan:
        return self.certified.plan

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        return tuple(release.mechanism for release in self.certified.releases)

    @property
    def rows_alone(self) -> bool:
        """Whether all groups of a person count: else people are missing in groups that they are not counted in."""
        return not self.plan.open and self.plan.capped.groups >= self.plan.groups

    @property
    def counted(self) -> frozenset[int]:
        """The places of the numbers that say what was clipped."""
        cut = [] if self.clipping.cut is None else [self.clipping.cut]
        return frozenset([*(each.measure for each in self.clipping.clamped), *cut])

    def covers(self, column: OutputColumn) -> bool:
        """Whether an error bar holds clipping, and so depends on the answer."""
        clamped = isinstance(column, SumColumn | MeanColumn) and self._of(column) is not None
        return clamped or (self.clipping.cut is not None and self.rows_alone and self._counts_rows(column))

    def interval(
        self, column: OutputColumn, row: tuple[Released, ...], confidence: float, groups: int = 1
    ) -> Intervals:
        """An error bar that holds noise and clipping; what may fail is shared out between their counts.

        groups: how many are added up in the row.
        """
        clamped = self._of(column)
        cut = self.clipping.cut if self.rows_alone and self._counts_rows(column) else None
        sure = 1 - (1 - confidence) / (1 + (clamped is not None) + (cut is not None))
        interval = interval_of(column, row, Noises(self.mechanisms, sure, groups))
        if not isinstance(interval, tuple):
            return interval
        beyond = 0 if clamped is None else self._most(clamped.measure, row, sure, groups)
        missing = 0 if cut is None else self._most(cut, row, sure, groups) * self.plan.capped.rows_per_group
        match column:
            case CountColumn():
                return interval[0], interval[1] + missing
            case SumColumn() if clamped is not None:
                width = float(beyond * (clamped.upper - clamped.lower))
                least, most = (float(missing * end) for end in (_down(clamped.lower), -_down(-clamped.upper)))
                return interval[0] - width + least, interval[1] + width + most
            case MeanColumn(count=count) if clamped is not None:
                surely = max(1, numbers(row)[count] - self._error(count, sure, groups))
                return _mean(interval, clamped, Fraction(beyond, surely), Fraction(missing, surely))
            case _:
                return interval

    def notes(
        self,
        columns: Sequence[OutputColumn],
        rows: Sequence[Mapping[str, Any]],
        values: Sequence[tuple[Released, ...]],
    ) -> tuple[str, ...]:
        """For each group what was clipped; then what error bars suppose."""
        keys = [column.name for column in columns if isinstance(column, KeyColumn)]
        said = []
        for row, released in list(zip(rows, values, strict=True))[:MOST_NOTES]:
            group = ", ".join(str(row[key]) for key in keys)
            said += [f"{group}: {part}" if group else part for part in self._parts(released)]
        if len(rows) > MOST_NOTES:
            said.append(f"So too in {so_many(len(rows) - MOST_NOTES, 'more group')}.")
        return *said, *self._supposed(columns)

    def _parts(self, released: tuple[Released, ...]) -> list[str]:
        said = [
            f"{self._shown(each.measure, released)} rows that count lie beyond the bounds of {named(each.value)}, "
            f"{shown(each.lower)} to {shown(each.upper)}."
            for each in self.clipping.clamped
        ]
        if self.clipping.cut is not None:
            more = "rows" if self.rows_alone else "rows or groups"
            said.append(f"{self._shown(self.clipping.cut, released)} people have more {more} than count.")
        return said

    def _supposed(self, columns: Sequence[OutputColumn]) -> list[str]:
        said = []
        for each in self.clipping.clamped:
            names = [c.name for c in columns if c.name in each.columns and isinstance(c, SumColumn | MeanColumn)]
            if names:
                said.append(
                    f"Error bars of {', '.join(names)} hold what was clamped, if those rows lie beyond their bounds by "
                    f"no more than {shown(each.upper - each.lower)} on average."
                )
        if self.clipping.cut is None:
            return said
        names = [column.name for column in columns if self.rows_alone and self._counts_rows(column)]
        if names:
            most = self.plan.capped.rows_per_group
            rows = f"{most:,} row{'' if most == 1 else 's'} of a person" + (" within bounds" if said else "")
            said.append(
                f"Error bars of {', '.join(names)} hold what was cut off, if in a group that is no more than {rows}."
            )
        if len(names) < sum(not isinstance(column, KeyColumn) for column in columns):
            said.append(f"{'Other error' if names else 'Error'} bars do not cover what is cut off.")
        return said

    def _counts_rows(self, column: OutputColumn) -> bool:
        match column:
            case SumColumn() | MeanColumn():
                return True
            case CountColumn(measure=measure):
                return isinstance(self.plan.measures[measure].aggregate, CountRows | CountValues)
            case _:
                return False

    def _of(self, column: OutputColumn) -> Clamped | None:
        return next((each for each in self.clipping.clamped if column.name in each.columns), None)

    def _error(self, measure: int, sure: float, groups: int) -> int:
        """One-sided: so far a count may be below the truth."""
        mechanism = self.mechanisms[measure]
        if not isinstance(mechanism, Additive):
            raise TypeError("clipping is counted with noise")
        return error_of_sum(mechanism.law, groups, 2 * sure - 1) if sure > 0.5 else 0

    def _most(self, measure: int, row: tuple[Released, ...], sure: float, groups: int) -> int:
        return max(0, int(numbers(row)[measure]) + self._error(measure, sure, groups))

    def _shown(self, measure: int, row: tuple[Released, ...]) -> str:
        mechanism = self.mechanisms[measure]
        half = error(mechanism.law, CONFIDENCE) if isinstance(mechanism, Additive) else 0
        return f"{max(0, numbers(row)[measure]):,} (±{half:,})"


def numbers(row: tuple[Released, ...]) -> Row:
    return row


def _down(end: Fraction) -> Fraction:
    return min(end, Fraction(0))


def _mean(interval: Interval, clamped: Clamped, beyond: Fraction, missing: Fraction) -> Interval:
    """Moved by the part of the rows that lie beyond, and towards the bounds by the part that is missing."""
    shift = min(Fraction(1), beyond) * (clamped.upper - clamped.lower)
    low, high = Fraction(interval[0]) - shift, Fraction(interval[1]) + shift
    return (
        float(min(low, (low + missing * clamped.lower) / (1 + missing))),
        float(max(high, (high + missing * clamped.upper) / (1 + missing))),
    )
