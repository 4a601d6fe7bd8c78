"""Releases and failures as texts that a ledger keeps, and back."""

from dataclasses import replace
from typing import Any

from sfumato.errors import EngineFailed, ledger_broken
from sfumato.kernel.gate import Release
from sfumato.kernel.mechanisms.protocol import Released
from sfumato.ledger.entry import Entry


def written(release: Release) -> dict[str, Any]:
    body: dict[str, Any] = {"values": [[_text(value) for value in row] for row in release.values]}
    if release.groups is not None:
        body["groups"] = [list(group) for group in release.groups]
    if release.others:
        body["others"] = [written(other) for other in release.others]
    return body


def kept_release(kept: Entry) -> Release:
    try:
        return _read(int(kept.charge or 0), kept.content)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ledger_broken(kept.seq) from None


def kept_when(kept: Entry) -> str:
    when = kept.field("when")
    if not isinstance(when, str):
        raise ledger_broken(kept.seq)
    return when


def kept_failure(kept: Entry) -> EngineFailed:
    match kept.content:
        case {"told": [str(message), str(hint)]}:
            return EngineFailed(message, hint)
        case _:
            raise ledger_broken(kept.seq)


def _read(charge: int, body: dict[str, Any]) -> Release:
    first = _read_one(charge, body)
    return replace(first, others=tuple(_read_one(charge, other) for other in body.get("others", ())))


def _read_one(charge: int, body: dict[str, Any]) -> Release:
    groups = body.get("groups")
    return Release(
        charge,
        tuple(tuple(_number(value) for value in row) for row in body["values"]),
        None if groups is None else tuple(tuple(group) for group in groups),
    )


def _text(value: Released) -> str | list[str]:
    """Integers of any size survive as text."""
    return str(value) if isinstance(value, int) else [str(one) for one in value]


def _number(text: str | list[str]) -> Released:
    return int(text) if isinstance(text, str) else tuple(int(one) for one in text)
