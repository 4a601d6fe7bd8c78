"""A file's name says what it holds; one that stands for many things says nothing."""

from collections import Counter
from pathlib import Path

TAUGHT = "labs/content/"  # every lab has the same files
SOURCE = Path(__file__).parents[2] / "src" / "sfumato"
OF_EVERY_PACKAGE = {"__init__.py", "wordings.py"}
MOST = 3


def test_no_file_name_stands_for_four_things() -> None:
    paths = [path for path in SOURCE.rglob("*.py") if TAUGHT not in path.as_posix()]
    names = Counter(path.name for path in paths if path.name not in OF_EVERY_PACKAGE)
    assert {name: many for name, many in names.items() if many > MOST} == {}
