"""The public description of a private table: its name, its unit, its columns, and the tables beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sfumato.schema.allow import FAMILIES, Family, check_allowed
from sfumato.schema.beside_wordings import column_ambiguous, not_declared_as, table_named_twice, tables_need_person
from sfumato.schema.columns import Declared, Identifier, check_columns
from sfumato.schema.given import check_kind, check_mapping, check_name
from sfumato.schema.numbers import whole
from sfumato.schema.others import Lookup, Table
from sfumato.schema.unit import Person, Row, TableCaps, Unit
from sfumato.schema.wordings import no_columns, unit_column_declared

UNIT_EXAMPLE = (
    'unit=sf.Person("user_id", max_rows=20, max_groups=5), or unit=sf.Row() when each row is somebody else, '
    "or unit=sf.UpTo(36) when nobody has more than 36 rows and no column says whose they are"
)

MOST_EXPECTED = 10**15  # rows: so many fit doubles, times any spend


@dataclass(frozen=True, slots=True)
class Schema:
    """A value that exists is valid: names are plain, and the unit id is no ordinary column.

    `spelt` says which columns other spellings mean after a join, in small letters; None when it is several.
    `allow` are the families of mechanisms that answers may be made with.
    `expected_rows`: about how many rows there are, where that is public.
    `texts` says from how many texts a sub-query puts a column together, `lengths` how many characters it may have.
    """

    table: str
    unit: Unit
    columns: Mapping[str, Declared]
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    spelt: Mapping[str, str | None] = field(default_factory=dict)
    texts: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    allow: frozenset[Family] = frozenset(FAMILIES)
    expected_rows: int | None = None

    def __post_init__(self) -> None:
        if self.expected_rows is not None:
            object.__setattr__(
                self, "expected_rows", whole(self.expected_rows, "expected_rows", least=1, most=MOST_EXPECTED)
            )
        check_kind(self.unit, Unit, "unit", UNIT_EXAMPLE)
        check_name(self.table)
        check_columns(self.columns)
        if not any(not isinstance(column, Identifier) for column in self.columns.values()):
            raise no_columns()
        for name, column in self.columns.items():
            if isinstance(self.unit, Person) and name == self.unit.id and not isinstance(column, Identifier):
                raise unit_column_declared(name)
        object.__setattr__(self, "allow", check_allowed(self.allow))
        self._check_beside()
        for part in ("columns", "lookups", "tables", "spelt", "texts", "lengths"):
            object.__setattr__(self, part, MappingProxyType(dict(getattr(self, part))))

    def _check_beside(self) -> None:
        check_mapping(self.lookups, "lookups", 'lookups={"regions": sf.Lookup("regions.csv", "zip", {…})}')
        check_mapping(self.tables, "tables", 'tables={"visits": sf.Table("visits.csv", {…})}')
        names = {self.table.casefold()}
        for name in (*self.lookups, *self.tables):
            if name.casefold() in names:
                raise table_named_twice(name)
            names.add(name.casefold())
        if self.tables and not isinstance(self.unit, Person):
            raise tables_need_person()
        for name, lookup in self.lookups.items():
            if not isinstance(lookup, Lookup):
                raise not_declared_as(name, "Lookup")
            self.of_lookup(name)
        for name, table in self.tables.items():
            if not isinstance(table, Table):
                raise not_declared_as(name, "Table")
            self.of_table(name)

    def of_table(self, name: str) -> "Schema":
        """One of the private tables, by its own name."""
        return Schema(name, self.unit, self.columns if name == self.table else self.tables[name].columns)

    def caps_of(self, name: str) -> TableCaps:
        """How much of a person counts in one of the private tables. Needs: a person as the unit."""
        if not isinstance(self.unit, Person):
            raise TypeError("without an id nobody's rows are capped")
        own = None if name == self.table else self.tables[name].caps
        return self.unit.caps if own is None else own

    def of_lookup(self, name: str) -> "Schema":
        """A public table: nobody's rows."""
        return Schema(name, Row(), self.lookups[name].all_columns)

    def meant(self, name: str) -> str:
        """The column a spelling means after a join; elsewhere the spelling itself."""
        found = self.spelt.get(name.casefold(), name)
        if found is None:
            raise column_ambiguous(name)
        return found

    @property
    def visible(self) -> list[str]:
        """The columns an analyst may name."""
        return [name for name, column in self.columns.items() if not isinstance(column, Identifier)]


def described(schema: Schema) -> Schema:
    """The same without the sources of the tables beside it, of which one may be in memory, with everybody's rows."""
    lookups = {name: replace(lookup, source=None) for name, lookup in schema.lookups.items()}
    tables = {name: replace(table, source=None) for name, table in schema.tables.items()}
    return replace(schema, lookups=lookups, tables=tables)
