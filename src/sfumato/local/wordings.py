"""What `sfumato.local` says when it cannot go on. A wording names the row and the reason, never a person's value."""

from collections.abc import Iterable

from sfumato.errors import BudgetExceeded, DataUnreadable, Refused, UsageError, did_you_mean, quoted


def protocol_unknown(name: object, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f'there is no protocol "{name}".{did_you_mean(str(name), known)}', f"Name one of {quoted(known)}, or auto."
    )


def domain_unusable() -> UsageError:
    return UsageError(
        "the domain must be a list of two or more different texts, numbers or booleans.",
        'List every possible answer before you look at the data, e.g. domain=["tea", "coffee", "other"].',
    )


def domain_not_binary(size: int) -> UsageError:
    return UsageError(
        f"randomised response with two coins knows two answers, and the domain lists {size}.",
        'Use "grr", which is the same for any number of answers, or "auto".',
    )


def domain_too_large(size: int, most: int, name: str) -> UsageError:
    return UsageError(
        f"{name} is for at most {most:,} values, and the domain has {size:,}.",
        'Use "olh" or "hadamard", or look for heavy hitters.',
    )


def epsilon_missing(name: str) -> UsageError:
    return UsageError(
        f'protocol "{name}" needs an epsilon.', 'Say how much, e.g. epsilon=1; only "rr" has a default, ln 3.'
    )


def epsilon_too_large(shown: str, most: int) -> UsageError:
    return UsageError(
        f"epsilon={shown} protects nobody: a report then is the truth.", f"Choose an epsilon of at most {most}."
    )


def epsilon_too_small(shown: str, least: str) -> UsageError:
    return UsageError(
        f"epsilon={shown} tells nothing: a report then is pure chance.", f"Choose an epsilon of at least {least}."
    )


def option_unknown(name: str, protocol: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f'"{protocol}" has no option "{name}".{did_you_mean(name, known)}',
        f"It takes {quoted(known)}." if known else "It takes domain and epsilon only.",
    )


def rappor_option_wrong(reason: str) -> UsageError:
    return UsageError(
        f"RAPPOR cannot use this: {reason}.", "The defaults are bits=64, hashes=2, cohorts=16, p=0.5, q=0.75."
    )


def values_unusable(kind: str) -> UsageError:
    return UsageError(
        f"a {kind} is not a column of answers.", "Pass a list, or a NumPy, pandas, Polars or Arrow column."
    )


def values_empty() -> UsageError:
    return UsageError("there is no answer to randomise.", "Pass at least one.")


def value_outside(row: int, reason: str) -> UsageError:
    return UsageError(
        f"row {row}: {reason}.",
        "Fix the row, or declare what it may hold, e.g. a value called other.",
    )


def report_wrong(row: int, reason: str) -> DataUnreadable:
    return DataUnreadable(
        f"row {row}: {reason}. No estimate was made.", "Remove or fix the report; none is dropped in silence."
    )


def reports_of_another(row: int, expected: str, found: str) -> Refused:
    return Refused(
        f"row {row}: this report was made with other parameters ({found}, not {expected}).",
        "Estimate it with the specification its client used; reports of two specifications do not add up.",
    )


def no_reports() -> UsageError:
    return UsageError("there is no report to estimate from.", "Pass at least one.")


def spec_unusable(reason: str) -> UsageError:
    return UsageError(
        f"this is no specification of a local protocol: {reason}.",
        "Write one with protocol.save(path) or sfumato local plan.",
    )


def bounds_unusable() -> UsageError:
    return UsageError(
        "lower must lie below upper, both finite numbers.", "Declare the bounds, e.g. lower=0, upper=100."
    )


def confidence_wrong(shown: str) -> UsageError:
    return UsageError(f"confidence must lie between 0 and 1, not {shown}.", "Write e.g. confidence=0.95.")


def attributes_unusable() -> UsageError:
    return UsageError(
        "attributes must name one protocol each, all made for the same epsilon.",
        'Pass e.g. {"smokes": [False, True], "age": (0, 120)} and one epsilon.',
    )


def attribute_missing(name: str, present: Iterable[str]) -> UsageError:
    return UsageError(
        f'the rows have no column "{name}".{did_you_mean(name, present)}', "Pass a column for each attribute."
    )


def columns_differ() -> UsageError:
    return UsageError("the columns have different lengths.", "Pass one value per person in each column.")


def device_spent(cost: str, left: str, limit: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"a report about a new value costs epsilon {cost}; this device has {left} left of {limit}.",
        "Report a value that was reported before, which costs nothing, or report nothing.",
    )


def device_differs() -> Refused:
    return Refused(
        "this device file belongs to another specification or limit.",
        "Go on with the specification it was made for, or start a new file and accept that both together cost more.",
    )


def device_copied() -> UsageError:
    return UsageError(
        "a device is not copied or pickled: both would spend its budget.",
        'Pass the device itself, or make another one on the same file, e.g. path="device.json".',
    )


def device_fresh_needs_budget() -> UsageError:
    return UsageError(
        "a fresh report each time needs a budget.", 'Say e.g. budget=4, or keep the default repeat="memo".'
    )


def liars_wrong(shown: str) -> UsageError:
    return UsageError(f"{shown} liars cannot be among these users.", "Give a number from 0 to the number of users.")


def text_outside(row: int, length: int) -> UsageError:
    return UsageError(
        f"row {row}: not a text of 1 to {length} characters of the alphabet.",
        "Shorten, lower or replace characters in the same way for everybody, before you look at the data.",
    )


def alphabet_unusable() -> UsageError:
    return UsageError(
        "the alphabet must be two or more different characters, without the one that marks the end (\\0).",
        'Write e.g. alphabet="abcdefghijklmnopqrstuvwxyz ".',
    )
