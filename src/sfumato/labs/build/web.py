"""A web page that stands alone: formulas as MathML, pictures inside, no script, no address."""

import re
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.labs.build.document import markdown
from sfumato.labs.build.edition import Edition
from sfumato.labs.build.executing import Outputs
from sfumato.labs.build.pandoc import convert
from sfumato.labs.languages import language

# pandoc writes a norm with the sign of parallel lines, which Chinese fonts slant.
NORM = re.compile(r"(<mo[^>]*>)∥(</mo>)")
# A line would begin with these after a formula; browsers heed no word joiner there.
NO_BEGINNING = re.compile(
    r'(<math display="inline"(?:(?!</math>).)*</math>)([-,.;:!?)\]”»，。；：、！？）]+)', re.DOTALL
)


def as_html(edition: Edition, shown: Outputs) -> bytes:
    template = files("sfumato.labs.build").joinpath("page.html").read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, picture in shown.figures.items():
            (place / f"{name}.png").write_bytes(picture)
        (place / "page.html").write_text(template, encoding="utf-8")
        arguments = (
            "--to=html5",
            "--mathml",
            "--standalone",
            "--embed-resources",
            "--syntax-highlighting=none",
            f"--template={place / 'page.html'}",
            f"--metadata=lang:{language(edition.lang).tag}",
            f"--metadata=pagetitle:{edition.running_title}",
            f"--variable=title:{edition.title}",
            f"--variable=facts:{edition.facts}",
        )
        page = convert(markdown(edition, shown, "html", place), arguments, f"{edition.name}.html").decode("utf-8")
        return NO_BEGINNING.sub(r'<span class="tied">\1\2</span>', NORM.sub(r"\1‖\2", page)).encode("utf-8")
