"""What attacks read out of answers and arguments: finite numbers, or a sentence that says what is wrong."""

import math
from numbers import Real
from typing import Any, SupportsFloat

from sfumato.errors import UsageError, not_a_number, not_finite


def finite(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise not_a_number(what, repr(value))
    if not math.isfinite(value):
        raise not_finite(what)
    return float(value)


def number_of(answer: object) -> float:
    if isinstance(answer, SupportsFloat) and not isinstance(answer, bool):
        number = float(answer)
        if math.isfinite(number):
            return number
    raise UsageError(
        f"ask gave a {type(answer).__name__} that is not a finite number.",
        'Let it return the one number, e.g. lambda question: session.ask(question, spend=0.1).rows[0]["total"].',
    )
