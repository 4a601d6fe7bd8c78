"""All audits, one after the other, with what they found."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt

from sfumato.accounting.belief import membership_advantage
from sfumato.audit import learners, trustless, twins
from sfumato.audit.catalogue import MECHANISMS, aggregates
from sfumato.audit.channels import every_channel
from sfumato.audit.events import mechanism
from sfumato.audit.evidence import FALSE_ALARM, between, chi_square
from sfumato.audit.findings import Finding
from sfumato.audit.replay import every_question
from sfumato.audit.subject import Subject

LAW_DRAWS = 200_000
Task = tuple[str, Callable[[], list[Finding]]]


def by_events(subject: Subject) -> Finding:
    return mechanism(
        subject.run,
        claimed_epsilon=float(subject.epsilon),
        claimed_delta=float(subject.delta),
        neighbours=subject.neighbours,
        draws=subject.draws,
        many=True,
        name=subject.name,
    )


def by_law(subject: Subject) -> Finding:
    """Draws against the exact law of the claim."""
    if subject.law is None:
        raise ValueError("the law of this mechanism is not known")
    data, draws = subject.neighbours[0], min(subject.draws, LAW_DRAWS)
    law = subject.law(data, subject.price)
    seen = Counter(subject.cells(subject.run(data, draws)))
    outcomes = sorted(law, key=repr)
    strange = seen.keys() - law.keys()
    p = 0.0 if strange else chi_square([seen[one] for one in outcomes], [law[one] for one in outcomes])
    words = "an output that cannot be" if strange else f"χ² of {draws:,} draws, p = {p:.2g}"
    return Finding(subject.name, "law", FALSE_ALARM, p, p < FALSE_ALARM, words, draws)


def membership(subject: Subject) -> Finding:
    """Guess from all that one fit has drawn whether the lone person is in: they are if it favours that.

    True alarms must not exceed false ones by more than tanh(ε/2), or √(ρ/2), since by more two laws whose divergence is
    at most ρ do not differ (Pinsker).
    """
    false, true = (int((subject.run(lone, subject.draws) > 0).sum()) for lone in subject.neighbours)
    sure_of = between(true, subject.draws, FALSE_ALARM / 2)[0] - between(false, subject.draws, FALSE_ALARM / 2)[1]
    limit = sqrt(subject.price / 2) if subject.in_rho else membership_advantage(subject.epsilon)
    return Finding(
        subject.name,
        "membership",
        limit,
        (true - false) / subject.draws,
        sure_of > limit,
        f"{true:,} true alarms and {false:,} false ones of {subject.draws:,} each",
        subject.draws,
    )


def tasks() -> list[Task]:
    """Name and work of every audit of Sfumato itself."""
    return [
        *(
            (subject.name, partial(_law_and_events, subject))
            for subject in (*MECHANISMS, *aggregates(), *trustless.subjects())
        ),
        *((subject.name, partial(_alone, partial(membership, subject))) for subject in learners.subjects()),
        *(("bits and time", partial(_alone, check)) for check in every_channel()),
        *(("replay", partial(_alone, check)) for check in every_question()),
    ]


def twin_tasks() -> list[Task]:
    """Name and work of every planted violation."""
    return [
        *((subject.name, partial(_worse, subject)) for subject in twins.subjects()),
        *((subject.name, partial(_alone, partial(membership, subject))) for subject in learners.twins()),
        *(("bits, time, replay", partial(_alone, check)) for check in twins.channels()),
    ]


def everything(*, planted: bool = False) -> Iterator[Finding]:
    for _, work in twin_tasks() if planted else tasks():
        yield from work()


def _law_and_events(subject: Subject) -> list[Finding]:
    """Of local protocols the law is enumerated in their tests; here the events must do."""
    return [*([by_law(subject)] if subject.law else []), by_events(subject)]


def _worse(subject: Subject) -> list[Finding]:
    """What flags a twin: the law first, since it is quick; then the events."""
    if subject.law and (law := by_law(subject)).violated:
        return [law]
    return [by_events(subject)]


def _alone(check: Callable[[], Finding]) -> list[Finding]:
    return [check()]
