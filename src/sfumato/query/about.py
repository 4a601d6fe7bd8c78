"""Which part of a question a refusal is about; where that part stands, `sql_positions` finds out."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from sfumato.errors import Refused

Given = ParamSpec("Given")
Made = TypeVar("Made")


def about(refused: Refused, part: object) -> Refused:
    """The same refusal, about this part; of parts one inside another the innermost comes first."""
    refused.about = (*refused.about, part)
    return refused


def binding(place: int = 0) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Of what binds a part of a question, its argument at this place: a refusal is about that part."""

    def of(bind: Callable[Given, Made]) -> Callable[Given, Made]:
        @wraps(bind)
        def telling(*given: Given.args, **named: Given.kwargs) -> Made:
            try:
                return bind(*given, **named)
            except Refused as refused:
                about(refused, given[place])
                raise

        return telling

    return of
