"""What runs in the box: the first process, which prepares and forks, and a child a task, which runs student code.

Sent to a bare interpreter as text together with the few files it needs; it never sees the rest of the grader.
"""

import contextlib
import json
import os
import signal
import socket
import sys
from typing import Any

from sfumato.labs.answers import InNotebook, Table
from sfumato.labs.grade import cells as lookup
from sfumato.labs.grade import walls
from sfumato.labs.verdict import StudentError
from sfumato.labs.wire import packed, unpacked


def _quiet_lab(*_: Any, **__: Any) -> tuple[Any, Any, Any]:
    """Stands for `lab` of the notebook: check, hint and show that say nothing."""

    class Silent:
        def __getattr__(self, name: str) -> Any:
            return lambda *_, **__: None

    return Silent(), Silent(), Silent()


def _write_files(files: dict[str, str]) -> None:
    for name, text in files.items():
        with open(os.path.basename(name), "w", encoding="utf-8", newline="") as handle:
            handle.write(text)


def _namespace(setup: list[str]) -> dict[str, Any]:
    """What the given cells of the lab make. A given cell that needs a student's function is left out."""
    sys.modules["sfumato.labs"].lab = _quiet_lab  # type: ignore[attr-defined]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for source in setup:
        with contextlib.suppress(Exception):
            exec(lookup.plain(source), namespace)  # noqa: S102 - the lab's own cells
    return namespace


def _frames(tables: dict[str, str]) -> dict[str, Any]:
    if not tables:
        return {}
    pandas = __import__("pandas")
    return {key: pandas.read_csv(os.path.basename(name)) for key, name in tables.items()}


def first_process(control: socket.socket, job: dict[str, Any]) -> None:
    """Prepares what all tasks share, all of it ours, and forks a child for each pair of pipes that comes in."""
    os.chdir(walls.WORK if job["walls"] else job["folder"])
    _write_files(job["files"])
    namespace = _namespace(job["setup"])
    frames = _frames(job["tables"])
    control.sendall(b"ready\n")
    running = 0
    while True:
        message, handles, _, _ = socket.recv_fds(control, 1, 1)
        if running:
            _end(running)
        running = 0
        if message == b"":
            os._exit(0)
        if message == b"o" and handles:
            running = os.fork()
            if running == 0:
                os.setpgid(0, 0)
                control.close()
                _task(handles[0], job, namespace, frames)
            os.close(handles[0])


def _end(child: int) -> None:
    """Ends a task's process group; behind walls the whole namespace ends with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _task(handle: int, job: dict[str, Any], namespace: dict[str, Any], frames: dict[str, Any]) -> None:
    try:
        if job["walls"]:
            walls.task_walls(job["limits"])
            _write_files(job["files"])
        elif os.geteuid() == 0:
            walls.become_nobody()
        quiet = os.open("/dev/null", os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(quiet, standard)
        os.closerange(3, handle)
        os.closerange(handle + 1, 1024)
        signal.signal(signal.SIGXCPU, _time_is_up)
        walls.limit(job["limits"])
        _serve(socket.socket(fileno=handle), namespace, frames)
    finally:
        os._exit(0)


class _TimeIsUp(BaseException):
    """Raised in the middle of student code when its processor time is used up."""


def _time_is_up(*_: Any) -> None:
    raise _TimeIsUp


def _serve(channel: socket.socket, namespace: dict[str, Any], frames: dict[str, Any]) -> None:
    reader = channel.makefile("r", encoding="utf-8")
    request = json.loads(reader.readline())
    answers = InNotebook(namespace, lambda key: frames[key].copy())
    reply = _guarded(lambda: _load(request, namespace))
    while True:
        _send(channel, reply)
        line = reader.readline()
        if not line:
            return
        request = json.loads(line)
        reply = _guarded(lambda asked=request: _answer(answers, asked))


def _send(channel: socket.socket, reply: dict[str, Any]) -> None:
    try:
        text = json.dumps(reply)
    except (ValueError, RecursionError, MemoryError):
        text = json.dumps({"code": "wrong_type", "values": {"got": "?", "expected": "float"}})
    channel.sendall(text.encode("utf-8", "backslashreplace") + b"\n")


def _guarded(work: Any) -> dict[str, Any]:
    try:
        return {"value": work()}
    except StudentError as error:
        return {"code": error.code, "values": error.values}
    except MemoryError:
        return {"code": "memory", "values": {}}
    except _TimeIsUp:
        return {"code": "timeout", "values": {}}
    except BaseException as error:  # noqa: BLE001 - also SystemExit and KeyboardInterrupt of a student's code
        return {"code": "raised", "values": {"error": _told(error)}}


def _told(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:300]
    except BaseException:  # noqa: BLE001 - an exception whose text raises
        return type(error).__name__[:100]


def _load(request: dict[str, Any], namespace: dict[str, Any]) -> None:
    """Runs the cells of the task and of the tasks that it needs, helpers of all other cells before them."""
    cells = request["cells"]
    steps = [(task, lookup.chosen(cells, task, wanted)) for task, wanted in request["tasks"]]
    task, wanted = request["tasks"][-1]
    if not steps[-1][1]:
        raise StudentError("missing", {"function": wanted[0]})
    used = {place for _, places in steps for place in places}
    for place, cell in enumerate(cells):
        if place not in used:
            with contextlib.suppress(Exception):
                exec(lookup.helpers(cell["source"]), namespace)  # noqa: S102
    for name, places in steps:
        for place in places:
            _run(cells[place]["source"], namespace, last=name == task, wanted=wanted)


def _run(source: str, namespace: dict[str, Any], *, last: bool, wanted: list[str]) -> None:
    """A cell that raises after it defined what is wanted has still answered; other cells may fail in silence."""
    before = {name: namespace.get(name) for name in wanted}
    try:
        exec(compile(lookup.plain(source), "<cell>", "exec"), namespace)  # noqa: S102
    except Exception:
        changed = any(namespace.get(name) is not before[name] for name in wanted)
        if last and not changed:
            raise


def _answer(answers: InNotebook, request: dict[str, Any]) -> Any:
    arguments = [Table(one["table"]) if _is_table(one) else unpacked(one) for one in request["arguments"]]
    function, seed = request["function"], request["seed"]
    match request["do"]:
        case "call":
            return packed(answers.call(function, *arguments, seed=seed))
        case "draw":
            return packed(answers.draw(function, *arguments, n=request["n"], seed=seed))
        case "record":
            return [list(one) for one in answers.record(function, *arguments, seed=seed)]
    raise StudentError("unsafe_answer")


def _is_table(one: Any) -> bool:
    return isinstance(one, dict) and set(one) == {"table"}
