"""sfumato predict"""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from sfumato.anonymise.tables import write_table
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, print_rows, working, write
from sfumato.cli.writable import ready
from sfumato.errors import so_many
from sfumato.learn import load
from sfumato.tables.reading import read

app = typer.Typer(add_completion=False)
MOST_SHOWN = 20


@app.command(no_args_is_help=True)
def predict(
    model: Annotated[Path, typer.Argument(help="A model that `sfumato learn` wrote, e.g. tree.json.")],
    table: Annotated[Path, typer.Argument(help="A file of rows to predict: CSV, JSON lines, Parquet, Arrow.")],
    output: Annotated[
        Path | None, typer.Option(help="Write the rows with their predictions to this .csv or .parquet file.")
    ] = None,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
) -> None:
    """Predict rows of your own with a model. Costs nothing: a model is public."""
    ready(output)
    learner = load(model)
    with working("Predicting …"):
        rows = read(table, typed=True)[0]
        found = {name: pa.array(values.tolist()) for name, values in learner.predicted(rows).items()}
    if output is not None:
        write_table(_beside(rows, found), output)
        if format is Format.table:
            write(f"Wrote {output}: {so_many(rows.num_rows, 'row')}.\n", None)
            return
    listed = pa.table(found).to_pylist()
    if format is Format.csv:
        write(as_csv(list(found), listed), None)
        return
    more = f"The first {MOST_SHOWN} of {len(listed):,} rows; --output writes all." if len(listed) > MOST_SHOWN else ""
    print_rows(list(found), listed[:MOST_SHOWN], format, footer=more, content=listed)


def _beside(rows: pa.Table, found: dict[str, Any]) -> pa.Table:
    """The rows with new columns; one of the same name is replaced."""
    kept = [name for name in rows.column_names if name not in found]
    return pa.table({**{name: rows.column(name) for name in kept}, **found})
