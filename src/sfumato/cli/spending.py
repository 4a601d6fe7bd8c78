"""What `ask` and `explain` share: a spend as typed, or the one that an error asks for."""

from decimal import Decimal

from sfumato.cli.output import number
from sfumato.query.wordings import one_of_spend_and_error
from sfumato.session import Session


def settled(
    session: Session, question: str, spend: str | None, error: str | None, column: str | None, confidence: float
) -> tuple[Decimal, str]:
    """The spend, and a sentence about it where it follows from an error."""
    if (spend is None) == (error is None):
        raise one_of_spend_and_error()
    if error is None:
        return number(str(spend), "spend"), ""
    wanted = number(error, "error")
    found = Decimal(repr(session.spend_for(question, error=wanted, column=column, confidence=confidence)))
    return found, f"Spend {found:f} for ±{wanted:f} at {100 * confidence:g} %.\n"
