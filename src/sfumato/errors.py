"""Every error Sfumato raises, and the wordings that several packages share.

SfumatoError
├── UsageError              2  an argument, a policy file or an option is wrong
│   ├── MissingExtra        2  an optional package is not installed
│   └── NotFittedError      2  a learner was asked before it has learnt anything
├── Refused                 3  the question cannot be answered privately, or not yet
│   └── RequestConflict     3  a request id was used before for another question
├── BudgetExceeded          4  the question costs more than is left
└── Unavailable             5  something outside the question failed
    ├── DataUnreadable      5  a file is missing, damaged or of another shape
    ├── EngineFailed        5  the engine gave up; the text never depends on the data
    ├── LedgerDamaged       5  the chain, the anchor or the file of the ledger is wrong
    └── ReceiptUsed         5  a receipt was presented a second time

The number is the exit code of the shell. A message says what happened and why, the hint what to do next;
neither ever shows a data value. What one package alone has to say stands in its `wordings.py`.
"""

from collections.abc import Iterable
from difflib import get_close_matches

from sfumato.visible import visible


class SfumatoError(Exception):
    """Base of all errors: `message` says what happened and why, `hint` what to do next."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        # Names of columns and files, and the analyst's own words, may stand in either.
        self.message, self.hint = visible(message), visible(hint)
        super().__init__(self.message, self.hint)

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message

    def for_analysts(self) -> "SfumatoError":
        """What to tell an analyst who is somewhere else: of the owner's files neither paths nor what is wrong."""
        return self


class UsageError(SfumatoError, ValueError):
    exit_code = 2


class MissingExtra(UsageError):
    pass


class NotFittedError(UsageError):
    pass


class Refused(SfumatoError):
    """`question` is the text that was refused and `at` where in it, start and end as of a slice; None if unknown."""

    exit_code = 3
    question = ""
    at: tuple[int, int] | None = None
    about: tuple[object, ...] = ()  # while a question is read: parts of it, the innermost first; `at` follows from them


class RequestConflict(Refused):
    pass


class BudgetExceeded(SfumatoError):
    exit_code = 4


class Unavailable(SfumatoError):
    exit_code = 5


class DataUnreadable(Unavailable):
    def for_analysts(self) -> "DataUnreadable":
        return DataUnreadable(
            "the data cannot be read now.", "Nothing was charged. Its owner sees why. Ask again later."
        )


class EngineFailed(Unavailable):
    pass


class LedgerDamaged(Unavailable):
    def for_analysts(self) -> "LedgerDamaged":
        return LedgerDamaged(
            "the ledger of the budget cannot be used now.",
            "Its owner sees why. Ask again later: what was charged by now is not charged twice.",
        )


class ReceiptUsed(Unavailable):
    pass


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """' Did you mean "age"?' when one of the known words is near, else ''."""
    by_fold = {candidate.casefold(): candidate for candidate in known}
    near = get_close_matches(word.casefold(), list(by_fold), n=1, cutoff=0.6)
    return f' Did you mean "{by_fold[near[0]]}"?' if near else ""


def quoted(names: Iterable[str], limit: int = 12) -> str:
    listed = list(names)
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more


def not_a_number(what: str, shown: str) -> UsageError:
    return UsageError(f"{what} must be a number, not {shown}.", f"Write it as a decimal, e.g. {what}=0.5.")


def so_many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def not_finite(what: str) -> UsageError:
    return UsageError(f"{what} must be a finite number.", f"Write it as a decimal, e.g. {what}=0.5.")


def not_positive(what: str, shown: str) -> UsageError:
    return UsageError(f"{what} must be greater than 0, not {shown}.", f"Give a small positive number, e.g. {what}=0.5.")


def out_of_range(what: str, low: str, high: str, shown: str) -> UsageError:
    return UsageError(f"{what} must lie between {low} and {high}, not {shown}.", "Choose a value inside that range.")


def too_small(what: str, least: str, shown: str) -> UsageError:
    return UsageError(f"{what} must be {least} or more, not {shown}.", f"Write e.g. {what}={least}.")


def not_whole(what: str, shown: str) -> UsageError:
    return UsageError(f"{what} must be a whole number, not {shown}.", f"Write it without a fraction, e.g. {what}=20.")


def missing_argument(what: str, example: str) -> UsageError:
    return UsageError(f"{what} is missing.", f"Say how much, e.g. {example}.")


def missing_extra(part: str, package: str, extra: str) -> MissingExtra:
    return MissingExtra(f"{part} needs {package}.", f'Run: pip install "sfumato[{extra}]"')


def file_missing(path: str) -> DataUnreadable:
    return DataUnreadable(f"there is no file {path}.", "Check the path; paths in a policy are relative to the policy.")


SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


def from_a_spreadsheet(path: str) -> str:
    """What to do with a file of a spreadsheet program; nothing for any other."""
    if not path.lower().endswith(SPREADSHEETS):
        return ""
    return (
        "This is a spreadsheet: save the sheet that holds the table as CSV (File, Save as, CSV UTF-8), with the names "
        "of columns in its first line and nothing above or beside the table. "
    )


def file_unreadable(path: str, reason: str) -> DataUnreadable:
    return DataUnreadable(f"{path} cannot be read: {reason}.", "Nothing was charged. Fix the file and try again.")


def column_absent(name: str, present: Iterable[str]) -> DataUnreadable:
    # The other names are not listed: in a file without a header they are somebody's data.
    return DataUnreadable(
        f'the data has no column "{name}".{did_you_mean(name, present)}',
        "Check the first line of the file and the names in the policy.",
    )


def not_supported(what: str, nearest: str) -> Refused:
    return Refused(f"{what} is not supported.", nearest)


def unknown_column(name: str, known: Iterable[str]) -> Refused:
    known = list(known)
    return Refused(f'there is no column "{name}".{did_you_mean(name, known)}', f"The columns are {quoted(known)}.")


def identifier_used(name: str) -> Refused:
    return Refused(f'"{name}" is an identifier: it never leaves and never groups.', "Ask about another column.")


def data_changed() -> UsageError:
    return UsageError("the data changed while the question waited for its turn.", "Nothing was paid. Ask again.")


def plan_refused(reason: str) -> Refused:
    return Refused(f"the plan was not certified: {reason}.", "Please report this question; nothing was charged.")


def ledger_needed() -> UsageError:
    return UsageError(
        "a table in memory needs a place for its ledger.",
        'Say where, e.g. sf.protect(table, ledger="people.ledger", …).',
    )
