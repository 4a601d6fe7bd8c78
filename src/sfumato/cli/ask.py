"""sfumato ask"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.answers.answer import Answer, check_confidence
from sfumato.answers.display import MOST_LISTED, beside, ends, listed, long, readable, sentences
from sfumato.answers.wordings import rows_without_error
from sfumato.cli.format import Format, WithPage
from sfumato.cli.output import as_csv, as_json, as_table, working, write
from sfumato.cli.spending import Clipped, MaxGroups, MaxRows, MaxRowsPerGroup, settled
from sfumato.cli.writable import Static, ToFile, page_ready, ready
from sfumato.protected import open_policy
from sfumato.query.capping import CapsGiven
from sfumato.session import DEFAULT_ANALYST

app = typer.Typer(add_completion=False)


@app.command()
def ask(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    question: Annotated[str, typer.Argument(help="SELECT … FROM table [WHERE …] [GROUP BY …]")],
    spend: Annotated[str | None, typer.Option(help="How much epsilon this question may cost, e.g. 0.5.")] = None,
    error: Annotated[str | None, typer.Option(help="Spend what brings the error bar down to this, e.g. 10.")] = None,
    column: Annotated[str | None, typer.Option(help="Whose error bar, if the question has several numbers.")] = None,
    rows: Annotated[
        int | None,
        typer.Option(help="About how many rows a group has, your guess: for --error of an average."),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="Delta for discovering keys, e.g. 1e-9 (default: a fiftieth of the pot for keys)."),
    ] = None,
    max_rows: MaxRows = None,
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRowsPerGroup = None,
    clipped: Clipped = False,
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for a question asked before.")] = False,
    request: Annotated[str | None, typer.Option(help="An id that makes a retry free.")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the error bars.")] = 0.95,
    format: Annotated[WithPage, typer.Option(help="How to print the answer; html is one page with plots.")] = (
        Format.table
    ),
    output: ToFile = None,
    static: Static = False,
    script: Annotated[Path | None, typer.Option(help="Also write the Python that repeats the question.")] = None,
) -> None:
    """Ask a question, pay for it, get an answer with error bars."""
    check_confidence(confidence)
    if rows is not None and error is None:
        raise rows_without_error()
    caps = CapsGiven(max_rows=max_rows, max_groups=max_groups, max_rows_per_group=max_rows_per_group, clipped=clipped)
    ready(output, script)
    page_ready(wanted=format is Format.html, static=static)
    with working("Asking …"), open_policy(policy, analyst=analyst) as session:
        amount, chosen = settled(
            session,
            question,
            spend=spend,
            error=error,
            column=column,
            delta=delta,
            confidence=confidence,
            caps=caps,
            rows=rows,
        )
        answer = session.ask(question, spend=amount, fresh=fresh, request=request, **caps)
        write(_rendered(answer, confidence, format, chosen, static=static), output)
        if format is Format.csv:  # the file holds rows alone; what they do not say goes beside it
            sys.stderr.write(chosen + "".join(f"{note}\n" for note in answer.notes))
        if script is not None:
            write(answer.script(), script)


def _rendered(answer: Answer, confidence: float, format: WithPage, chosen: str, *, static: bool = False) -> str:
    match format:
        case Format.json:
            return as_json(answer.to_dict(confidence))
        case Format.csv:
            columns, rows = long(answer, *beside(answer, {"low": ends(0), "high": ends(1)}, confidence))
            return as_csv(columns, [{name: _flat(cell) for name, cell in row.items()} for row in rows])
        case Format.html:
            return answer.to_html(confidence=confidence, static=static)
        case Format.table:
            bins = [
                as_table(part.columns, part.rows, title=part.column, footer="\n".join(part.rest))
                for part in listed(answer, confidence, MOST_LISTED)
            ]
            said = chosen + "\n".join(sentences(answer, confidence)) + "\n"
            return "".join([as_table(*readable(answer, confidence)), *bins, said])


def _flat(cell: Any) -> Any:
    """A list in one cell of a CSV file is JSON; nothing is an empty cell."""
    return json.dumps(cell) if isinstance(cell, list) else "" if cell is None else cell
