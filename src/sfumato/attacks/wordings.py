"""What `sfumato.attacks` says when it cannot go on. No wording shows a value from the data."""

from collections.abc import Iterable, Sequence

from sfumato.errors import Refused, UsageError, did_you_mean, quoted

RED = (
    "Made by Sfumato. Red: more is learnt about members than about people who are not in the table, and than by chance."
)

RED_IN_SHOWS = (
    "Made by Sfumato. Red: the attack succeeds beyond chance and beyond what it learns about people who are not in the "
    "table; where that cannot be tried, beyond chance or the promise."
)

# What a demonstration says of a protection, by whether the attack works.
AGAINST_CHANCE = {True: "broken", False: "not broken by this attack"}
AGAINST_PROMISE = {True: "broken: more than promised", False: "held: no more than promised"}
MORE_ABOUT_MEMBERS = "broken: more about members"
WITHIN_PROMISE = "more about members, within its promise"
NO_MORE = "no more about members"
MAY_BE_LUCK = "may be luck: too few people to tell"


def compared(
    *,
    people: int,
    outsiders: int,
    questions: int,
    known: Sequence[str],
    secret: str,
    value: str,
    chances: Sequence[str],
    luck: str,
) -> str:
    return (
        f"{people:,} people; {questions} counts over boxes of {quoted(known[:2])}. The attacker has a register of "
        f"{quoted(known)} and wants the record, {secret} and {value} of everybody. In brackets: how often he is right "
        f"about {outsiders:,} people of the same kind who are not in the table, and what epsilon promises at most. "
        "Broken: he is right about members more often than about them, and than by chance "
        f"({', '.join(chances)}), by more than luck, which is up to {luck}. Usual risk: one over the size of a "
        "record's group, on average."
    )


def most_learnt(method: str, members: str, outsiders: str) -> str:
    return f"Most by {method}: {members} of the members; {outsiders} of people who are not in the table."


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


def wants_numbers(what: str, column: str) -> UsageError:
    return UsageError(
        f'the column "{column}" of the {what} table does not hold finite numbers.',
        "Name a column of numbers, or turn its values into numbers first.",
    )


def too_few_complete(found: int, rows: int, needed: int, column: str) -> UsageError:
    return UsageError(
        f"{found} of {rows} rows have a value in every column that is needed; that is too few for this attack.",
        f'Give at least {needed}, or leave out "{column}", which lacks most.',
    )


def one_value_only(column: str) -> UsageError:
    return UsageError(
        f'the column "{column}" has one value in all rows: there is nothing to learn.', "Name a column that varies."
    )


def too_many_values(column: str, found: int, most: int) -> UsageError:
    return UsageError(
        f'the sensitive column "{column}" has {found:,} values, and this works with {most} at most.',
        "Name another column, or put its values into groups first.",
    )


def too_few_of_a_kind(column: str, found: int, needed: int) -> UsageError:
    return UsageError(
        f'only {found} people differ from the rest in "{column}": no guess could be told from luck.',
        f"Name a column in which at least {needed} do.",
    )


def rows_left_out(left_out: int, rows: int, columns: Iterable[str]) -> str:
    are = "is" if left_out == 1 else "are"
    return f"{left_out:,} of {rows:,} rows {are} left out for want of a value in {quoted(columns)}."


def columns_left_aside(columns: Iterable[str]) -> str:
    columns = list(columns)
    them = "it" if len(columns) == 1 else "them"
    return f"{quoted(columns)} left aside, since values are missing; name {them} to work on the rows that have all."


def rows_drawn(found: int, rows: int) -> str:
    return f"{found:,} of {rows:,} people were drawn at random."


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
