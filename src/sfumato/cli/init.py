"""sfumato init"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import working
from sfumato.engines.duckdb import describe
from sfumato.errors import policy_exists
from sfumato.schema.draft import draft_policy

app = typer.Typer(add_completion=False)


@app.command()
def init(
    table: Annotated[
        Path, typer.Argument(help="A CSV, JSON lines, Parquet, DuckDB or SQLite file, or a directory of Parquet files.")
    ],
    output: Annotated[Path | None, typer.Option(help="The policy file to write (default: beside the table).")] = None,
    source_table: Annotated[str | None, typer.Option(help="Which table of a DuckDB or SQLite file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
) -> None:
    """Draft a policy from the column names and types of a table; no value is looked at."""
    table = table if table.name else table.resolve()
    target = output or table.with_suffix(".toml")
    if target.exists() and not force:
        raise policy_exists(str(target))
    with working("Reading column names and types …"):
        columns = describe(table.resolve(), source_table)
    source = table.name if target.parent.resolve() == table.parent.resolve() else str(table.resolve())
    name = table.stem if source_table is None else source_table.rpartition(".")[2]
    target.write_text(draft_policy(source, name, columns, source_table), encoding="utf-8")
    typer.echo(f"Wrote {target}. Declare bounds and categories there, then ask, e.g.:")
    typer.echo(f'  sfumato ask {target} "SELECT COUNT(*) AS n FROM {name}" --spend 0.1')
