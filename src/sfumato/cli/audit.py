"""sfumato audit: attack every mechanism and every aggregate, and say what the attacks prove."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from sfumato.audit.findings import Finding
from sfumato.audit.runs import tasks, twin_tasks
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, write
from sfumato.cli.writable import ToFile, ready
from sfumato.errors import UsageError

app = typer.Typer(add_completion=False)

COLUMNS = ("what", "check", "claimed", "measured", "verdict")


@app.command()
def audit(
    twins: Annotated[
        bool, typer.Option("--twins", help="Run the planted broken versions; succeed only if every one is flagged.")
    ] = False,
    only: Annotated[str, typer.Option(help="Only audits whose name contains this text.", metavar="TEXT")] = "",
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Attack every mechanism and every aggregate of Sfumato, with fresh randomness; takes about two minutes.

    Law: draws against the exact law. Events: counts on two neighbours, and the ε they prove (95 %). Bits: whether an
    output is a multiple of a power of two. Time: whether the time of a draw follows the noise. Replay: what one unit
    moves, against what was certified. Membership: how well a model tells whether somebody was in its table. Exits with
    1 on a violation; false alarms: at most one in a million per verdict.
    """
    ready(output)
    findings = list(_run(twins=twins, only=only))
    if not findings:
        raise UsageError(f'no audit has "{only}" in its name.', "Leave out --only to run all of them.")
    flagged = sum(finding.violated for finding in findings)
    rows = [row(finding) for finding in findings]
    match format:
        case Format.json:
            text = as_json({"violations": flagged, "findings": [finding.to_dict() for finding in findings]})
        case Format.csv:
            text = as_csv(COLUMNS, rows)
        case _:
            if twins:
                footer = f"{flagged} of {len(findings)} planted violations flagged."
            else:
                footer = (
                    f"{len(findings)} checks, {flagged} violations. A lower bound refutes a claim; it never proves one."
                )
            text = as_table(COLUMNS, rows, footer=footer)
    write(text, output)
    failed = flagged < len(findings) if twins else flagged > 0
    raise typer.Exit(1 if failed else 0)


def _run(*, twins: bool, only: str) -> Iterator[Finding]:
    chosen = [(name, work) for name, work in (twin_tasks() if twins else tasks()) if only.lower() in name.lower()]
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("", total=len(chosen))
        for name, work in chosen:
            progress.update(bar, description=name)
            yield from work()
            progress.advance(bar)


def row(finding: Finding) -> dict[str, Any]:
    about_epsilon = finding.check in ("events", "precision")
    claim = f"ε = {finding.claimed:.4g}" + (f", δ = {finding.delta:.2g}" if finding.delta else "")
    return {
        "what": finding.name,
        "check": finding.check,
        "claimed": claim if about_epsilon else _limit(finding),
        "measured": f"ε ≥ {finding.measured:.3f}" if about_epsilon else f"{finding.measured:.3g}",
        "verdict": finding.verdict,
    }


def _limit(finding: Finding) -> str:
    match finding.check:
        case "law":
            return f"p ≥ {finding.claimed:.0e}"
        case "membership":
            return f"advantage ≤ {finding.claimed:.3g}"
        case "time":
            return f"correlation ≤ {finding.claimed:g}"
        case _:
            return f"≤ {finding.claimed:g} of the certified"
