"""Draws lab.png, cells of a notebook and what its check says: python docs/images/lab.py

The words are those of a real check of lab 2; typst sets them. Needs the packages of locks/labs.lock.
"""

import io
import json
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.files import write_student_folder
from sfumato.labs.source import load

HERE = Path(__file__).parent
UPSIDE_DOWN = "    return value + rng.laplace(0, eps / sensitivity)"
PAGE = """
#set page(width: 19cm, height: auto, margin: 6mm, fill: white)
#set text(font: "Libertinus Serif", size: 11pt)
#show raw: set text(font: "DejaVu Sans Mono", size: 8.5pt)
#let cell(number, source) = grid(columns: (13mm, 1fr), column-gutter: 2mm, align: (right + top, left + top),
  pad(top: 5.5pt, text(size: 8pt, fill: rgb("#3b6ea5"))[#raw("[" + number + "]:")]),
  block(width: 100%, fill: luma(247), stroke: 0.5pt + luma(205), inset: 6pt, raw(source, lang: "python")))
#let said(words) = grid(columns: (13mm, 1fr), column-gutter: 2mm, [],
  block(width: 100%, stroke: (left: 3pt + rgb("#c62828")), inset: (left: 8pt, rest: 3pt),
    text(font: "DejaVu Sans Mono", size: 8.5pt, words.split("\\n").map(line => [#line]).join(linebreak()))))
#text(size: 13pt, weight: "bold")[TITLE]
#v(1mm)
"""


def main() -> None:
    lab = load(2)
    edition = Edition(lab, lab.variant(3), "en", teacher=False)
    with TemporaryDirectory() as folder:
        place = Path(folder) / "lab"
        write_student_folder(edition, place, ())
        stub = next(
            cell for cell in json.loads((place / "lab02.ipynb").read_text("utf-8"))["cells"] if cell["id"] == "t4"
        )
        answer = stub["source"].partition("    # YOUR CODE")[0] + UPSIDE_DOWN
        words = checked(answer, place)
        heading = next(part.title for part in edition.prose.parts if getattr(part, "id", "") == "t4")
        source = Path(folder) / "lab.typ"
        shown = json.dumps(words, ensure_ascii=False)
        body = f'#cell("7", {json.dumps(answer)})\n#cell("8", "check.t4()")\n#said({shown})'
        source.write_text(PAGE.replace("TITLE", heading) + body, encoding="utf-8")
        picture = import_module("typst").compile(str(source), format="png", ppi=144, ignore_system_fonts=True)
    (HERE / "lab.png").write_bytes(picture)


def checked(answer: str, folder: Path) -> str:
    """What the check of task 4 says to an answer."""
    out = io.StringIO()
    program = f"from sfumato.labs import lab\ncheck, _, _ = lab(2, folder={str(folder)!r})\n{answer}\ncheck.t4()\n"
    with redirect_stdout(out):
        exec(compile(program, "answer", "exec"), {})  # noqa: S102
    return out.getvalue().strip()


if __name__ == "__main__":
    main()
