"""The engines that there are, as `check_engine` wants them. A further one is a class here, and an entry of ENGINES."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

import pyarrow as pa
import pyarrow.parquet

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.schema.table import Schema
from tests.contract.check_engine import Candidate, Change


class DuckDB:
    """Tables are copied into the engine."""

    name = "duckdb"
    dialect = DUCKDB

    def load(self, table: Any, schema: Schema) -> DuckDBEngine:
        return DuckDBEngine(table, schema)

    def changing(self, table: pa.Table, schema: Schema, folder: Path) -> tuple[DuckDBEngine, Change] | None:
        return None


class DuckDBInPlace(DuckDB):
    """Tables stay in Parquet files of small row groups."""

    name = "duckdb in place"

    def load(self, table: Any, schema: Schema) -> DuckDBEngine:
        if not isinstance(table, pa.Table):
            return DuckDBEngine(table, schema)  # wider numbers than Arrow's
        folder = TemporaryDirectory()
        engine = DuckDBEngine(_written(table, Path(folder.name)), schema)
        finalize(engine, folder.cleanup)
        return engine

    def changing(self, table: pa.Table, schema: Schema, folder: Path) -> tuple[DuckDBEngine, Change] | None:
        engine = DuckDBEngine(_written(table, folder), schema)
        return engine, lambda later: pyarrow.parquet.write_table(later, folder / "people.parquet")


def _written(table: pa.Table, folder: Path) -> Path:
    pyarrow.parquet.write_table(table, folder / "people.parquet", row_group_size=3)
    return folder / "people.parquet"


ENGINES: tuple[Candidate, ...] = (DuckDB(), DuckDBInPlace())
