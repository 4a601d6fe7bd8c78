"""A question and a schema: names resolved, types checked, bounds and keys made explicit."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.errors import (
    duplicate_output,
    keys_undeclared,
    not_supported,
    select_without_group,
    too_many_keys,
)
from sfumato.kernel.certify import MOST_GROUPS
from sfumato.plan.expressions import Column, Condition
from sfumato.plan.nodes import Key, ListedKey, RangeKey
from sfumato.plan.sources import Source
from sfumato.query.after import After
from sfumato.query.bind_calls import bind_call
from sfumato.query.bind_expressions import bind_condition, resolve
from sfumato.query.bind_sources import bind_source
from sfumato.query.question import BoundCall, Question, SelectedCall, SelectedKey
from sfumato.schema.columns import Category, Int
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
    keys: tuple[Key, ...]
    selected: tuple[BoundKey | BoundAggregate, ...]
    after: After = field(default_factory=After)
    table: Source = field(kw_only=True)


def bind(question: Question, schema: Schema) -> BoundQuestion:
    """Everything the plan needs made explicit, or Refused with the reason."""
    table, schema = bind_source(question.table, schema)
    columns = [resolve(column, schema) for column in question.keys]
    keys = tuple(_key(column, schema) for column in columns)
    groups = 1
    for key in keys:
        groups *= key.size
    if groups > MOST_GROUPS:
        raise too_many_keys(groups, MOST_GROUPS)
    _refuse_repeats(column.name for column in columns)
    selected: list[BoundKey | BoundAggregate] = []
    for item in question.selected:
        match item:
            case SelectedKey(name=name, column=column):
                resolved = resolve(column, schema)
                if resolved not in columns:
                    raise select_without_group(column.name)
                selected.append(BoundKey(name, columns.index(resolved)))
            case SelectedCall(name=name):
                selected.append(BoundAggregate(name, bind_call(item, schema)))
    _refuse_repeats(item.name for item in selected)
    if not any(isinstance(item, BoundAggregate) for item in selected):
        raise not_supported(
            "a question without an aggregate", "Ask for COUNT(*), COUNT(x), SUM(x), AVG(x), VARIANCE(x) or STDDEV(x)."
        )
    where = None if question.where is None else bind_condition(question.where, schema)
    question.after.check({item.name: isinstance(item, BoundKey) and _shows_text(keys[item.key]) for item in selected})
    return BoundQuestion(where, keys, tuple(selected), question.after, table=table)


def _shows_text(key: Key) -> bool:
    """Numbers and nothing else compare with numbers; true and false are texts here."""
    return isinstance(key, ListedKey) and not all(type(value) is int for value in key.values)


def _refuse_repeats(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise duplicate_output(name)
        seen.add(name)


def _key(column: Column, schema: Schema) -> Key:
    match schema.columns[column.name]:
        case Category(values=values):
            return ListedKey(column, values)
        case Int(lower=Fraction() as lower, upper=Fraction() as upper):
            return RangeKey(column, int(lower), int(upper))
        case _:
            raise keys_undeclared(column.name)
