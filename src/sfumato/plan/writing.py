"""How a plan is written out, for its digest: as JSON in one way only, so that plans that differ are written otherwise.

Claim: to the letter what `json.dumps(…, sort_keys=True, separators=(",", ":"))` makes of a node's kind and fields.
"""

import json
from dataclasses import fields, is_dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

from sfumato.plan.once import once

AS_IT_IS = frozenset((str, int, bool, type(None)))
_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Shared:
    """A long node that many plans hold: it is written once for all of them."""

    __slots__ = ()


def spelt_out(value: Any) -> str:
    """A field at its default is left out, so that one that is added later changes no digest of before."""
    if type(value) in AS_IT_IS:
        return _json(value)
    if isinstance(value, Shared):
        return _once(value)
    if isinstance(value, tuple):
        plain = AS_IT_IS.issuperset(map(type, value))  # as long ones are
        return _json(value) if plain else f"[{','.join(map(spelt_out, value))}]"
    if is_dataclass(value) and not isinstance(value, type):
        return _node(value)
    if isinstance(value, Fraction):
        return f'"{value.numerator}/{value.denominator}"'
    if isinstance(value, date):
        return _json({"day": value.isoformat()})
    if isinstance(value, str | int):
        return _json(value)
    raise TypeError(f"{type(value).__name__} has no place in a plan")


@once(32)
def _once(node: Shared) -> str:
    return _node(node)


def _node(node: object) -> str:
    kind: Any = type(node)
    said = {"node": _json(kind.__name__)}
    for name, usual in _fields_and_defaults(kind):
        one = getattr(node, name)
        if type(one) is not type(usual) or one != usual:  # True is no 1 here: both are written out, and otherwise
            said[name] = spelt_out(one)
    return f"{{{','.join([f'{_json(name)}:{said[name]}' for name in sorted(said)])}}}"


@cache
def _fields_and_defaults(node: type[Any]) -> tuple[tuple[str, object], ...]:
    """Of the kinds themselves alone: one derived of them may say something else each time it is asked."""
    if any(is_dataclass(kind) for kind in node.__mro__[1:]):
        raise TypeError(f"{node.__name__} has no place in a plan")
    return tuple((field.name, field.default) for field in fields(node))
