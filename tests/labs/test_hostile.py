# ruff: noqa: E501 - sources in one line
"""Student code that attacks the grader: a verdict for its task, nothing else happens, and the next task is graded.

Needs user namespaces. Where a machine refuses them these tests fail, as grading does.
"""

import os
import time
from pathlib import Path

import pytest

from sfumato.errors import Unavailable
from sfumato.labs.answers import Table
from sfumato.labs.grade import box as boxes
from sfumato.labs.grade.box import Box, Job, Limits, refusal
from sfumato.labs.verdict import StudentError

LIMITS = Limits(seconds=3, wall=12)
JOB = Job(
    setup=("import numpy as np\nimport pandas as pd\ndf = pd.read_csv('d.csv')\n",),
    files={"d.csv": "a,b\n1,2\n3,4\n"},
    tables={"main": "d.csv"},
    limits=LIMITS,
)
GOOD = "def good(x):\n    return x + 1\n"


@pytest.fixture(scope="module")
def box():
    with Box(JOB) as made:
        yield made


def run(box, source, *, function="f", arguments=(), seed=None, cells=()):
    """What a function of this cell answers, or the code of its verdict; and then another task, which must work."""
    with box.task([{"id": "t1", "source": source}, *cells], [("t1", (function,))]) as answers:
        try:
            got = answers.call(function, *arguments, seed=seed)
        except StudentError as error:
            got = error.code, error.values.get("error", "")
    with box.task([{"id": "t2", "source": GOOD}], [("t2", ("good",))]) as answers:
        assert answers.call("good", 1) == 2
    return got


def test_this_machine_makes_a_box():
    assert refusal() == ""


def test_answers_come_back(box):
    source = "def f(value, rng):\n    return value + rng.laplace(0, 2)\n"
    with box.task([{"id": "t1", "source": source}], [("t1", ("f",))]) as answers:
        drawn = answers.draw("f", 1.0, n=500, seed=3)
        assert drawn.shape == (500,)
        assert (drawn == answers.draw("f", 1.0, n=500, seed=3)).all()
        assert answers.record("f", 1.0, seed=3) == [("laplace", 0.0, 2.0)]


def test_tables_are_given_as_frames_and_cannot_be_spoilt(box):
    source = "def f(frame):\n    frame['a'] = 0\n    return int(df['a'].sum()) + len(frame)\n"
    assert run(box, source, arguments=(Table("main"),)) == 6
    assert run(box, "def f(frame):\n    return int(frame['a'].sum())\n", arguments=(Table("main"),)) == 4


# Code -> the verdict, and a word of what the student is told. All of LABS.md 2.4 that is code, and more.
HOSTILE = {
    "endless loop": ("def f():\n    while True:\n        pass\n", "timeout", ""),
    "endless loop at the top": ("while True:\n    pass\ndef f():\n    return 1\n", "timeout", ""),
    "does not listen": (
        "def f():\n    while True:\n        try:\n            while True:\n                pass\n        except BaseException:\n            pass\n",
        "timeout",
        "",
    ),
    "sleeps": ("import time\ndef f():\n    time.sleep(1000)\n", "timeout", ""),
    "memory bomb": ("def f():\n    return [0] * 10**10\n", "memory", ""),
    "grows": ("def f():\n    a = []\n    while True:\n        a.append(bytearray(10**7))\n", "memory", ""),
    "array of 8 GB": ("def f():\n    return np.ones(10**9).sum()\n", "memory", ""),
    "exits": ("import os\ndef f():\n    os._exit(0)\n", "stopped", ""),
    "exits politely": ("def f():\n    raise SystemExit(0)\n", "raised", "SystemExit"),
    "exits at the top": ("import os\nos._exit(0)\ndef f():\n    return 1\n", "stopped", ""),
    "kills itself": ("import os\ndef f():\n    os.kill(os.getpid(), 9)\n    os.abort()\n", "stopped", ""),
    "kills all": ("import os\ndef f():\n    os.kill(-1, 9)\n", "raised", "ProcessLookupError"),
    "crashes": ("import ctypes\ndef f():\n    ctypes.string_at(0)\n", "stopped", ""),
    "recursion": ("def f():\n    return f()\n", "raised", "RecursionError"),
    "deep answer": (
        "def f():\n    a = []\n    for _ in range(10**5):\n        a = [a]\n    return a\n",
        "wrong_type",
        "",
    ),
    "answers itself": ("def f():\n    a = []\n    a.append(a)\n    return a\n", "wrong_type", ""),
    "answers an object": ("class Odd:\n    pass\ndef f():\n    return Odd()\n", "wrong_type", ""),
    "answers a pickle bomb": (
        "class Odd:\n    def __reduce__(self):\n        import os\n        return os.system, ('ls',)\ndef f():\n    return Odd()\n",
        "wrong_type",
        "",
    ),
    "network": (
        "import socket\ndef f():\n    socket.create_connection(('192.0.2.1', 80), 3)\n",
        "raised",
        "unreachable",
    ),
    "name service": ("import socket\ndef f():\n    return socket.gethostbyname('example.org')\n", "raised", "gaierror"),
    "writes outside": ("def f():\n    open('/usr/lib/x', 'w')\n", "raised", "Read-only"),
    "writes to the root": ("def f():\n    open('/x', 'w')\n", "raised", "Read-only"),
    "fills the disk": (
        "def f():\n    with open('y', 'wb') as y:\n        while True:\n            y.write(b'0' * 10**6)\n",
        "raised",
        "OSError",
    ),
    "many files": ("def f():\n    return [open('y', 'a') for _ in range(10**4)]\n", "raised", "Too many open files"),
    "runs a program": (
        "import subprocess\ndef f():\n    return subprocess.run(['/bin/sh', '-c', 'id']).returncode\n",
        "raised",
        "FileNotFoundError",
    ),
    "reads passwords": ("def f():\n    return open('/etc/passwd').read()\n", "raised", "FileNotFoundError"),
    "reads processes": ("import os\ndef f():\n    return os.listdir('/proc')\n", "raised", "FileNotFoundError"),
    "mounts": (
        "import ctypes, os\ndef f():\n    l = ctypes.CDLL(None, use_errno=True)\n    if l.mount(b'none', b'/own', b'tmpfs', 0, None):\n        raise OSError(ctypes.get_errno(), 'no')\n",
        "raised",
        "PermissionError",
    ),
    "prints a fake answer": (
        "def f():\n    print('{\"value\": 42}')\n    raise ValueError('mine')\n",
        "raised",
        "mine",
    ),
    "exception whose text raises": (
        "class E(Exception):\n    def __str__(self):\n        raise ValueError\ndef f():\n    raise E\n",
        "raised",
        "E",
    ),
    "two gigabytes of text": ("def f():\n    raise ValueError('x' * 10**8)\n", "raised", "ValueError"),
    "not Python": ("def f(:\n    return 1\n", "raised", "SyntaxError"),
    "null in the source": ("def f():\n    return 1\n\0", "raised", ""),
    "half a sign": ("def f():\n    return '\ud800'\n", "raised", ""),
    "nothing defined": ("g = 1\n", "missing", ""),
    "a stub": ("def f():\n    raise NotImplementedError\n", "not_yet", ""),
}


# These use up all of their time.
SLOW = ("endless loop", "does not listen", "endless loop at the top", "sleeps", "grows")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.labs if name in SLOW else ()) for name in HOSTILE]
)
def test_hostile_code_gets_a_verdict_and_the_next_task_is_graded(box, name):
    source, code, word = HOSTILE[name]
    got = run(box, source)
    assert got[0] == code
    assert word in got[1]


def test_a_fork_bomb_ends_with_its_task(box):
    source = (
        "import os, time\ndef f():\n    made = 0\n    try:\n        while True:\n            if os.fork() == 0:\n"
        "                time.sleep(600)\n            made += 1\n    except BlockingIOError:\n        return made\n"
    )
    assert 0 < run(box, source) < LIMITS.processes
    time.sleep(0.2)
    source = "import os\ndef f():\n    return sum(1 for p in range(2, 2000) if not _gone(p))\ndef _gone(p):\n    try:\n        os.kill(p, 0)\n    except ProcessLookupError:\n        return True\n"
    assert run(box, source) == 0


def test_the_box_shows_nothing_of_this_machine(box):
    source = "import os\ndef f():\n    return [sorted(os.listdir('/dev')), os.listdir('.'), os.getpid(), dict(os.environ), os.getuid()]\n"
    devices, here, process, environment, _ = run(box, source)
    assert devices == ["null", "urandom", "zero"]
    assert here == ["d.csv"]
    assert process == 1
    assert not {"PATH", "USER", "PWD"} & set(environment)


def test_no_check_no_solution_and_no_secret_is_in_view(box, tmp_path):
    secret = tmp_path / "secret.key"
    secret.write_text("the secret of the course")
    labs = str(boxes.LABS)
    here = str(Path(__file__).parent)
    source = (
        "import os\ndef f(paths):\n    seen = []\n    for path in paths:\n        try:\n"
        "            seen += os.listdir(path) if os.path.isdir(path) else [open(path).read()]\n"
        "        except OSError:\n            pass\n    return seen\n"
    )
    paths = [labs, f"{labs}/content", f"{labs}/judge.py", str(secret), here, str(tmp_path), "/root", "/home", "/proc/1"]
    assert [one for one in run(box, source, arguments=(paths,)) if one != ".pyenv"] == []


@pytest.mark.labs
def test_no_file_of_the_view_can_be_written(box):
    source = (
        "import os\ndef f():\n    found = []\n    for here, _, files in os.walk('/'):\n        if here.startswith(('/own', '/dev')):\n"
        "            continue\n        try:\n            open(here + '/new', 'w').close()\n            found.append(here)\n"
        "        except OSError:\n            pass\n        if len(here.split('/')) > 5:\n            continue\n    return found[:5]\n"
    )
    assert run(box, source) == []


def test_a_new_user_namespace_does_not_lift_the_walls(box):
    source = (
        "import ctypes, os\ndef f(labs):\n    l = ctypes.CDLL(None, use_errno=True)\n"
        "    l.unshare(0x10000000 | 0x20000)\n    l.umount2(labs.encode(), 2)\n    return os.listdir(labs)\n"
    )
    assert run(box, source, arguments=(str(boxes.LABS),)) == []


def test_patched_libraries_change_only_the_students_own_answers(box):
    source = (
        "import numpy, scipy.stats, json, sys\nscipy.stats.kstest = lambda *a, **k: type('R', (), {'pvalue': 1.0})()\n"
        "json.dumps = lambda *a, **k: '{\"value\": 1}'\nnumpy.asarray = None\ndef f():\n    return 5\n"
    )
    got = run(box, source)
    assert got in (1, 5) or got[0] in ("raised", "unsafe_answer", "stopped")
    from scipy import stats

    assert stats.kstest([0.5] * 100, "uniform").pvalue < 1e-6


FAKES = {
    "two answers": b'{"value": 1}\n{"value": 2}\n',
    "says that it passed": b'{"code": "passed", "values": {}}\n',
    "an unknown code": b'{"code": "full_marks", "values": {}}\n',
    "no JSON": b"hello\n",
    "a list": b"[1]\n",
    "deep": b"[" * 100000 + b"\n",
    "an array that is too long": b'{"value": {"shape": [1000000000], "kind": "float64", "bytes": "AAAA"}}\n',
    "not a number": b'{"value": {"unknown": NaN}}\n',
}


@pytest.mark.parametrize("name", FAKES)
def test_forged_replies_are_read_as_plain_values_or_not_at_all(box, name):
    source = (
        f"import os\ndef f():\n    for handle in range(3, 40):\n        try:\n            os.write(handle, {FAKES[name]!r})\n"
        "        except OSError:\n            pass\n    import time\n    time.sleep(0.2)\n    os._exit(0)\n"
    )
    got = run(box, source)
    assert got == 1 or got[0] in ("unsafe_answer", "stopped", "raised")
    assert got != ("passed", "")


@pytest.mark.labs
def test_an_endless_reply_is_cut_off(box):
    source = (
        "import os\ndef f():\n    while True:\n        for handle in range(3, 20):\n            try:\n"
        "                os.write(handle, b'x' * 10**6)\n            except OSError:\n                pass\n"
    )
    assert run(box, source)[0] in ("too_long", "timeout")


def test_a_task_cannot_leave_anything_for_the_next(box):
    run(box, "open('left', 'w').write('x')\nimport builtins\nbuiltins.left = 1\ndef f():\n    return 1\n")
    assert run(box, "import os, builtins\ndef f():\n    return [os.listdir('.'), hasattr(builtins, 'left')]\n") == [
        ["d.csv"],
        False,
    ]


def test_the_box_dies_with_its_parent():
    with Box(JOB) as made:
        process = made._process.pid
        group = os.getpgid(process)
    assert group == process
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_where_namespaces_are_refused_grading_refuses(monkeypatch):
    monkeypatch.setattr(boxes, "_BEFORE", ())
    assert refusal() != ""
    with pytest.raises(Unavailable, match="--unsafe"), Box(JOB):
        pass


@pytest.mark.labs
def test_unsafe_runs_without_walls_and_still_limits(tmp_path):
    tmp_path.chmod(0o755)
    with Box(Job(limits=Limits(seconds=3, wall=12)), unsafe=True, folder=tmp_path) as made:
        assert run(made, GOOD, function="good", arguments=(2,)) == 3
        assert run(made, "def f():\n    while True:\n        pass\n")[0] == "timeout"
        assert run(made, "def f():\n    return [0] * 10**10\n")[0] == "memory"
        if os.geteuid() == 0:
            assert run(made, "import os\ndef f():\n    return os.getuid()\n") == 65534


def test_a_box_that_is_gone_gives_no_answer():
    made = Box(JOB).__enter__()
    made._process.kill()
    made._process.wait()
    time.sleep(0.1)
    try:
        with pytest.raises((Unavailable, StudentError)), made.task([], [("t", ("f",))]) as answers:
            answers.call("f")
    finally:
        made.__exit__()


def test_a_task_holds_no_handle_but_its_own(box):
    source = (
        "import os\ndef f():\n    held = []\n    for handle in range(3, 64):\n        try:\n            os.fstat(handle)\n"
        "            held.append(handle)\n        except OSError:\n            pass\n    return len(held)\n"
    )
    assert run(box, source) == 1
