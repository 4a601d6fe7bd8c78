"""The public description of one private table: its name, its unit, its columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sfumato.errors import UsageError, no_columns, unit_column_declared
from sfumato.schema.columns import Column, Identifier
from sfumato.schema.unit import Person, Unit

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Schema:
    """A value that exists is valid: names are plain, and the unit id is no ordinary column."""

    table: str
    unit: Unit
    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        if not any(not isinstance(column, Identifier) for column in self.columns.values()):
            raise no_columns()
        unit_id = [self.unit.id] if isinstance(self.unit, Person) else []
        for name in [self.table, *self.columns, *unit_id]:
            if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
                raise UsageError(f"{name!r} is not a usable name.", f"Use 1 to {LONGEST_NAME} printable characters.")
        for name, column in self.columns.items():
            if not isinstance(column, Column):
                raise UsageError(
                    f'the column "{name}" is declared as {type(column).__name__}.',
                    "Declare it as sf.Int, sf.Float, sf.Date, sf.Category, sf.Text or sf.Identifier.",
                )
            if name in unit_id and not isinstance(column, Identifier):
                raise unit_column_declared(name)
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    @property
    def visible(self) -> list[str]:
        """The columns an analyst may name."""
        return [name for name, column in self.columns.items() if not isinstance(column, Identifier)]
