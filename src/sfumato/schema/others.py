"""Tables beside the private one: more private tables of the same people, and public tables to look things up in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.schema.beside_wordings import lookup_column_private, lookup_key_of_kind
from sfumato.schema.columns import Category, Column, Float, Identifier, Text


@dataclass(frozen=True, slots=True)
class Table:
    """One more private table: it has the same id column, and one person is what that id has in all tables."""

    source: Any = field(repr=False, compare=False)  # a table in memory would be written out in full
    columns: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table with one row a key. A key that is not among the columns is a text."""

    source: Any = field(repr=False, compare=False)  # a table in memory would be written out in full
    key: str
    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        if not isinstance(self.key_column, Text | Category) and not _whole(self.key_column):
            raise lookup_key_of_kind(self.key)
        for name, column in self.columns.items():
            if isinstance(column, Identifier):
                raise lookup_column_private(name)

    @property
    def key_column(self) -> Column:
        return self.columns.get(self.key, Text())

    @property
    def all_columns(self) -> dict[str, Column]:
        return {self.key: self.key_column, **self.columns}


def _whole(column: Column) -> bool:
    return not isinstance(column, Float | Identifier)
