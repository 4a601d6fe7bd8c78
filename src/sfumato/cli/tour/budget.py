"""Scene 6: an answer asked again is the same answer, a spent budget is spent, and a ledger cannot be rewritten."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.cli.tour.copies import complaint, copy_ledger, forget_a_charge
from sfumato.cli.tour.files import Files
from sfumato.cli.tour.private import COUNTS, MALLORY, SPEND_OF_MALLORY, SPEND_ON_COUNTS, Compared, Purchase
from sfumato.cli.tour.stage import GOOD, Stage
from sfumato.cli.tour.totals import Pair
from sfumato.errors import BudgetExceeded
from sfumato.ledger.places import default_anchor
from sfumato.protected import Protected, open_policy

TIMES = 20


@dataclass(frozen=True, slots=True)
class Repeated:
    """The same question asked again and again, and the error of the mean of all answers."""

    times: int
    identical: bool
    cost: float
    error_of_one: float
    error_of_mean: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What the scene found."""

    repeated: Repeated
    refusal: str
    limit: float
    spent: float
    sum_of_spends: float
    left: float
    charges: int
    entries: int
    tampering: str
    rollback: str


def play(
    stage: Stage, files: Files, pair: Pair, counts: Sequence[Compared], purchases: Sequence[Purchase], *, older: Path
) -> Spent:
    stage.scene(6, "The budget")
    repeated = _ask_again(stage, files, counts)
    refusal = _exhausted(stage, files, pair)
    with Protected.open(files.policy) as owned:
        balance, charges, entries = owned.session().budget, len(owned.history()), owned.verify()
    sum_of_spends = sum(purchase.spend for purchase in purchases)
    stage.say(
        f"Others can go on: {charges} questions whose spends add up to {sum_of_spends:.1f} cost epsilon "
        f"{balance.spent.epsilon:.2f} together, and {balance.left.epsilon:.2f} more would be granted."
    )
    stage.say(f"Every one is in the ledger: {entries} entries, each sealed by a hash of all before it, all sound.")
    tampering, rollback = _forge(stage, files, older)
    return Spent(
        repeated=repeated,
        refusal=refusal,
        limit=balance.limit.epsilon,
        spent=balance.spent.epsilon,
        sum_of_spends=sum_of_spends,
        left=balance.left.epsilon,
        charges=charges,
        entries=entries,
        tampering=tampering,
        rollback=rollback,
    )


def _ask_again(stage: Stage, files: Files, counts: Sequence[Compared]) -> Repeated:
    with open_policy(files.policy) as session:
        before = session.budget.spent.epsilon
        with stage.working(f"Asking the same question {TIMES} times …"):
            answers = [session.ask(COUNTS, spend=SPEND_ON_COUNTS) for _ in range(TIMES)]
        cost = session.budget.spent.epsilon - before
    visits = [{row["education"]: row["visits"] for row in answer.rows} for answer in answers]
    errors = [abs(count.private - count.true) for count in counts]
    errors_of_mean = [abs(sum(answer[count.label] for answer in visits) / TIMES - count.true) for count in counts]
    repeated = Repeated(TIMES, visits.count(visits[0]) == TIMES, cost, max(errors), max(errors_of_mean))
    stage.say(
        f"Noise averages out, so ask for the counts {TIMES} times more? The ledger remembers what was bought: the same "
        f"answer each time, cost {cost:g}. The worst group is {repeated.error_of_one:,.0f} off in one answer and "
        f"{repeated.error_of_mean:,.0f} off in the mean of all."
    )
    return repeated


def _exhausted(stage: Stage, files: Files, pair: Pair) -> str:
    stage.gap()
    stage.say("Mallory may pay for fresh noise instead, until her budget is gone. It is:")
    with open_policy(files.policy, analyst=MALLORY) as session:
        try:
            session.ask(pair.with_target, spend=SPEND_OF_MALLORY, fresh=True)
        except BudgetExceeded as error:
            stage.notice(type(error).__name__, str(error))
            return str(error)
    return ""


def _forge(stage: Stage, files: Files, older: Path) -> tuple[str, str]:
    copy = older.with_name("rewritten.ledger")
    copy_ledger(files.ledger, copy)
    forget_a_charge(copy, MALLORY)
    tampering = complaint(copy, files.policy)
    stage.gap()
    stage.say("Mallory takes a copy of the ledger and makes her last charge free:")
    stage.notice("verify", tampering, style=GOOD)
    # The older entries under the anchor of today: a backup put back.
    default_anchor(older).write_bytes(default_anchor(files.ledger).read_bytes())
    rollback = complaint(older, files.policy)
    stage.say("She puts back a copy from before her attack, when her budget was full:")
    stage.notice("verify", rollback, style=GOOD)
    return tampering, rollback
