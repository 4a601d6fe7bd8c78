"""Whether a column holds what its type promises: the engine believes the type, and never looks."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from sfumato.engines.wordings import type_refused
from sfumato.errors import column_absent

# Names of Arrow's and the engine's own kinds; of the engine's, how many bytes a cell has.
PROMISING = ("arrow.", "duckdb.")
BYTES = {"hugeint": 16, "uhugeint": 16, "time_tz": 8}
EXTENSION = b"ARROW:extension:name"


def check_layouts(schema: Any, names: Sequence[str]) -> None:
    """Refuse a declared column whose type has a name that promises other bytes than there are.

    Claim: the engine reads every cell where it lies, and nothing beside the column.
    Needs: Arrow keeps a type that it knows by its name only where the bytes are those of that type.
    Proof: by the name of a type alone the engine decides how its bytes lie. Names of Arrow's and of its own are passed
    where Arrow itself has made that type, of its own with as many bytes a cell as it takes; other names it ignores. It
    gives columns of no name, or of a name that is there, another one: a declared one is there before.
    """
    for name in names:
        if name not in schema.names:
            raise column_absent(name, schema.names)
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
    """By the class: anybody may give a type of their own any name."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if isinstance(kind, pa.OpaqueType):
        its_own = kind.vendor_name == "DuckDB" and kind.type_name in BYTES
        return its_own and kind.storage_type == pa.binary(BYTES[kind.type_name])
    return isinstance(kind, pa.UuidType | pa.Bool8Type | pa.JsonType)


def readable(column: Any) -> Any:
    """A column as the engine reads it, by its type alone: of nested layers at most one, and none around decimals.

    Claim: each cell is read as itself, whatever layers its type has.
    Needs: the engine reads a dictionary, and runs, of what has no layer, and the types that `check_layouts` lets pass.
    Proof: of more layers it takes only the outer one off, and would show places in a dictionary as numbers; nor does it
    know that somebody's own type holds decimals (`_within_digits`). Each layer is taken off by Arrow until neither is.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if lies_plainly(column.type):
        return column
    return _within_digits(column) if pa.types.is_decimal(column.type) else readable(without_a_layer(column))


def lies_plainly(kind: Any) -> bool:
    """Whether the engine reads a column of this type as it lies, or `check_layouts` refuses it."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    if isinstance(kind, pa.BaseExtensionType):
        return bool(kind.extension_name.startswith(PROMISING))
    held = kind.value_type if _is_layer(kind) else kind
    return not _is_layer(held) and not pa.types.is_decimal(held)


def _is_layer(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    coded = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    return coded or isinstance(kind, pa.BaseExtensionType)


def without_a_layer(column: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    kind = column.type
    chunks: list[Any] = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if isinstance(kind, pa.BaseExtensionType):
        held: Any = kind.storage_type
        return pa.chunked_array([chunk.storage for chunk in chunks], held)
    decode = _taken if pa.types.is_run_end_encoded(kind) else _decoded
    return pa.chunked_array([decode(chunk) for chunk in chunks], kind.value_type)


def _decoded(chunk: Any) -> Any:
    return chunk.dictionary.take(chunk.indices)


def _taken(chunk: Any) -> Any:
    """Of runs each cell by the place of its run: Arrow itself decodes only those of some types."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load
    import pyarrow.compute  # noqa: PLC0415

    pc: Any = pa.compute
    places = pa.array(np.arange(len(chunk.values)))
    whole = pa.RunEndEncodedArray.from_arrays(chunk.run_ends, places)
    return chunk.values.take(pc.run_end_decode(whole.slice(chunk.offset, len(chunk))))


def _within_digits(column: Any) -> Any:
    """Decimals that their type has digits for; others, which Arrow makes where it is told not to look, are missing.

    Claim: no cell is read in the place of another.
    Proof: the engine takes a decimal into the integer that its digits need, where each of these fits; of one that does
    not it would show what stood there before, a cell of another row.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to load
    import pyarrow.compute  # noqa: PLC0415

    pc: Any = pa.compute
    kind = column.type
    if pa.types.is_decimal256(kind) or kind.scale < 0:  # these the engine refuses
        return column
    if not pa.types.is_decimal128(kind):
        return _within_digits(column.cast(pa.decimal128(kind.precision, kind.scale), safe=False))
    least, most = (pa.scalar(Decimal((sign, (9,) * kind.precision, -kind.scale)), kind) for sign in (1, 0))
    sound = pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))
    return pc.if_else(sound, column, pa.scalar(None, kind))
