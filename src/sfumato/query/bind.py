"""A question and a schema: names resolved, types checked, bounds and keys made explicit."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sfumato.errors import Refused, not_supported
from sfumato.kernel.certify import MOST_GROUPS
from sfumato.plan.expressions import Column, Condition, Expression
from sfumato.plan.nodes import BetweenEnds, Cells, Key, ListedKey, MostFrequent, OpenKey
from sfumato.plan.sources import Source
from sfumato.query.bind_calls import bind_call
from sfumato.query.bind_expressions import bind_condition, bind_value, first_column
from sfumato.query.bind_keys import bind_key
from sfumato.query.bind_sources import bind_source
from sfumato.query.bound import Bins, BoundCall
from sfumato.query.ordering import After
from sfumato.query.question import Question, SelectedCall, SelectedKey
from sfumato.query.wordings import duplicate_output, name_of_a_column, select_without_group, too_many_keys
from sfumato.schema.columns import Int
from sfumato.schema.table import Schema


@dataclass(frozen=True, slots=True)
class BoundKey:
    name: str
    key: int


@dataclass(frozen=True, slots=True)
class BoundAggregate:
    name: str
    call: BoundCall


@dataclass(frozen=True, slots=True)
class BoundQuestion:
    where: Condition | None
    keys: tuple[Key | OpenKey, ...]
    selected: tuple[BoundKey | BoundAggregate, ...]
    after: After = field(default_factory=After)
    table: Source = field(kw_only=True)


def bind(question: Question, schema: Schema) -> BoundQuestion:
    """Everything the plan needs made explicit, or Refused with the reason."""
    table, schema = bind_source(question.table, schema)
    grouped = [bind_value(_meant(key, question, schema), schema) for key in question.keys]
    keys = tuple(bind_key(key, schema) for key in grouped)
    groups = 1
    for key in keys:
        groups *= 1 if isinstance(key, OpenKey) else key.size
    if groups > MOST_GROUPS:
        raise too_many_keys(groups, MOST_GROUPS)
    for place, repeated in enumerate(grouped):
        if repeated in grouped[:place]:
            raise duplicate_output(first_column(repeated))
    selected: list[BoundKey | BoundAggregate] = []
    for item in question.selected:
        match item:
            case SelectedKey(name=name, expression=expression):
                shown = bind_value(expression, schema)
                if shown not in grouped:
                    raise _ungrouped(item, schema)
                selected.append(BoundKey(name, grouped.index(shown)))
            case SelectedCall(name=name):
                selected.append(BoundAggregate(name, bind_call(item, schema, groups)))
    _refuse_repeats(item.name for item in selected)
    if not any(isinstance(item, BoundAggregate) for item in selected) and not any(
        isinstance(key, OpenKey) for key in keys
    ):
        raise not_supported(
            "a question without an aggregate", "Ask for COUNT(*), SUM(x), AVG(x), MEDIAN(x) or another of them."
        )
    where = None if question.where is None else bind_condition(question.where, schema)
    lists = {
        item.name for item in selected if isinstance(item, BoundAggregate) and isinstance(item.call, Bins | BetweenEnds)
    }
    shown_as_text = {item.name: _shows_text(item, keys, schema) for item in selected if item.name not in lists}
    question.after.check(shown_as_text, lists)
    return BoundQuestion(where, keys, tuple(selected), question.after, table=table)


def _meant(key: Expression, question: Question, schema: Schema) -> Expression:
    """A name after GROUP BY means a column of the table; if there is none, what stands before AS."""
    if isinstance(key, Column) and key.name.casefold() not in {name.casefold() for name in schema.columns}:
        for item in question.selected:
            if isinstance(item, SelectedKey) and item.name.casefold() == key.name.casefold():
                return item.expression
    return key


def _ungrouped(item: SelectedKey, schema: Schema) -> Refused:
    """A name after AS that is a column's too means that column after GROUP BY."""
    if isinstance(item.expression, Column):
        return select_without_group(item.expression.name)
    taken = item.name.casefold() in {name.casefold() for name in schema.columns}
    return name_of_a_column(item.name) if taken else select_without_group(item.name)


def _shows_text(item: BoundKey | BoundAggregate, keys: tuple[Key | OpenKey, ...], schema: Schema) -> bool:
    """Numbers and nothing else compare with numbers; true and false are texts here."""
    match item:
        case BoundKey(key=place):
            key: Cells | OpenKey = keys[place]
        case BoundAggregate(call=MostFrequent(cells=cells)):
            key = cells
        case _:
            return False
    match key:
        case OpenKey(expression=found):
            return not isinstance(schema.columns[found.name], Int)
        case ListedKey(values=values):
            return not all(type(value) is int for value in values)
        case _:
            return False


def _refuse_repeats(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise duplicate_output(name)
        seen.add(name)
