"""Progress of a student, in progress.json beside the notebook. Nothing leaves the machine."""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "progress.json"


@dataclass
class Progress:
    """Tries, hints taken and what has passed, task by task. A file that cannot be read is kept under another name."""

    folder: Path
    lab: str

    def __post_init__(self) -> None:
        self.tasks: dict[str, dict[str, Any]] = {}
        self.kept = True
        path = self.folder / NAME
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            tasks = known["tasks"] if known["lab"] == self.lab else {}
            self.tasks = {str(name): dict(one) for name, one in tasks.items()}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            with contextlib.suppress(OSError):
                path.replace(path.with_suffix(".damaged"))

    def _task(self, name: str) -> dict[str, Any]:
        return self.tasks.setdefault(name, {"passed": False, "tries": 0, "hints": 0})

    def tried(self, name: str, *, passed: bool, code: str) -> None:
        """What passed once stays passed, as long as the student sees what the last try said."""
        one = self._task(name)
        one["tries"] = _whole(one.get("tries")) + 1
        one["passed"], one["code"] = passed, code
        self._write()

    def next_hint(self, name: str, hints: int) -> int:
        """The number of the hint that comes now, from 1; the last one stays."""
        one = self._task(name)
        one["hints"] = min(_whole(one.get("hints")) + 1, hints)
        self._write()
        return int(one["hints"])

    def passed(self, name: str) -> bool:
        return self.tasks.get(name, {}).get("passed") is True

    def _write(self) -> None:
        """Whole or not at all; a folder that cannot be written does not stop a lab."""
        text = json.dumps({"lab": self.lab, "tasks": self.tasks}, indent=1, sort_keys=True)
        waiting = self.folder / f"{NAME}.{os.getpid()}"
        try:
            waiting.write_text(text + "\n", encoding="utf-8")
            waiting.replace(self.folder / NAME)
        except OSError:
            self.kept = False


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
