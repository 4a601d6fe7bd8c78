"""Scene 8: nobody to trust. Each person randomises their own answer, and the crowd still adds up."""

from dataclasses import dataclass

from sfumato import local
from sfumato.cli.tour.stage import Stage
from sfumato.cli.tour.town import Town
from sfumato.errors import BudgetExceeded

EPSILON = 2
SHOWN = 4
QUESTION = "SELECT any_value(marital_status) FROM town GROUP BY person_id"
VALUES = "SELECT DISTINCT marital_status FROM town ORDER BY 1"  # of made-up people: in earnest the list is public


@dataclass(frozen=True, slots=True)
class Counted:
    """One status: how many there are, and what the randomised reports say."""

    label: str
    true: int
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Collected:
    """What the scene found."""

    protocol: str
    epsilon: float
    people: int
    covered: int
    counts: list[Counted]
    refusal: str


def play(stage: Stage, town: Town) -> Collected:
    stage.scene(9, "Nobody to trust")
    values = [str(row[0]) for row in town.rows(VALUES)]
    answers = [str(row[0]) for row in town.rows(QUESTION)]
    protocol = local.protocol("auto", domain=values, epsilon=EPSILON)
    with stage.working("Everybody throws coins …"):
        rows = protocol.estimate(protocol.randomise(answers)).rows
    counts = [
        Counted(row["value"], answers.count(row["value"]), row["count"], row["low"], row["high"])
        for row in sorted(rows, key=lambda row: -row["count"])
    ]
    stage.say(
        f"A clinic that nobody believes asks {len(answers):,} people for their marital status. Each randomises the "
        f"answer at home (epsilon {EPSILON}), so no single report can be believed. The crowd still adds up:"
    )
    stage.table(
        ["status", "true", "estimated", "95 % between"],
        [
            [one.label, f"{one.true:,}", f"{one.estimate:,.0f}", f"{one.low:,.0f} – {one.high:,.0f}"]
            for one in counts[:SHOWN]
        ],
        right=["true", "estimated", "95 % between"],
    )
    covered = sum(one.low <= one.true <= one.high for one in counts)
    return Collected(
        protocol.name, protocol.epsilon, len(answers), covered, counts, _asked_again(stage, protocol, values)
    )


def _asked_again(stage: Stage, protocol: local.Protocol, values: list[str]) -> str:
    """A device sends the same report for the same answer, and refuses another answer."""
    device = local.Device(protocol)
    same = all(device.report(values[0]) == device.report(values[0]) for _ in range(30))
    stage.say(
        f"Asked thirty times more, a device {'repeats its report word for word' if same else 'answers anew'}: "
        "there is nothing to average. Asked to report something else, it refuses:"
    )
    try:
        device.report(values[1])
    except BudgetExceeded as error:
        stage.notice(type(error).__name__, str(error))
        return str(error)
    return ""
