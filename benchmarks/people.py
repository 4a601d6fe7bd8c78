"""The table that engines are measured on: 10 M rows, about 11 rows a person, 16 × 7 groups."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

EDUCATION = [f"edu_{i:02d}" for i in range(16)]
ZIPS = [f"{i:05d}" for i in range(10_000)]
MARITAL = [f"mar_{i}" for i in range(7)]
BLOCK = 1_000_000
# Of the small table of latencies.
POLICY = """
[data]
source = "people.parquet"
[unit]
id = "person_id"
max_rows = 4
max_groups = 2
[budget]
epsilon = 100000
delta = 1e-6
[columns]
age = { type = "int", lower = 17, upper = 90 }
sex = { type = "category", values = ["Female", "Male"] }
income = { type = "float", lower = 0, upper = 200000 }
"""


def people(rows: int, folder: Path) -> Path:
    """The table as a Parquet file, made once."""
    path = folder / f"people_{rows}_zip.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(path.with_suffix(".part"), rows)
        path.with_suffix(".part").rename(path)
    return path


def _write(path: Path, rows: int) -> None:
    generator = np.random.default_rng(7)
    visits = np.arange(1, 51)
    weights = (1 / visits) / (1 / visits).sum()
    persons = int(rows / (visits * weights).sum() * 1.02) + 100
    ids = np.repeat(np.arange(persons, dtype=np.int32), generator.choice(visits, persons, p=weights))[:rows]
    generator.shuffle(ids)
    writer = None
    for start in range(0, rows, BLOCK):
        table = block(ids[start : start + BLOCK], generator)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table)
    assert writer is not None
    writer.close()


def block(ids: np.ndarray, generator: np.random.Generator) -> pa.Table:
    count = len(ids)
    return pa.table(
        {
            "user_id": ids,
            "age": np.clip(generator.normal(40, 15, count), 17, 90).astype(np.int32),
            "education": _skewed(EDUCATION, 0.7, count, generator),
            "marital": _skewed(MARITAL, 0.8, count, generator),
            "hours": np.clip(generator.normal(40, 12, count), 1, 99),
            "income": generator.lognormal(10.5, 0.8, count),
            "day": generator.integers(0, 365, count).astype(np.int32),
            "zip": _skewed(ZIPS, 0.5, count, generator),
        }
    )


def _skewed(values: list[str], power: float, count: int, generator: np.random.Generator) -> pa.Array:
    weights = 1 / np.arange(1, len(values) + 1) ** power
    codes = generator.choice(len(values), count, p=weights / weights.sum()).astype(np.int16)
    return pa.DictionaryArray.from_arrays(pa.array(codes), values).cast(pa.string())
