"""What `ask` and `explain` share: a spend as typed, or the one that an error asks for."""

from decimal import Decimal

from sfumato.answers.wordings import column_without_error, one_of_spend_and_error
from sfumato.cli.output import number
from sfumato.schema.budget import Spend
from sfumato.session import Session


def settled(
    session: Session,
    question: str,
    *,
    spend: str | None,
    error: str | None,
    column: str | None,
    delta: str | None,
    confidence: float,
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
    found = Decimal(repr(session.spend_for(question, error=wanted, column=column, confidence=confidence)))
    return Spend(found, for_keys), f"Spend {found:f} for ±{wanted:f} at {100 * confidence:g} %.\n"
