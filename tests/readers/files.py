"""One small table in every kind of file."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

Rows = list[dict[str, Any]]
MARK = b"\xef\xbb\xbf"

# kind -> the name of its file
CSV = {
    "commas": "a.csv",
    "semicolons": "a.csv",
    "tabs": "a.csv",
    "bars": "a.csv",
    "tsv": "a.tsv",
    "capitals": "A.CSV",
    "mark": "a.csv",
    "lines end as in Windows": "a.csv",
    "gzip": "a.csv.gz",
    "gzip tsv": "a.tsv.gz",
}
LINES = {"json lines": "a.json", "jsonl": "a.jsonl", "ndjson": "a.ndjson"}
JSON = {**LINES, "array": "a.json", "array on one line": "a.json", "mark before json": "a.jsonl"}
COLUMNS = {"parquet": "a.parquet", "arrow": "a.arrow", "arrow stream": "a.arrow", "feather": "a.feather"}
KINDS = {**CSV, **JSON, **COLUMNS}


def stored(kind: str, rows: Rows, folder: Path, stem: str = "a") -> Path:
    path = folder / KINDS[kind].replace("a.", f"{stem}.")
    table = pa.Table.from_pylist(rows)
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    match kind:
        case "semicolons":
            path.write_bytes(separated(rows, ";"))
        case "tabs" | "tsv":
            path.write_bytes(separated(rows, "\t"))
        case "bars":
            path.write_bytes(separated(rows, "|"))
        case "mark":
            path.write_bytes(MARK + separated(rows, ","))
        case "lines end as in Windows":
            path.write_bytes(separated(rows, ",", "\r\n"))
        case "gzip":
            path.write_bytes(gzip.compress(separated(rows, ",")))
        case "gzip tsv":
            path.write_bytes(gzip.compress(separated(rows, "\t")))
        case "json lines" | "jsonl" | "ndjson":
            path.write_bytes(lines)
        case "mark before json":
            path.write_bytes(MARK + lines)
        case "array":
            path.write_text(json.dumps(rows, indent=2))
        case "array on one line":
            path.write_text(json.dumps(rows))
        case "parquet":
            pyarrow.parquet.write_table(table, path)
        case "arrow":
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        case "arrow stream":
            with pa.ipc.new_stream(path, table.schema) as file:
                file.write_table(table)
        case "feather":
            pyarrow.feather.write_feather(table, path)
        case _:
            path.write_bytes(separated(rows, ","))
    return path


def separated(rows: Rows, separator: str, line_end: str = "\n") -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator, lineterminator=line_end)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
