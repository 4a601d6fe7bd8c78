"""What the ledger says of a file that is not as a ledger leaves it."""

from collections.abc import Sequence

from sfumato.errors import LedgerDamaged, UsageError, quoted

MOST_NAMED = 3


def layout_unknown(path: str, strange: Sequence[str]) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} is not laid out like a ledger: {quoted(strange, MOST_NAMED)}.",
        "Another program changed it, or a newer Sfumato made it. Restore a backup; never start a new one in its place.",
    )


def file_unsound(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the tables and indexes inside {path} contradict each other.",
        "It was changed by another program, or the disk fails. Restore a backup.",
    )


def entry_senseless(entry: int, why: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"entry {entry} of the ledger {why}.",
        "No ledger writes that. Restore a backup, or if a newer Sfumato wrote it, use that one.",
    )


def ledger_replaced(entry: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"entry {entry} of the ledger is no longer the one that was read or written here.",
        "Another copy was put in its place while it was open. Restore the newer ledger.",
    )


def not_the_anchored(entry: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"the anchor remembers an entry {entry} that is not in this ledger.",
        "Two copies of a ledger are in use. Keep the one that the anchor knows; it has charged what the other has not.",
    )


def not_a_file(what: str, example: str) -> UsageError:
    return UsageError(
        f"{what} must be the path of a file: a budget in memory would be forgotten, and addresses are not read.",
        f'Write it like {what}="{example}".',
    )
