"""Who is protected. Neighbouring tables differ by adding or removing one unit."""

from dataclasses import dataclass

from sfumato.schema.given import check_kind, check_name
from sfumato.schema.numbers import whole
from sfumato.schema.wordings import groups_above_rows

# Keeps every per-person sum of 31-bit integers far inside the engine's 127-bit sums.
MOST_ROWS = 10**9


@dataclass(frozen=True, slots=True)
class Row:
    """Each row is somebody else: one row is protected."""

    def __str__(self) -> str:
        return "row"


@dataclass(frozen=True, slots=True)
class Person:
    """Everything one id contributed is protected, up to `max_rows` rows in `max_groups` groups a question."""

    id: str
    max_rows: int
    max_groups: int = 1

    def __post_init__(self) -> None:
        check_kind(self.id, str, "the id of a person", 'sf.Person("user_id", max_rows=20, max_groups=5)')
        check_name(self.id)
        object.__setattr__(self, "max_rows", whole(self.max_rows, "max_rows", least=1, most=MOST_ROWS))
        object.__setattr__(self, "max_groups", whole(self.max_groups, "max_groups", least=1, most=MOST_ROWS))
        if self.max_rows < self.max_groups:
            raise groups_above_rows(self.max_rows, self.max_groups)

    def __str__(self) -> str:
        return f"person ({self.id}: at most {self.max_rows} rows in {self.max_groups} groups)"


Unit = Row | Person
