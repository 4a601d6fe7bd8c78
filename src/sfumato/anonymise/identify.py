"""Taking names away: removing identifiers, or replacing them by keyed pseudonyms."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.anonymise.columns import code, taken
from sfumato.anonymise.result import AnonymisedTable, Lost, everything
from sfumato.anonymise.roles import apart, classify
from sfumato.anonymise.tables import Source, named, read_table
from sfumato.anonymise.verify import measured
from sfumato.anonymise.wordings import key_missing, key_too_short, no_columns_to_change
from sfumato.schema.numbers import whole

LEAST_KEY = 16
KEY_BYTES = 32
MARK = b"sfumato pseudonym\0"


def new_key() -> bytes:
    """A secret key for pseudonyms, from the operating system. Keep it apart from the table."""
    return secrets.token_bytes(KEY_BYTES)


def deidentify(
    table: object, identifiers: Sequence[str] | None = None, *, quasi: Sequence[str] = ()
) -> AnonymisedTable:
    """Remove the columns that name people; by default those that `classify` takes for identifiers.

    Names removed is not privacy: what is left still points to people. quasi: measure k over these columns.
    """
    source = read_table(table)
    if identifiers is None:
        gone = [found.column for found in classify(source.table) if found.role == "identifier"]
    else:
        gone = named(source.table, identifiers, "identifiers")
        if not gone:
            raise no_columns_to_change("identifiers")
    apart({"identifiers": gone, "quasi": list(quasi)})
    lost = Lost(columns=tuple(gone), cells=len(gone) * source.table.num_rows)
    return _finished("de-identification", source, source.table.drop_columns(gone), quasi, lost)


def pseudonyms(
    table: object,
    columns: Sequence[str],
    *,
    key: bytes | str | None,
    length: int = 16,
    quasi: Sequence[str] = (),
) -> AnonymisedTable:
    """Replace each value by `length` hexadecimal digits of HMAC-SHA-256 under a secret key.

    Equal values get equal pseudonyms, in every table that uses the same key and column name, so that tables still join;
    without the key nobody can test a guess. Look-alikes get one pseudonym; NULL stays NULL.
    """
    if key is None:
        raise key_missing()
    secret = key.encode() if isinstance(key, str) else bytes(key)
    if len(secret) < LEAST_KEY:
        raise key_too_short(len(secret), LEAST_KEY)
    digits = whole(length, "length", least=8, most=64)
    source = read_table(table)
    names = named(source.table, columns, "columns")
    if not names:
        raise no_columns_to_change("columns")
    apart({"columns": names})
    released, rewritten = source.table, 0
    for name in names:
        column = code(source.table, name)
        rewritten += column.rewritten
        made = [None if text is None else _pseudonym(secret, name, text, digits) for text in column.texts]
        replaced: Any = taken(pa.array(made, type=pa.string()), column.codes)
        released = released.set_column(released.column_names.index(name), name, replaced)
    lost = Lost(cells=len(names) * released.num_rows, rewritten=rewritten)
    return _finished("pseudonyms", source, released, quasi, lost)


def _pseudonym(key: bytes, column: str, text: str, digits: int) -> str:
    said = MARK + column.encode() + b"\0" + text.encode(errors="surrogatepass")
    return hmac.new(key, said, hashlib.sha256).hexdigest()[:digits]


def _finished(method: str, source: Source, released: pa.Table, quasi: Sequence[str], lost: Lost) -> AnonymisedTable:
    names = named(released, quasi, "quasi")
    found = measured(released, names, ()) if names else None
    return AnonymisedTable(
        method=method,
        k=None if found is None else found.k,
        l=None,
        t=None,
        lost=lost,
        quasi_identifiers=tuple(names),
        sensitive=(),
        kept=everything(released.num_rows),
        _arrow=released,
        _source=source,
    )
