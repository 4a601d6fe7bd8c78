"""What `ask` and `explain` share: a spend as typed, or the one that an error asks for."""

from decimal import Decimal
from typing import Annotated

import typer

from sfumato.answers.wordings import column_without_error, if_so_many, one_of_spend_and_error
from sfumato.cli.output import number
from sfumato.query.capping import CapsGiven
from sfumato.schema.budget import Spend
from sfumato.session import Session

MaxRows = Annotated[int | None, typer.Option("--max-rows", help="How many rows of a person count.")]
MaxGroups = Annotated[int | None, typer.Option("--max-groups", help="In how many groups a person counts.")]
MaxRowsPerGroup = Annotated[
    int | None, typer.Option("--max-rows-per-group", help="How many rows of a person count in one group.")
]
Clipped = Annotated[
    bool, typer.Option("--clipped", help="Also count what was clipped, with a tenth of the spend: error bars hold it.")
]


def settled(
    session: Session,
    question: str,
    *,
    spend: str | None,
    error: str | None,
    column: str | None,
    delta: str | None,
    confidence: float,
    caps: CapsGiven,
    rows: int | None = None,
) -> tuple[Spend, str]:
    """The spend, and a sentence about it where it follows from an error."""
    if (spend is None) == (error is None):
        raise one_of_spend_and_error()
    for_keys = None if delta is None else number(delta, "delta")
    if error is None:
        if column is not None:
            raise column_without_error()
        return Spend(number(str(spend), "spend"), for_keys), ""
    wanted = number(error, "error")
    named = session.spend_for(question, error=wanted, column=column, confidence=confidence, rows=rows, **caps)
    found, guessed = Decimal(repr(named)), "" if rows is None else f", {if_so_many(rows)}"
    return Spend(found, for_keys), f"Spend {found:f} for ±{wanted:f} at {100 * confidence:g} %{guessed}.\n"
