"""Where commands write: looked at before anything is paid for or worked out."""

import errno
import os
from pathlib import Path

from sfumato.errors import UsageError
from sfumato.plots.charts import check_drawable


def ready(*places: Path | None, plot: Path | None = None) -> None:
    """Refuse a file that cannot be written, and a plot that cannot be drawn; nothing is created or changed."""
    if plot is not None:
        check_drawable(plot)
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
