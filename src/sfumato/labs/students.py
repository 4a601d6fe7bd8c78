"""students.csv as teachers have it: any common encoding and separator, and clear words about what is wrong in it."""

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import did_you_mean
from sfumato.labs.encodings import decoded
from sfumato.labs.grade.wordings import bad_rows, columns_missing, no_students, students_unclear, students_unreadable
from sfumato.labs.languages import LANGUAGES
from sfumato.visible import OPENS_FORMULA, visible

# Names of columns as spreadsheets have them, in the languages of the course.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "student", "student_id", "student id", "number", "номер", "код", "зачётная книжка", "mã", "学号"),
    "name": ("name", "full name", "имя", "фио", "студент", "họ tên", "姓名"),
    "lang": ("lang", "language", "язык", "ngôn ngữ", "语言"),
    "group": ("group", "группа", "nhóm", "班级"),
}
IDENTITY = re.compile(r"[^\W_][\w.@-]{0,63}")
RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})
LARGEST = 8 << 20


@dataclass(frozen=True, slots=True)
class Student:
    id: str
    name: str
    lang: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Register:
    """The students of a file, and how it was read when that had to be guessed."""

    students: tuple[Student, ...]
    guessed: str = ""


def read_students(path: Path, lang: str) -> Register:
    """All students of a file; `lang` is the language of those whose line names none."""
    shown = visible(path.name)
    try:
        if path.stat().st_size > LARGEST:
            raise students_unreadable(shown, "it is larger than any class")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise students_unreadable(shown, "there is no such file") from None
    except IsADirectoryError:
        raise students_unreadable(shown, "it is a folder") from None
    except OSError as error:
        raise students_unreadable(shown, error.strerror or "the disk refused") from None
    text, guessed = _decoded(raw, lang, shown)
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text)))
    rows = [(number, [_clean(cell) for cell in line]) for number, line in enumerate(lines, start=1) if any(line)]
    if not rows:
        raise no_students(shown)
    places = _places(shown, rows[0][1])
    students, mistakes = [], []
    for number, cells in rows[1:]:
        student, wrong = _student(cells, places, lang)
        mistakes += [f"line {number}: {one}" for one in wrong]
        students.append((number, student))
    mistakes += _doubles(students)
    if mistakes:
        raise bad_rows(shown, mistakes)
    if not students:
        raise no_students(shown)
    return Register(tuple(student for _, student in students), guessed)


def _decoded(raw: bytes, lang: str, shown: str) -> tuple[str, str]:
    """The text, and the encoding where it is a guess."""
    if raw[:4] == b"PK\x03\x04":
        raise students_unreadable(shown, "it is a workbook or an archive and no CSV")
    if b"\0" in raw and raw[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise students_unreadable(shown, "it is no text")
    read = decoded(raw, lang)
    if read is None:
        raise students_unclear(shown, lang)
    return read


def _separator(text: str) -> str:
    first = text.lstrip("\r\n").split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _clean(cell: str) -> str:
    return unicodedata.normalize("NFC", cell).strip(" \u00a0")


def _places(shown: str, header: list[str]) -> dict[str, int]:
    folded = [name.casefold() for name in header]
    places = {}
    for column, names in COLUMNS.items():
        found = [place for place, name in enumerate(folded) if name in names]
        if found:
            places[column] = found[0]
    missing = [column for column in ("id", "name") if column not in places]
    if missing:
        raise columns_missing(shown, missing, [visible(name) for name in header])
    return places


def _student(cells: list[str], places: Mapping[str, int], lang: str) -> tuple[Student, list[str]]:
    """A student, and everything that is wrong with the line."""
    got = {column: cells[place] if place < len(cells) else "" for column, place in places.items()}
    wrong = []
    identity, name = got["id"], got["name"]
    for column, value in got.items():
        if value.startswith((*OPENS_FORMULA, "\t", "\r")):
            wrong.append(f"the {column} begins with {visible(value[0])!r}, which a spreadsheet takes for a formula")
    if not identity:
        wrong.append("the id is empty")
    elif not IDENTITY.fullmatch(identity) or identity.casefold().partition(".")[0] in RESERVED or identity[-1] == ".":
        wrong.append(
            f'the id "{visible(identity[:40])}" must be letters, digits, ".", "-", "_" or "@" (it names files)'
        )
    if not name:
        wrong.append("the name is empty")
    if any(visible(value) != value for value in (name, got.get("group", ""))):
        wrong.append("the name holds signs that cannot be seen")
    spoken = got.get("lang", "").casefold() or lang
    if spoken not in LANGUAGES:
        wrong.append(f'there is no language "{visible(spoken[:20])}"{did_you_mean(spoken, LANGUAGES) or ""}'.rstrip())
    return Student(identity, name, spoken, got.get("group", "")), wrong


def _doubles(students: list[tuple[int, Student]]) -> list[str]:
    """Ids that are equal, or differ in capitals only, which some systems do not see in names of files."""
    first: dict[str, int] = {}
    found = []
    for number, student in students:
        folded = student.id.casefold()
        if folded and folded in first:
            found.append(f'line {number}: the id "{visible(student.id[:40])}" stands in line {first[folded]} too')
        first.setdefault(folded, number)
    return found
