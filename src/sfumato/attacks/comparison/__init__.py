"""Every method on the same table, the same questions and the same attacker, beside differential privacy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.anonymise.search import Progress
from sfumato.attacks.comparison.measure import attacked, query_error
from sfumato.attacks.comparison.methods import publications
from sfumato.attacks.comparison.setting import setting
from sfumato.attacks.finite import finite
from sfumato.attacks.result import AttackResult
from sfumato.attacks.staging import Case
from sfumato.attacks.wordings import nothing_to_attack
from sfumato.errors import not_positive
from sfumato.plots.attacks import successes
from sfumato.plots.bars import percent
from sfumato.plots.page import Cell, Figure, Section, Table, page
from sfumato.schema.numbers import whole

COLUMNS = (
    "method",
    "privacy level",
    "query error",
    "usual risk",
    "re-identified",
    "secret learnt",
    "value learnt",
    "broken by",
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
        """The attacks that hit more often than promised, or than chance where nothing was."""
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
                result.name: {"success": result.success, "chance": result.chance, "bound": result.bound}
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
                "no counts" if line.query_error is None else percent(line.query_error),
                "no records" if line.risk is None else percent(line.risk),
                _cell(line.linking),
                _cell(line.secret),
                _cell(line.value),
                ", ".join(line.broken_by) or "nothing here",
            ]
            for line in self.lines
        ]

    def markdown(self) -> str:
        rows = [COLUMNS, ["---"] * len(COLUMNS), *self.table()]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"

    def says(self) -> str:
        """What was compared, in a sentence or two."""
        return (
            f"{self.people:,} people; {self.questions} counts over boxes of {', '.join(self.quasi[:2])}. The attacker "
            f"has a register of {', '.join(self.quasi)} and wants the record, {self.sensitive} and {self.value} of "
            "everybody. Usual risk: one over the size of a record's group, on average. In brackets: chance, and what "
            "epsilon promises at most."
        )

    def page(self) -> str:
        """One HTML document: the table, and a plot an attack."""
        cells: list[list[Cell]] = [list(row) for row in self.table()]
        sections = [Section("Side by side", [self.says(), Table(COLUMNS, cells)])]
        for title, pick in (("People re-identified", 0), ("Secrets learnt", 1), ("Values learnt", 2)):
            bars = [line.case(pick).bar(f"{line.method}, {line.level}") for line in self.lines]
            worst = max(bars, key=lambda bar: bar.success)
            takeaway = f"Most by {worst.label}: {percent(worst.success)}; chance gives {percent(worst.chance)}."
            sections.append(Section(title, [Figure(successes(bars), takeaway)]))
        return page("Methods compared", sections, footer="Made by Sfumato. Red: beyond chance, or beyond the promise.")


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
    progress: told the share done.
    """
    prices = tuple(finite("epsilon", epsilon) for epsilon in epsilons)
    if not prices:
        raise nothing_to_attack("epsilon")
    if min(prices) <= 0:
        raise not_positive("epsilon", str(min(prices)))
    least = whole(k, "k", least=2)
    scene = setting(table, quasi=quasi, sensitive=sensitive, value=value, k=least, seed=seed)
    lines = []
    published = publications(scene, prices)
    for publication in published:
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
            progress(len(lines) / len(published))
    return Comparison(lines, scene.table.num_rows, len(scene.questions), scene.quasi, scene.sensitive, scene.value)


def _cell(result: AttackResult[Any]) -> str:
    promise = "" if result.bound is None else f"; {percent(result.bound)}"
    return f"{percent(result.success)} ({percent(result.chance)}{promise})"
