"""sfumato history"""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, print_rows, write
from sfumato.cli.writable import ToFile
from sfumato.ledger.history import Drawn
from sfumato.protected import Protected

app = typer.Typer(add_completion=False)


@app.command()
def history(
    policy: Annotated[Path, typer.Argument(help="The policy file, e.g. people.toml.")],
    draws: Annotated[bool, typer.Option("--draws", help="List what was drawn for learners' charges instead.")] = False,
    analyst: Annotated[str | None, typer.Option(help="Of this analyst alone.")] = None,
    before: Annotated[int | None, typer.Option(help="What was charged before this entry.")] = None,
    limit: Annotated[int | None, typer.Option(help="The newest so many, e.g. 20.")] = None,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """List every charge of every analyst, oldest first; for the owner."""
    with Protected.open(policy) as owned:
        if draws:
            _print_draws(owned.draws(), format, output)
            return
        charges = owned.history(analyst, before=before, limit=limit)
    if format is Format.json:
        columns = ("entry", "when", "analyst", "spend", "digest", "releases", "request", "questions", "purpose")
        write(as_json([{name: getattr(charge, name) for name in columns} for charge in charges]), output)
        return
    rows = [
        {
            "entry": charge.entry,
            "when": charge.when,
            "analyst": charge.analyst,
            "spend": f"{charge.spend:g}",
            "releases": _counted([event["mechanism"] for event in charge.releases]),
            "asked": "; ".join(charge.questions) or _purpose(charge.purpose) or f"plan {charge.digest[:12]}",
        }
        for charge in charges
    ]
    columns_shown = ["entry", "when", "analyst", "spend", "releases", "asked"]
    write(as_csv(columns_shown, rows) if format is Format.csv else as_table(columns_shown, rows), output)


def _print_draws(draws: list[Drawn], format: Usual, output: Path | None) -> None:
    columns = ("entry", "when", "envelope", "round", "amount", "used", "releases")
    rows = [
        {
            **asdict(draw),
            "amount": f"{draw.amount:.6g}",
            "used": f"{draw.used:.6g}",
            "releases": _counted([event["mechanism"] for event in draw.releases]),
        }
        for draw in draws
    ]
    print_rows(columns, rows, format, output, content=[asdict(draw) for draw in draws])


def _purpose(text: str) -> str:
    """What a learner was paid for, in a few words; JSON mode has all of it."""
    try:
        said = json.loads(text)
    except ValueError:
        return text
    if not isinstance(said, dict):
        return text
    what = [
        f"{verb} {said[key]}"
        for verb, key in (("learn", "learner"), ("evaluate", "evaluate"), ("compare", "compare"))
        if key in said
    ]
    if not what or "target" not in said:
        return text
    return f"{what[0]}: {said['target']}" if said["target"] else what[0]


def _counted(mechanisms: list[str]) -> str:
    """Name alike mechanisms once: "discrete_gaussian ×3" for three alike."""
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in Counter(mechanisms).items())
