"""sfumato epsilon"""

from decimal import Decimal
from enum import StrEnum
from math import exp
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import accounting, noise
from sfumato.accounting.wordings import figure_takes_one, figure_without_plot
from sfumato.cli.format import Format, Usual
from sfumato.cli.output import as_csv, as_json, as_table, number, working, write
from sfumato.cli.writable import Static, ToFile, ready
from sfumato.kernel.mechanisms.additive import DiscreteGaussian
from sfumato.kernel.widths import error
from sfumato.ledger.terms import Terms
from sfumato.schema.budget import Budget

USUAL_DELTA, POLICY_DELTA = Decimal("1e-5"), Decimal("1e-6")  # of one answer; of a policy as `init` drafts it

CONFIDENCE = 0.95

app = typer.Typer(add_completion=False)


class Figure(StrEnum):
    """What to draw."""

    belief = "belief"
    worlds = "worlds"
    densities = "densities"
    errors = "errors"
    counts = "counts"
    clipping = "clipping"
    caps = "caps"
    keys = "keys"
    quantiles = "quantiles"


@app.command()
def epsilon(
    amounts: Annotated[
        list[str], typer.Argument(metavar="EPSILON", help="The epsilon to explain, e.g. 1, or several to compare.")
    ],
    prior: Annotated[str, typer.Option(help="What an attacker believed before the answer, 0 to 1.")] = "0.5",
    plot: Annotated[Path | None, typer.Option(help="Draw it into this .html, .png or .svg file.")] = None,
    static: Static = False,
    figure: Annotated[
        Figure | None,
        typer.Option(
            help="What to draw: how beliefs move (the default), the answer with and without one person, densities of "
            "noise, drawn errors, Laplace against Gaussian noise on many counts; or of invented people where to clip, "
            "how many rows may count, which keys are found, where quantiles fall.",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            help="Delta of Gaussian noise: instead of Laplace noise in worlds, beside it in densities and counts; of a "
            "budget in keys."
        ),
    ] = None,
    answer: Annotated[str | None, typer.Option(help="An invented answer for worlds, densities and errors.")] = None,
    counts: Annotated[int, typer.Option(help="For counts: how many one person moves all at once.")] = 20,
    people: Annotated[int, typer.Option(help="How many are invented for clipping, caps and quantiles.")] = 1000,
    format: Annotated[Usual, typer.Option(help="How to print.")] = Format.table,
    output: ToFile = None,
) -> None:
    """What this epsilon means, in words, numbers and a plot.

    sfumato epsilon 0.1 0.5 1 3 --prior 0.01
    sfumato epsilon 1 --figure worlds --plot worlds.html
    """
    ready(output, plot=plot, static=static)
    prices, before = [number(amount, "epsilon") for amount in amounts], number(prior, "prior")
    meanings = [_meaning(price, before) for price in prices]
    if plot is not None:
        chance = None if delta is None else number(delta, "delta")
        around = None if answer is None else number(answer, "answer")
        with working("Drawing …"):
            chart = _chart(figure or Figure.belief, prices, before, chance, around, counts=counts, people=people)
            chart.save(plot, static=static)
    elif figure is not None:
        raise figure_without_plot(figure)
    write(_rendered(meanings, format), output)


SEVERAL = (Figure.belief, Figure.densities, Figure.errors)  # epsilons in one figure


def _chart(
    figure: Figure,
    prices: list[Decimal],
    before: Decimal,
    delta: Decimal | None,
    answer: Decimal | None,
    *,
    counts: int,
    people: int,
) -> Any:
    price, others = prices[0], prices[1:]
    if others and figure not in SEVERAL:
        raise figure_takes_one(figure, len(prices))
    match figure:
        case Figure.belief:
            return accounting.draw_belief(price, before, **({"beside": others} if others else {}))
        case Figure.worlds:
            return accounting.draw_worlds(price, delta or 0, answer=answer or 0)
        case Figure.densities:
            return noise.draw_densities(prices, delta=delta, answer=answer or 0)
        case Figure.errors:
            return noise.draw_errors(prices, answer=answer)
        case Figure.counts:
            return accounting.draw_deviations(counts, price, USUAL_DELTA if delta is None else delta)
        case Figure.clipping:
            return accounting.draw_clipping(price, people=people)
        case Figure.caps:
            return accounting.draw_caps(price, people=people)
        case Figure.keys:
            return accounting.draw_keys(price, POLICY_DELTA if delta is None else delta)
        case Figure.quantiles:
            return accounting.draw_quantiles(price, people=people)


def _meaning(price: Decimal, before: Decimal) -> dict[str, float | None]:
    low, high = accounting.posterior(before, price)
    return {
        "epsilon": float(price),
        "prior": float(before),
        "posterior_low": low,
        "posterior_high": high,
        "odds_factor": exp(min(float(price), 700.0)),
        "membership_advantage": accounting.membership_advantage(price),
        "count_error95": noise.interval("geometric", sensitivity=1, epsilon=price),
        "count_error95_with_delta": _with_delta(price),
    }


def _with_delta(price: Decimal) -> float | None:
    """Of a count that a budget with a delta answers at this spend; None where it buys nothing there."""
    amount = Terms(Budget(price, POLICY_DELTA)).limit
    return error(DiscreteGaussian.for_rho(amount, l2_squared=1), CONFIDENCE) if amount > 0 else None


def _rendered(meanings: list[dict[str, float | None]], format: Usual) -> str:
    first = meanings[0]
    if format is Format.json:
        return as_json(first if len(meanings) == 1 else meanings)
    if format is Format.csv:
        return as_csv(list(first), meanings)
    if len(meanings) > 1:
        names = [name.replace("_", " ") for name in first]
        cells = [[_shown(value) for value in meaning.values()] for meaning in meanings]
        rows = [dict(zip(names, row, strict=True)) for row in cells]
        return as_table(names, rows, footer="Each is for one answer. What several cost together: sfumato account.")
    rows = [{"": name.replace("_", " "), "value": _shown(value)} for name, value in first.items()]
    return as_table(["", "value"], rows, footer=_words(first))


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"


def _words(meaning: dict[str, Any]) -> str:
    """Sentences a person can repeat."""
    many = meaning["count_error95_with_delta"]
    beside = "" if many is None else f"; where the budget has a delta, ±{many:g}, and several times as many counts fit"
    epsilon, right = meaning["epsilon"], (1 + meaning["membership_advantage"]) / 2
    return "\n".join(
        [
            f"Whatever an answer with epsilon {epsilon:g} says: nobody's odds on a fact about you change by more than "
            f"a factor of {meaning['odds_factor']:.3g}.",
            f"A belief of {meaning['prior']:g} that you are in the data stays between "
            f"{meaning['posterior_low']:.4f} and {meaning['posterior_high']:.4f}.",
            f"If a coin decides whether you are in, the best attacker is right in {100 * right:.1f} % of cases.",
            f"A count with this epsilon is within ±{meaning['count_error95']:g} in 95 % of cases{beside}.",
            f"This is for one answer. Two of them allow epsilon {2 * epsilon:g}; many cost less than their sum, see "
            "sfumato account.",
        ]
    )
