"""A course: its students, and the secret from which every student's variant, seed and token follow."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from sfumato.labs.grade.wordings import course_damaged, course_exists, no_course, unknown_student
from sfumato.labs.languages import language
from sfumato.labs.source import Lab
from sfumato.labs.students import Student, read_students
from sfumato.labs.variant import Variant

FILE, SECRET = "course.json", "secret.key"


@dataclass(frozen=True)
class Course:
    """A folder with course.json and secret.key.

    Claim: variant, seed and token of a student say nothing about the secret or about another student's.
    Proof: each is a piece of an HMAC-SHA256 under the secret, of a text that names student, lab and purpose.
    """

    folder: Path
    name: str
    lang: str
    students: tuple[Student, ...]
    secret: bytes

    def _digest(self, purpose: str, student: Student, lab: Lab) -> bytes:
        text = "\0".join((purpose, student.id, lab.slug))
        return hmac.new(self.secret, text.encode(), hashlib.sha256).digest()

    def variant(self, student: Student, lab: Lab) -> Variant:
        digest = self._digest("variant", student, lab)
        numbers = sorted(lab.variants)
        number = numbers[int.from_bytes(digest[:8], "big") % len(numbers)]
        return lab.variant(number, int.from_bytes(digest[8:14], "big"))

    def token(self, student: Student, lab: Lab) -> str:
        return self._digest("token", student, lab).hex()[:20]

    def student(self, identity: str) -> Student:
        found = self._by_id.get(identity.casefold())
        if found is None:
            raise unknown_student(identity, (one.id for one in self.students))
        return found

    @cached_property
    def _by_id(self) -> dict[str, Student]:
        return {one.id.casefold(): one for one in self.students}

    def owner(self, token: str, lab: Lab) -> Student | None:
        """The student to whom a file with this token was issued."""
        return next((one for one in self.students if hmac.compare_digest(self.token(one, lab), token)), None)

    @property
    def graded(self) -> Path:
        return self.folder / "graded"

    def results(self) -> Iterator[Path]:
        return iter(sorted(self.graded.glob("lab*/*.json")))


def new_course(students: Path, folder: Path, *, name: str = "", lang: str = "en") -> tuple[Course, str]:
    """Makes the folder of a course; says the encoding of the students' file where it had to be guessed."""
    register = read_students(students, language(lang).code)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise course_exists(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    course = Course(folder, name or folder.name, lang, register.students, secrets.token_bytes(32))
    handle = os.open(folder / SECRET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(course.secret.hex() + "\n")
    about = {"course": 1, "name": course.name, "lang": lang, "students": [asdict(one) for one in course.students]}
    (folder / FILE).write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return course, register.guessed


def open_course(folder: Path) -> Course:
    try:
        about = json.loads((folder / FILE).read_text(encoding="utf-8"))
        secret = bytes.fromhex((folder / SECRET).read_text(encoding="ascii").strip())
    except (FileNotFoundError, NotADirectoryError):
        raise no_course(str(folder)) from None
    except (OSError, ValueError):
        raise course_damaged(str(folder), f"{FILE} or {SECRET} cannot be read") from None
    try:
        students = tuple(Student(**one) for one in about["students"])
        if len(secret) != 32 or not students:
            raise ValueError
        return Course(folder, str(about["name"]), language(about["lang"]).code, students, secret)
    except (KeyError, TypeError, ValueError):
        raise course_damaged(str(folder), f"{FILE} or {SECRET} is not what was written") from None
