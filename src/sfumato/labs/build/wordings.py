"""What the makers of editions say when they cannot go on."""

from collections.abc import Iterable, Sequence

from sfumato.errors import DataUnreadable, MissingExtra, UsageError, did_you_mean, missing_extra, quoted


def unknown_label(label: str, known: Iterable[str]) -> DataUnreadable:
    listed = list(known)
    return DataUnreadable(f"@{label} refers to nothing.{did_you_mean(label, listed)}", f"Known are {quoted(listed)}.")


def languages_differ(lab: int, differences: Sequence[str]) -> DataUnreadable:
    return DataUnreadable(
        f"the languages of lab {lab} differ: {'; '.join(differences[:5])}"
        + (f"; and {len(differences) - 5} more." if len(differences) > 5 else "."),
        "Mend the prose: each language has the same cells, tasks, exercises, questions, points and formulas.",
    )


def cell_failed(lab: int, cell: str, error: str) -> DataUnreadable:
    return DataUnreadable(f"lab {lab}: the cell {cell} fails: {error}.", "Mend cells.py, and build again.")


def folder_exists(folder: str) -> UsageError:
    return UsageError(f"{folder} exists already; nothing was written.", "Name another folder with --output.")


def folder_unwritable(folder: str, reason: str) -> UsageError:
    return UsageError(f"{folder} cannot be made: {reason}.", "Name another folder with --output.")


def student_needs(what: str, package: str) -> MissingExtra:
    return missing_extra(what, package, "labs")


def maker_needs(what: str, package: str) -> MissingExtra:
    return missing_extra(what, package, "labs-build")


def document_failed(what: str, reason: str) -> DataUnreadable:
    return DataUnreadable(f"{what} could not be made: {reason}.", "Mend the prose of the lab, and build again.")


def unknown_kind(name: str, known: Iterable[str]) -> UsageError:
    listed = list(known)
    return UsageError(f'there is no kind of file "{name}".{did_you_mean(name, listed)}', f"Choose of {quoted(listed)}.")
