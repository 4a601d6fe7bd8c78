"""Scene 4: the owner writes a policy; the crowd stays visible, and the salary does not."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp
from pathlib import Path
from statistics import fmean, median

from sfumato.answers.answer import Answer
from sfumato.attacks import differencing
from sfumato.cli.tour.copies import copy_ledger
from sfumato.cli.tour.files import Files
from sfumato.cli.tour.stage import BAD, GOOD, SOFT, Stage
from sfumato.cli.tour.totals import PLAUSIBLE, TOLERANCE, Pair
from sfumato.cli.tour.town import Town
from sfumato.cli.tour.words import about, dollars
from sfumato.datasets.variables import EDUCATION
from sfumato.plots.bars import percent
from sfumato.protected import Protected, open_policy
from sfumato.session import Session

COUNTS = "SELECT education, COUNT(*) AS visits FROM town GROUP BY education"
AVERAGES = "SELECT education, AVG(income) AS income FROM town GROUP BY education"
SPEND_ON_COUNTS, SPEND_ON_AVERAGES, SPEND_OF_MALLORY = 1.0, 1.5, 0.2
MALLORY, LIMIT_OF_MALLORY = "mallory", 1
TABLE_ROWS = 6
MOST_ATTEMPTS = 1_000


@dataclass(frozen=True, slots=True)
class Compared:
    """A private number beside the true one, which only the owner of a made-up town may look at."""

    label: str
    true: float
    private: float
    low: float
    high: float
    covered: bool

    @property
    def shown(self) -> str:
        return f"{self.private:,.0f} ±{(self.high - self.low) / 2:,.0f}"


@dataclass(frozen=True, slots=True)
class Purchase:
    """One paid question: its own spend, and what the whole table has spent after it."""

    analyst: str
    question: str
    spend: float
    spent: float


@dataclass(frozen=True, slots=True)
class Attack:
    """Differencing through the session, until the ledger says no."""

    estimates: tuple[float, ...]
    median_error: float
    pooled_error: float
    hits: int
    success: float
    chance: float
    bound: float
    pooled_bound: float


@dataclass(frozen=True, slots=True)
class Private:
    counts: tuple[Compared, ...]
    averages: tuple[Compared, ...]
    covered: int
    attack: Attack
    purchases: list[Purchase] = field(default_factory=list)


def play(stage: Stage, town: Town, pair: Pair, files: Files, *, older: Path) -> Private:
    """Leaves a copy of the ledger from before the attack at `older`."""
    stage.scene(4, "The same questions, privately")
    stage.say(f"The owner writes down who is protected and how much may be learnt in all, in {files.policy.name}:")
    stage.code(files.policy.read_text(encoding="utf-8").partition("\n")[2].rstrip(), "toml")
    purchases: list[Purchase] = []
    with Protected.open(files.policy) as owned:
        session = owned.session()
        counts = _compared(town, buy(session, COUNTS, SPEND_ON_COUNTS, purchases), "visits", COUNTS)
        averages = _compared(town, buy(session, AVERAGES, SPEND_ON_AVERAGES, purchases), "income", AVERAGES)
        owned.limit_analyst(MALLORY, Fraction(LIMIT_OF_MALLORY))
    covered = _show_answers(stage, counts, averages)
    copy_ledger(files.ledger, older)
    attack = _attack(stage, pair, files, purchases)
    _show_attack(stage, attack, pair.victim.income)
    return Private(counts, averages, covered, attack, purchases)


def buy(session: Session, question: str, spend: float, purchases: list[Purchase]) -> Answer:
    """A paid answer; the purchase is noted."""
    answer = session.ask(question, spend=spend, fresh=True)
    purchases.append(Purchase(session.analyst, question, spend, answer.spent.epsilon))
    return answer


def compare(label: str, true: float, private: float, interval: tuple[float, float]) -> Compared:
    """A private number, its interval, and the truth."""
    low, high = interval
    return Compared(label, float(true), float(private), low, high, covered=low <= true <= high)


def _compared(town: Town, answer: Answer, column: str, question: str) -> tuple[Compared, ...]:
    truth = dict(town.rows(question))
    found = {}
    for row, interval in zip(answer.rows, answer.interval(), strict=True):
        label = row["education"]
        found[label] = compare(label, float(truth.get(label) or 0), row[column], interval[column])
    return tuple(found[label] for label in EDUCATION)


def _show_answers(stage: Stage, counts: Sequence[Compared], averages: Sequence[Compared]) -> int:
    stage.say(f"An analyst pays {SPEND_ON_COUNTS:g} for counts and {SPEND_ON_AVERAGES:g} for averages:")
    incomes = {average.label: average for average in averages}
    largest = sorted(counts, key=lambda count: -count.private)[:TABLE_ROWS]
    stage.table(
        ["education", "visits", "private", "", "income", "private ", " "],
        [
            [
                count.label,
                f"{count.true:,.0f}",
                (count.shown, "number"),
                tick(count),
                f"{incomes[count.label].true:,.0f}",
                (incomes[count.label].shown, "number"),
                tick(incomes[count.label]),
            ]
            for count in largest
        ],
        right=["visits", "private", "income", "private "],
    )
    pairs = [*counts, *averages]
    covered = sum(pair.covered for pair in pairs)
    stage.say(
        f"✓: the truth lies inside the error bar, as it should 95 % of the time. With the smaller groups, which are in "
        f"the report, {covered} of {len(pairs)} do. The crowd stays visible."
    )
    stage.gap()
    return covered


def tick(compared: Compared) -> tuple[str, str]:
    """Whether the truth lies inside the error bar."""
    return ("✓", GOOD) if compared.covered else ("✗", SOFT)


def _attack(stage: Stage, pair: Pair, files: Files, purchases: list[Purchase]) -> Attack:
    stage.say(f"The owner grants Mallory epsilon {LIMIT_OF_MALLORY}. She asks her two questions, again and again:")
    with open_policy(files.policy, analyst=MALLORY) as session, stage.progress("Mallory's budget") as done:

        def ask(question: str) -> float:
            answer = buy(session, question, SPEND_OF_MALLORY, purchases)
            done(1 - answer.left.epsilon / LIMIT_OF_MALLORY)
            return float(answer.rows[0]["total"])

        limit = session.budget.limit
        result = differencing(
            ask,
            with_target=pair.with_target,
            without_target=pair.without_target,
            truth=pair.victim.income,
            tolerance=TOLERANCE,
            plausible=PLAUSIBLE,
            epsilon=2 * SPEND_OF_MALLORY,
            delta=limit.delta,
            repeats=MOST_ATTEMPTS,
        )
    errors = [abs(estimate - pair.victim.income) for estimate in result.recovered]
    return Attack(
        estimates=tuple(result.recovered),
        median_error=median(errors),
        pooled_error=abs(fmean(result.recovered) - pair.victim.income),
        hits=round(result.success * result.attempts),
        success=result.success,
        chance=result.chance,
        bound=result.bound or 1.0,
        pooled_bound=min(1.0, exp(LIMIT_OF_MALLORY) * result.chance + limit.delta),
    )


def _show_attack(stage: Stage, attack: Attack, salary: float) -> None:
    rows = [[f"attempt {place}", dollars(value)] for place, value in enumerate(attack.estimates[:3], start=1)]
    rows.append(["…", ""])
    rows.append([f"mean of all {len(attack.estimates)}", dollars(fmean(attack.estimates))])
    stage.table(["difference", "“salary”"], [*rows, ["the truth", (dollars(salary), BAD)]], right=["“salary”"])
    stage.say(
        f"She misses by about {about(attack.median_error)}, {attack.median_error / salary:,.0f} times the salary. "
        f"{attack.hits} of {len(attack.estimates)} attempts come within ${TOLERANCE:,.0f}. A blind guess does with a "
        f"probability of {percent(attack.chance)}; the promise allows an attempt {percent(attack.bound)}, and "
        f"everything that Mallory will ever be told {percent(attack.pooled_bound)}."
    )
