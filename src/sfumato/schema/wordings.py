"""What declarations say of their parts."""

from collections.abc import Iterable

from sfumato.errors import UsageError, did_you_mean, quoted


def not_a_date(shown: str) -> UsageError:
    return UsageError(f"{shown} is not a date.", "Write dates like 2024-01-31.")


def wrong_kind(what: str, shown: str, example: str) -> UsageError:
    return UsageError(f"{what} cannot be {shown}.", f"Write it like {example}.")


def unusable_name(shown: str, longest: int) -> UsageError:
    return UsageError(f"{shown} is not a usable name.", f"Use 1 to {longest} printable characters.")


def analyst_unplain(shown: str) -> UsageError:
    return UsageError(
        f"the analyst's name {shown} looks like another that is written otherwise.",
        "Write it without blanks around it, in composed letters (Unicode's NFKC): limits are found by the name.",
    )


def unusable_path(what: str, example: str) -> UsageError:
    return UsageError(f"{what} does not name a file.", f'Write it like {what}="{example}".')


def anchor_is_ledger() -> UsageError:
    return UsageError("the anchor and the ledger are one file.", "Name another file, best on another disk.")


def category_not_list(value: str) -> UsageError:
    return UsageError("the values of a category are a list, not one text.", f"Give a list, e.g. [{value[:40]!r}].")


def folder_missing(path: str) -> UsageError:
    return UsageError(f"there is no folder for {path}.", "Create it, or name a file in a folder that exists.")


def spend_too_small(least: str) -> UsageError:
    return UsageError(
        f"spend must be at least {least}: questions for next to nothing could be asked without end.",
        "Ask fewer questions at a larger spend, or several for one spend with ask_all.",
    )


def allow_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'there is no mechanism "{name}".{did_you_mean(name, known)}', f"There are {quoted(known)}.")


def allow_unusable() -> UsageError:
    return UsageError(
        "what is allowed must be a list of one mechanism or more.",
        'Write it like ["additive", "ranks"], or leave it out: then all are allowed.',
    )
