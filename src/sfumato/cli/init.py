"""sfumato init"""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import number, working, write
from sfumato.cli.wordings import policy_exists
from sfumato.engines.duckdb.engine import describe
from sfumato.engines.duckdb.files import ending
from sfumato.engines.duckdb.fit import looks
from sfumato.engines.sql.phrases import quoted
from sfumato.errors import Refused
from sfumato.query.sql import parse
from sfumato.schema.columns import Float
from sfumato.schema.draft import draft_policy, who_is_protected
from sfumato.visible import visible

app = typer.Typer(add_completion=False)


@app.command()
def init(
    table: Annotated[
        Path, typer.Argument(help="A CSV, JSON lines, Parquet, DuckDB or SQLite file, or a directory of Parquet files.")
    ],
    output: Annotated[Path | None, typer.Option(help="The policy file to write (default: beside the table).")] = None,
    private_bounds: Annotated[
        str | None, typer.Option(help="Let sums find bounds that are not known, with this part of their spend: 0.33.")
    ] = None,
    source_table: Annotated[str | None, typer.Option(help="Which table of a DuckDB or SQLite file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
) -> None:
    """Draft a policy from the column names and types of a table; bounds and lists of values are never read off it.

    What has no type, as in a CSV file, is looked at for one: numbers, dates, two values such as yes and no.
    """
    table = table if table.name else table.resolve()
    stem = table.name[: -len(ending(table))] or table.name
    target = output or table.with_name(f"{stem}.toml")
    part = None if private_bounds is None else number(private_bounds, "private_bounds")
    Float(private_bounds=part)  # refuses what a policy would refuse
    if target.exists() and not force:
        raise policy_exists(str(target))
    with working("Reading column names and types …"):
        columns = describe(table.resolve(), source_table)
        seen = looks(table.resolve(), source_table, columns)
    source = table.name if target.parent.resolve() == table.parent.resolve() else str(table.resolve())
    name = stem if source_table is None else source_table.rpartition(".")[2]
    known = None if part is None else str(part)
    write(draft_policy(source, name, columns, source_table, private_bounds=known, looks=seen), target)
    typer.echo(visible(f"Wrote {target}. Declare bounds and categories there, then ask, e.g.:"))
    typer.echo(visible(f"  sfumato ask {shlex.quote(str(target))} {_typed(_counting(name))} --spend 0.1"))
    typer.echo(visible(f"How it fits the table, for your eyes:  sfumato check {shlex.quote(str(target))}"))
    typer.echo(visible(who_is_protected(columns, seen)))


def _counting(table: str) -> str:
    """A question about a table, whose name is quoted where the language would read it otherwise."""
    plain = f"SELECT COUNT(*) AS n FROM {table}"
    try:
        same = table.isidentifier() and parse(plain).table == table
    except Refused:
        same = False
    return plain if same else f"SELECT COUNT(*) AS n FROM {quoted(table)}"


def _typed(text: str) -> str:
    """As one types it in a shell."""
    return shlex.quote(text) if any(sign in text for sign in '"$`\\!') else f'"{text}"'
