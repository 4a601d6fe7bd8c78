"""A kept answer whose question is not known, or not to be planned any more: noisy integers, and nothing about them."""

from dataclasses import dataclass
from typing import Any

from sfumato.kernel.gate import Group, Release, ReleasedRows
from sfumato.ledger.entry import Entry
from sfumato.ledger.wordings import ledger_broken
from sfumato.visible import visible


@dataclass(frozen=True, slots=True)
class Kept:
    """Noisy integers as the ledger keeps them: one row per group, a number or several for each measure of the plan.

    `groups` names the groups of discovered keys; without them a row's place is the group's number. `questions` are
    those that were paid together, where the ledger knows them.
    """

    receipt: int
    when: str
    questions: tuple[str, ...]
    values: ReleasedRows
    groups: tuple[Group, ...] | None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per group: its number, or what it was found under, and the integers m0, m1, …"""
        named = [(number,) for number in range(len(self.values))] if self.groups is None else list(self.groups)
        return [
            {"group": group[0] if len(group) == 1 else group, **{f"m{i}": value for i, value in enumerate(row)}}
            for group, row in zip(named, self.values, strict=True)
        ]

    def __str__(self) -> str:
        lines = [
            f"Entry {self.receipt}, {self.when}: noisy integers by the number of their group, in steps of its plan."
        ]
        lines += [f"Asked: {question}" for question in self.questions]
        lines += ["  ".join(f"{name} {value}" for name, value in row.items()) for row in self.rows]
        return "\n".join(visible(line) for line in lines)


def kept(charge: Entry, release: Release, when: str) -> Kept:
    """Needs: a charge that a book has taken."""
    if release.groups is not None and len(release.groups) != len(release.values):
        raise ledger_broken(charge.seq)  # somebody has written it; no gate makes such a release
    return Kept(charge.seq, when, tuple(map(str, charge.content.get("sql", ()))), release.values, release.groups)
