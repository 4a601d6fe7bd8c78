"""What the reader of tables says when it cannot go on. Columns are named, values never shown."""

from collections.abc import Iterable

from sfumato.errors import DataUnreadable, UsageError, did_you_mean, from_a_spreadsheet, quoted


def kind_unknown(path: str, endings: Iterable[str]) -> DataUnreadable:
    return DataUnreadable(
        f"{path} is of no kind that is read here.", f"{from_a_spreadsheet(path)}Give a file {quoted(endings, 20)}."
    )


def format_unknown(name: str, known: Iterable[str]) -> UsageError:
    known = list(known)
    return UsageError(f"{name} is no format of a file.{did_you_mean(name, known)}", f"Name one of {quoted(known, 20)}.")


def file_not_understood(path: str, reason: str) -> DataUnreadable:
    return DataUnreadable(f"{path} cannot be read: {reason}.", "Fix the file and try again.")


def row_torn(path: str, row: int, fields: int, expected: int) -> DataUnreadable:
    noun = "field" if fields == 1 else "fields"
    return file_not_understood(path, f"row {row} has {fields} {noun}, the header {expected}")


def row_not_json(row: int) -> DataUnreadable:
    return DataUnreadable(
        f"row {row}: this is not JSON.", "Write one value or object per line, or one array of objects."
    )


def row_lacks(row: int, name: str) -> DataUnreadable:
    return DataUnreadable(f'row {row}: there is no "{name}".', "Write an object with this name on every line.")


def row_no_object(row: int) -> DataUnreadable:
    return DataUnreadable(
        f"row {row}: this is no object with columns.", 'Write objects, e.g. {"age": 41, "sex": "f"}, one per line.'
    )


def not_a_table(kind: str) -> UsageError:
    return UsageError(
        f"a {kind} is not a table Sfumato reads.",
        "Pass a path to a CSV, JSON, Parquet or Arrow file, a pandas, Polars or Arrow table, or a list of dicts.",
    )


def mixed_types() -> UsageError:
    return UsageError("a column holds values of mixed types.", "Give each column one type, e.g. turn it into texts.")
