"""How much of a person one question counts: caps of its own, at or below the owner's."""

from dataclasses import dataclass
from typing import TypedDict

from sfumato.plan.caps import Caps
from sfumato.plan.sources import Source, unit_of
from sfumato.query.wordings import cap_above, caps_of_one_row, caps_without_people
from sfumato.schema.numbers import whole
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row


class CapsGiven(TypedDict, total=False):
    """What `ask` takes besides: how many rows of a person count, in how many groups, how many in each of them."""

    max_rows: int | None
    max_groups: int | None
    max_rows_per_group: int | None


@dataclass(frozen=True, slots=True)
class AskedCaps:
    """As an analyst gave them; None: as the owner declared, and of rows in a group as many as count at all."""

    max_rows: int | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None

    def __post_init__(self) -> None:
        for name, given in self.given().items():
            whole(given, name, least=1)

    def given(self) -> dict[str, int]:
        named = {name: getattr(self, name) for name in CapsGiven.__annotations__}
        return {name: given for name, given in named.items() if given is not None}

    def of(self, source: Source, schema: Schema) -> Caps | None:
        """For a plan; None where they are the owner's. Fewer rows than groups, or than rows in a group, lower these."""
        given = self.given()
        if not given:
            return None
        if not isinstance(schema.unit, Person):
            raise caps_without_people(next(iter(given)))
        if isinstance(unit_of(source, schema.unit), Row):
            raise caps_of_one_row(next(iter(given)))
        ceilings = {"max_rows": schema.unit.max_rows, "max_groups": schema.unit.max_groups}
        ceilings["max_rows_per_group"] = schema.unit.max_rows
        for name, wanted in given.items():
            if wanted > ceilings[name]:
                raise cap_above(name, wanted, ceilings[name])
        rows, groups, each = (given.get(name, ceiling) for name, ceiling in ceilings.items())
        caps = Caps(rows, min(groups, rows), min(each, rows))
        return None if caps == Caps(*ceilings.values()) else caps


OWNERS = AskedCaps()
