"""What a course and its grader say when they cannot go on."""

from collections.abc import Iterable, Sequence

from sfumato.errors import DataUnreadable, Unavailable, UsageError, did_you_mean, quoted

EXAMPLE = "id,name,lang,group"


def students_unreadable(path: str, why: str) -> DataUnreadable:
    return DataUnreadable(f"{path} cannot be read: {why}.", f"Save it as CSV with the columns {EXAMPLE}.")


def students_unclear(path: str, lang: str) -> DataUnreadable:
    return DataUnreadable(
        f"{path} cannot be read: it is not UTF-8, and no older encoding of the language {lang} makes names of it.",
        "Save it as CSV UTF-8, or name the language of the list: --lang zh.",
    )


def columns_missing(path: str, missing: Sequence[str], found: Sequence[str]) -> UsageError:
    near = did_you_mean(missing[0], found)
    return UsageError(
        f"{path} has no column {quoted(missing)}; it has {quoted(found) or 'none'}.{near}",
        f"The first line names the columns: {EXAMPLE} (lang and group may be left out).",
    )


def bad_rows(path: str, mistakes: Sequence[str]) -> UsageError:
    shown = "; ".join(mistakes[:8]) + (f"; and {len(mistakes) - 8} more" if len(mistakes) > 8 else "")
    return UsageError(f"{path}: {shown}.", "Mend these lines; nothing was written.")


def no_students(path: str) -> UsageError:
    return UsageError(f"{path} names no student.", f"Write one line a student below {EXAMPLE}.")


def course_exists(folder: str) -> UsageError:
    return UsageError(
        f"{folder} exists and is not empty; nothing was overwritten.", "Choose another name for the course."
    )


def no_course(folder: str) -> UsageError:
    return UsageError(
        f"{folder} is no course.", "Make one: sfumato labs class new students.csv autumn; then name that folder."
    )


def course_damaged(folder: str, why: str) -> DataUnreadable:
    return DataUnreadable(f"the course in {folder} is damaged: {why}.", "Take the folder from your backup.")


def unknown_student(name: str, known: Iterable[str]) -> UsageError:
    listed = list(known)
    return UsageError(f'this course has no student "{name}".{did_you_mean(name, listed)}', f"It has {quoted(listed)}.")


def hand_out_exists(path: str) -> UsageError:
    return UsageError(
        f"{path} was handed out before; nothing was overwritten.", "Move it away, or name another folder with --to."
    )


def no_submissions(folder: str) -> UsageError:
    return UsageError(
        f"{folder} holds no notebook (.ipynb) and no archive (.zip).",
        "Put there what the students sent: files or folders that carry the student's id, or files as handed out.",
    )


def no_folder(folder: str) -> UsageError:
    return UsageError(f"there is no folder {folder}.", "Name the folder with what the students sent.")


def nothing_graded(folder: str) -> UsageError:
    return UsageError(f"nothing was graded in {folder} yet.", "First: sfumato labs grade COURSE FOLDER.")


def report_exists(path: str) -> UsageError:
    return UsageError(
        f"{path} exists; nothing was overwritten.", "Name another folder with --to, or move this one away."
    )


def box_refused(why: str) -> Unavailable:
    return Unavailable(
        f"this machine does not let a box be made for student code ({why}).",
        "Grade on Linux with user namespaces (also inside WSL), or with --unsafe, which is written on every report: "
        "student code can then read what you can.",
    )


def box_broken() -> Unavailable:
    return Unavailable(
        "the box of a submission ended before its tasks did.", "Grade again; the other submissions stand."
    )


def unknown_document(word: str, near: str, known: Iterable[str]) -> UsageError:
    return UsageError(f'there is no hand-out of the kind "{word}".{near}', f"Choose among {quoted(known)}.")
