"""Who is protected, and how much of them a question may count. Neighbouring tables differ by adding or removing one."""

from dataclasses import astuple, dataclass, fields

from sfumato.schema.given import check_kind, check_name
from sfumato.schema.numbers import whole
from sfumato.schema.wordings import default_above, each_above_rows, groups_above_rows

# Keeps every per-person sum of 31-bit integers far inside the engine's 127-bit sums.
MOST_ROWS = 10**9


@dataclass(frozen=True, slots=True)
class TableCaps:
    """How much of a person counts in a table: at most, and unless a question says otherwise (`default_…`).

    How many rows count in one group has no default but as many as count at all: what it means depends on the groups.
    """

    max_rows: int
    max_groups: int
    max_rows_per_group: int
    default_max_rows: int
    default_max_groups: int

    def __post_init__(self) -> None:
        if self.max_rows < self.max_groups:
            raise groups_above_rows(self.max_rows, self.max_groups)
        if self.max_rows < self.max_rows_per_group:
            raise each_above_rows(self.max_rows, self.max_rows_per_group)
        for name, most in (("max_rows", self.max_rows), ("max_groups", self.max_groups)):
            if getattr(self, f"default_{name}") > most:
                raise default_above(name, getattr(self, f"default_{name}"), most)
        if self.default_max_rows < self.default_max_groups:
            raise groups_above_rows(self.default_max_rows, self.default_max_groups, "default_")

    def beside(self, other: "TableCaps") -> "TableCaps":
        """Of a join: the larger of each. What holds between the numbers of both holds between these."""
        return TableCaps(*map(max, astuple(self), astuple(other)))


CAPS = tuple(field.name for field in fields(TableCaps))
ONE_ROW_EACH = TableCaps(1, 1, 1, 1, 1)


def declared_caps(by: object) -> TableCaps:
    """As a person or a table declares them: one group if none are given, the rest as far as these two allow.

    Refuses what is no whole number from 1 on, or above another that it must not exceed.
    """
    given = {name: getattr(by, name) for name in CAPS}
    said = {
        name: whole(number, name, least=1, most=MOST_ROWS)
        for name, number in given.items()
        if number is not None or name == "max_rows"
    }
    rows, groups = said["max_rows"], said.get("max_groups", 1)
    most = said.get("default_max_rows", rows)
    many = said.get("default_max_groups", min(groups, most))
    return TableCaps(rows, groups, said.get("max_rows_per_group", rows), most, many)


def plain(by: object, caps: TableCaps) -> None:
    """Whole numbers of any kind become Python's own where they were declared."""
    for name in CAPS:
        if getattr(by, name) is not None:
            object.__setattr__(by, name, getattr(caps, name))


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Row:
    """Each row is somebody else: one row is protected."""

    def __str__(self) -> str:
        return "row"

    @property
    def whose(self) -> str:
        """What a ledger is of, for ever."""
        return "row"


@dataclass(frozen=True, slots=True)
class Person:
    """Everything one id contributed is protected. A question counts up to `max_rows` rows of it in `max_groups` groups.

    At most `max_rows_per_group` of them in one group; `default_max_rows` and `default_max_groups` are for questions
    that do not say how much they count. These are limits of questions, and may change; the id may not.
    """

    id: str
    max_rows: int
    max_groups: int = 1
    max_rows_per_group: int | None = None
    default_max_rows: int | None = None
    default_max_groups: int | None = None

    def __post_init__(self) -> None:
        check_kind(self.id, str, "the id of a person", 'sf.Person("user_id", max_rows=20, max_groups=5)')
        check_name(self.id)
        whole(self.max_groups, "max_groups", least=1)
        plain(self, self.caps)

    @property
    def caps(self) -> TableCaps:
        """Of the first table, and of every other that declares none."""
        return declared_caps(self)

    def __str__(self) -> str:
        return f"person ({self.id}: at most {_many(self.max_rows, 'row')} in {_many(self.max_groups, 'group')})"

    @property
    def whose(self) -> str:
        return f"person ({self.id})"


@dataclass(frozen=True, slots=True)
class UpTo:
    """Everything one person contributed is protected, if nobody has more than `rows` rows.

    No column says whose they are, so nothing can be cut off: the number is the promise itself, and may not change.
    """

    rows: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole(self.rows, "rows", least=1, most=MOST_ROWS))

    def __str__(self) -> str:
        return f"person, if nobody has more than {_many(self.rows, 'row')}"

    @property
    def whose(self) -> str:
        return f"up to {self.rows} rows"


Unit = Row | Person | UpTo
