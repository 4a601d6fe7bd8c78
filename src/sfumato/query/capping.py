"""What a question says besides its text: how much of a person it counts, at or below the owner's caps, and whether it
counts what that clips."""

from dataclasses import dataclass
from typing import TypedDict

from sfumato.plan.caps import Caps
from sfumato.plan.sources import Source, one_row_each, table_caps
from sfumato.query.wordings import (
    argument_unknown,
    cap_above,
    cap_above_rows,
    caps_of_one_row,
    caps_without_people,
    clipped_is_yes_or_no,
)
from sfumato.schema.numbers import whole
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Unit

CAPS = ("max_rows", "max_groups", "max_rows_per_group")


class CapsGiven(TypedDict, total=False):
    """What `ask` takes besides: how many rows of a person count, in how many groups, how many in each of them.

    And whether a tenth of the spend goes into counting what was clipped.
    """

    max_rows: int | None
    max_groups: int | None
    max_rows_per_group: int | None
    clipped: bool


@dataclass(frozen=True, slots=True)
class AskedCaps:
    """As an analyst gave them; None: as the owner declared, and of rows in a group as many as count at all."""

    max_rows: int | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    clipped: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.clipped, bool):
            raise clipped_is_yes_or_no(type(self.clipped).__name__)
        for name, given in self._caps().items():
            object.__setattr__(self, name, whole(given, name, least=1))

    def given(self) -> dict[str, int]:
        """Everything that was said."""
        return self._caps() | ({"clipped": True} if self.clipped else {})

    def _caps(self) -> dict[str, int]:
        named = {name: getattr(self, name) for name in CAPS}
        return {name: given for name, given in named.items() if given is not None}

    def of(self, source: Source, schema: Schema) -> tuple[Unit, Caps | None]:
        """For a plan: whose rows count and how many usually, and caps where they are others.

        Fewer rows than usual lower the other two with them.
        """
        given, unit = self._caps(), schema.unit
        if not isinstance(unit, Person):
            if given:
                raise caps_without_people(next(iter(given)))
            return unit, None
        most = table_caps(source, schema)
        usual = Person(unit.id, most.default_max_rows, most.default_max_groups)
        if one_row_each(source):
            if given:
                raise caps_of_one_row(next(iter(given)))
            return usual, None
        rows = given.get("max_rows", most.default_max_rows)
        for name, wanted in given.items():
            if wanted > getattr(most, name):
                raise cap_above(name, wanted, getattr(most, name))
            if wanted > rows:
                raise cap_above_rows(name, wanted, rows)
        groups = given.get("max_groups", min(most.default_max_groups, rows))
        each = given.get("max_rows_per_group", min(most.max_rows_per_group, rows))
        caps = Caps(rows, groups, each)
        return usual, None if caps == Caps(usual.max_rows, usual.max_groups, usual.max_rows) else caps


OWNERS = AskedCaps()


def asked_caps(given: CapsGiven, *besides: str) -> AskedCaps:
    """What was given by these names and no others; `besides` are those of other arguments, for whoever mistypes one."""
    for name in given:
        if name not in (*CAPS, "clipped"):
            raise argument_unknown(name, (*CAPS, "clipped", *besides))
    return AskedCaps(**given)
