"""Scene 3: no table is published any more, only totals; two of them give a salary away."""

from dataclasses import dataclass

from sfumato.attacks import AttackResult, differencing
from sfumato.cli.tour.release import Named
from sfumato.cli.tour.stage import BAD, Stage
from sfumato.cli.tour.town import Town
from sfumato.cli.tour.words import dollars

# A guess counts as a hit when it is this near to the salary, which everybody knows to lie in this range.
TOLERANCE = 1_000.0
PLAUSIBLE = (0.0, 200_000.0)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions about a crowd, of which the second leaves one person out."""

    victim: Named
    with_target: str
    without_target: str

    @property
    def written(self) -> str:
        """Both of them, in lines that fit a narrow screen."""
        return f"{self.with_target};\n{self.without_target.replace(' AND NOT', chr(10) + '  AND NOT')};"


@dataclass(frozen=True, slots=True)
class Differenced:
    """What the scene found."""

    pair: Pair
    totals: tuple[float, float]
    estimate: float
    error: float
    success: float
    chance: float
    tolerance: float


def pair_about(victim: Named) -> Pair:
    everybody = f"SELECT SUM(income) AS total FROM town WHERE zip = '{victim.zip}'"
    others = f"{everybody} AND NOT (birth_date = '{victim.birth_date}' AND sex = '{victim.sex}')"
    return Pair(victim, everybody, others)


def play(stage: Stage, town: Town, victim: Named) -> Differenced:
    stage.scene(3, "Only totals")
    stage.say("So the clinic keeps the table and answers with totals over whole districts. Mallory asks twice:")
    pair = pair_about(victim)
    stage.code(pair.written, "sql")
    answers: list[float] = []

    def ask(question: str) -> float:
        answers.append(town.number(question))
        return answers[-1]

    result: AttackResult[float] = differencing(
        ask,
        with_target=pair.with_target,
        without_target=pair.without_target,
        truth=victim.income,
        tolerance=TOLERANCE,
        plausible=PLAUSIBLE,
    )
    estimate = result.recovered[0]
    stage.table(
        ["total", "income"],
        [
            ["everybody in the district", dollars(answers[0], cents=True)],
            ["the same without one birthday", dollars(answers[1], cents=True)],
            [("difference", "title"), (dollars(estimate, cents=True), BAD)],
            [f"salary of {victim.name}", dollars(victim.income, cents=True)],
        ],
        right=["income"],
    )
    error = abs(estimate - victim.income)
    stage.say(f"Two harmless totals, one salary, {dollars(error, cents=True)} off. Aggregates alone protect nobody.")
    return Differenced(
        pair, (answers[0], answers[1]), estimate, error, result.success, result.chance, tolerance=TOLERANCE
    )
