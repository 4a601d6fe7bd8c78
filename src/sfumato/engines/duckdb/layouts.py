"""Whether the bytes of a column lie as the name of its type promises: the engine believes the name."""

from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.engines.wordings import type_refused

# Names of Arrow's and the engine's own kinds; of the engine's, how many bytes a cell has.
PROMISING = ("arrow.", "duckdb.")
NAMED_BY_ARROW = ("arrow.uuid", "arrow.bool8", "arrow.json")
OPAQUE, BYTES = "arrow.opaque", {"hugeint": 16, "uhugeint": 16, "time_tz": 8}
EXTENSION = b"ARROW:extension:name"


def check_layouts(schema: Any, names: Sequence[str]) -> None:
    """Refuse a declared column whose type has a name that promises other bytes than there are.

    Claim: the engine reads every cell where it lies, and nothing beside the column.
    Needs: Arrow keeps a type that it knows by its name only where the bytes are those of that type.
    Proof: by the name of a type alone the engine decides how its bytes lie. Names of Arrow's and of its own are passed
    where Arrow itself has made that type, of its own with as many bytes a cell as it takes; other names it ignores.
    """
    for field in schema:
        if field.name in names:
            for kind, said in _kinds(field):
                if said.startswith(PROMISING) and not _lies_as_said(kind):
                    raise type_refused(field.name, said)


def _kinds(field: Any) -> Iterator[tuple[Any, str]]:
    """The types of a column and of all inside it, each with the name that it is handed over by."""
    kind = field.type
    plain = (field.metadata or {}).get(EXTENSION, b"").decode("utf-8", "replace")
    yield kind, getattr(kind, "extension_name", plain)
    held = getattr(kind, "storage_type", kind)
    inside = [held.field(place) for place in range(held.num_fields)]
    if hasattr(held, "index_type"):  # a dictionary
        inside.append(field.with_type(held.value_type).remove_metadata())
    for part in inside:
        yield from _kinds(part)


def _lies_as_said(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    said = getattr(kind, "extension_name", "")
    if said != OPAQUE:
        return said in NAMED_BY_ARROW
    return (
        kind.vendor_name == "DuckDB"
        and kind.type_name in BYTES
        and kind.storage_type == pa.binary(BYTES[kind.type_name])
    )
