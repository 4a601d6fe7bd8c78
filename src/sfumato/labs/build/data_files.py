"""Data files: tables of a lab as CSV, byte for byte the same on every machine."""

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.labs.build.edition import Edition


def data_files(edition: Edition) -> dict[str, str]:
    """name of the file -> its text."""
    module = edition.lab.module("numbers")
    names = module.files(edition.variant)
    tables = module.tables(edition.variant, edition.lang)
    return {names[key]: as_csv(table) for key, table in tables.items()}


def write_data(edition: Edition, folder: Path) -> list[Path]:
    """Writes the data files; the texts are UTF-8 with plain line ends on every system."""
    written = []
    for name, content in data_files(edition).items():
        (folder / name).write_bytes(content.encode("utf-8"))
        written.append(folder / name)
    return written


def as_csv(table: pa.Table) -> str:
    """Written here and not by PyArrow, whose quoting may change with its version."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(map(_cell, column.to_pylist()) for column in table.columns), strict=True))
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    """Doubles as their shortest text that reads back the same; nothing for what is missing."""
    return "" if value is None else repr(value) if isinstance(value, float) else value
