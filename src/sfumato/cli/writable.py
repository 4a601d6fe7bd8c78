"""Where commands write: looked at before anything is paid for or worked out."""

import errno
import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from sfumato.cli.format import BY_ENDING
from sfumato.cli.wordings import ending_unknown, static_without_page
from sfumato.errors import UsageError
from sfumato.plots.charts import check_drawable
from sfumato.plots.style import matplotlib, plotly

PLAIN = ("", ".txt")  # what the screen shows


def _by_ending(context: typer.Context, output: Path | None) -> Path | None:
    """A file's ending is the format, unless --format says another: what is given is read before what is not."""
    if output is None or (ending := output.suffix.lower()) in PLAIN:
        return output
    if ending != ".sql" or all(option.name != "sql" for option in context.command.params):
        found = BY_ENDING.get(ending)
        default = partial(_refuse, output) if found is None else found.value
        defaults: dict[str, Any] = {**(context.default_map or {}), "format": default}
        context.default_map = defaults
    return output


def _refuse(output: Path) -> NoReturn:
    raise ending_unknown(str(output))


ToFile = Annotated[
    Path | None,
    typer.Option(
        help="Write to this file instead of the screen; its ending is the format, if --format is not given.",
        callback=_by_ending,
    ),
]

Static = Annotated[
    bool,
    typer.Option("--static", help="In HTML, draw plots that stand still: a small page without a script."),
]
PAGE = ".html"


def page_ready(*, wanted: bool, static: bool) -> None:
    """Refuse pictures that stand still where there is no page, and what is not installed, before anything is paid."""
    if static and not wanted:
        raise static_without_page()
    if wanted:
        plotly()
    if static:
        matplotlib()


def ready(*places: Path | None, plot: Path | None = None, static: bool = False) -> None:
    """Refuse a file that cannot be written, and a plot that cannot be drawn; nothing is created or changed."""
    if plot is not None:
        check_drawable(plot)
    if static:
        page_ready(wanted=plot is not None and plot.suffix.lower() == PAGE, static=True)
    for place in (*places, plot):
        if place is not None and (reason := _obstacle(place)):
            raise UsageError(f"{place} cannot be written: {os.strerror(reason)}.", "Choose another file.")


def _obstacle(place: Path) -> int:
    """The number of the error that writing would meet; 0 for none that can be foreseen."""
    try:
        if place.is_dir():
            return errno.EISDIR
        place.stat()
    except FileNotFoundError:
        if not place.parent.is_dir():
            return errno.ENOENT
        return 0 if os.access(place.parent, os.W_OK | os.X_OK) else errno.EACCES
    except OSError as error:
        return error.errno or errno.EIO
    return 0 if os.access(place, os.W_OK) else errno.EACCES
