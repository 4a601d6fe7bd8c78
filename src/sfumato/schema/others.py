"""Tables beside the private one: more private tables of the same people, and public tables to look things up in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from sfumato.schema.beside_wordings import caps_without_rows, lookup_column_private, lookup_key_of_kind
from sfumato.schema.columns import Category, Declared, Float, Identifier, Text, check_columns
from sfumato.schema.given import as_path, check_kind, check_name
from sfumato.schema.unit import CAPS, TableCaps, declared_caps, plain


@dataclass(frozen=True, slots=True)
class Table:
    """One more private table: it has the same id column, and one person is what that id has in all tables.

    With `max_rows` it has caps of its own, which mean what those of `sf.Person` mean; without, that person's.
    """

    source: Any = field(repr=False, compare=False)  # a table in memory would be written out in full
    columns: Mapping[str, Declared]
    max_rows: int | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    default_max_rows: int | None = None
    default_max_groups: int | None = None

    def __post_init__(self) -> None:
        _check_source(self.source)
        check_columns(self.columns)
        _keep_columns(self)
        given = [name for name in CAPS if getattr(self, name) is not None]
        if given and self.max_rows is None:
            raise caps_without_rows(given[0])
        if given:
            plain(self, declared_caps(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, _given(self)

    @property
    def caps(self) -> TableCaps | None:
        return None if self.max_rows is None else declared_caps(self)


@dataclass(frozen=True, slots=True)
class Lookup:
    """A public table with one row per key. A key that is not among the columns is a text."""

    source: Any = field(repr=False, compare=False)  # a table in memory would be written out in full
    key: str
    columns: Mapping[str, Declared]

    def __post_init__(self) -> None:
        _check_source(self.source)
        check_kind(self.key, str, "the key of a lookup", 'sf.Lookup("regions.csv", "zip", {"region": sf.Text()})')
        check_name(self.key)
        check_columns(self.columns)
        _keep_columns(self)
        if not isinstance(self.key_column, Text | Category) and not _whole(self.key_column):
            raise lookup_key_of_kind(self.key)
        for name, column in self.columns.items():
            if isinstance(column, Identifier):
                raise lookup_column_private(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Lookup, _given(self)

    @property
    def key_column(self) -> Declared:
        return self.columns.get(self.key, Text())

    @property
    def all_columns(self) -> dict[str, Declared]:
        return {self.key: self.key_column, **self.columns}


def _keep_columns(table: Table | Lookup) -> None:
    """Nobody changes them later: what was worked out of them is kept."""
    object.__setattr__(table, "columns", MappingProxyType(dict(table.columns)))


def _given(table: Table | Lookup) -> tuple[Any, ...]:
    """What makes it again, for copies and pickles, which know no MappingProxyType."""
    values = {one.name: getattr(table, one.name) for one in fields(table)}
    return tuple((values | {"columns": dict(table.columns)}).values())


def _check_source(source: object) -> None:
    if isinstance(source, str | os.PathLike):
        as_path(source, "source", "visits.csv")


def _whole(column: Declared) -> bool:
    return not isinstance(column, Float | Identifier)
