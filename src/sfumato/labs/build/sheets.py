"""A contact sheet: all pages of a document as small pictures in one, for whoever looks a build through."""

import io
from importlib import import_module
from types import ModuleType

from sfumato.labs.build.wordings import student_needs

ACROSS, GAP = 6, 8  # pages in a row; dots between them
GROUND = (120, 120, 120)


def contact_sheet(pages: list[bytes]) -> bytes:
    """PNG of pages that are PNG themselves, in rows."""
    image = _library()
    opened = [image.open(io.BytesIO(page)).convert("RGB") for page in pages]
    wide, high = max(page.width for page in opened) + GAP, max(page.height for page in opened) + GAP
    rows = -(-len(opened) // ACROSS)
    sheet = image.new("RGB", (GAP + wide * min(ACROSS, len(opened)), GAP + high * rows), GROUND)
    for place, page in enumerate(opened):
        sheet.paste(page, (GAP + wide * (place % ACROSS), GAP + high * (place // ACROSS)))
    written = io.BytesIO()
    sheet.save(written, "PNG", optimize=True)
    return written.getvalue()


def _library() -> ModuleType:
    """Pillow, which Matplotlib brings."""
    try:
        return import_module("PIL.Image")
    except ModuleNotFoundError:
        raise student_needs("a contact sheet", "matplotlib") from None
