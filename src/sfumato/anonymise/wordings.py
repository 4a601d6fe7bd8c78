"""What `sfumato.anonymise` says when it cannot go on. Columns are named, values never shown."""

from collections.abc import Iterable

from sfumato.errors import MissingExtra, Refused, UsageError, did_you_mean, missing_extra, quoted


def table_empty() -> UsageError:
    return UsageError("the table has no rows.", "Pass a table with at least one row.")


def file_not_written(path: str, reason: str) -> UsageError:
    return UsageError(f"{path} cannot be written: {reason}.", "Choose another file.")


def output_kind_unknown(path: str) -> UsageError:
    return UsageError(f"{path} is neither .csv nor .parquet.", "Name the output e.g. released.csv.")


def frame_missing(package: str) -> MissingExtra:
    return missing_extra(f"a {package} table", package, package)


def column_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f'the table has no column "{name}".{did_you_mean(name, known)}', f"Its columns are {quoted(known)}."
    )


def column_repeated(name: str) -> UsageError:
    return UsageError(f'the table has two columns "{name}".', "Rename one of them.")


def column_kind(name: str, kind: str) -> UsageError:
    return UsageError(
        f'the column "{name}" holds {kind} values, which cannot be compared.', "Leave it out, or turn it into texts."
    )


def columns_not_listed(what: str, name: str) -> UsageError:
    return UsageError(f"{what} must be a list of columns, not one text.", f'Write {what}=["{name}"].')


def no_quasi() -> UsageError:
    return UsageError(
        "no quasi-identifier is named, so there is nothing to generalise or to measure.",
        'List what others may know of a person, e.g. quasi=["age", "sex", "zip"]; sf.anonymise.classify suggests them.',
    )


def no_columns_to_change(what: str) -> UsageError:
    return UsageError(f"{what} names no column.", f'List at least one, e.g. {what}=["age"].')


def listed_twice(name: str) -> UsageError:
    return UsageError(f'the column "{name}" is listed twice.', "Give each column one role.")


def two_roles(name: str, first: str, second: str) -> UsageError:
    return UsageError(f'the column "{name}" is listed as {first} and as {second}.', "Give each column one role.")


def k_above_rows(k: int, rows: int) -> Refused:
    return Refused(
        f"k={k}, but the table has {rows} rows: no group can be so large.", "Lower k, or add rows to the table."
    )


def needs_sensitive(what: str) -> UsageError:
    return UsageError(f"{what} speaks of a sensitive column, and none is named.", 'Name it, e.g. sensitive="disease".')


def choice_unknown(what: str, given: object, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f"{what}={given!r} is unknown.{did_you_mean(str(given), known)}", f"Choose {quoted(known)}.")


def needs_c() -> UsageError:
    return UsageError(
        "recursive diversity needs c and a whole l of 2 or more: the most frequent value must be rarer than "
        "c times the values from the l-th on.",
        "Say e.g. l=2, c=3.",
    )


def c_without_use() -> UsageError:
    return UsageError("c belongs to recursive diversity only.", 'Leave it out, or say diversity="recursive".')


def not_ordered(column: str) -> UsageError:
    return UsageError(
        f'distance="ordered" needs numbers or dates, and "{column}" holds texts.', 'Use distance="equal".'
    )


def distance_needs_hierarchy(column: str) -> UsageError:
    return UsageError(
        f'distance="hierarchical" needs a hierarchy for the sensitive column "{column}".',
        f'Add one, e.g. hierarchies={{"{column}": "{column}.csv"}}.',
    )


def unreachable(asked: str) -> Refused:
    return Refused(
        f"no generalisation reaches {asked}, not even with every quasi-identifier hidden.",
        "Ask for less: the sensitive values of the whole table are not diverse enough.",
    )


def lattice_too_large(nodes: int, most: int) -> Refused:
    return Refused(
        f"the hierarchies have {nodes:,} combinations of levels; {most:,} can be searched.",
        "Use fewer quasi-identifiers or levels, or mondrian.",
    )


def hierarchy_misses(column: str, missing: int) -> UsageError:
    plural = "value" if missing == 1 else "values"
    return UsageError(
        f'the hierarchy of "{column}" misses {missing:,} {plural} of the table.',
        "Add a line for each; values are compared as texts. NULL and blank need none.",
    )


def hierarchy_cycle(column: str) -> UsageError:
    return UsageError(
        f'the hierarchy of "{column}" runs in a circle: a label is its own ancestor.',
        "Each level must be coarser than the one before it.",
    )


def hierarchy_not_nested(column: str, level: int) -> UsageError:
    return UsageError(
        f'the hierarchy of "{column}" is not nested: one label of level {level} belongs to two labels of '
        f"level {level + 1}.",
        "Let every group lie within one group of the next level.",
    )


def hierarchy_repeats(column: str) -> UsageError:
    return UsageError(
        f'the hierarchy of "{column}" lists a value twice, with different groups.', "List every value once."
    )


def hierarchy_ragged(column: str) -> UsageError:
    return UsageError(
        f'the lines of the hierarchy of "{column}" do not all have the same number of levels.',
        "Write each line as value, group, larger group, …, *.",
    )


def hierarchy_empty(column: str) -> UsageError:
    return UsageError(f'the hierarchy of "{column}" has no levels.', "Write each line as value, group, …, *.")


def hierarchy_unused(column: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(
        f'there is a hierarchy for "{column}", which is neither a quasi-identifier nor sensitive.'
        f"{did_you_mean(column, known)}",
        "Leave it out, or name the column in quasi.",
    )


def hierarchy_unknown(column: str, kind: str) -> UsageError:
    return UsageError(
        f'the hierarchy of "{column}" is a {kind}, which is none.',
        'Pass a CSV path, a table, a dict of child: parent, a Hierarchy, or a text like "intervals:5,10".',
    )


def hierarchy_needs(column: str, rule: str, what: str) -> UsageError:
    return UsageError(f'{rule} need {what}, and "{column}" holds something else.', "Use another kind of hierarchy.")


def widths_wrong() -> UsageError:
    return UsageError(
        "the widths of intervals must be positive and each a multiple of the one before it.",
        "Write e.g. intervals(5, 10, 20): only then do small intervals lie within large ones.",
    )


def date_units_wrong(known: Iterable[str]) -> UsageError:
    return UsageError(
        "the units of dates must go from fine to coarse.", f"Choose some of {quoted(known)}, in this order."
    )


def not_numeric(column: str, method: str) -> UsageError:
    return UsageError(f'{method} needs numbers, and "{column}" holds something else.', "Leave the column out.")


def has_blanks(column: str, method: str) -> UsageError:
    return UsageError(
        f'{method} needs a number in every row, and "{column}" has blanks.', "Fill or remove these rows first."
    )


def too_few_columns(method: str, least: int) -> UsageError:
    return UsageError(f"{method} needs at least {least} columns.", "List more columns.")


def key_too_short(length: int, least: int) -> UsageError:
    return UsageError(
        f"the key has {length} bytes; a key that nobody can guess has at least {least}.",
        "Make one with sf.anonymise.new_key(), keep it secret and apart from the table.",
    )


def key_missing() -> UsageError:
    return UsageError(
        "pseudonyms need a secret key.",
        "Make one with sf.anonymise.new_key(), keep it secret and apart from the table.",
    )


def column_taken(name: str) -> UsageError:
    return UsageError(f'the table has a column "{name}" already.', "Choose another name.")


def measure_unknown(given: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'there is no measure "{given}".{did_you_mean(given, known)}', f"Choose {quoted(known)}.")


def suppression_above(share: float, limit: float) -> Refused:
    return Refused(
        f"{share:.2%} of the rows would have to go; the limit is {limit:.2%}.",
        "Raise the limit, generalise first (k_anonymity, mondrian), or ask for less.",
    )


def rows_differ(first: int, second: int) -> UsageError:
    return UsageError(
        f"the original has {first:,} rows and the result speaks of {second:,}.", "Compare a result with its own input."
    )


def nothing_to_compare() -> UsageError:
    return UsageError(
        "original and result share no column that can be asked about.", "Name the columns, e.g. columns=[…]."
    )


def role_unknown(column: str, role: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f'"{column}" cannot be {role!r}.{did_you_mean(role, known)}', f"A role is {quoted(known)}.")


def speaks_of(word: str) -> str:
    return f'its name speaks of "{word}"'
