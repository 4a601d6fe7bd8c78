"""Tables beside the private one: loaded, ids made alike, keys of lookups checked, and their versions."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sfumato.engines.expressions import quoted
from sfumato.errors import file_missing
from sfumato.schema.beside_wordings import lookup_repeats
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

LOADED = "sfumato_beside_"

Execute = Callable[[str], Any]


class Loaded(Protocol):
    """A table in front of the engine: the state of its data, and the files that are scanned in place."""

    @property
    def files(self) -> Sequence[Path]: ...

    def version(self, execute: Execute) -> str: ...


@dataclass(frozen=True, slots=True)
class Copied:
    """As it was when it was opened."""

    state: str
    files: tuple[Path, ...] = ()

    def version(self, execute: Execute) -> str:  # noqa: ARG002 - like Scanned.version
        return self.state


@dataclass(frozen=True, slots=True)
class Scanned:
    """Lies in its files, which each question reads anew."""

    files: tuple[Path, ...]

    def version(self, execute: Execute) -> str:  # noqa: ARG002 - like Copied.version
        return "\n".join(map(file_version, self.files))


def load_beside(schema: Schema, load: Callable[[object, Schema], Loaded], execute: Execute) -> list[Loaded]:
    """Load the other private tables like the first. Lookups are copied, so that their keys stay unique."""
    found: list[Loaded] = []
    for number, name in enumerate((*schema.tables, *schema.lookups)):
        internal = f"{LOADED}{number}"
        if name in schema.tables:
            own = schema.of_table(name)
            found.append(load(schema.tables[name].source, Schema(internal, own.unit, own.columns)))
            _with_ids_alike(name, internal, schema, execute)
        else:
            own = schema.of_lookup(name)
            loaded = load(schema.lookups[name].source, Schema(internal, own.unit, own.columns))
            _copy_lookup(name, internal, schema.lookups[name].key, execute)
            found.append(Copied(loaded.version(execute)))
    return found


def _copy_lookup(name: str, internal: str, key: str, execute: Execute) -> None:
    """Two rows of one key would multiply the rows that are joined with it."""
    named, column = quoted(name), quoted(key)
    execute(f"CREATE TABLE {named} AS SELECT * FROM {internal} WHERE {column} IS NOT NULL")
    repeated = execute(
        f"SELECT {column} FROM {named} GROUP BY {column} HAVING COUNT(*) > 1 ORDER BY 1 LIMIT 1"
    ).fetchall()
    if repeated:
        raise lookup_repeats(name, key, repr(repeated[0][0]))


def _with_ids_alike(name: str, internal: str, schema: Schema, execute: Execute) -> None:
    """Ids get the type they have in the first table: a comparison of two types could fail on single rows.

    An id that does not fit becomes NULL: its rows are nobody's.
    """
    unit_id = quoted(schema.unit.id) if isinstance(schema.unit, Person) else ""
    first = execute(f"DESCRIBE SELECT {unit_id} FROM {quoted(schema.table)}").fetchall()
    alike = f"TRY_CAST({unit_id} AS {first[0][1]}) AS {unit_id}"
    execute(f"CREATE VIEW {quoted(name)} AS SELECT * REPLACE ({alike}) FROM {internal}")


def file_version(path: Path) -> str:
    if not path.is_file():
        raise file_missing(str(path))
    status = path.stat()
    return f"{path}|{status.st_size}|{status.st_mtime_ns}"


def fingerprint(schema: Schema, execute: Execute) -> str:
    """The content of a table, whatever the order of its rows."""
    names = [*schema.columns, *([schema.unit.id] if isinstance(schema.unit, Person) else [])]
    row = f"hash({', '.join(map(quoted, names))})"
    found = execute(f"SELECT COUNT(*), bit_xor({row}), SUM({row}) FROM {quoted(schema.table)}").fetchall()
    return hashlib.sha256(repr(found[0]).encode()).hexdigest()
