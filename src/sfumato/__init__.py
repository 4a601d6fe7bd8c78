"""Sfumato answers questions about people without giving any of them away.

import sfumato as sf
session = sf.open("people.toml", analyst="research")
answer = session.ask("SELECT education, COUNT(*) AS n FROM people GROUP BY education", spend=0.5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato import accounting, anonymise, attacks, audit, datasets, errors, geo, learn, local, noise
    from sfumato.answers.answer import Answer
    from sfumato.protected import Protected, protect
    from sfumato.protected import open_policy as open
    from sfumato.schema.budget import Budget, Spend
    from sfumato.schema.columns import Category, Date, Float, Identifier, Int, Text
    from sfumato.schema.limits import Limits
    from sfumato.schema.others import Lookup, Table
    from sfumato.schema.unit import Person, Row, UpTo
    from sfumato.session import Session

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Budget",
    "Category",
    "Date",
    "Float",
    "Identifier",
    "Int",
    "Limits",
    "Lookup",
    "Person",
    "Protected",
    "Row",
    "Session",
    "Spend",
    "Table",
    "Text",
    "UpTo",
    "accounting",
    "anonymise",
    "attacks",
    "audit",
    "datasets",
    "errors",
    "geo",
    "learn",
    "local",
    "noise",
    "open",
    "protect",
]

_HOMES = {
    "Answer": "sfumato.answers.answer",
    "Budget": "sfumato.schema.budget",
    "Category": "sfumato.schema.columns",
    "Date": "sfumato.schema.columns",
    "Float": "sfumato.schema.columns",
    "Identifier": "sfumato.schema.columns",
    "Int": "sfumato.schema.columns",
    "Limits": "sfumato.schema.limits",
    "Lookup": "sfumato.schema.others",
    "Person": "sfumato.schema.unit",
    "Protected": "sfumato.protected",
    "Row": "sfumato.schema.unit",
    "Session": "sfumato.session",
    "Spend": "sfumato.schema.budget",
    "Table": "sfumato.schema.others",
    "Text": "sfumato.schema.columns",
    "UpTo": "sfumato.schema.unit",
    "open": "sfumato.protected",
    "protect": "sfumato.protected",
}
_MODULES = ("accounting", "anonymise", "attacks", "audit", "datasets", "errors", "geo", "learn", "local", "noise")


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import sfumato` costs nothing."""
    if name in _MODULES:
        return import_module(f"sfumato.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), "open_policy" if name == "open" else name)
    raise AttributeError(f"module 'sfumato' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
