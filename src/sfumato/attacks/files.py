"""Tables to attack, from files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet

from sfumato.errors import file_kind_unknown, file_missing, file_unreadable

SEPARATORS = ",;\t|"


def read_rows(path: Path) -> pa.Table:
    """The rows of a CSV or Parquet file; CSV columns get the type that all their values have."""
    if not path.is_file():
        raise file_missing(str(path))
    try:
        match path.suffix.lower():
            case ".csv" | ".tsv":
                with path.open(encoding="utf-8-sig") as lines:
                    first = lines.readline()
                separator = max(SEPARATORS, key=first.count)
                return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=separator))
            case ".parquet":
                return parquet.read_table(path)
            case _:
                raise file_kind_unknown(str(path))
    except UnicodeDecodeError:
        raise file_unreadable(path.name, "it is not valid UTF-8") from None
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError):
        raise file_unreadable(path.name, "it is damaged or of another kind than its name says") from None
