"""A course from its list of students to its marks: handed out, answered, graded, reported, with the expected marks."""

import csv
import json
import os
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sfumato.errors import Unavailable, UsageError
from sfumato.labs.grade import grading
from sfumato.labs.grade.box import Limits
from sfumato.labs.grade.grading import grade
from sfumato.labs.grade.report import write_report
from sfumato.labs.handing import hand_out
from sfumato.labs.students import _student
from sfumato.visible import spreadsheet_cell
from tests.labs.small import CONTENT, course_of, small, solution

LIMITS = Limits(seconds=8)
MUTANTS = small().module("mutants").MUTANTS
OTHERS = small().module("mutants").OTHERS
NAMED = small().module("mutants").NAMED
POINTS = {task.id: task.points for task in small().tasks}
ALL = frozenset(POINTS)


def handed_out(course, folder):
    """Every student's own notebook, taken out of the archive that the student got."""
    paths = hand_out(course, [small()], folder, documents=())
    notebooks = {}
    for student, path in zip(course.students, paths, strict=True):
        assert path.name == f"lab91-{student.id}.zip"
        with zipfile.ZipFile(path) as archive:
            [name] = [one for one in archive.namelist() if one.endswith(".ipynb")]
            notebooks[student.id] = json.loads(archive.read(name))
    return notebooks


def answer(notebook, answers=None):
    """Writes answers into a student's notebook; tasks that are not named are answered right."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("sfumato", {}).get("role") == "task":
            cell["source"] = (answers or {}).get(cell["id"], solution(cell["id"]))
    return notebook


def put(folder, name, content):
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def cells(notebook, role="task"):
    return [cell for cell in notebook["cells"] if cell["metadata"].get("sfumato", {}).get("role") == role]


LOOP = "def mean_age(df):\n    while True:\n        pass\n"
BOMB = "def mean_age(df):\n    return [0] * 10**10\n"
EXIT = "import os\ndef mean_age(df):\n    os._exit(0)\n"
FORKS = "import os\ndef mean_age(df):\n    while True:\n        os.fork()\n"
KEY = "def mean_age(df):\n    import sfumato.labs.content as key\n    return key.lab91_noise.checks.ages(1).mean()\n"
PATCH = (
    "import scipy.stats\nscipy.stats.kstest = lambda *a, **k: type('R', (), {'pvalue': 1.0})()\n"
    "def laplace_mech(value, sensitivity, eps, rng):\n    return value\n"
)


class Class:
    """Thirty students, what each hands in, and what each must get: tasks that pass, and codes of those that fail."""

    def __init__(self, course, notebooks, folder):
        self.course, self.notebooks, self.folder = course, notebooks, folder
        self.expected, self.codes = {}, {}
        self.right()
        self.wrong()
        self.broken()
        self.hostile()

    def hand_in(self, student, content, passes=ALL, codes=None, name="{}/lab91.ipynb"):
        put(self.folder, name.format(student), content)
        self.expected[student] = frozenset(passes)
        self.codes[student] = codes or {}

    def right(self):
        self.hand_in("s01", answer(self.notebooks["s01"]))
        self.hand_in(
            "s02", answer(self.notebooks["s02"], {"t2": OTHERS["t2"]["inverse"], "t4": OTHERS["t4"]["gumbel"]})
        )
        self.hand_in(
            "s03", answer(self.notebooks["s03"], {"t2": OTHERS["t2"]["difference"], "t3": OTHERS["t3"]["array"]})
        )
        path = self.folder / "s04.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("work/lab91.ipynb", json.dumps(answer(self.notebooks["s04"])))
        self.expected["s04"], self.codes["s04"] = ALL, {}

    def wrong(self):
        """Students 5 to 12 make every known mistake; student 13 makes one."""
        for place in range(8):
            student = f"s{5 + place:02}"
            chosen = {task: list(known.items())[place % len(known)] for task, known in MUTANTS.items()}
            notebook = answer(self.notebooks[student], {task: source for task, (_, source) in chosen.items()})
            codes = {task: NAMED[task, name] for task, (name, _) in chosen.items() if (task, name) in NAMED}
            self.hand_in(student, notebook, (), codes)
        self.hand_in("s13", answer(self.notebooks["s13"], {"t2": MUTANTS["t2"]["swapped"]}), ALL - {"t2", "t3"})
        self.codes["s13"] = {"t2": "swapped_eps_delta"}

    def broken(self):
        """Cells doubled, moved, split, without metadata; a stub left; nothing done."""
        doubled = answer(self.notebooks["s14"])
        doubled["cells"] += [dict(cell) for cell in doubled["cells"]]
        self.hand_in("s14", doubled)
        moved = answer(self.notebooks["s15"])
        moved["cells"].reverse()
        self.hand_in("s15", moved)
        stripped = answer(self.notebooks["s16"])
        stripped["metadata"] = {}
        for cell in stripped["cells"]:
            cell["metadata"] = {}
            cell.pop("id")
        self.hand_in("s16", stripped)
        below = self.notebooks["s17"]
        below["cells"] += [
            {"cell_type": "code", "id": f"x{n}", "metadata": {}, "source": solution(task)}
            for n, task in enumerate(POINTS)
        ]
        self.hand_in("s17", below)
        self.hand_in("s18", self.notebooks["s18"], (), dict.fromkeys(POINTS, "not_yet"))
        del (deleted := answer(self.notebooks["s19"]))["cells"][-2:]
        gone = [task for task in POINTS if task not in {cell["id"] for cell in cells(deleted)}]
        self.hand_in("s19", deleted, ALL - set(gone), dict.fromkeys(gone, "missing"))

    def hostile(self):
        first = {"loop": LOOP, "bomb": BOMB, "exit": EXIT, "forks": FORKS, "key": KEY}
        codes = {"loop": "timeout", "bomb": "memory", "exit": "stopped", "key": "raised"}
        for place, (name, source) in enumerate(first.items()):
            student = f"s{20 + place:02}"
            told = {"t1": codes[name]} if name in codes else {}
            self.hand_in(student, answer(self.notebooks[student], {"t1": source}), ALL - {"t1"}, told)
        self.hand_in("s25", answer(self.notebooks["s25"], {"t2": PATCH}), ALL - {"t2", "t3"}, {"t2": "not_random"})
        self.hand_in("s26", "this is no notebook", (), dict.fromkeys(POINTS, "unreadable"))
        self.hand_in("s27", answer(self.notebooks["s01"]), (), dict.fromkeys(POINTS, "foreign"))
        with (self.folder / "s28.ipynb").open("wb") as handle:
            handle.truncate(200 << 20)
        os.rename(self.folder / "s28.ipynb", self.folder / "s28 lab91.ipynb")
        self.expected["s28"], self.codes["s28"] = frozenset(), dict.fromkeys(POINTS, "too_long")
        (self.folder / "s29.ipynb").symlink_to(self.course.folder / "secret.key")  # s30 hands in nothing


class Page(HTMLParser):
    """Collects what could load or run something."""

    def __init__(self):
        super().__init__()
        self.bad, self.words = [], []

    def handle_starttag(self, tag, attrs):
        allowed = {
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "h1",
            "h2",
            "p",
            "small",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
        }
        self.bad += [tag] if tag not in allowed else []
        self.bad += [name for name, _ in attrs if name not in ("lang", "charset", "class")]

    def handle_data(self, data):
        self.words.append(data)


def read_page(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.bad == []
    return " ".join(page.words)


@pytest.mark.labs
def test_a_course_of_thirty_students(tmp_path):
    course = course_of(tmp_path, 30)
    notebooks = handed_out(course, tmp_path / "out")
    folder = tmp_path / "in"
    folder.mkdir()
    made = Class(course, notebooks, folder)
    session = grade(course, folder, limits=LIMITS, content=CONTENT)

    got = {one.student: one for one in session.graded}
    assert sorted(got) == sorted(made.expected)
    assert session.aside == ("s29.ipynb: link",)
    for student, passes in made.expected.items():
        verdicts = {task.task: task.verdict for task in got[student].tasks}
        assert {name for name, verdict in verdicts.items() if verdict.passed} == passes, (student, verdicts)
        assert got[student].points == sum(POINTS[task] for task in passes)
        told = {task: verdicts[task].code for task in made.codes[student]}
        assert told == made.codes[student], student

    report = tmp_path / "report"
    write_report(course, report, content=CONTENT)
    register = {row["id"]: row for row in csv.DictReader((report / "register.csv").read_text("utf-8-sig").splitlines())}
    assert len(register) == 30
    assert {name: row["total"] for name, row in register.items() if name in got} == {
        name: str(int(one.points)) for name, one in got.items()
    }
    assert register["s30"]["lab91"] == ""
    assert register["s27"]["notes"] == "issued to somebody else"
    everything = read_page(report / "class.html")
    assert "Student 30" in everything
    assert "unsafe" not in everything
    page = read_page(report / "students" / "s06.html")  # a Russian student with swapped arguments
    assert "вы разделили ε на Δ" in page
    for path in (report / "students").iterdir():
        assert not re.search(r"https?:|secret|judge\.|def t\d", path.read_text(encoding="utf-8")), path


def test_three_students(tmp_path):
    """The small sister: right, one mistake, hostile."""
    course = course_of(tmp_path, 3)
    notebooks = handed_out(course, tmp_path / "out")
    put(tmp_path / "in", "s01/lab91.ipynb", answer(notebooks["s01"]))
    put(tmp_path / "in", "s02/lab91.ipynb", answer(notebooks["s02"], {"t2": MUTANTS["t2"]["swapped"]}))
    put(tmp_path / "in", "s03/lab91.ipynb", answer(notebooks["s03"], {"t1": EXIT, "t2": PATCH}))
    session = grade(course, tmp_path / "in", limits=LIMITS, content=CONTENT)
    assert {one.student: one.points for one in session.graded} == {"s01": 10, "s02": 4, "s03": 2}
    write_report(course, tmp_path / "report", content=CONTENT)
    assert "вы разделили ε на Δ" in read_page(tmp_path / "report" / "students" / "s02.html")
    with pytest.raises(UsageError, match="nothing was overwritten"):
        write_report(course, tmp_path / "report", content=CONTENT)
    with pytest.raises(UsageError, match="nothing was overwritten"):
        handed_out(course, tmp_path / "out")


def test_archives_hold_no_solution_and_are_the_same_twice(tmp_path):
    course = course_of(tmp_path, 2)
    handed_out(course, tmp_path / "one")
    handed_out(course, tmp_path / "two")
    for name in ("lab91-s01.zip", "lab91-s02.zip"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
        with zipfile.ZipFile(tmp_path / "one" / name) as archive:
            text = "".join(archive.read(one).decode() for one in archive.namelist())
        assert "sensitivity / eps)" not in text
        assert course.secret.hex() not in text
        assert course.token(course.student(name[6:9]), small()) in text


def test_grading_refuses_where_no_box_can_be_made(tmp_path, monkeypatch):
    course = course_of(tmp_path, 1)
    put(tmp_path / "in", "s01.ipynb", answer(handed_out(course, tmp_path / "out")["s01"]))
    monkeypatch.setattr(grading, "refusal", lambda: "unshare: Operation not permitted")
    with pytest.raises(Unavailable, match="--unsafe"):
        grade(course, tmp_path / "in", content=CONTENT)
    assert not list(course.results())


def test_unsafe_is_printed_on_every_report(tmp_path):
    course = course_of(tmp_path, 2)
    notebooks = handed_out(course, tmp_path / "out")
    for student in ("s01", "s02"):
        put(tmp_path / "in", f"{student}.ipynb", answer(notebooks[student]))
    session = grade(course, tmp_path / "in", unsafe=True, limits=LIMITS, content=CONTENT)
    assert [one.points for one in session.graded] == [10, 10]
    write_report(course, tmp_path / "report", content=CONTENT)
    report = tmp_path / "report"
    for path in (report / "class.html", report / "students" / "s01.html", report / "students" / "s02.html"):
        assert "--unsafe" in read_page(path)
    for name in ("register.csv", "details.csv"):
        rows = (report / name).read_text(encoding="utf-8-sig").splitlines()
        assert all("--unsafe" in row for row in rows[1:])


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "|x", "%x", "﹦1", "＋1"])
def test_formulas_are_neutralised(value):
    assert spreadsheet_cell(value).startswith("'")
    assert spreadsheet_cell("Ann - Lee") == "Ann - Lee"
    assert spreadsheet_cell(-3) == -3
    _, wrong = _student(["s1", value], {"id": 0, "name": 1}, "en")
    assert "a spreadsheet takes for a formula" in " ".join(wrong)
