"""What the ledger says of a file that is not as a ledger leaves it."""

from collections.abc import Sequence

from sfumato.errors import BudgetExceeded, EngineFailed, LedgerDamaged, RequestConflict, UsageError, quoted

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


def journal_beside(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} lies beside the ledger, and SQLite would obey it.",
        "No ledger has such a file; another program left it, or somebody did. Move it away, then check the ledger "
        "(sfumato ledger verify POLICY).",
    )


def ledger_linked(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} has a second name (a hard link).",
        "Under each name SQLite would keep a log of its own. Remove the other name; symbolic links may stay.",
    )


def ledger_is_link(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} has become a symbolic link since it was opened.",
        "Somebody put it there in place of the ledger. Restore the ledger; see who may write in its folder.",
    )


def beside_strange(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} lies beside the ledger and is no file, or has a second name (a link).",
        "SQLite would write into it. Move it away; see who may write in the ledger's folder.",
    )


def ledger_swapped(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} was replaced by another file while it was being opened.",
        "Try again; if it happens again, see who writes in the ledger's folder.",
    )


def anchor_held(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"another program keeps the anchor {path} locked.",
        "No ledger does that for longer than a moment. Find that program (lsof), end it, then ask again.",
    )


def anchor_went_back(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the anchor {path} no longer knew the entry that was read in it before.",
        "Somebody removed or replaced it. That entry was written back; see who may write there, then ask again.",
    )


def ledger_behind_link(path: str) -> UsageError:
    return UsageError(
        f"the ledger {path} is a symbolic link, and nothing says where its anchor is.",
        'Name the file itself, or its anchor, e.g. anchor="people.ledger.anchor".',
    )


def anchor_of_sqlite() -> UsageError:
    return UsageError(
        "the anchor has the name of a file that SQLite keeps beside the ledger.",
        "Name another file, best on another disk.",
    )


def ledger_is_key() -> UsageError:
    return UsageError(
        "the ledger has the name of the key that lies beside its anchor.",
        "Name another file for one of them, the anchor best on another disk.",
    )


def asked_meanwhile(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} is being read or written by this very thread, which was interrupted and asks again.",
        "Nothing was written. Ask when the first question has been answered, not in a handler of signals.",
    )


def forked_meanwhile() -> LedgerDamaged:
    return LedgerDamaged(
        "this process was forked while it wrote to the ledger, so nothing was written.",
        "Fork before or after, and ask again.",
    )


def forked_unnoticed(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"this process was forked while {path} was in use, so that its locks are unknown here.",
        "Open the ledger after the fork, or fork with os.fork or multiprocessing while nothing is being asked.",
    )


def key_unreadable(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} holds no key of a ledger, or cannot be read.",
        "Restore it. If it is lost, move it away: a new one is made, and answers of before are paid for again.",
    )


def key_for_all(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"everybody on this machine may read or write the key {path}.",
        f"Nobody but the service should (chmod 600 {path}). See who had the ledger to read meanwhile.",
    )


def interrupted_too_often(resumed: int) -> EngineFailed:
    return EngineFailed(
        f"this question has been looked at {resumed + 1} times, and no answer was kept yet.",
        "If others ask it at this moment, ask again when they are done: their answer is this one. If those tries were "
        "interrupted, the charge stands, because each tells how long it took: ask with fresh=True to pay for another.",
    )


def request_of_before(request: str, entry: int) -> RequestConflict:
    return RequestConflict(
        f"request id {request!r} was used for entry {entry}, by a version of Sfumato that kept no question.",
        f"Nothing was charged. Recall it (session.recall({entry})), or choose another id.",
    )


def no_receipt() -> UsageError:
    return UsageError(
        "there is no answer of yours under this number.",
        "answer.receipt and session.history() say which there are.",
    )


def not_an_envelope(entry: int) -> UsageError:
    return UsageError(f"entry {entry} is no envelope of yours.", "Seal one, and draw from that.")


def envelope_of_other_data(entry: int) -> UsageError:
    return UsageError(
        f"the data has changed since envelope {entry} was sealed.",
        "What is left in it is lost. A new envelope is a new charge.",
    )


def envelope_at_another_price(entry: int) -> UsageError:
    return UsageError(
        f"entry {entry} paid for this purpose while the limit had another delta; the same spend has another price now.",
        "Nothing was charged; the ledger is sound. fresh=True pays for a new envelope (a request id must be new, too), "
        "or let the owner put the delta of before into force again.",
    )


def envelope_empty(entry: int) -> BudgetExceeded:
    return BudgetExceeded(
        f"this draw costs more than is left in envelope {entry}.", "Draw less, or seal another envelope."
    )


def spend_buys_nothing(shown: str) -> UsageError:
    return UsageError(f"spend={shown} is too small to buy any answer.", "Spend more, e.g. spend=0.1.")


def over_key_budget(delta: str, left: str) -> BudgetExceeded:
    smaller = "" if left == "0" else "ask with a smaller one (--delta, in Python spend=sf.Spend(epsilon, delta)), "
    return BudgetExceeded(
        f"discovering keys here takes a delta of {delta}; {left} is left for that.",
        f"Declare the keys, {smaller}or ask the owner to raise the delta of the limit.",
    )


def over_budget(cost: str, owner: str, left: str, limit: str) -> BudgetExceeded:
    hint = f"Ask with spend={left} or less, or" if left != "0" else "Repeat an earlier question for free, or"
    return BudgetExceeded(
        f"this question costs epsilon {cost}; {owner} has {left} left of {limit}.",
        f"{hint} ask the owner to raise the limit.",
    )


def ledger_differs(what: str, stored: str, given: str) -> UsageError:
    return UsageError(
        f"the ledger was opened for {what} {stored}, the policy now says {given}.",
        "Restore that line of the policy: a ledger keeps what it was opened for.",
    )


def limit_differs(stored: str, given: str) -> UsageError:
    return UsageError(
        f"the limit in force is {stored}, the policy now says {given}.",
        "Restore the policy, or let the owner put the new limit into force with: sfumato ledger raise POLICY",
    )


def ledger_unreadable(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} is not a readable ledger.", "Restore it from a backup; never start a new one in its place."
    )


def ledger_unwritable(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} cannot be written, so nothing can be charged.", "Check the disk and the permissions of its folder."
    )


def ledger_broken(entry: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"entry {entry} of the ledger does not match its hash.",
        "It was changed after it was written. Restore a backup.",
    )


def veiled_otherwise(entry: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"what entry {entry} bought was kept under another key than the one that lies beside the anchor now.",
        "Restore that key, the file beside the anchor whose name ends in .key. Nothing was spent.",
    )


def ledger_rolled_back(seen: int, anchored: int) -> LedgerDamaged:
    return LedgerDamaged(
        f"the ledger ends at entry {seen}, its anchor remembers entry {anchored}.",
        "An older copy was put in its place. Restore the newer ledger.",
    )


def ledger_gone(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{path} is gone, but its anchor remembers it.", "Restore the ledger; deleting it does not refill the budget."
    )


def anchor_gone(path: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"the anchor {path} of the ledger is missing or unreadable.",
        "Restore it, or if you trust the ledger: sfumato ledger verify POLICY --re-anchor",
    )


def request_conflict(request: str) -> RequestConflict:
    return RequestConflict(f"request {request!r} was used for another question.", "Use a new id for a new question.")
