"""Pictures of documents, to look at: Word through LibreOffice, PDF through poppler, pages through Chromium.

python -m tests.labs.look BUILT PICTURES makes a contact sheet of every document below BUILT (sfumato labs build).
Nothing of it runs in a test.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from sfumato.labs.build.sheets import contact_sheet

DOTS = 50
WIDTHS = (1200, 400)  # of a desk, of a phone
HIGHEST = 12_000  # dots of a page in a browser; what is longer is cut


def pages(pdf: Path) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["pdftoppm", "-r", str(DOTS), "-png", str(pdf), f"{folder}/p"], check=True)
        return [path.read_bytes() for path in sorted(Path(folder).iterdir())]


def printed_by_office(document: Path, folder: Path) -> Path:
    command = ["soffice", "--headless", "--convert-to", "pdf", "--outdir", str(folder), str(document)]
    subprocess.run(command, check=True, capture_output=True)
    return folder / f"{document.stem}.pdf"


def screenshot(page: Path, width: int, picture: Path) -> None:
    flags = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{HIGHEST}"]
    command = ["chromium", *flags, f"--screenshot={picture}", page.resolve().as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def look(built: Path, pictures: Path) -> None:
    pictures.mkdir(parents=True, exist_ok=True)
    for path in sorted(built.rglob("*")):
        place = pictures / f"{path.stem}-{path.suffix[1:]}"
        if path.suffix == ".pdf":
            place.with_suffix(".png").write_bytes(contact_sheet(pages(path)))
        elif path.suffix == ".docx":
            with tempfile.TemporaryDirectory() as folder:
                made = printed_by_office(path, Path(folder))
                place.with_suffix(".png").write_bytes(contact_sheet(pages(made)))
        elif path.suffix == ".html":
            for width in WIDTHS:
                screenshot(path, width, pictures / f"{place.name}-{width}.png")


if __name__ == "__main__":
    look(Path(sys.argv[1]), Path(sys.argv[2]))
