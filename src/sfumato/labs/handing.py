"""Hands out: an archive a student and lab, with the notebook, the data and the hand-out of that student's variant."""

import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from sfumato.labs.build.edition import Edition
from sfumato.labs.build.files import Kind, write_student_folder
from sfumato.labs.course import Course
from sfumato.labs.grade.wordings import hand_out_exists
from sfumato.labs.source import Lab
from sfumato.labs.students import Student

# Every archive of the same student and lab has the same bytes: ZIP begins to count here.
EPOCH = (1980, 1, 1, 0, 0, 0)


def hand_out(
    course: Course,
    labs: Sequence[Lab],
    folder: Path,
    *,
    students: Sequence[Student] | None = None,
    documents: Sequence[Kind] = ("html",),
    report: Callable[[float], None] = lambda share: None,  # noqa: ARG005
) -> list[Path]:
    """One archive for each student and lab; refuses before it writes anything when one of them exists."""
    pairs = [(student, lab) for lab in labs for student in students or course.students]
    paths = [folder / f"lab{lab.number:02}-{student.id}.zip" for student, lab in pairs]
    for path in paths:
        if path.exists():
            raise hand_out_exists(str(path))
    for lab in labs:
        for student in course.students:
            lab.words(student.lang)  # refuses a language in which this lab is not written, before anything is made
    folder.mkdir(parents=True, exist_ok=True)
    for done, ((student, lab), path) in enumerate(zip(pairs, paths, strict=True), start=1):
        edition = Edition(lab, course.variant(student, lab), student.lang, False, course.token(student, lab))
        _write(edition, path, documents)
        report(done / len(pairs))
    return paths


def _write(edition: Edition, path: Path, documents: Sequence[Kind]) -> None:
    with tempfile.TemporaryDirectory(prefix="labs-") as made:
        files = write_student_folder(edition, Path(made, path.stem), documents)
        waiting = path.with_suffix(".part")
        with zipfile.ZipFile(waiting, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(files):
                entry = zipfile.ZipInfo(f"{path.stem}/{file.name}", EPOCH)
                entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())
        waiting.replace(path)
