"""What declarations say of their parts."""

from collections.abc import Iterable, Sequence

from sfumato.errors import DataUnreadable, SfumatoError, UsageError, did_you_mean, quoted


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


def bounds_reversed(lower: str, upper: str) -> UsageError:
    cure = "Swap or widen the bounds."
    if "(missing)" in (lower, upper):
        cure = "Give both bounds, or none."
    elif lower == upper:
        cure = "Widen them; or leave out the column: where all have one value, there is nothing to ask."
    return UsageError(f"lower bound {lower} is not below upper bound {upper}.", cure)


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


def groups_above_rows(max_rows: int, max_groups: int, which: str = "") -> UsageError:
    return UsageError(
        f"{which}max_rows={max_rows} is below {which}max_groups={max_groups}: "
        "a person could not place one row in each group.",
        f"Raise {which}max_rows to at least {max_groups}, or lower {which}max_groups.",
    )


def each_above_rows(max_rows: int, each: int) -> UsageError:
    return UsageError(
        f"max_rows_per_group={each} is above max_rows={max_rows}: so many rows of a person never count.",
        f"Lower max_rows_per_group to at most {max_rows}, or leave it out.",
    )


def default_above(name: str, default: int, most: int) -> UsageError:
    return UsageError(
        f"default_{name}={default} is above {name}={most}, which is the most that a question may count.",
        f"Lower default_{name}, or raise {name}.",
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


def not_of_kind(kind: str, key: str) -> UsageError:
    return UsageError(
        f'a unit of kind "{kind}" has no {key}.',
        'A person has id, max_rows and max_groups; kind = "up to" has rows; kind = "row" stands alone.',
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


def draft_of_no_id() -> str:
    return (
        "Protected: every row by itself, because no column looks like an id. If a person may have several rows, put "
        'that person\'s id under [unit]: id = "…" with max_rows and max_groups; or, if no column says whose a row is, '
        'kind = "up to" with rows = the most that anybody has.'
    )


def draft_of_unit(column: str, of: str, others: Sequence[str]) -> str:
    why = {
        "person": "its name is that of a person's id",
        "document": "its name is that of a person's document",
        "bare": "its name is that of a person",
        "plain": 'its name is that of an id; if that is not a person\'s, name the column that is, or kind = "row"',
        "other": "no other name ends like an id; if this one is an event's or a thing's, name the column with the "
        'person\'s id, or kind = "row" if nobody has two rows',
    }[of]
    also = f" Identifiers, too, by their names: {quoted(others)}." if others else ""
    return f'Protected: everything with one "{column}", because {why}.{also}'


def slots_need_memory(slots: int, megabytes: int) -> UsageError:
    return UsageError(
        f"{slots} slots share the memory of the engine, which is not given or below {megabytes} MB.",
        'Say how much all of them have together, e.g. memory = "4 GB".',
    )
