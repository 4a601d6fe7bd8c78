"""What an engine says when a table cannot be opened. No wording shows a value of the table."""

from collections.abc import Iterable

from sfumato.errors import DataUnreadable, EngineFailed, UsageError, did_you_mean, from_a_spreadsheet, quoted

SAY_WHICH = (
    'Say which: source_table = "people" in the policy, --source-table people for sfumato init, '
    'source_table="people" in Python.'
)


def kind_unknown(path: str) -> DataUnreadable:
    return DataUnreadable(
        f"{path} is of no kind that is read here.",
        f"{from_a_spreadsheet(path)}Give a file .csv, .tsv, .csv.gz, .tsv.gz, .json, .jsonl, .ndjson, .parquet, "
        ".duckdb, .db, .sqlite or .sqlite3, or a directory of .parquet files.",
    )


def table_needed(name: str, tables: Iterable[str]) -> DataUnreadable:
    """`tables` are shown to the owner, who drafts a policy; nobody else needs their names."""
    listed = quoted(tables)
    return DataUnreadable(f"{name} holds several tables{f': {listed}' if listed else ''}.", SAY_WHICH)


def table_absent(name: str, table: str, tables: Iterable[str]) -> DataUnreadable:
    return DataUnreadable(f'{name} has no table "{table}".{did_you_mean(table, tables)}', SAY_WHICH)


def no_tables(name: str) -> DataUnreadable:
    return DataUnreadable(f"{name} holds no table.", "Check that it is the right file.")


def view_refused(name: str, view: str) -> DataUnreadable:
    return DataUnreadable(
        f'"{view}" of {name} is a view, and a row of a view may tell about several people.',
        f"Name the table behind it, or store it: CREATE TABLE {view}_stored AS SELECT * FROM {view}.",
    )


def column_computed(name: str) -> DataUnreadable:
    return DataUnreadable(
        f'the column "{name}" is computed when it is read, and may fail on single rows.',
        "Store its values in an ordinary column, or leave it out of the policy.",
    )


def type_refused(name: str, kind: str) -> DataUnreadable:
    return DataUnreadable(
        f'the column "{name}" is of the type {kind}, which is not read here.',
        "Store it as numbers, texts, dates or dates with a time, or leave it out of the policy.",
    )


def id_is_real(name: str) -> DataUnreadable:
    return DataUnreadable(
        f'the ids in "{name}" are floating-point numbers, which are the same for different people from 2^53 on.',
        "Hand over whole numbers or texts. pandas makes floating-point numbers of a column of whole numbers in which "
        f'one is missing: frame["{name}"] = frame["{name}"].astype("Int64") keeps those of up to 15 digits; longer '
        f'ones are rounded already, so read them as dtype={{"{name}": "Int64"}} or "string" in the first place. In a '
        f'file, store CAST("{name}" AS BIGINT).',
    )


def source_table_unwanted(name: str) -> UsageError:
    return UsageError(
        f"source_table names a table of a DuckDB or SQLite file, and {name} is none.", "Leave source_table out."
    )


def file_locked(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"{name} is in use by a program that writes to it.", "Nothing was charged. Close that program and try again."
    )


def values_unreadable(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"{name} cannot be read: it is damaged, or a declared column holds texts that are not valid UTF-8, or times "
        "out of range.",
        "Nothing was charged. Write the file again with texts in UTF-8 and times of the years 1 to 9999.",
    )


def too_large(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"{name} does not fit into the memory of the engine.",
        "Raise memory in [limits] of the policy, or convert the file to Parquet, which is read in place.",
    )


def folder_empty(name: str) -> DataUnreadable:
    return DataUnreadable(f"the directory {name} holds no .parquet file.", "Check the path.")


def folder_nested(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"the directory {name} holds directories, and only the files right in it would be read.",
        "Put all .parquet files into one directory.",
    )


def folder_linked(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"the directory {name} holds a link, which may lead out of it or count rows twice.",
        "Put the file itself there.",
    )


def folder_mixed(name: str, file: str) -> DataUnreadable:
    return DataUnreadable(
        f"{file} of the directory {name} has other columns than the first file there.",
        "Write all files with the same names and types of columns, in the same order.",
    )


def folder_changed(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"files were added to the directory {name} or removed since it was opened.",
        "Nothing was charged. Open the session anew.",
    )


def names_alike(name: str) -> UsageError:
    return UsageError(f'another column is called "{name}" but for the case of letters.', "Declare one of the two.")


def frame_unknown(kind: str) -> UsageError:
    return UsageError(
        f"a value of type {kind} is not a table Sfumato reads.",
        "Pass the path of a file or of a directory of Parquet files, or a pandas, Polars or Arrow table; to fit a "
        "learner also a NumPy array or rows in lists. Of anything else, its own table: frame.to_native().",
    )


def folder_names(column: str) -> UsageError:
    return UsageError(
        f'"{column}" is read off the names of folders, and Arrow gives all of them one type.',
        "State the types and pass a table: pyarrow.dataset.dataset(path, schema=..., partitioning=...).to_table().",
    )


def session_closed() -> UsageError:
    return UsageError("this session is closed.", "Open another one.")


def session_of_another_process() -> UsageError:
    return UsageError("this session was opened in another process.", "Open one in each process, after the fork.")


def asked_meanwhile() -> UsageError:
    return UsageError(
        "this very thread is in the middle of a question: it was interrupted, and asks again.",
        "Nothing was charged. Ask when the first question has been answered, not in a handler of signals.",
    )


def broken_off() -> EngineFailed:
    return EngineFailed(
        "something else than the engine broke this question off.",
        "The charge stands; ask again, which is free, three times at most. Let the owner check memory and disk.",
    )


def engine_failed() -> EngineFailed:
    """One text for every cause: which one it was may depend on single rows."""
    return EngineFailed(
        "the engine could not finish this question.",
        "The charge stands. Let the owner check limits, memory and disk of the engine; fresh=True pays for a new try.",
    )


def changed_while_opened() -> DataUnreadable:
    return DataUnreadable(
        "the data changed while it was opened, so that its slots would see different states.",
        "Nothing was charged. Open it again. What can be read only once takes one slot.",
    )


def check_unfinished() -> EngineFailed:
    return EngineFailed(
        "the engine could not count the cells of this table within its limits.",
        "Nothing was spent. Raise seconds or memory under [limits] in the policy, or free some of the disk.",
    )


def one_array(name: str) -> DataUnreadable:
    return DataUnreadable(
        f"{name} is one array, in which a single row could make all others unreadable.",
        "Write one object per line; jq -c '.[]' does so.",
    )
