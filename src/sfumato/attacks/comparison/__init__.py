"""Every method on the same table, the same questions and the same attacker, beside differential privacy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.anonymise.search import Progress
from sfumato.attacks.baseline import margin, outsiders
from sfumato.attacks.comparison.measure import attacked, query_error
from sfumato.attacks.comparison.methods import publications
from sfumato.attacks.comparison.setting import setting
from sfumato.attacks.finite import finite
from sfumato.attacks.result import AttackResult
from sfumato.attacks.staging import Case
from sfumato.attacks.wordings import RED, compared, most_learnt, nothing_to_attack
from sfumato.errors import not_positive
from sfumato.plots.attacks import successes
from sfumato.plots.bars import percent
from sfumato.plots.page import Cell, Figure, Section, Table, page
from sfumato.schema.numbers import whole

COLUMNS = (
    "method",
    "privacy level",
    "broken by",
    "re-identified",
    "secret learnt",
    "value learnt",
    "query error",
    "usual risk",
)
EPSILONS = (0.1, 1.0, 3.0, 10.0)
BROKEN_BY = {"linking": "linking", "secret": "guessing the secret", "value": "recovering the value"}


@dataclass(frozen=True, slots=True)
class Line:
    """A method: how wrong its answers are, and how three attacks fare against it."""

    method: str
    level: str
    query_error: float | None
    risk: float | None
    linking: AttackResult[Any]
    secret: AttackResult[Any]
    value: AttackResult[Any]

    @property
    def broken_by(self) -> list[str]:
        """The attacks that learn more about members than about people who are not in the table, and than chance."""
        return [BROKEN_BY[case.result.name] for case in map(self.case, range(3)) if case.works]

    def case(self, which: int) -> Case:
        """How one of the three attacks fares: linking, the secret, the value."""
        return Case(self.method, (self.linking, self.secret, self.value)[which])


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line per method, in the order in which they were invented."""

    lines: Sequence[Line]
    people: int
    questions: int
    quasi: Sequence[str]
    sensitive: str
    value: str
    outsiders: int
    notes: Sequence[str] = ()

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "method": line.method,
                "level": line.level,
                "query_error": line.query_error,
                "risk": line.risk,
                "broken_by": line.broken_by,
            }
            | {
                result.name: {
                    "success": result.success,
                    "outsiders": outsiders(result),
                    "margin": margin(result),
                    "chance": result.chance,
                    "bound": result.bound,
                }
                for result in (line.linking, line.secret, line.value)
            }
            for line in self.lines
        ]

    def table(self) -> list[list[str]]:
        """Cells under COLUMNS, as texts."""
        return [
            [
                line.method,
                line.level,
                ", ".join(line.broken_by) or "nothing here",
                _cell(line.linking),
                _cell(line.secret),
                _cell(line.value),
                "no counts" if line.query_error is None else percent(line.query_error),
                "no records" if line.risk is None else percent(line.risk),
            ]
            for line in self.lines
        ]

    def markdown(self) -> str:
        rows = [COLUMNS, ["---"] * len(COLUMNS), *self.table()]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"

    def says(self) -> str:
        """What was compared, and how it is judged."""
        first = self.lines[0]
        return compared(
            people=self.people,
            outsiders=self.outsiders,
            questions=self.questions,
            known=self.quasi,
            secret=self.sensitive,
            value=self.value,
            chances=[percent(result.chance) for result in (first.linking, first.secret, first.value)],
            luck=percent(max(margin(result) for line in self.lines for result in (line.secret, line.value))),
        )

    def page(self, *, static: bool = False) -> str:
        """One HTML document: the table, and a plot an attack, with `static` one that stands still."""
        cells: list[list[Cell]] = [list(row) for row in self.table()]
        sections = [Section("Side by side", [self.says(), *self.notes, Table(COLUMNS, cells, stacked=True)])]
        for title, pick in (("People re-identified", 0), ("Secrets learnt", 1), ("Values learnt", 2)):
            bars = [line.case(pick).bar(f"{line.method}, {line.level}") for line in self.lines]
            worst = max(bars, key=lambda bar: bar.success)
            takeaway = most_learnt(worst.label, percent(worst.success), percent(worst.outsiders or 0.0))
            sections.append(Section(title, [Figure(successes(bars), takeaway)]))
        return page("Methods compared", sections, footer=RED, static=static)


def compare(
    table: pa.Table | None = None,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    value: str | None = None,
    epsilons: Sequence[float] = EPSILONS,
    k: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Measure what each method costs in accuracy and what it gives away, beside differential privacy.

    table: one row per person, as an Arrow table; people of a made-up town when left out. quasi: numeric columns that
    the attacker's register knows. sensitive: a column with few values. value: a numeric column. epsilons: of sessions.
    seed: of who is held out and of all that is made up. progress: told the share done.

    A third of the people, drawn at random, are held out before anything is published and attacked like the others. A
    method is broken where members are told more often than they, and more often than by chance, by more than luck.
    """
    prices = tuple(finite("epsilon", epsilon) for epsilon in epsilons)
    if not prices:
        raise nothing_to_attack("epsilon")
    if min(prices) <= 0:
        raise not_positive("epsilon", str(min(prices)))
    least = whole(k, "k", least=2)
    scene = setting(table, quasi=quasi, sensitive=sensitive, value=value, k=least, seed=seed)
    lines = []
    publishers = publications(scene, prices)
    for publish in publishers:
        publication = publish()
        linking, secret, worth = attacked(publication, scene)
        lines.append(
            Line(
                publication.method,
                publication.level,
                query_error(publication, scene),
                publication.risk,
                linking,
                secret,
                worth,
            )
        )
        if progress is not None:
            progress(len(lines) / len(publishers))
    return Comparison(
        lines,
        scene.table.num_rows,
        len(scene.questions),
        scene.quasi,
        scene.sensitive,
        scene.value,
        len(scene.outsiders.known),
        scene.notes,
    )


def _cell(result: AttackResult[Any]) -> str:
    promise = "" if result.bound is None else f"; ≤ {percent(result.bound)}"
    return f"{percent(result.success)} ({percent(outsiders(result) or 0.0)}{promise})"
