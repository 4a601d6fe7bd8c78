"""sfumato epsilon"""

from decimal import Decimal
from math import exp
from pathlib import Path
from typing import Annotated

import typer

from sfumato import accounting, noise
from sfumato.cli.output import Format, as_csv, as_json, as_table, number, working, write

app = typer.Typer(add_completion=False)


@app.command()
def epsilon(
    amount: Annotated[str, typer.Argument(metavar="EPSILON", help="The epsilon to explain, e.g. 1.")],
    prior: Annotated[str, typer.Option(help="What an attacker believed before the answer, 0 to 1.")] = "0.5",
    plot: Annotated[Path | None, typer.Option(help="Draw it into this .html, .png or .svg file.")] = None,
    format: Annotated[Format, typer.Option(help="How to print.")] = Format.table,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the screen.")] = None,
) -> None:
    """What this epsilon means, in words, numbers and a plot."""
    price, before = number(amount, "epsilon"), number(prior, "prior")
    meaning = _meaning(price, before)
    if plot is not None:
        with working("Drawing …"):
            accounting.draw_belief(price, before).save(plot)
    write(_rendered(meaning, format), output)


def _meaning(price: Decimal, before: Decimal) -> dict[str, float]:
    low, high = accounting.posterior(before, price)
    return {
        "epsilon": float(price),
        "prior": float(before),
        "posterior_low": low,
        "posterior_high": high,
        "odds_factor": exp(min(float(price), 700.0)),
        "membership_advantage": accounting.membership_advantage(price),
        "count_error95": noise.interval("geometric", sensitivity=1, epsilon=price),
    }


def _rendered(meaning: dict[str, float], format: Format) -> str:
    if format is Format.json:
        return as_json(meaning)
    if format is Format.csv:
        return as_csv(list(meaning), [meaning])
    rows = [{"": name.replace("_", " "), "value": f"{value:.6g}"} for name, value in meaning.items()]
    return as_table(["", "value"], rows, footer=_words(meaning))


def _words(meaning: dict[str, float]) -> str:
    """Sentences a person can repeat."""
    epsilon, right = meaning["epsilon"], (1 + meaning["membership_advantage"]) / 2
    return "\n".join(
        [
            f"Whatever an answer with epsilon {epsilon:g} says: nobody's odds on a fact about you change by more than "
            f"a factor of {meaning['odds_factor']:.3g}.",
            f"A belief of {meaning['prior']:g} that you are in the data stays between "
            f"{meaning['posterior_low']:.4f} and {meaning['posterior_high']:.4f}.",
            f"If a coin decides whether you are in, the best attacker is right in {100 * right:.1f} % of cases.",
            f"A count with this epsilon is within ±{meaning['count_error95']:g} in 95 % of cases.",
            f"This is for one answer. Two of them allow epsilon {2 * epsilon:g}; many cost less than their sum, see "
            "sfumato account.",
        ]
    )
