"""What commands share: reading numbers, showing progress, printing tables, JSON and CSV."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sfumato.answers.rounding import Ends
from sfumato.cli.format import Format, Usual
from sfumato.errors import UsageError, not_a_number
from sfumato.visible import spreadsheet_cell, visible, visible_json, visible_lines

SMALL = 0.1  # below it two digits are shown, wherever they begin


def number(text: str, what: str) -> Decimal:
    """A number typed in the shell, exactly as typed."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise not_a_number(what, repr(text)) from None


def split(text: str) -> list[str]:
    """A list typed in the shell with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def working(message: str) -> AbstractContextManager[Any]:
    """A spinner on a terminal, nothing in a pipe."""
    console = Console(stderr=True)
    return console.status(message) if console.is_terminal else nullcontext()


def as_json(content: Any) -> str:
    return visible_json(json.dumps(content, indent=2, ensure_ascii=False)) + "\n"


def as_csv(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    buffer = io.StringIO()
    cells = [[*map(spreadsheet_cell, columns)], *([spreadsheet_cell(row[name]) for name in columns] for row in rows)]
    csv.writer(buffer, lineterminator="\n").writerows(cells)
    return buffer.getvalue()


def as_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], *, title: str = "", footer: str = "") -> str:
    boxes = box.HEAVY_HEAD if (sys.stdout.encoding or "").lower().startswith("utf") else box.ASCII
    table = Table(title=Text(visible(title)) if title else None, title_justify="left", header_style="bold", box=boxes)
    for name in columns:
        numeric = any(isinstance(row[name], int | float | Ends) for row in rows)
        table.add_column(Text(visible(name)), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(_shown(row[name])) for name in columns))
    wide = not sys.stdout.isatty()
    console = Console(file=io.StringIO(), width=200 if wide else None, highlight=False, color_system=None)
    console.print(table)
    if footer:
        console.print(visible_lines(footer), soft_wrap=True, markup=False)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.", "Choose another file.") from None


def beside(notes: Iterable[str]) -> None:
    """Notes where the output is for programs: on standard error, each once."""
    for note in dict.fromkeys(notes):
        print(visible_lines(note), file=sys.stderr)


def print_rows(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    format: Usual,
    output: Path | None = None,
    *,
    footer: str = "",
    content: Any = None,
) -> None:
    """content: what JSON says instead of the rows."""
    match format:
        case Format.json:
            write(as_json(rows if content is None else content), output)
        case Format.csv:
            write(as_csv(columns, rows), output)
        case Format.table:
            write(as_table(columns, rows, footer=footer), output)


def print_record(record: Mapping[str, Any], sentence: str, format: Usual) -> None:
    """One record, or what it says in words."""
    match format:
        case Format.json:
            write(as_json(record), None)
        case Format.csv:
            write(as_csv(list(record), [record]), None)
        case Format.table:
            write(sentence + "\n", None)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2g}" if 0 < abs(value) < SMALL else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else visible(str(value))
