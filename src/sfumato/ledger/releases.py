"""Releases and failures as texts that a ledger keeps, and back."""

from collections.abc import Sequence
from typing import Any

from sfumato.errors import EngineFailed
from sfumato.kernel.gate import Release
from sfumato.kernel.mechanisms.protocol import Released
from sfumato.ledger.entry import Entry
from sfumato.ledger.veil import unveiled, veiled
from sfumato.ledger.wordings import ledger_broken

VEILED = "veiled"


def written(releases: Sequence[Release], key: bytes) -> dict[str, Any]:
    return {VEILED: veiled({"releases": [_written(release) for release in releases]}, key)}


def kept_releases(kept: Entry, key: bytes) -> tuple[Release, ...]:
    """One a plan. 0.1.0 kept them open, and others that were paid with the first inside of that.

    Needs: a mark with this key, where it is veiled.
    """
    said = kept.content
    try:
        said = unveiled(said[VEILED], key) if VEILED in said else said
        bodies = said["releases"] if "releases" in said else [said, *said.get("others", ())]
        return tuple(_read(int(kept.charge or 0), body) for body in bodies)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise ledger_broken(kept.seq) from None


def is_veiled(kept: Entry) -> bool:
    return VEILED in kept.content


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


def _written(release: Release) -> dict[str, Any]:
    body: dict[str, Any] = {"values": [[_text(value) for value in row] for row in release.values]}
    if release.groups is not None:
        body["groups"] = [list(group) for group in release.groups]
    return body


def _read(charge: int, body: dict[str, Any]) -> Release:
    groups = body.get("groups")
    return Release(
        charge,
        tuple(tuple(_number(value) for value in row) for row in body["values"]),
        None if groups is None else tuple(tuple(_part(part) for part in group) for group in groups),
    )


def _part(part: object) -> str | int:
    if not isinstance(part, str | int):
        raise TypeError
    return part


def _text(value: Released) -> str | list[str]:
    """Integers of any size survive as text."""
    return str(value) if isinstance(value, int) else [str(one) for one in value]


def _number(text: str | list[str]) -> Released:
    return int(text) if isinstance(text, str) else tuple(int(one) for one in text)
