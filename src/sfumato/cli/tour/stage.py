"""The screen: titles, sentences and small tables, with a moment to read them; plain text in a pipe."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from textwrap import indent
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from sfumato.visible import visible, visible_lines

WIDEST = 96
BREATH_SECONDS = 0.15
SCENE_SECONDS = 0.5
MARGIN = 2
COLUMN_GAP = 2

THEME = Theme(
    {
        "number": "bold cyan",
        "title": "bold",
        "place": "bold white on #5b63b5",
        "soft": "grey58",
        "good": "green",
        "bad": "bold red",
        "bar.complete": "cyan",
        "bar.finished": "cyan",
    }
)
GOOD, BAD, SOFT = "good", "bad", "soft"
Cell = str | tuple[str, str]


class Numbers(RegexHighlighter):
    """Numbers stand out, with their sign and unit; digits inside a word do not."""

    highlights = (r"(?<![\w.-])(?P<number>[±−]?\$?\d[\d,]*(\.\d+)?( ?%)?)(?![\w-])",)


class Stage:
    """Shows a tour. A silent stage shows nothing; only a terminal gets colours, moving bars and pauses."""

    def __init__(self, *, fast: bool, silent: bool) -> None:
        self._console = Console(theme=THEME, highlight=False, quiet=silent, emoji=False)
        self._console.width = min(self._console.width, WIDEST)
        self._numbers = Numbers()
        self._moving = self._console.is_terminal and not silent
        self._pauses = self._moving and not fast

    def scene(self, number: int, title: str) -> None:
        self._pause(SCENE_SECONDS)
        self._console.print()
        heading = Text.assemble((f" {number} ", "place"), (f" {title} ", "title"))
        self._console.print(Rule(heading, style=SOFT, align="left"))
        self._console.print()

    def say(self, text: str, *, style: str = "") -> None:
        """A sentence. It is shown as it is: brackets in a name mean nothing."""
        self._show(self._numbers(Text(visible(text), style=style)))
        self._pause()

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, right: Sequence[str] = (), narrow: str = ""
    ) -> None:
        """A small table; a cell is a text, or a text and its style. Where space is short, one column gives way."""
        drawn = Table(box=box.SIMPLE_HEAD, header_style=SOFT, show_edge=False, pad_edge=False, collapse_padding=True)
        texts = [[_text(cell) for cell in row] for row in rows]
        widths = [max(cell_len(name), *(row[place].cell_len for row in texts)) for place, name in enumerate(columns)]
        excess = max(0, sum(widths) + COLUMN_GAP * (len(widths) - 1) + MARGIN - self._console.width)
        for name, width in zip(columns, widths, strict=True):
            kept = width - excess if name == narrow else width
            drawn.add_column(name, justify="right" if name in right else "left", no_wrap=True, width=max(kept, 1))
        for row in texts:
            drawn.add_row(*row)
        self._show(drawn, above=1)
        self._pause()

    def code(self, text: str, language: str) -> None:
        drawn = Syntax(text, language, theme="ansi_dark", background_color="default", word_wrap=True)
        self._show(drawn, above=1)
        self._pause()

    def notice(self, title: str, text: str, *, style: str = BAD) -> None:
        """What the program said, word for word."""
        self._show(
            Panel(Text(visible_lines(text)), title=title, title_align="left", border_style=style, expand=False), above=1
        )
        self._pause()

    def command(self, text: str) -> None:
        """Lines to copy: the terminal may wrap them, we never do."""
        self._console.print(Text(indent(text, " " * MARGIN), style="title"), soft_wrap=True)

    def gap(self) -> None:
        self._console.print()

    def working(self, message: str) -> AbstractContextManager[Any]:
        return self._console.status(Text(message, style=SOFT)) if self._moving else nullcontext()

    @contextmanager
    def progress(self, message: str) -> Iterator[Callable[[float], None]]:
        """A bar that is told which share is done."""
        if not self._moving:
            yield lambda _: None
            return
        bar = Progress(
            TextColumn("  {task.description}"), BarColumn(bar_width=30), console=self._console, transient=True
        )
        task = bar.add_task(message, total=1.0)
        with bar:
            yield lambda share: bar.update(task, completed=share)

    def _show(self, content: RenderableType, *, above: int = 0) -> None:
        self._console.print(Padding(content, (above, 0, above, MARGIN), expand=False))

    def _pause(self, seconds: float = BREATH_SECONDS) -> None:
        if self._pauses:
            time.sleep(seconds)


def _text(cell: Cell) -> Text:
    text, style = (cell, "") if isinstance(cell, str) else cell
    return Text(visible(text), style)
