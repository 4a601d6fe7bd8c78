"""Tables beside the private one: loaded, ids made alike, keys of lookups checked, and their versions."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.engines.expressions import quoted
from sfumato.errors import file_missing
from sfumato.schema.beside_wordings import lookup_repeats
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

LOADED = "sfumato_beside_"

Load = Callable[[object, Schema], None]
Execute = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Beside:
    """What the other tables were when they were copied, and the files that are scanned in place."""

    copied: tuple[str, ...] = ()
    scanned: tuple[Path, ...] = ()

    def versions(self) -> list[str]:
        return [*self.copied, *map(file_version, self.scanned)]


def load_beside(schema: Schema, load: Load, execute: Execute) -> Beside:
    """Load the other private tables like the first. Lookups are copied, so that their keys stay unique."""
    copied, scanned = [], []
    for number, name in enumerate((*schema.tables, *schema.lookups)):
        public = name in schema.lookups
        source = schema.lookups[name].source if public else schema.tables[name].source
        own = schema.of_lookup(name) if public else schema.of_table(name)
        path = Path(source).resolve() if isinstance(source, str | os.PathLike) else None
        loaded = f"{LOADED}{number}"
        load(source, Schema(loaded, own.unit, own.columns))
        if public:
            _copy_lookup(name, loaded, schema.lookups[name].key, execute)
        else:
            _with_ids_alike(name, loaded, schema, execute)
        if not public and path is not None and path.suffix.lower() == ".parquet":
            scanned.append(path)
        else:
            copied.append(fingerprint(own, execute) if path is None else file_version(path))
    return Beside(tuple(copied), tuple(scanned))


def _copy_lookup(name: str, loaded: str, key: str, execute: Execute) -> None:
    """Two rows of one key would multiply the rows that are joined with it."""
    named, column = quoted(name), quoted(key)
    execute(f"CREATE TABLE {named} AS SELECT * FROM {loaded} WHERE {column} IS NOT NULL")
    repeated = execute(
        f"SELECT {column} FROM {named} GROUP BY {column} HAVING COUNT(*) > 1 ORDER BY 1 LIMIT 1"
    ).fetchall()
    if repeated:
        raise lookup_repeats(name, key, repr(repeated[0][0]))


def _with_ids_alike(name: str, loaded: str, schema: Schema, execute: Execute) -> None:
    """Ids get the type they have in the first table: a comparison of two types could fail on single rows.

    An id that does not fit becomes NULL: its rows are nobody's.
    """
    unit_id = quoted(schema.unit.id) if isinstance(schema.unit, Person) else ""
    first = execute(f"DESCRIBE SELECT {unit_id} FROM {quoted(schema.table)}").fetchall()
    alike = f"TRY_CAST({unit_id} AS {first[0][1]}) AS {unit_id}"
    execute(f"CREATE VIEW {quoted(name)} AS SELECT * REPLACE ({alike}) FROM {loaded}")


def file_version(path: Path | None) -> str:
    if path is None or not path.is_file():
        raise file_missing(str(path))
    status = path.stat()
    return f"{path}|{status.st_size}|{status.st_mtime_ns}"


def fingerprint(schema: Schema, execute: Execute) -> str:
    """The content of a table, whatever the order of its rows."""
    names = [*schema.columns, *([schema.unit.id] if isinstance(schema.unit, Person) else [])]
    row = f"hash({', '.join(map(quoted, names))})"
    found = execute(f"SELECT COUNT(*), bit_xor({row}), SUM({row}) FROM {quoted(schema.table)}").fetchall()
    return hashlib.sha256(repr(found[0]).encode()).hexdigest()
