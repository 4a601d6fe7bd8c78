"""Figures of a package that is not there: the trees that are compared bring it themselves."""

from pathlib import Path

import sfumato
from benchmarks.figures import Figure, Work


def _work(name: str) -> Figure:
    def prepare(folder: Path) -> Work:
        assert not any(folder.iterdir())
        return getattr(sfumato, name)  # type: ignore[no-any-return]

    return Figure(name, prepare)


FIGURES = {"fake": (_work("work"), _work("added"))}
