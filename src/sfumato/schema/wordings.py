"""What declarations say of dates and spends."""

from sfumato.errors import UsageError


def not_a_date(shown: str) -> UsageError:
    return UsageError(f"{shown} is not a date.", "Write dates like 2024-01-31.")


def spend_too_small(least: str) -> UsageError:
    return UsageError(
        f"spend must be at least {least}: questions for next to nothing could be asked without end.",
        "Ask fewer questions at a larger spend, or several for one spend with ask_all.",
    )
