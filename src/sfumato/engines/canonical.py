"""The columns of a table in the types their declarations promise; what does not fit becomes NULL, never an error."""

from collections.abc import Mapping

from sfumato.engines.expressions import as_date, quoted
from sfumato.errors import column_absent
from sfumato.schema.columns import Category, Column, Date, Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

WHOLE = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
}  # not UHUGEINT: compared with a negative number it would fail on single rows
REAL = {"FLOAT", "DOUBLE"}
TEXTUAL = ("VARCHAR", "JSON")


def declared_columns(schema: Schema) -> dict[str, Column | None]:
    """Every column that is read; the unit's id has no declared type."""
    declared: dict[str, Column | None] = dict(schema.columns)
    if isinstance(schema.unit, Person):
        declared[schema.unit.id] = None
    return declared


def canonical_columns(schema: Schema, physical: Mapping[str, str]) -> str:
    """What stands between SELECT and FROM."""
    columns = []
    for name, column in declared_columns(schema).items():
        if name not in physical:
            raise column_absent(name, physical)
        columns.append(f"{_canonical(quoted(name), column, physical[name])} AS {quoted(name)}")
    return ", ".join(columns)


def reading_of_texts(schema: Schema, physical: Mapping[str, str]) -> str | None:
    """Aggregates that read every text of the declared columns, or None if there is no text among them.

    Not strlen: DuckDB takes that from the file without looking whether the text is one.
    """
    columns = [
        f"max(length(CAST({quoted(name)} AS VARCHAR)))"
        for name in declared_columns(schema)
        if any(kind in physical[name] for kind in TEXTUAL)
    ]
    return ", ".join(columns) or None


def _canonical(name: str, column: Column | None, physical: str) -> str:
    match column:
        case None:
            return f"nullif({name}, CAST('NaN' AS DOUBLE))" if physical in REAL else name
        case Category(values=values) if isinstance(values[0], bool):
            return f"CAST(TRY_CAST({name} AS BOOLEAN) AS VARCHAR)"
        case Category(values=values) if isinstance(values[0], int):
            return name if physical in WHOLE else f"TRY_CAST({name} AS BIGINT)"
        case Int():
            return name if physical in WHOLE else f"TRY_CAST({name} AS BIGINT)"
        case Date():
            return as_date(name, physical)
        case Float():
            return name if physical == "DOUBLE" else f"TRY_CAST({name} AS DOUBLE)"
        case _:
            return name if physical == "VARCHAR" else f"TRY_CAST({name} AS VARCHAR)"
