"""The schedule of a learner: what it will measure, at which part of the price and with how much noise.

It follows from declarations and the spend alone: the plans that it is certified from have the size of the real ones.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.answers.notes import price_in_words
from sfumato.errors import Refused, SfumatoError
from sfumato.kernel.cost import Cost
from sfumato.kernel.mechanisms.additive import Additive
from sfumato.kernel.widths import deviation
from sfumato.learn.asking import Asking
from sfumato.learn.bins import named
from sfumato.learn.model import Stage
from sfumato.learn.wordings import learner_too_large
from sfumato.plan.nodes import Plan
from sfumato.plots.fragment import text_fragment
from sfumato.session import Session
from sfumato.visible import visible_lines

SURE = 3  # so many standard deviations of noise a number is above it


@dataclass(frozen=True, slots=True)
class Template:
    """A plan, how many like it are drawn, and what they measure. Of several sizes it is the largest: it must fit."""

    what: str
    plan: Plan
    times: int = 1
    numbers: int | None = None  # that are released in all, where plans are not equally large


def stages(templates: Sequence[Template], task: Asking, price: Cost) -> tuple[Stage, ...]:
    """The lines of a schedule, each certified as the plans will be."""
    return tuple(_stage(template, task, price) for template in templates)


def _stage(template: Template, task: Asking, price: Cost) -> Stage:
    try:
        certified = task.certified(template.plan)
    except Refused as refused:
        raise learner_too_large(refused.message) from None
    certified.demand_allowed()
    (release,) = certified.releases
    noise = deviation(release.mechanism.law) if isinstance(release.mechanism, Additive) else None
    numbers = certified.plan.groups if noise is None else sum(each.groups * each.size for each in certified.countings)
    return Stage(
        template.what,
        template.times,
        round(float(template.times * certified.cost.amount / price.amount), 6),
        release.sensitivity.rule,
        release.mechanism.event()["mechanism"],
        None if noise is None else float(f"{noise:.6g}"),
        numbers * template.times if template.numbers is None else template.numbers,
    )


@dataclass(frozen=True, slots=True)
class Schedule:
    """What fitting would do, before anything is paid or looked at."""

    learner: str
    target: str
    columns: dict[str, int | str]  # how many cells, or from where to where
    unit: str
    epsilon: float
    delta: float
    words: str
    stages: tuple[Stage, ...]
    settings: dict[str, Any]
    purpose: str
    refused: str = ""
    tables: int = 0

    def to_dict(self) -> dict[str, Any]:
        """What `--explain --format json` prints."""
        return {**asdict(self), "stages": [asdict(stage) for stage in self.stages]}

    def __str__(self) -> str:
        cost = f"epsilon {self.epsilon:g}" + (f", delta {self.delta:g}" if self.delta else "")
        target = f", target {self.target}" if self.target else ""
        lines = [f"Learner:  {self.learner}{target}", f"Protects: one {self.unit}"]
        lines += [f"Costs:    {cost}, one charge", f"          {self.words}"]
        lines += [f"Refused:  {self.refused}"] if self.refused else []
        lines += ["Columns:  " + ", ".join(named(name, extent) for name, extent in self.columns.items())]
        lines += ["Settings: " + ", ".join(f"{name} {value}" for name, value in self.settings.items())]
        lines += [f"Tables:   {self.tables:,}, each counted in one pass over the rows"] if self.tables else []
        lines += ["Schedule:"]
        for stage in self.stages:
            many = "" if stage.times == 1 else f"{stage.times} × "
            lines += [f"  {many}{stage.what}: {100 * stage.share:.3g} % of the price, {stage.cells:,} numbers in all"]
            lines += [f"    {stage.rule}"]
            if stage.noise is None:
                lines += [f"    chosen privately: {stage.mechanism.replace('_', ' ')}"]
            else:
                lines += [
                    f"    {stage.mechanism.replace('_', ' ')} noise, standard deviation {stage.noise:.4g}: "
                    f"a number below {SURE * stage.noise:.3g} is lost in it"
                ]
        lines += ["Nothing else of the rows leaves: no training score, no number of rows, no bin made of data."]
        return visible_lines("\n".join(lines))

    def _repr_html_(self) -> str:
        return text_fragment(str(self))


def explained(
    session: Session,
    task: Asking,
    learner: str,
    spend: Any,
    templates: Sequence[Template],
    settings: dict[str, Any],
    purpose: str,
) -> Schedule:
    price, cost = session.price(spend), session.amount(spend)
    refused, tables = "", 0
    try:
        made = stages(templates, task, price)
        tables = sum(one.times * len(task.certified(one.plan).countings) for one in templates)
    except SfumatoError as error:
        made, refused = (), str(error)
    return Schedule(
        learner,
        task.target,
        task.extents,
        str(task.schema.unit),
        cost.epsilon,
        cost.delta,
        price_in_words(cost),
        made,
        settings,
        purpose,
        refused,
        tables,
    )
