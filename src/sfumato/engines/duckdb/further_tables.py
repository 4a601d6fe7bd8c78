"""Tables beside the private one: loaded, ids made alike, keys of lookups checked."""

from sfumato.engines.duckdb.in_place import Scanned
from sfumato.engines.duckdb.sources import load
from sfumato.engines.duckdb.tables import Connection, Copied
from sfumato.engines.sql.phrases import quoted
from sfumato.schema.beside_wordings import lookup_repeats
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

LOADED = "sfumato_beside_"


def load_beside(connection: Connection, schema: Schema) -> list[Copied | Scanned]:
    """Load the other private tables like the first. Lookups are copied, so that their keys stay unique."""
    found: list[Copied | Scanned] = []
    loaded_as = LOADED
    while any(name.casefold().startswith(loaded_as) for name in (schema.table, *schema.tables, *schema.lookups)):
        loaded_as += "_"
    for number, name in enumerate((*schema.tables, *schema.lookups)):
        internal = f"{loaded_as}{number}"
        if name in schema.tables:
            own = schema.of_table(name)
            found.append(load(connection, schema.tables[name].source, Schema(internal, own.unit, own.columns)))
            _with_ids_alike(name, internal, schema, connection)
        else:
            own = schema.of_lookup(name)
            loaded = load(connection, schema.lookups[name].source, Schema(internal, own.unit, own.columns))
            _copy_lookup(name, internal, schema.lookups[name].key, connection)
            found.append(Copied(loaded.version(lambda sql: connection.execute(sql).fetchall())))
    return found


def _copy_lookup(name: str, internal: str, key: str, connection: Connection) -> None:
    """Two rows of one key would multiply the rows that are joined with it."""
    named, column = quoted(name), quoted(key)
    connection.execute(f"CREATE TABLE {named} AS SELECT * FROM {internal} WHERE {column} IS NOT NULL")
    repeated = connection.execute(
        f"SELECT {column} FROM {named} GROUP BY {column} HAVING COUNT(*) > 1 ORDER BY 1 LIMIT 1"
    ).fetchall()
    if repeated:
        raise lookup_repeats(name, key, repr(repeated[0][0]))


def _with_ids_alike(name: str, internal: str, schema: Schema, connection: Connection) -> None:
    """Ids are texts, as in the first table: what type they have there may depend on single rows."""
    unit_id = quoted(schema.unit.id) if isinstance(schema.unit, Person) else ""
    alike = f"CAST({unit_id} AS VARCHAR) AS {unit_id}"
    connection.execute(f"CREATE VIEW {quoted(name)} AS SELECT * REPLACE ({alike}) FROM {internal}")
