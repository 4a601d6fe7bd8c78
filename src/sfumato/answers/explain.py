"""What a question would do, before it does anything."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.answers.clipped import Clipped
from sfumato.answers.columns import CONFIDENCE
from sfumato.answers.formulas import expected_errors
from sfumato.answers.notes import notes, price_in_words, protects
from sfumato.answers.offers import cheaper
from sfumato.answers.rounding import bar, six_digits
from sfumato.answers.supposed import supposed_error
from sfumato.answers.totals import notes_on_totals
from sfumato.answers.wordings import if_so_many, supposing
from sfumato.errors import so_many
from sfumato.kernel.certify import Certified
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.mechanisms.keys import KeySelection
from sfumato.kernel.mechanisms.protocol import Mechanism
from sfumato.kernel.widths import deviation
from sfumato.kernel.wordings import mechanism_switched_off
from sfumato.ledger.terms import Amount
from sfumato.plan.counting import WHOLE_WEIGHT
from sfumato.plan.nodes import (
    BetweenEnds,
    CellSum,
    CentredSum,
    Choose,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Histogram,
    Measure,
    MostFrequent,
    Quantiles,
    Sum,
    UnboundedSum,
)
from sfumato.plots.fragment import text_fragment
from sfumato.query.computing import Computed
from sfumato.query.ordering import After
from sfumato.query.rewrite import (
    Clipping,
    FoundMeanColumn,
    KeyColumn,
    MeanColumn,
    ModeColumn,
    OutputColumn,
    SpreadColumn,
)
from sfumato.visible import visible_lines

SHOWN = Fraction(1, 2), Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Step:
    """One release: what is measured, how far one unit can move it and why, with which noise; in units of its column."""

    measures: str
    sensitivity: float
    rule: str
    event: dict[str, str]
    deviation: float | None
    share: float


@dataclass(frozen=True, slots=True)
class Explanation:
    question: str
    unit: str
    groups: int
    cost: Amount
    steps: tuple[Step, ...]
    expected_error: dict[str, float | None]
    notes: tuple[str, ...]
    sql: str
    digest: str
    keys: str = ""
    without_error: tuple[str, ...] = ()
    refused: str = ""  # why it would not be answered, unless it was before
    cheaper: tuple[str, ...] = ()  # what would need less noise, and what it would count
    without_delta: dict[str, float] = field(default_factory=dict)  # errors, if the budget had no delta: where smaller
    rows: int | None = None  # how many a group has about, as the analyst guesses
    supposed: tuple[str, ...] = ()  # whose expected error rests on that guess

    def to_dict(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return {
            "question": self.question,
            "unit": self.unit,
            "groups": self.groups,
            "keys": self.keys,
            "cost": {"epsilon": self.cost.epsilon, "delta": self.cost.delta},
            "price": price_in_words(self.cost),
            "refused": self.refused,
            "steps": [
                {
                    "measures": step.measures,
                    "sensitivity": step.sensitivity,
                    "rule": step.rule,
                    "share": step.share,
                    "event": step.event,
                    "deviation": step.deviation,
                }
                for step in self.steps
            ],
            "expected_error": self.expected_error,
            "confidence": CONFIDENCE,
            "rows": self.rows,
            "supposed": list(self.supposed),
            "supposing": supposing(self.rows) if self.rows is not None and self.supposed else "",
            "notes": list(self.notes),
            "cheaper": list(self.cheaper),
            "without_delta": self.without_delta,
            "sql": self.sql,
            "digest": self.digest,
        }

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, *, sql: bool = False) -> str:
        """For people; the SQL that would run is often longer than all else together."""
        lines = [f"Question: {self.question}", f"Protects: one {self.unit}", f"Costs:    {self.cost}"]
        lines += [f"          {price_in_words(self.cost)}"]
        lines += [f"Refused:  {self.refused}"] if self.refused else []
        many = f"{self.groups}, all declared; empty ones get noise too"
        lines += [f"Groups:   {self.keys or many}", "Releases:"]
        for step in self.steps:
            lines += [f"  {step.measures}: {100 * step.share:.0f} % of the spend"]
            lines += [f"    sensitivity {six_digits(step.sensitivity)}: {step.rule}"]
            mechanism = step.event["mechanism"].replace("_", " ")
            if step.event["mechanism"] == "bounded_sum":
                lines += ["    noise in proportion to the larger of the bounds found"]
            elif step.deviation is None:
                lines += [f"    chosen privately: {mechanism}"]
            else:
                lines += [f"    {mechanism} noise, standard deviation {six_digits(step.deviation)}"]
        lines += [f"Error bars ({100 * CONFIDENCE:.0f} %):"]
        for name, error in self.expected_error.items():
            unknown = "none" if name in self.without_error else "depends on the answer"
            guessed = f" {if_so_many(self.rows)}" if self.rows is not None and name in self.supposed else ""
            lines += [f"  {name}: " + (f"±{bar(error)}{guessed}" if error is not None else unknown)]
            if name in self.without_delta:
                lines += [
                    f"    with delta = 0 in the policy: ±{bar(self.without_delta[name])}, and fewer questions fit"
                ]
        lines += [f"  {supposing(self.rows)}"] if self.rows is not None and self.supposed else []
        lines += ["Cheaper:", *(f"  {offer}" for offer in self.cheaper)] if self.cheaper else []
        lines += ["Not covered by error bars:", *(f"  {note}" for note in self.notes)] if self.notes else []
        elsewhere = f"SQL:      {len(self.sql):,} characters, shown by --sql; in Python it is explanation.sql."
        lines += ["SQL:", self.sql] if sql else [elsewhere]
        return visible_lines("\n".join(lines))

    def _repr_html_(self) -> str:
        return text_fragment(str(self))


def explain(
    question: str,
    certified: Certified,
    columns: tuple[OutputColumn, ...],
    sql: str,
    cost: Amount,
    after: After,
    clipping: Clipping | None = None,
    rows: int | None = None,
) -> Explanation:
    plan, clipped = certified.plan, None if clipping is None else Clipped(certified, clipping)
    mechanisms = tuple(release.mechanism for release in certified.releases)
    errors = expected_errors(columns, after, mechanisms, CONFIDENCE, clipped)
    guessed = {} if rows is None else _supposed(certified, (*columns, *after.computed), clipped, rows, errors)
    return Explanation(
        question=question,
        unit=protects(plan),
        groups=plan.groups,
        cost=cost,
        steps=(
            *_finding(certified),
            *(
                Step(
                    _words(measure, position, columns),
                    _in_units(release.sensitivity.l1, measure),
                    release.sensitivity.rule,
                    release.mechanism.event(),
                    _deviation(release.mechanism, measure),
                    float(measure.share / certified.cost.amount),
                )
                for position, (measure, release) in enumerate(zip(plan.measures, certified.releases, strict=True))
            ),
        ),
        expected_error={**errors, **guessed},
        notes=(*notes(certified, columns, clipping, after.declared), *notes_on_totals(certified, after.rolled)),
        sql=sql,
        digest=certified.digest,
        keys="" if certified.selection is None else _discovered(certified.selection),
        refused="" if not certified.switched_off else mechanism_switched_off(certified.switched_off[0]).message,
        without_error=tuple(column.name for column in columns if isinstance(column, ModeColumn)),
        cheaper=cheaper(certified, columns, rows) if clipping is None else (),
        rows=rows,
        supposed=tuple(guessed),
    )


def _supposed(
    certified: Certified,
    columns: tuple[OutputColumn | Computed, ...],
    clipped: Clipped | None,
    rows: int,
    known: dict[str, float | None],
) -> dict[str, float]:
    """What depends on the answer, of a group of about so many rows."""
    unknown = [column for column in columns if known.get(column.name, 0) is None]
    found = {column.name: supposed_error(column, columns, certified, rows, CONFIDENCE, clipped) for column in unknown}
    return {name: error for name, error in found.items() if error is not None}


def _discovered(selection: KeySelection) -> str:
    """Weights are of people alone."""
    few, many = ([selection.units_for(part, held) for part in SHOWN] for held in (1, selection.max_groups))
    if not selection.weighted:
        return (
            f"discovered; a key that {few[0]:,} units hold is shown half of the time, "
            f"one of {few[1]:,} units 95 times in 100"
        )
    return (
        f"discovered; a key of {few[0]:,} people who hold no other is shown half of the time, one of {few[1]:,} 95 "
        f"times in 100; of people who each hold {selection.max_groups:,} or more it takes {many[0]:,} and {many[1]:,}"
    )


def _finding(certified: Certified) -> list[Step]:
    """What is paid for finding keys, where no measure does it; in people, also where these have weights."""
    selection = certified.selection
    if selection is None or any(release.mechanism is selection for release in certified.releases):
        return []
    rule, scale = "one unit counts once in one group", 1
    if selection.weighted:
        rule, scale = "one person adds 1/√k to each of their k groups", WHOLE_WEIGHT
    share = float(selection.rho / certified.cost.amount)
    return [Step("which groups are shown", 1, rule, selection.event(), deviation(selection.law) / scale, share)]


def _deviation(mechanism: Mechanism, measure: Measure) -> float | None:
    return deviation(mechanism.law) * _step(measure) if isinstance(mechanism, Additive | KeySelection) else None


def _in_units(steps: int, measure: Measure) -> float:
    value = steps * Fraction(_step(measure))
    return int(value) if value.denominator == 1 else float(value)


def _step(measure: Measure) -> float:
    """What the noise is added in, in units of the column."""
    match measure.aggregate:
        case Sum(lattice=lattice) | CentredSum(lattice=lattice) | CellSum(lattice=lattice):
            return float(lattice.step)
        case _:
            return 1.0


def _words(measure: Measure, position: int, columns: tuple[OutputColumn, ...]) -> str:
    users = []
    for column in columns:
        if isinstance(column, MeanColumn):
            used = position in (column.total, column.count)
        elif isinstance(column, FoundMeanColumn):
            used = position in (column.measure, column.count)
        elif isinstance(column, SpreadColumn):
            used = position in (column.total, column.squares, column.count)
        else:
            used = not isinstance(column, KeyColumn) and column.measure == position
        users += [column.name] if used else []
    match measure.aggregate:
        case CountRows():
            what = "number of rows"
        case CountValues():
            what = "number of values"
        case Sum():
            what = "sum of clamped values"
        case CentredSum():
            what = "sum of clamped values around the centre of their bounds"
        case UnboundedSum(finding=finding):
            part = f"{100 * float(finding):g} % of it"
            what = f"sum of values, clamped to bounds that are found privately with {part}"
        case BetweenEnds(finding=finding, wanted=wanted, bins=bins):
            part = f"between bounds that are found privately with {100 * float(finding):g} % of it"
            counted = f"{bins} bins" if wanted == "bins" else f"running totals of {bins} bins"
            what = f"{'count, sum and squares' if wanted == 'moments' else counted} {part}"
        case CountDistinct():
            what = "number of different values"
        case CountPeople():
            what = "number of different people"
        case CountCut():
            what = "number of people of whom something is cut off"
        case Histogram(cells=cells):
            what = f"number of rows in each of {so_many(cells.size, 'cell')}"
        case CellSum(cells=cells):
            what = f"sum of clamped values in each of {so_many(cells.size, 'cell')}"
        case Choose(tables=tables, questions=questions):
            what = f"one of {len(questions)} questions, chosen by their answers in {len(tables)} tables"
        case Cumulative(cells=cells):
            what = f"running totals of {so_many(cells.size, 'cell')}"
        case Quantiles(cells=cells, levels=levels):
            what = f"{len(levels)} of the ranks on a line of {cells.size} cells, with error bars"
        case MostFrequent(cells=cells):
            what = f"most frequent of {cells.size} values"
    return f"{what} (for {', '.join(users)})" if users else f"{what} (for what was clipped)"
