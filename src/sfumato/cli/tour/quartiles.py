"""Scene 5: quartiles, a histogram bought for the error it shall have, and groups whose names nobody declared."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.cli.tour.files import Files
from sfumato.cli.tour.private import Compared, Purchase, buy, compare, tick
from sfumato.cli.tour.stage import Stage
from sfumato.cli.tour.town import Town
from sfumato.protected import open_policy
from sfumato.session import Session

# One row per person, so that a frequent visitor weighs no more than others.
PEOPLE = "FROM (SELECT person_id, MAX(income) AS income, MAX(age) AS age FROM town GROUP BY person_id) AS people"
LEVELS = {"lower": 0.25, "middle": 0.5, "upper": 0.75}
QUARTILES = (
    "SELECT QUANTILE(income, 0.25) AS lower, MEDIAN(income) AS middle, QUANTILE(income, 0.75) AS upper " + PEOPLE
)
AGES = "SELECT HISTOGRAM(age, 8) AS ages " + PEOPLE
OCCUPATIONS = (
    "SELECT occupation, COUNT(DISTINCT person_id) AS people FROM town GROUP BY occupation ORDER BY people DESC"
)
TRUE_OCCUPATIONS = (
    "SELECT occupation, COUNT(DISTINCT person_id) FROM town WHERE occupation IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
)
SPEND_ON_QUARTILES, SPEND_ON_OCCUPATIONS = 0.4, 0.5
ERROR_OF_AGES = 50
WIDEST_BAR = 28


@dataclass(frozen=True, slots=True)
class Hidden:
    """A value that no answer mentions, and how many people have it."""

    label: str
    people: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What the scene found."""

    quartiles: tuple[Compared, ...]
    ages: tuple[Compared, ...]
    price_of_ages: float
    wanted_error: float
    occupations: tuple[Compared, ...]
    discovering: str
    hidden: tuple[Hidden, ...]
    purchases: tuple[Purchase, ...]


def play(stage: Stage, town: Town, files: Files) -> Answered:
    stage.scene(5, "More than counts")
    purchases: list[Purchase] = []
    with open_policy(files.policy) as session:
        quartiles = _quartiles(session, town, purchases)
        _show_quartiles(stage, quartiles)
        price = session.spend_for(AGES, error=ERROR_OF_AGES)
        ages = _ages(session, town, price, purchases)
        _show_ages(stage, ages, price)
        discovering = session.explain(OCCUPATIONS, spend=SPEND_ON_OCCUPATIONS).keys
        occupations, hidden = _occupations(session, town, purchases)
    _show_occupations(stage, occupations, hidden, discovering)
    return Answered(quartiles, ages, price, ERROR_OF_AGES, occupations, discovering, hidden, tuple(purchases))


def _quartiles(session: Session, town: Town, purchases: list[Purchase]) -> tuple[Compared, ...]:
    answer = buy(session, QUARTILES, SPEND_ON_QUARTILES, purchases)
    row, interval = answer.rows[0], answer.interval()[0]
    truth = town.rows(f"SELECT QUANTILE_DISC(income, {list(LEVELS.values())}) {PEOPLE}")[0][0]
    return tuple(compare(name, true, row[name], interval[name]) for name, true in zip(LEVELS, truth, strict=True))


def _show_quartiles(stage: Stage, quartiles: Sequence[Compared]) -> None:
    stage.say(f"The quartiles of income, all three in one question, for {SPEND_ON_QUARTILES:g}:")
    stage.table(
        ["quartile", "true", "private", "error bar", ""],
        [
            [
                one.label,
                f"{one.true:,.0f}",
                (f"{one.private:,.0f}", "number"),
                f"{one.low:,.0f} – {one.high:,.0f}",
                tick(one),
            ]
            for one in quartiles
        ],
        right=["true", "private", "error bar"],
    )


def _ages(session: Session, town: Town, price: float, purchases: list[Purchase]) -> tuple[Compared, ...]:
    answer = buy(session, AGES, price, purchases)
    found = []
    for part, interval in zip(answer.rows[0]["ages"], answer.interval()[0]["ages"], strict=True):
        low, high = part["low"], part["high"]
        true = town.number(f"SELECT COUNT(*) {PEOPLE} WHERE age BETWEEN {low} AND {high}")
        found.append(compare(f"{low}–{high}", true, part["count"], interval))
    return tuple(found)


def _show_ages(stage: Stage, ages: Sequence[Compared], price: float) -> None:
    stage.say(f"How much for a histogram good to ±{ERROR_OF_AGES}? session.spend_for says {price:g}. Bought:")
    most = max(1.0, *(one.private for one in ages))
    stage.table(
        ["age", "true", "private", "", " "],
        [
            [
                one.label,
                f"{one.true:,.0f}",
                (one.shown, "number"),
                tick(one),
                ("█" * round(WIDEST_BAR * max(0.0, one.private) / most), "number"),
            ]
            for one in ages
        ],
        right=["true", "private"],
    )


def _occupations(
    session: Session, town: Town, purchases: list[Purchase]
) -> tuple[tuple[Compared, ...], tuple[Hidden, ...]]:
    answer = buy(session, OCCUPATIONS, SPEND_ON_OCCUPATIONS, purchases)
    truth = dict(town.rows(TRUE_OCCUPATIONS))
    shown = tuple(
        compare(row["occupation"], truth[row["occupation"]], row["people"], interval["people"])
        for row, interval in zip(answer.rows, answer.interval(), strict=True)
    )
    names = {one.label for one in shown}
    return shown, tuple(Hidden(label, people) for label, people in truth.items() if label not in names)


def _show_occupations(
    stage: Stage, occupations: Sequence[Compared], hidden: Sequence[Hidden], discovering: str
) -> None:
    stage.say(
        "Which occupations are there? Nobody listed them in the policy. The answer names what enough people share "
        f"({discovering.removeprefix('discovered; ')}):"
    )
    if occupations:
        stage.table(
            ["occupation", "true", "private", ""],
            [[one.label, f"{one.true:,.0f}", (one.shown, "number"), tick(one)] for one in occupations],
            right=["true", "private"],
        )
    else:
        stage.say("None: the town is too small for this price.")
    if hidden:
        kept = ", ".join(f"{one.label} ({one.people:,})" for one in hidden)
        stage.say(f"Kept back, and not even mentioned: {kept}. Only the owner of a made-up town may tell you so.")
