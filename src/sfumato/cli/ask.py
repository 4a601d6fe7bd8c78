"""sfumato ask"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.output import Format, as_csv, as_json, as_table, number, working, write
from sfumato.query.finish import Answer, check_confidence
from sfumato.session import DEFAULT_ANALYST, open_policy

app = typer.Typer(add_completion=False)


@app.command()
def ask(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    question: Annotated[str, typer.Argument(help="SELECT … FROM table [WHERE …] [GROUP BY …]")],
    spend: Annotated[str, typer.Option(help="How much epsilon this question may cost, e.g. 0.5.")],
    analyst: Annotated[str, typer.Option(help="Who is asking.")] = DEFAULT_ANALYST,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again for a question asked before.")] = False,
    request: Annotated[str | None, typer.Option(help="An id that makes a retry free.")] = None,
    confidence: Annotated[float, typer.Option(help="Of the error bars.")] = 0.95,
    format: Annotated[Format, typer.Option(help="How to print the answer.")] = Format.table,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the screen.")] = None,
) -> None:
    """Ask a question, pay for it, get an answer with error bars."""
    amount = number(spend, "spend")
    check_confidence(confidence)
    with working("Asking …"), open_policy(policy, analyst=analyst) as session:
        answer = session.ask(question, spend=amount, fresh=fresh, request=request)
        write(_rendered(answer, confidence, format), output)


def _rendered(answer: Answer, confidence: float, format: Format) -> str:
    if format is Format.json:
        return as_json(answer.to_dict(confidence))
    if format is Format.csv:
        return as_csv(*_beside(answer, {"low": min, "high": max}, confidence))
    columns, rows = _beside(answer, {"±": _half}, confidence)
    footer = (
        f"± at {100 * confidence:g} %. Protects one {answer.unit}.\n"
        + (f"Asked before on {answer.when}: free. " if answer.cached else f"Cost {answer.cost}. ")
        + f"Spent in all {answer.spent}; left {answer.left}."
        + "".join(f"\n{note}" for note in answer.notes)
    )
    return as_table(columns, rows, footer=footer)


def _beside(
    answer: Answer, parts: dict[str, Callable[[float, float], float]], confidence: float
) -> tuple[list[str], list[dict[str, Any]]]:
    """The rows with parts of each interval beside its number, under names that hide no other column."""
    intervals = answer.interval(confidence)
    names: dict[tuple[str, str], str] = {}
    columns = list(answer.columns)
    paired = [column for column in intervals[0] if isinstance(intervals[0][column], tuple)] if intervals else []
    for column in paired:
        for part in parts:
            name = f"{column} {part}" if part == "±" else f"{column}_{part}"
            while name in columns:
                name += "_"
            names[column, part] = name
            columns.insert(columns.index(column) + 1 if part == "±" else len(columns), name)
    rows = [
        {**row, **{name: parts[part](*interval[column]) for (column, part), name in names.items()}}
        for row, interval in zip(answer.rows, intervals, strict=True)
    ]
    return columns, rows


def _half(low: float, high: float) -> float:
    half = (high - low) / 2
    return int(half) if isinstance(low, int) and half.is_integer() else half
