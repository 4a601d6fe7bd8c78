"""The bytes of files and pipes; what goes wrong with them in our own words."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from sfumato.engines.duckdb.files import BYTE_ORDER_MARK, is_compressed
from sfumato.errors import file_missing
from sfumato.tables.wordings import file_not_understood

PIPE = "-"
DAMAGED = "it is damaged or of another kind than its name says"
NOT_UTF_8 = "it is not valid UTF-8"


@contextmanager
def opened(source: str | Path) -> Iterator[BinaryIO]:
    """A file, unpacked where it is compressed, or the pipe `-`. What fails while it is read fails in our words."""
    if source == PIPE:
        with readable("the pipe"):
            yield sys.stdin.buffer
        return
    path = Path(source)
    if not path.is_file():
        raise file_missing(str(path))
    with readable(path.name), cast(BinaryIO, gzip.open(path)) if is_compressed(path) else path.open("rb") as stream:
        yield stream


def lines(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Without the byte order mark that some editors write."""
    whole = iter(stream)
    yield from (first.removeprefix(BYTE_ORDER_MARK) for first in islice(whole, 1))
    yield from whole


@contextmanager
def readable(name: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise file_not_understood(name, NOT_UTF_8) from None
    except (OSError, EOFError, zlib.error):
        raise file_not_understood(name, DAMAGED) from None
