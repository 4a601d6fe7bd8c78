"""`check, hint, show = lab(2)`: reads lab.json beside the notebook and finds the student's functions in it."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from sfumato.errors import did_you_mean
from sfumato.labs.answers import InNotebook
from sfumato.labs.notebook.pictures import picture
from sfumato.labs.notebook.progress import Progress
from sfumato.labs.running import hints_of, said, verdict_of
from sfumato.labs.source import Lab, load
from sfumato.labs.variant import Variant
from sfumato.labs.wordings import no_passport, no_task, other_lab, student_needs_pandas, wrong_passport
from sfumato.labs.words import CONTENT, text

PASSPORT = "lab.json"


@dataclass(frozen=True)
class Said:
    """Words for a person: plain in documents and shells, with a coloured edge in a notebook."""

    words: str
    good: bool | None = None

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        colour = {True: "#2e7d32", False: "#c62828", None: "#1565c0"}[self.good]
        lines = escape(self.words).replace("\n", "<br>")
        return f'<div style="border-left:4px solid {colour};padding:.3em .8em;margin:.3em 0">{lines}</div>'

    def show(self) -> None:
        """In a notebook as HTML, anywhere else as text."""
        display = sys.modules.get("IPython.display")
        running = sys.modules.get("IPython")
        if display is not None and running is not None and running.get_ipython() is not None:
            display.display(self)
        else:
            print(self.words)


@dataclass(frozen=True)
class Student:
    """One notebook: its lab and variant, its language, its functions, its progress."""

    lab: Lab
    variant: Variant
    lang: str
    folder: Path
    functions: Mapping[str, Any]
    progress: Progress

    def table(self, key: str) -> Any:
        """A data file beside the notebook, read anew: what the notebook did to its own copy does not matter."""
        pandas = _pandas()
        return pandas.read_csv(self.folder / self.lab.module("numbers").files(self.variant)[key])

    def answers(self) -> InNotebook:
        frames: dict[str, Any] = {}

        def table(key: str) -> Any:
            if key not in frames:
                frames[key] = self.table(key)
            return frames[key].copy()

        return InNotebook(self.functions, table)

    def check(self, task: str) -> None:
        self.checked(task).show()

    def checked(self, task: str) -> Said:
        """What the check says now; the try is noted."""
        verdict = verdict_of(self.lab, task, self.answers(), self.variant)
        self.progress.tried(task, passed=verdict.passed, code=verdict.code)
        mark = "✓" if verdict.passed else "✗"
        words = said(verdict, self.lab, self.variant, self.lang)
        lines = [text("verdict.line", self.lang, mark=mark, task=task, words=words), self.bar()]
        if verdict.p is not None:
            lines.insert(1, text("verdict.false_alarm", self.lang))
        if not self.progress.kept:
            lines.append(text("verdict.progress_not_kept", self.lang))
        return Said("\n".join(lines), verdict.passed)

    def bar(self) -> str:
        tasks = self.lab.tasks
        done = [task for task in tasks if self.progress.passed(task.id)]
        cells = "".join("■" if task in done else "□" for task in tasks)
        points, total = sum(task.points for task in done), sum(task.points for task in tasks)
        return f"{cells} {text('verdict.points', self.lang, points=_short(points), total=_short(total))}"

    def hint(self, task: str) -> None:
        self.hinted(task).show()

    def hinted(self, task: str) -> Said:
        """The next hint of the ladder."""
        hints = hints_of(self.lab, self.variant, task, self.lang)
        if not hints:
            return Said(text("verdict.no_hint", self.lang))
        number = self.progress.next_hint(task, len(hints))
        words = text("verdict.hint", self.lang, number=number, total=len(hints), words=hints[number - 1])
        return Said(words)

    def show(self, task: str) -> None:
        Said(picture(self.lab, task, self.answers(), self.variant, self.lang)).show()


class Door:
    """`check.t3()`: a method for each task."""

    def __init__(self, name: str, tasks: tuple[str, ...], act: Callable[[str], None]) -> None:
        self._name, self._tasks, self._act = name, tasks, act

    def __getattr__(self, task: str) -> Callable[[], None]:
        if task.startswith("_"):
            raise AttributeError(task)
        if task not in self._tasks:
            raise no_task(self._name, task, did_you_mean(task, self._tasks), self._tasks)
        return lambda: self._act(task)

    def __dir__(self) -> list[str]:
        return list(self._tasks)

    def __repr__(self) -> str:
        return ", ".join(f"{self._name}.{task}()" for task in self._tasks)


def lab(
    number: int, *, folder: str | Path = ".", functions: Mapping[str, Any] | None = None, content: Path = CONTENT
) -> tuple[Door, Door, Door]:
    """check, hint and show of the lab whose notebook this is; its functions are those of the calling cell."""
    student = opened(number, Path(folder), sys._getframe(1).f_globals if functions is None else functions, content)
    tasks = tuple(task.id for task in student.lab.tasks)
    return Door("check", tasks, student.check), Door("hint", tasks, student.hint), Door("show", tasks, student.show)


def opened(number: int, folder: Path, functions: Mapping[str, Any], content: Path = CONTENT) -> Student:
    """A student's folder, as lab.json in it says."""
    place = folder.resolve()
    passport = _passport(place)
    if passport["lab"] != number:
        raise other_lab(number, passport["lab"])
    found = load(number, content)
    variant = found.variant(passport["variant"], passport["seed"])
    lang = passport["lang"]
    found.words(lang)  # refuses a language in which this lab is not written
    return Student(found, variant, lang, place, functions, Progress(place, found.slug))


def _passport(folder: Path) -> dict[str, Any]:
    try:
        passport = json.loads((folder / PASSPORT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise no_passport(str(folder)) from None
    except (OSError, ValueError):
        raise wrong_passport() from None
    wanted = {"lab": int, "variant": int, "seed": int, "lang": str}
    if not isinstance(passport, dict) or any(type(passport.get(key)) is not kind for key, kind in wanted.items()):
        raise wrong_passport()
    return passport


def _pandas() -> Any:
    try:
        return __import__("pandas")
    except ImportError:
        raise student_needs_pandas() from None


def _short(points: float) -> float | int:
    return int(points) if points == int(points) else points
