"""How commands print: all formats there are, and which of them a command knows."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal


class Format(StrEnum):
    """How to print."""

    table = "table"
    json = "json"
    csv = "csv"
    html = "html"
    markdown = "markdown"
    geojson = "geojson"


# The option of a command is one of these: the shell refuses any other, and mypy sees that all of them are printed.
Usual = Literal[Format.table, Format.json, Format.csv]
WithPage = Literal[Format.table, Format.json, Format.csv, Format.html]
WithPageAndText = Literal[Format.table, Format.json, Format.csv, Format.html, Format.markdown]
WithMap = Literal[Format.table, Format.json, Format.csv, Format.geojson]
WithoutRows = Literal[Format.table, Format.json]

# Endings of files that are formats: of any other file the usual one is written.
BY_ENDING: Mapping[str, Format] = MappingProxyType(
    {
        ".json": Format.json,
        ".csv": Format.csv,
        ".html": Format.html,
        ".htm": Format.html,
        ".md": Format.markdown,
        ".geojson": Format.geojson,
    }
)
