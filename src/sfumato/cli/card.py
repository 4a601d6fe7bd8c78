"""sfumato card"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, write
from sfumato.cli.writable import Static, ToFile, page_ready, ready
from sfumato.learn import load

app = typer.Typer(add_completion=False)


@app.command(no_args_is_help=True)
def card(
    model: Annotated[Path, typer.Argument(help="A model that `sfumato learn` wrote, e.g. tree.json.")],
    html: Annotated[Path | None, typer.Option(help="Write the card to this HTML file.")] = None,
    sql: Annotated[str | None, typer.Option(help="Print the model as SQL about this table instead.")] = None,
    static: Static = False,
    format: Annotated[WithoutRows, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Show what a model was learnt from, what it protects and how sure it is; or the model as SQL."""
    ready(output, html)
    page_ready(wanted=html is not None, static=static)
    learner = load(model)
    if html is not None:
        learner.card_.to_html(html, static=static)
    if sql is not None:
        write(learner.to_sql(sql), output)
    else:
        write(as_json(learner.card_.to_dict()) if format is Format.json else f"{learner.card_}\n", output)
