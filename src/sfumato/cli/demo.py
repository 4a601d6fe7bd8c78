"""sfumato demo"""

import shlex
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from sfumato.cli.format import Format, WithoutRows
from sfumato.cli.output import as_json, write
from sfumato.cli.tour import budget, model, phone, private, quartiles, release, synthetic, totals, town, trustless
from sfumato.cli.tour.files import Files, prepare
from sfumato.cli.tour.report import report
from sfumato.cli.tour.stage import GOOD, SOFT, Stage
from sfumato.cli.writable import Static
from sfumato.errors import MissingExtra
from sfumato.plots.page import write_page

app = typer.Typer(add_completion=False)

FEWEST_ROWS = 1_000
QUESTION = "SELECT sex, COUNT(*) AS visits, AVG(cost) AS cost FROM town GROUP BY sex"
PLANNED = "SELECT sex, MEDIAN(income) AS income FROM town GROUP BY sex"


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option(help="The folder for the town, its policy, its ledger and the report.")
    ] = Path("sfumato-demo"),
    rows: Annotated[int, typer.Option(min=FEWEST_ROWS, help="How many visits the town makes.")] = 32_561,
    seed: Annotated[int, typer.Option(min=0, help="Another seed makes another town; the noise has no seed.")] = 0,
    fast: Annotated[bool, typer.Option("--fast", help="Without the moments to read.")] = False,
    static: Static = False,
    format: Annotated[WithoutRows, typer.Option(help="A tour to watch, or its numbers.")] = Format.table,
) -> None:
    """A tour on built-in data: a town, two attacks, private answers, the budget, a model, synthetic rows, a report."""
    stage = Stage(fast=fast, silent=format is Format.json)
    files = prepare(output)
    found = _play(stage, files, rows=rows, seed=seed, static=static)
    commands = _next(files)
    stage.gap()
    stage.say("Go on from here:", style=SOFT)
    for command in commands:
        stage.command(command.replace(' "', ' \\\n  "'))
    if format is Format.json:
        write(as_json({"rows": rows, "seed": seed, "folder": str(output), **found, "next": commands}), None)


def _play(stage: Stage, files: Files, *, rows: int, seed: int, static: bool) -> dict[str, Any]:
    """All scenes, and what each of them found."""
    with TemporaryDirectory() as folder:
        older = Path(folder) / "older.ledger"
        made, facts = town.play(stage, files.town, rows=rows, seed=seed)
        linked = release.play(stage, made, seed=seed)
        differenced = totals.play(stage, made, linked.shown[0])
        told = private.play(stage, made, differenced.pair, files, older=older)
        answered = quartiles.play(stage, made, files)
        purchases = [*told.purchases, *answered.purchases]
        spent = budget.play(stage, files, differenced.pair, told.counts, purchases, older=older)
        learnt = model.play(stage, made, files)
        drawn = synthetic.play(stage, made, files)
        collected = trustless.play(stage, made)
        traced = phone.play(stage, Path(folder))
    stage.scene(11, "One page to keep")
    written: dict[str, Any] = {"path": str(files.report), "missing": ""}
    try:
        with stage.working("Drawing …"):
            text = report(files, facts, linked, differenced, told, answered, spent, static=static)
            write_page(files.report, text)
        stage.say(f"{files.report}", style=GOOD)
        stage.say("Open it in a browser: it needs no network.")
    except MissingExtra as error:
        written = {"path": None, "missing": str(error)}
        stage.say(f"No page this time: {error}")
    return {
        "town": asdict(facts),
        "linking": asdict(linked),
        "differencing": asdict(differenced),
        "private": asdict(told),
        "answers": asdict(answered),
        "budget": asdict(spent),
        "model": asdict(learnt),
        "synthetic": asdict(drawn),
        "local": asdict(collected),
        "geo": asdict(traced),
        "report": written,
    }


def _next(files: Files) -> list[str]:
    """Three commands that work as they stand."""
    policy = shlex.quote(str(files.policy))
    return [
        f'sfumato ask {policy} --spend 0.5 "{QUESTION}"',
        f'sfumato explain {policy} --spend 0.5 "{PLANNED}"',
        f"sfumato budget {policy}",
    ]
