"""What a file holds, by its name or by what is said of it."""

from collections.abc import Mapping
from pathlib import Path

from sfumato.engines.duckdb.files import KINDS, ending
from sfumato.tables.wordings import format_unknown, kind_unknown

TABULAR = ("csv", "json", "parquet")  # of what the private engine opens, the files that are one table
ENDINGS: Mapping[str, str] = {
    **{name: kind for name, kind in KINDS.items() if kind in TABULAR},
    ".arrow": "arrow",
    ".feather": "arrow",
}
PLACES: Mapping[str, str] = {".geojson": "geojson", ".geojsonl": "json"}  # where positions are read
LINES: Mapping[str, str] = {".txt": "lines"}  # where a line may be a value
NONE: Mapping[str, str] = {}


def kind_of(path: Path, besides: Mapping[str, str] = NONE) -> str:
    """By the name. `besides` are endings that the reader at hand knows, and no other."""
    known = {**ENDINGS, **besides}
    try:
        return known[ending(path)]
    except KeyError:
        raise kind_unknown(str(path), list(known)) from None


def kind_called(name: str, besides: Mapping[str, str] = NONE) -> str:
    """By what was said of it: csv, jsonl, feather …, every ending without its dot, or the kind itself."""
    known = {word.removeprefix("."): kind for word, kind in {**ENDINGS, **besides}.items() if word.count(".") == 1}
    known |= {kind: kind for kind in known.values()}
    try:
        return known[name.removeprefix(".").lower()]
    except KeyError:
        raise format_unknown(name, list(known)) from None
