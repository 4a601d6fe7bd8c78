"""The box as the trusted parent sees it: started for a submission, asked task by task, killed at the end.

Claim: student code sees the interpreter, its libraries, the lab's own data files for this student, and nothing else:
no other file, process or network, no secret, no check, no answer.
Proof: `walls.enter` builds the view before anything of the student is sent; tests/labs/test_hostile.py tries.
"""

import contextlib
import json
import os
import site
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.labs.answers import Array, Table
from sfumato.labs.grade.wordings import box_broken, box_refused
from sfumato.labs.verdict import StudentError
from sfumato.labs.wire import packed, unpacked

LABS = Path(__file__).parents[1]
# Loaded in this order, before and after the walls; nothing else of the complex is in the box.
_BEFORE = ("grade/walls.py",)
_AFTER = ("verdict.py", "generators.py", "wire.py", "answers.py", "grade/cells.py", "grade/child.py")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_REPLY = 64 << 20
# What a child may say of itself; everything else is an answer that cannot be trusted.
_OF_CALLS = ("not_yet", "raised", "missing", "memory", "timeout", "unsafe_answer")
_SAID = frozenset((*_OF_CALLS, "wrong_type", "wrong_shape", "returned_nothing", "not_finite", "wrong_number"))
_BOOT = """
import json, os, socket, sys, types
control = socket.socket(fileno=int(sys.argv[1]))
job = json.loads(control.makefile("r", encoding="utf-8").readline())
def load(name, source):
    module = types.ModuleType(name)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, module)
    exec(compile(source, name, "exec"), module.__dict__)
    return module
for name in ("sfumato", "sfumato.labs", "sfumato.labs.grade"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
try:
    for name, source in job.pop("before"):
        walls = load(name, source)
    if job["walls"]:
        walls.enter(job["visible"], job["links"], job["hidden"])
    sys.path[:] = job["path"]
    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "sfumato"}
    import sfumato
    sys.modules.update({name: module for name, module in ours.items() if name != "sfumato"})
    sfumato.labs = sys.modules["sfumato.labs"]
    sfumato.labs.grade = sys.modules["sfumato.labs.grade"]
    for name in job["modules"]:
        __import__(name)
    for name, source in job.pop("after"):
        child = load(name, source)
except Exception as error:
    control.sendall(f"refused {type(error).__name__}: {error}\\n".encode("utf-8", "replace"))
    os._exit(3)
child.first_process(control, job)
"""


@dataclass(frozen=True)
class Limits:
    """What a task may use: seconds of the processor, and of the clock on the wall, which a busy machine stretches."""

    seconds: int = 20
    wall: int = 60
    memory: int = 3 << 29
    disk: int = 16 << 20
    processes: int = 8


@dataclass(frozen=True)
class Job:
    """What the box of a submission holds: the given cells of the lab and this student's data files, all of it ours."""

    setup: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # name -> text of the CSV
    tables: Mapping[str, str] = field(default_factory=dict)  # file key -> name
    limits: Limits = Limits()


def _named(files: Sequence[str]) -> list[tuple[str, str]]:
    names = [f"sfumato.labs.{file.removesuffix('.py').replace('/', '.')}" for file in files]
    return [(name, (LABS / file).read_text(encoding="utf-8")) for name, file in zip(names, files, strict=True)]


def _packages() -> list[str]:
    """Folders in which the interpreter finds installed packages, as it has them itself."""
    known = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()]
    folders = [path for path in sys.path if path in known and path.endswith("-packages")]
    return [os.path.realpath(path) for path in folders if os.path.isdir(path)]


def _view() -> dict[str, Any]:
    """Paths that the box shows, symbolic links among them, and what is hidden inside."""
    standard = [os.path.realpath(path) for path in (os.path.dirname(os.__file__), sysconfig.get_path("platstdlib"))]
    executable = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
    package = str(LABS.parent)
    shared = [str(path) for path in Path(sys.base_prefix, "lib").glob("libpython*")]
    libraries = [path for path in _LIBRARIES if os.path.isdir(path) and not os.path.islink(path)]
    packages = _packages()
    dynamic = os.path.join(standard[0], "lib-dynload")
    visible = [executable, standard[0], *shared, *libraries, *packages, package]
    return {
        "executable": executable,
        "visible": [path for path in visible if os.path.exists(path)],
        "links": {path: os.readlink(path) for path in _LIBRARIES if os.path.islink(path)},
        "hidden": [str(LABS)],
        "path": [standard[0], dynamic, *packages, str(LABS.parent.parent)],
    }


def _environment() -> dict[str, str]:
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
    return {**one_thread, "HOME": "/own", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "MPLCONFIGDIR": "/own", "TZ": "UTC"}


class Box:
    """A submission's box. `unsafe` raises no walls: student code could read the teacher's files."""

    def __init__(self, job: Job, *, unsafe: bool = False, folder: Path | None = None) -> None:
        self._job, self._unsafe, self._folder = job, unsafe, folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Box":
        why = "" if self._process else self.open()
        if why:
            raise box_refused(why)
        return self

    def open(self) -> str:
        """Starts the box; says why when this machine does not allow it."""
        view = _view()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._process = subprocess.Popen(
            [view["executable"], "-I", "-S", "-c", _BOOT, str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            env=_environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self._control.settimeout(120)
        # Without walls root becomes nobody after the fork, and may then not be able to load more.
        wanted = ("numpy", "pandas", "scipy.stats") if self._unsafe else ("numpy", "pandas")
        modules = [name for name in wanted if find_spec(name.split(".")[0])]
        message = {
            **view,
            "walls": not self._unsafe,
            "folder": str(self._folder or "/"),
            "before": _named(_BEFORE),
            "after": _named(_AFTER),
            "modules": modules,
            "limits": vars(self._job.limits),
            "setup": list(self._job.setup),
            "files": dict(self._job.files),
            "tables": dict(self._job.tables),
        }
        try:
            self._control.sendall(json.dumps(message).encode() + b"\n")
            said = self._control.makefile("r", encoding="utf-8", errors="replace").readline().strip()
        except OSError as error:
            said = f"refused {error}"
        if said == "ready":
            return ""
        self.__exit__()
        return said.removeprefix("refused ") or "it ended at once"

    def __exit__(self, *_: object) -> None:
        self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @contextlib.contextmanager
    def task(self, cells: Sequence[Mapping[str, str]], tasks: Sequence[tuple[str, Sequence[str]]]) -> Iterator["Boxed"]:
        """A child for one task: the last of `tasks` is asked for, those before it are run because it needs them."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with ours:
            try:
                socket.send_fds(self._control, [b"o"], [theirs.fileno()])
            except OSError as error:
                raise box_broken() from error
            finally:
                theirs.close()
            answers = Boxed(ours, self._job.limits)
            answers.start(
                {"cells": [dict(cell) for cell in cells], "tasks": [[name, list(wanted)] for name, wanted in tasks]}
            )
            try:
                yield answers
            finally:
                with contextlib.suppress(OSError):
                    self._control.sendall(b"k")


class Boxed:
    """Answers of a child that may be hostile: whatever it sends is read as plain values or not at all."""

    def __init__(self, channel: socket.socket, limits: Limits) -> None:
        self._channel, self._started, self._seconds = channel, time.monotonic(), limits.seconds
        self._deadline = self._started + limits.wall
        self._rest = b""
        self._failed: StudentError | None = None

    def start(self, request: Mapping[str, Any]) -> None:
        """Loads the student's cells; what goes wrong is said when the first function is called."""
        with contextlib.suppress(StudentError):
            self._ask(request, final=True)

    def call(self, function: str, *arguments: object, seed: int | None = None) -> Any:
        return unpacked(self._ask(self._request("call", function, arguments, seed)))

    def draw(self, function: str, *arguments: object, n: int, seed: int) -> Array:
        drawn = unpacked(self._ask({**self._request("draw", function, arguments, seed), "n": n}))
        if not isinstance(drawn, np.ndarray) or drawn.ndim == 0 or len(drawn) != n:
            raise StudentError("unsafe_answer")
        return drawn

    def record(self, function: str, *arguments: object, seed: int) -> list[tuple[str, float, float]]:
        asked = self._ask(self._request("record", function, arguments, seed))
        try:
            return [(str(method)[:20], float(location), float(scale)) for method, location, scale in asked]
        except (TypeError, ValueError, OverflowError) as error:
            raise StudentError("unsafe_answer") from error

    def _request(self, do: str, function: str, arguments: Sequence[object], seed: int | None) -> dict[str, Any]:
        sent = [{"table": one.key} if isinstance(one, Table) else packed(one) for one in arguments]
        return {"do": do, "function": function, "arguments": sent, "seed": seed}

    def _ask(self, request: Mapping[str, Any], *, final: bool = False) -> Any:
        if self._failed is not None:
            raise self._failed
        try:
            self._channel.settimeout(max(0.001, self._deadline - time.monotonic()))
            self._channel.sendall(json.dumps(request).encode() + b"\n")
            reply = _plain(self._line())
        except TimeoutError:
            self._failed = StudentError("timeout")
        except OSError:
            # Code that does not listen to the end of its time is killed a second later.
            used_up = time.monotonic() - self._started >= self._seconds
            self._failed = StudentError("timeout" if used_up else "stopped")
        except StudentError as error:
            self._failed = error
        else:
            if "code" not in reply:
                return reply.get("value")
            said = _said(reply)
            if not final:
                raise said
            self._failed = said
        raise self._failed

    def _line(self) -> bytes:
        """One line within the time that is left and the size that is allowed."""
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1]:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._channel.settimeout(left)
            part = self._channel.recv(1 << 20)
            if not part:
                raise ConnectionResetError
            parts.append(part)
            size += len(part)
            if size > _REPLY:
                raise StudentError("too_long")
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line


def _plain(line: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StudentError("unsafe_answer") from error
    if not isinstance(reply, dict):
        raise StudentError("unsafe_answer")
    return reply


def _said(reply: Mapping[str, Any]) -> StudentError:
    code, values = reply.get("code"), reply.get("values")
    if code not in _SAID or not isinstance(values, dict):
        return StudentError("unsafe_answer")
    kept = {str(name)[:20]: str(value)[:300] for name, value in list(values.items())[:6]}
    return StudentError(str(code), {**{"got": "?", "expected": "?", "function": "?", "error": "?"}, **kept})


def refusal() -> str:
    """Why no box can be made on this machine; empty when one can and an answer came out of it."""
    if not hasattr(socket, "send_fds"):
        return "it is no Unix"
    box = Box(Job())
    why = box.open()
    if why:
        return why
    with box, box.task([{"id": "t", "source": "def f():\n    return 1\n"}], [("t", ("f",))]) as answers:
        return "" if answers.call("f") == 1 else "the box gave a wrong answer"
