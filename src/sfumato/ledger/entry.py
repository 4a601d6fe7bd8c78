"""One entry of a ledger, and the hash that chains it to the one before."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.ledger.wordings import ledger_broken

EntryKind = Literal["open", "charge", "draw", "release", "failure", "interrupted", "limit", "analyst"]

GENESIS = "0" * 64
_HASHED = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=lambda blob: [blob.hex()])


@dataclass(frozen=True, slots=True)
class Entry:
    seq: int
    kind: EntryKind
    analyst: str | None
    question: str | None
    request: str | None
    charge: int | None
    body: str
    hash: str

    @property
    def content(self) -> dict[str, Any]:
        if not isinstance(self.body, str):  # a file may hold anything
            raise ledger_broken(self.seq)
        try:
            parsed = json.loads(self.body)
        except (ValueError, RecursionError):
            raise ledger_broken(self.seq) from None
        if not isinstance(parsed, dict):
            raise ledger_broken(self.seq)
        return parsed

    def field(self, name: str) -> Any:
        """A field of the body; an entry without it was not written by a ledger."""
        if name not in self.content:
            raise ledger_broken(self.seq)
        return self.content[name]

    def expected_hash(self, previous: str) -> str:
        fields = [self.seq, self.kind, self.analyst, self.question, self.request, self.charge, self.body]
        return hashlib.sha256((previous + _HASHED.encode(fields)).encode()).hexdigest()


def following(
    newest: tuple[int, str],
    kind: EntryKind,
    body: dict[str, Any],
    *,
    analyst: str | None = None,
    question: str | None = None,
    request: str | None = None,
    charge: int | None = None,
) -> Entry:
    """The entry that comes after the one with this number and hash."""
    seq, previous = newest[0] + 1, newest[1]
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    digest = Entry(seq, kind, analyst, question, request, charge, text, "").expected_hash(previous)
    return Entry(seq, kind, analyst, question, request, charge, text, digest)
