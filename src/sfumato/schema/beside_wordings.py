"""Wordings about tables beside the private one. A lookup is public: its values may be shown."""

from sfumato.errors import DataUnreadable, Refused, UsageError


def lookup_key_of_kind(key: str) -> UsageError:
    return UsageError(
        f'the key "{key}" of a lookup must be a text, a category or a whole number.',
        f'E.g. {key} = {{ type = "int" }} among its columns; a key that is not declared is a text.',
    )


def lookup_column_private(name: str) -> UsageError:
    return UsageError(
        f'the column "{name}" of a lookup is declared as an identifier, but a lookup is public.',
        "Leave the column out.",
    )


def lookup_repeats(table: str, key: str, value: str) -> DataUnreadable:
    return DataUnreadable(
        f'the lookup "{table}" has several rows with {key} = {value}: a join would multiply rows.',
        "Keep one row per key.",
    )


def tables_need_person() -> UsageError:
    return UsageError(
        "several private tables are protected person by person, but the unit has no id.",
        'Name the id they share, e.g. unit=sf.Person("user_id", max_rows=20, max_groups=5).',
    )


def caps_without_rows(name: str) -> UsageError:
    return UsageError(
        f"a table has {name} and no max_rows.",
        f"Give it max_rows as well, or leave {name} out: then the table has the caps of the unit.",
    )


def table_named_twice(name: str) -> UsageError:
    return UsageError(f'two tables are called "{name}".', "Give each table a name of its own.")


def not_declared_as(name: str, kind: str) -> UsageError:
    return UsageError(f'"{name}" is not declared as a {kind}.', f"Declare it as sf.{kind}(source, columns={{…}}).")


def column_ambiguous(name: str) -> Refused:
    return Refused(f'"{name}" is a column of several of these tables.', "Write the table before it, as in p.age.")
