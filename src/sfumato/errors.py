"""Every error Sfumato raises, and its wording.

SfumatoError
├── UsageError              2  an argument, a policy file or an option is wrong
│   └── MissingExtra        2  an optional package is not installed
├── Refused                 3  the question cannot be answered privately, or not yet
│   └── RequestConflict     3  a request id was used before for another question
├── BudgetExceeded          4  the question costs more than is left
└── Unavailable             5  something outside the question failed
    ├── DataUnreadable      5  a file is missing, damaged or of another shape
    ├── EngineFailed        5  the engine gave up; the text never depends on the data
    ├── LedgerDamaged       5  the chain, the anchor or the file of the ledger is wrong
    └── ReceiptUsed         5  a receipt was presented a second time

The number is the exit code of the shell. A message says what happened and why, the hint what to do next;
neither ever shows a data value.
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


class UsageError(SfumatoError, ValueError):
    exit_code = 2


class MissingExtra(UsageError):
    pass


class Refused(SfumatoError):
    exit_code = 3


class RequestConflict(Refused):
    pass


class BudgetExceeded(SfumatoError):
    exit_code = 4


class Unavailable(SfumatoError):
    exit_code = 5


class DataUnreadable(Unavailable):
    pass


class EngineFailed(Unavailable):
    pass


class LedgerDamaged(Unavailable):
    pass


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


def not_finite(what: str) -> UsageError:
    return UsageError(f"{what} must be a finite number.", f"Write it as a decimal, e.g. {what}=0.5.")


def not_positive(what: str, shown: str) -> UsageError:
    return UsageError(f"{what} must be greater than 0, not {shown}.", f"Give a small positive number, e.g. {what}=0.5.")


def out_of_range(what: str, low: str, high: str, shown: str) -> UsageError:
    return UsageError(f"{what} must lie between {low} and {high}, not {shown}.", "Choose a value inside that range.")


def not_whole(what: str, shown: str) -> UsageError:
    return UsageError(f"{what} must be a whole number, not {shown}.", f"Write it without a fraction, e.g. {what}=20.")


def missing_argument(what: str, example: str) -> UsageError:
    return UsageError(f"{what} is missing.", f"Say how much, e.g. {example}.")


def missing_extra(part: str, package: str, extra: str) -> MissingExtra:
    return MissingExtra(f"{part} needs {package}.", f'Run: pip install "sfumato[{extra}]"')


def bounds_reversed(lower: str, upper: str) -> UsageError:
    return UsageError(f"lower bound {lower} is not below upper bound {upper}.", "Swap or widen the bounds.")


def no_categories() -> UsageError:
    return UsageError(
        "a category needs at least one value.", 'List them, e.g. values = ["yes", "no"], or use type = "text".'
    )


def repeated_category(value: str) -> UsageError:
    return UsageError(f"the category value {value!r} is listed twice.", "List every value once.")


def mixed_categories() -> UsageError:
    return UsageError(
        "category values must be all texts (of ordinary characters), all whole numbers or all true/false.",
        "Write them in one form.",
    )


def groups_above_rows(max_rows: int, max_groups: int) -> UsageError:
    return UsageError(
        f"max_rows={max_rows} is below max_groups={max_groups}: a person could not place one row in each group.",
        f"Raise max_rows to at least {max_groups}, or lower max_groups.",
    )


def no_columns() -> UsageError:
    return UsageError(
        "no column is declared, so there is nothing to ask about.",
        'Declare them, e.g. age = { type = "int", lower = 0, upper = 120 }.',
    )


def unit_column_declared(name: str) -> UsageError:
    return UsageError(
        f'the unit id "{name}" is declared as an ordinary column too.',
        f'Drop it from the columns, or declare {name} = {{ type = "identifier" }}.',
    )


def policy_missing(path: str) -> DataUnreadable:
    return DataUnreadable(f"there is no policy file {path}.", "Draft one with: sfumato init people.csv")


def policy_malformed(path: str, reason: str) -> UsageError:
    return UsageError(f"{path} is not valid TOML: {reason}.", "Fix that line; sfumato init drafts a correct file.")


def policy_unknown(path: str, where: str, name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f'{path}: [{where}] does not know "{name}".{did_you_mean(name, known)}', f"It takes {quoted(known)}."
    )


def policy_lacks(path: str, where: str, name: str, example: str) -> UsageError:
    return UsageError(f"{path}: [{where}] lacks {name}.", f"Add a line like: {example}")


def policy_wrong(path: str, where: str, error: SfumatoError) -> UsageError:
    return UsageError(f"{path}: {where}: {error.message}", error.hint)


def policy_exists(path: str) -> UsageError:
    return UsageError(f"{path} exists already.", "Name another file with --output, or pass --force to overwrite it.")


def file_missing(path: str) -> DataUnreadable:
    return DataUnreadable(f"there is no file {path}.", "Check the path; paths in a policy are relative to the policy.")


def file_unreadable(path: str, reason: str) -> DataUnreadable:
    return DataUnreadable(f"{path} cannot be read: {reason}.", "Nothing was charged. Fix the file and try again.")


def frame_unknown(kind: str) -> UsageError:
    return UsageError(
        f"a value of type {kind} is not a table Sfumato reads.",
        "Pass the path of a file or of a directory of Parquet files, or a pandas, Polars or Arrow table.",
    )


def column_absent(name: str, present: Iterable[str]) -> DataUnreadable:
    # The other names are not listed: in a file without a header they are somebody's data.
    return DataUnreadable(
        f'the data has no column "{name}".{did_you_mean(name, present)}',
        "Check the first line of the file and the names in the policy.",
    )


def too_long(length: int, limit: int) -> Refused:
    return Refused(f"the question has {length} characters; {limit} are allowed.", "Ask it in a shorter form.")


def too_deep(limit: int) -> Refused:
    return Refused(f"the question is nested more than {limit} levels deep.", "Ask it in a flatter form.")


def not_sql(reason: str) -> Refused:
    return Refused(
        f"this is not a question in SQL: {reason}.", "Write it like: SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    )


def not_supported(what: str, nearest: str) -> Refused:
    return Refused(f"{what} is not supported.", nearest)


def unknown_table(name: str, table: str) -> Refused:
    return Refused(f'there is no table "{name}".{did_you_mean(name, [table])}', f"Ask FROM {table}.")


def unknown_column(name: str, known: Iterable[str]) -> Refused:
    known = list(known)
    return Refused(f'there is no column "{name}".{did_you_mean(name, known)}', f"The columns are {quoted(known)}.")


def no_bounds(call: str, column: str) -> Refused:
    return Refused(
        f"{call} has no bounds.",
        f'Declare them in the policy, e.g. {column} = {{ type = "float", lower = 0, upper = 200000 }}; '
        f'for SUM, AVG and quantiles also {{ type = "float", private_bounds = 0.1 }}.',
    )


def division_unbounded(call: str) -> Refused:
    return Refused(
        f"{call} has no bounds: the divisor may be 0.", "Divide by a column whose bounds exclude 0, or by a number."
    )


def wrong_type(what: str, expected: str, nearest: str = "Compare numbers with numbers, texts with texts.") -> Refused:
    return Refused(f"{what}, but {expected}.", nearest)


def identifier_used(name: str) -> Refused:
    return Refused(f'"{name}" is an identifier: it never leaves and never groups.', "Ask about another column.")


def keys_undeclared(name: str) -> Refused:
    return Refused(
        f'GROUP BY "{name}" needs declared keys.',
        f'Declare {name} as type = "category" with values, as "int" with bounds, or as "text" to discover its values.',
    )


def too_many_keys(count: int, limit: int) -> Refused:
    return Refused(f"the question has {count} groups; {limit} are allowed.", "Group by fewer or coarser columns.")


def select_without_group(name: str) -> Refused:
    return Refused(
        f'"{name}" is selected without an aggregate.', f"Add GROUP BY {name}, or ask for COUNT, SUM or AVG of it."
    )


def bounds_too_wide(call: str) -> Refused:
    return Refused(f"the bounds of {call} are too wide to compute with.", "Use smaller factors.")


def session_closed() -> UsageError:
    return UsageError("this session is closed.", "Open another one.")


def data_changed() -> UsageError:
    return UsageError("the data changed while the question waited for its turn.", "Nothing was paid. Ask again.")


def duplicate_output(name: str) -> Refused:
    return Refused(f'two columns of the answer are called "{name}".', "Name them apart with AS.")


def plan_refused(reason: str) -> Refused:
    return Refused(f"the plan was not certified: {reason}.", "Please report this question; nothing was charged.")


def spend_too_small(shown: str) -> UsageError:
    return UsageError(f"spend={shown} is too small to buy any answer.", "Spend more, e.g. spend=0.1.")


def over_key_budget(delta: str, left: str) -> BudgetExceeded:
    smaller = "" if left == "0" else "ask with a smaller one (--delta, in Python spend=sf.Spend(epsilon, delta)), "
    return BudgetExceeded(
        f"discovering keys here takes a delta of {delta}; {left} is left for that.",
        f"Declare the keys, {smaller}or ask the owner to raise the delta of the limit.",
    )


def over_budget(cost: str, owner: str, left: str, limit: str) -> BudgetExceeded:
    hint = f"Ask with spend={left} or less, or" if left != "0" else "Repeat an earlier question for free, or"
    return BudgetExceeded(
        f"this question costs epsilon {cost}; {owner} has {left} left of {limit}.",
        f"{hint} ask the owner to raise the limit.",
    )


def ledger_needed() -> UsageError:
    return UsageError(
        "a table in memory needs a place for its ledger.",
        'Say where, e.g. sf.protect(table, ledger="people.ledger", …).',
    )


def ledger_differs(what: str, stored: str, given: str) -> UsageError:
    return UsageError(
        f"the ledger was opened for {what} {stored}, the policy now says {given}.",
        "Restore that line of the policy: a ledger keeps what it was opened for.",
    )


def limit_differs(stored: str, given: str) -> UsageError:
    return UsageError(
        f"the limit in force is {stored}, the policy now says {given}.",
        "Restore the policy, or let the owner put the new limit into force with: sfumato ledger raise POLICY",
    )


def ledger_unreadable(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} is not a readable ledger.", "Restore it from a backup; never start a new one in its place."
    )


def ledger_unwritable(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} cannot be written, so nothing can be charged.", "Check the disk and the permissions of its folder."
    )


def ledger_broken(entry: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"entry {entry} of the ledger does not match its hash.",
        "It was changed after it was written. Restore a backup.",
    )


def ledger_rolled_back(seen: int, anchored: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"the ledger ends at entry {seen}, its anchor remembers entry {anchored}.",
        "An older copy was put in its place. Restore the newer ledger.",
    )


def ledger_gone(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} is gone, but its anchor remembers it.", "Restore the ledger; deleting it does not refill the budget."
    )


def anchor_gone(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the anchor {path} of the ledger is missing or unreadable.",
        "Restore it, or if you trust the ledger: sfumato ledger verify POLICY --re-anchor",
    )


def request_conflict(request: str) -> RequestConflict:
    return RequestConflict(f"request {request!r} was used for another question.", "Use a new id for a new question.")


def receipt_used() -> ReceiptUsed:
    return ReceiptUsed("this receipt has been used or belongs to another plan.", "Ask again; a stored answer is free.")


def session_of_another_process() -> UsageError:
    return UsageError("this session was opened in another process.", "Open one in each process, after the fork.")


def engine_failed() -> EngineFailed:
    """One text for every cause: which one it was may depend on single rows."""
    return EngineFailed(
        "the engine could not finish this question.",
        "The charge stands. Let the owner check limits, memory and disk of the engine; fresh=True pays for a new try.",
    )
