"""What declarations say of dates, lists and folders."""

from sfumato.errors import UsageError


def not_a_date(shown: str) -> UsageError:
    return UsageError(f"{shown} is not a date.", "Write dates like 2024-01-31.")


def category_not_list(value: str) -> UsageError:
    return UsageError("the values of a category are a list, not one text.", f"Give a list, e.g. [{value[:40]!r}].")


def folder_missing(path: str) -> UsageError:
    return UsageError(f"there is no folder for {path}.", "Create it, or name a file in a folder that exists.")
