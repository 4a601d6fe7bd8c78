"""The pieces of a text by names that all languages share."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.labs.prose import Heading, Part, Prose


def sections(prose: Prose) -> dict[str, list[Part]]:
    """Parts by the heading they stand under: its id, or "theory.2" for the second without one after theory."""
    found: dict[str, list[Part]] = {"": []}
    name = base = ""
    without = 0
    for part in prose.parts:
        if isinstance(part, Heading):
            base, without = (part.id, 0) if part.id else (base, without + 1)
            name = part.id or f"{base}.{without}"
        found.setdefault(name, []).append(part)
    return found


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a tree of tables and lists, with the keys that lead to it: "hints.t4.2"."""
    if isinstance(value, str):
        yield path, value
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield from leaves(each, f"{path}.{key}" if path else str(key))
