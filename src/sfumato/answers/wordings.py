"""What this package says when it cannot do something."""

import shlex
from collections.abc import Iterable, Sequence

from sfumato.errors import Refused, UsageError, did_you_mean, quoted, so_many


def error_depends(column: str) -> Refused:
    return Refused(
        f'no spend can be named for "{column}": its error depends on the answer, which only asking tells.',
        "Name the error of a COUNT or a SUM, say about how many rows a group has (--rows 1000, in Python rows=1000) or "
        "ask once with a small spend and look at the error bars.",
    )


def which_column(columns: Sequence[str]) -> UsageError:
    return UsageError(
        "the question has several numbers, and each has an error of its own.",
        f'Name one, e.g. --column {shlex.quote(columns[0])}, in Python column="{columns[0]}".',
    )


def column_without_error() -> UsageError:
    return UsageError(
        "--column says whose error bar --error means, and there is no --error.",
        "Leave --column out, or say --error 10.",
    )


def rows_without_error() -> UsageError:
    return UsageError(
        "--rows says how many rows a group has about, for the error bar that --error means, and there is no --error.",
        "Leave --rows out, or say --error 10; sfumato explain takes --rows beside --spend.",
    )


def if_so_many(rows: int) -> str:
    """Behind an error bar."""
    return f"if a group has about {so_many(rows, 'row')}"


def supposing(rows: int) -> str:
    """Under error bars that rest on a guess."""
    return (
        f"That a group has about {so_many(rows, 'row')} is your guess, and no data was looked at; their values are "
        "taken to lie evenly over one half of what their bounds allow."
    )


def no_error_bar(column: str) -> Refused:
    return Refused(
        f'"{column}" has no error bar: a most frequent value is right or wrong.',
        "Name the error of a COUNT or a SUM, or ask with a spend.",
    )


def error_out_of_reach(error: str, most: str) -> Refused:
    return Refused(f"no spend up to {most} brings the error down to ±{error}.", "Accept a wider error bar.")


def one_of_spend_and_error() -> UsageError:
    return UsageError(
        "a question takes one of --spend and --error.", "E.g. --spend 0.5, or --error 10 to spend what ±10 costs."
    )


def no_script() -> UsageError:
    return UsageError("this answer does not know how its session was opened.", "Open it with sf.open or sf.protect.")


def not_drawable(column: str) -> UsageError:
    return UsageError(f'"{column}" has nothing to draw.', "Plot a column of numbers.")


def keys_not_drawable() -> UsageError:
    return UsageError("keys alone have nothing to draw.", "Ask for a number beside them, e.g. COUNT(*).")


def keys_without_error() -> UsageError:
    return UsageError(
        "keys alone have no error bar.",
        "Ask for a number beside them, e.g. COUNT(*), or give a spend: explain says how many people a key takes.",
    )


def nothing_asked() -> UsageError:
    return UsageError("this question asks for no number.", 'Add one, e.g. .count("n") or .mean("income").')


def parts_differ() -> Refused:
    return Refused(
        "the parts of this question mean something else together than each alone.", "Write the question in SQL."
    )


def no_numbers(name: str) -> UsageError:
    return UsageError(f'"{name}" holds no numbers.', "A bound is for a column of type int or float.")


def no_upper_end(name: str) -> UsageError:
    return UsageError(
        f'"{name}" has no declared upper bound.',
        "Give one that is surely large enough, e.g. --upper 150, in Python upper=150.",
    )


def not_measured(name: str, measured: Iterable[str]) -> UsageError:
    measured = list(measured)
    return UsageError(
        f'"{name}" is not an aggregate of this answer.{did_you_mean(name, measured)}', f"It has {quoted(measured)}."
    )
