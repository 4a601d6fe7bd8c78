"""Hierarchies in CSV files: value, group, larger group, …, one value a line and no header."""

import csv
from os import PathLike
from pathlib import Path

from sfumato.tables.streams import opened


def lines(path: str | PathLike[str]) -> list[list[str]]:
    """The cells of every line that has some. Labels may hold a |, so commas and semicolons alone can separate."""
    with opened(Path(path)) as stream:
        text = stream.read().decode("utf-8-sig")
    separator = max(",;", key=text.partition("\n")[0].count)
    return [row for row in csv.reader(text.splitlines(), delimiter=separator) if any(cell.strip() for cell in row)]
