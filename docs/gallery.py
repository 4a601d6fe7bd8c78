"""Draws the pictures of the gallery by running the code that its page prints.

python -m docs.gallery

Each part of docs/explanation/gallery.md shows one picture, the Python that makes it and the command that makes it. The
Python is run here, and its pictures go to docs/images/gallery; a test runs both and compares. A model that a part
loads lies in docs/images/models.
"""

import re
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

HERE = Path(__file__).parent
PAGE = HERE / "explanation" / "gallery.md"
IMAGES = HERE / "images" / "gallery"
MODELS = HERE / "images" / "models"


@dataclass(frozen=True, slots=True)
class Part:
    """One heading of the page: the picture below it, and the two ways to make that picture."""

    title: str
    picture: str
    python: str
    shell: str

    @contextmanager
    def lent(self) -> Iterator[None]:
        """The models that it loads, in this folder."""
        models = [MODELS / name for name in re.findall(r'load\("([a-z]+\.json)"\)', self.python)]
        for model in models:
            copyfile(model, model.name)
        yield
        for model in models:
            Path(model.name).unlink()


def parts() -> Iterator[Part]:
    """The parts of the page, in order; a part lacks nothing."""
    for text in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title = text.partition("\n")[0]
        found = {
            "picture": re.findall(r"^!\[[^\]]+\]\(\.\./images/gallery/([a-z-]+\.svg)\)$", text, flags=re.MULTILINE),
            "python": re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL),
            "shell": re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL),
        }
        for what, each in found.items():
            if len(each) != 1:
                raise ValueError(f'"{title}" has {len(each)} of {what}, and needs one')
        yield Part(title, **{what: each[0] for what, each in found.items()})


def draw(folder: Path) -> list[Path]:
    """Run the Python of every part in this folder; the pictures that it must leave there."""
    made = []
    with chdir(folder):
        for part in parts():
            with part.lent():
                exec(compile(part.python, PAGE.name, "exec"), {})  # noqa: S102 - the page is ours
            made.append(folder / part.picture)
    return made


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    for old in IMAGES.glob("*.svg"):
        old.unlink()
    for picture in draw(IMAGES):
        print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")
