"""What `sfumato.attacks` says when it cannot go on. No wording shows a value from the data."""

from collections.abc import Iterable

from sfumato.errors import Refused, UsageError, did_you_mean, quoted


def delta_alone() -> UsageError:
    return UsageError("delta is given without epsilon.", "Give both, e.g. epsilon=1, delta=1e-6.")


def lengths_differ(what: str, found: int, wanted: int) -> UsageError:
    return UsageError(f"{what} has {found} entries, but {wanted} are needed.", "Give one entry for each, in order.")


def nothing_to_attack(what: str) -> UsageError:
    return UsageError(f"there is no {what}.", f"Name at least one {what}.")


def one_text(what: str, text: str) -> UsageError:
    return UsageError(f"{what} must be a list, not one text.", f'Write {what}=["{text}"].')


def too_few_candidates() -> UsageError:
    return UsageError("a secret needs at least two possible values.", "List them, e.g. candidates=(0, 1).")


def method_unknown(method: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'there is no method "{method}".{did_you_mean(method, known)}', f"Name one of {quoted(known)}.")


def attack_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'there is no attack "{name}".{did_you_mean(name, known)}', "See: sfumato attack --list")


def not_numeric(what: str, column: str) -> UsageError:
    return UsageError(
        f'the column "{column}" of the {what} table is no column of finite numbers.',
        "Name numeric columns without NULL, NaN and infinity.",
    )


def not_positive_numbers(what: str) -> UsageError:
    return UsageError(
        f"the {what} table holds numbers of 0 or less, and the attack takes logarithms.",
        "Name columns of positive numbers, or use denoise_additive.",
    )


def too_few_known(found: int, needed: int) -> UsageError:
    return UsageError(
        f"{found} known rows are too few for this attack.", f"Give at least {needed}, or use another method."
    )


def row_outside(what: str, rows: int) -> UsageError:
    return UsageError(f"{what} names a row outside the released table.", f"It has the rows 0 to {rows - 1}.")


def nobody_located() -> UsageError:
    return UsageError(
        "no person fits any class of the release.",
        "Give the release's hierarchies, or persons with the same columns as the release.",
    )


def hierarchy_unreadable(column: str) -> UsageError:
    return UsageError(
        f'the hierarchy of "{column}" cannot be read.',
        "Pass a CSV file, or a mapping from each value to the list of its generalisations.",
    )


def needs_columns(attack: str, what: str, option: str) -> UsageError:
    return UsageError(f"{attack} needs to know {what} of your table.", f"Say it, e.g. {option}.")


def too_few_rows(found: int, needed: int) -> UsageError:
    return UsageError(f"{found} rows are too few for this attack.", f"Give at least {needed}.")


def set_too_small(minimum: int) -> Refused:
    return Refused(
        f"the condition, or its opposite, holds for fewer than {minimum} rows.", "Ask about a larger group of people."
    )


def one_kind_only() -> UsageError:
    return UsageError(
        "truth knows members only, or outsiders only.", "Give targets of both kinds: 1 for members, 0 for outsiders."
    )


def no_keys() -> UsageError:
    return UsageError("a published table has no column of known facts.", "Publish the secret by age, zip or the like.")


def attack_missing() -> UsageError:
    return UsageError(
        "no attack is named.", "Name one, e.g. sfumato attack tracker; sfumato attack --list names them all."
    )
