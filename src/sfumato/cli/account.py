"""sfumato account"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from sfumato import accounting
from sfumato.accounting.wordings import times_before_mechanism, times_not_whole
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, number, working, write
from sfumato.cli.writable import Static, ToFile, ready

ARGUMENTS = "sfumato.arguments"

app = typer.Typer(add_completion=False)


class InOrder(TyperCommand):
    """Remembers the arguments in the order typed: --times belongs to the mechanism before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)


def _mechanism(says: str, metavar: str = "EPSILON") -> Any:
    return typer.Option(help=says, metavar=metavar, show_default=False)


@app.command(cls=InOrder, no_args_is_help=True)
def account(
    context: typer.Context,
    laplace: Annotated[list[str] | None, _mechanism("Laplace noise on one number.")] = None,
    geometric: Annotated[list[str] | None, _mechanism("Whole-number Laplace noise on a count.")] = None,
    gaussian: Annotated[list[str] | None, _mechanism("Gaussian noise, sigma over sensitivity.", "SIGMA")] = None,
    randomised_response: Annotated[list[str] | None, _mechanism("Randomised response.")] = None,
    exponential: Annotated[list[str] | None, _mechanism("A choice by the exponential mechanism.")] = None,
    permute_and_flip: Annotated[list[str] | None, _mechanism("A choice by permute-and-flip.")] = None,
    pure: Annotated[list[str] | None, _mechanism("Anything else that is epsilon-DP.")] = None,
    zcdp: Annotated[list[str] | None, _mechanism("Anything that is rho-zCDP.", "RHO")] = None,
    approximate: Annotated[list[str] | None, _mechanism("Anything (epsilon, delta)-DP.", "EPSILON,DELTA")] = None,
    times: Annotated[
        list[str] | None, typer.Option(help="How often the mechanism before it runs.", metavar="COUNT")
    ] = None,
    delta: Annotated[str, typer.Option(help="The delta of the whole.")] = "1e-5",
    plot: Annotated[Path | None, typer.Option(help="Draw the bounds into this .html, .png or .svg file.")] = None,
    static: Static = False,
    unproved: Annotated[
        bool, typer.Option("--unproved", help="In the plot, let the simplified formula go on where it is not proved.")
    ] = False,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """Composition bounds side by side: what several mechanisms cost together. Mechanisms may be repeated and mixed.

    sfumato account --laplace 0.1 --times 100 --gaussian 5 --times 20 --delta 1e-5
    """
    ready(output, plot=plot, static=static)
    given = {
        "--laplace": laplace,
        "--geometric": geometric,
        "--gaussian": gaussian,
        "--randomised-response": randomised_response,
        "--exponential": exponential,
        "--permute-and-flip": permute_and_flip,
        "--pure": pure,
        "--zcdp": zcdp,
        "--approximate": approximate,
        "--times": times,
    }
    events, chance = _events(context.meta[ARGUMENTS], given), number(delta, "delta")
    with working("Adding up …"):
        bounds = accounting.compose(events, chance)
        if plot is not None:
            accounting.draw_composition(events, chance, unproved=unproved).save(plot, static=static)
    write(_rendered(bounds, format), output)


def _events(words: Sequence[str], given: Mapping[str, Sequence[str] | None]) -> dict[tuple[Any, ...], int]:
    """The mechanisms with how often each runs: the values that were given, in the order in which they were typed."""
    values = {flag: iter(listed or ()) for flag, listed in given.items()}
    found: list[tuple[tuple[Any, ...], int]] = []
    for flag in (word.partition("=")[0] for word in words):
        value = next(values[flag], None) if flag in values else None
        if value is None:
            continue
        if flag != "--times":
            name = flag[2:].replace("-", "_")
            found.append(((name, *(number(part, flag[2:]) for part in value.split(","))), 1))
        elif not found:
            raise times_before_mechanism()
        elif not value.isdecimal() or not int(value):
            raise times_not_whole(value)
        else:
            found[-1] = found[-1][0], int(value)
    counts: dict[tuple[Any, ...], int] = {}
    for event, count in found:
        counts[event] = counts.get(event, 0) + count
    return counts


def _rendered(bounds: accounting.Bounds, format: Usual) -> str:
    if format is Format.json:
        return as_json(bounds.to_dict())
    if format is Format.csv:
        return as_csv(["bound", "epsilon"], [{**row, "epsilon": _cell(row["epsilon"])} for row in bounds.rows])
    rows = [{**row, "epsilon": _text(row["epsilon"])} for row in bounds.rows]
    name, best = bounds.best
    many = sum(count for _, count in bounds.events)
    footer = (
        f"{many} mechanisms are ({best:.6g}, {bounds.delta:g})-DP together, by {name}. "
        "Parameters must be fixed in advance; if they depend on answers, only sums of epsilon or rho hold."
    )
    return as_table(["bound", "epsilon", "says"], rows, footer=footer)


def _text(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "–"


def _cell(value: object) -> object:
    return "" if value is None else value
