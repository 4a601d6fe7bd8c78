"""What declarations say of dates."""

from sfumato.errors import UsageError


def not_a_date(shown: str) -> UsageError:
    return UsageError(f"{shown} is not a date.", "Write dates like 2024-01-31.")
