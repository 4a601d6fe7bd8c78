"""A question and a schema: names resolved, types checked, bounds and keys made explicit."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sfumato.errors import Refused, not_supported
from sfumato.kernel.certify import MOST_GROUPS
from sfumato.plan.expressions import Call, Column, Condition, Expression
from sfumato.plan.nodes import BetweenEnds, Cells, CountRows, CountValues, Key, ListedKey, MostFrequent, OpenKey, Sum
from sfumato.plan.sources import Computed, Rows, Source, derive
from sfumato.query.about import about, binding
from sfumato.query.bind_calls import bind_call
from sfumato.query.bind_expressions import bind_condition, bind_value, first_column
from sfumato.query.bind_keys import bind_key, is_made_text
from sfumato.query.bind_sources import bind_source
from sfumato.query.bound import Bins, BoundCall, Mean, Spread
from sfumato.query.computing import Computed as Formula
from sfumato.query.computing import Operand
from sfumato.query.ordering import After
from sfumato.query.question import Question, Selected, SelectedCall, SelectedFormula, SelectedKey
from sfumato.query.shrinking import shrunk
from sfumato.query.wordings import (
    duplicate_output,
    name_of_a_column,
    not_rolled_up,
    nothing_to_compute,
    rolled_up_keys,
    select_without_group,
    too_many_keys,
    total_of_answers,
    total_of_totals,
)
from sfumato.schema.columns import Int, Text
from sfumato.schema.table import Schema

ADDS_UP = CountRows | CountValues | Sum | Mean | Spread


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


def bind(question: Question, root: Schema) -> BoundQuestion:
    """Everything the plan needs made explicit, or Refused with the reason."""
    table, schema = bind_source(question.table, root)
    grouped = [bind_value(_meant(key, question, schema), schema) for key in question.keys]
    where = None if question.where is None else bind_condition(question.where, schema)
    wide, columns = schema, grouped  # with columns that nobody named: these are for keys alone
    if any(is_made_text(key, schema) for key in grouped):
        table, wide, columns = _with_made_texts(table, schema, root, grouped)
    declared = tuple(_key(typed, key, wide) for typed, key in zip(question.keys, columns, strict=True))
    keys = tuple(_left(typed, key, where) for typed, key in zip(question.keys, declared, strict=True))
    groups = 1
    for key in keys:
        groups *= 1 if isinstance(key, OpenKey) else key.size
    if groups > MOST_GROUPS:
        raise too_many_keys(groups, MOST_GROUPS)
    for place, repeated in enumerate(grouped):
        if repeated in grouped[:place]:
            raise about(duplicate_output(first_column(repeated)), question.keys[place])
    _refuse_repeats(question.selected)
    selected: list[BoundKey | BoundAggregate] = []
    for item in question.selected:
        match item:
            case SelectedKey(name=name, expression=expression):
                shown = bind_value(expression, schema)
                if shown not in grouped:
                    raise about(_ungrouped(item, schema), item)
                selected.append(BoundKey(name, grouped.index(shown)))
            case SelectedCall(name=name):
                selected.append(BoundAggregate(name, bind_call(item, schema, groups)))
    after = replace(_with_formulas(question, selected, schema, groups), declared=declared)
    if after.rolled:
        _check_rollup(question, selected, keys)
    if not any(isinstance(item, BoundAggregate) for item in selected) and not any(
        isinstance(key, OpenKey) for key in keys
    ):
        raise not_supported(
            "a question without an aggregate", "Ask for COUNT(*), SUM(x), AVG(x), MEDIAN(x) or another of them."
        )
    lists = {
        item.name for item in selected if isinstance(item, BoundAggregate) and isinstance(item.call, Bins | BetweenEnds)
    }
    shown_as_text = {item.name: _shows_text(item, keys, wide) for item in selected if item.name not in lists}
    after.check(shown_as_text | {column.name: False for column in after.computed}, lists)
    return BoundQuestion(where, keys, tuple(selected), after, table=table)


def _check_rollup(
    question: Question, selected: Iterable[BoundKey | BoundAggregate], keys: tuple[Key | OpenKey, ...]
) -> None:
    """A total is the sum of noisy groups: all of them have to be there, and their numbers have to add up."""
    for typed, key in zip(question.keys, keys, strict=True):
        if isinstance(key, OpenKey):
            raise about(rolled_up_keys(first_column(key.expression)), typed)
    other = {item.name for item in selected if isinstance(item, BoundAggregate) and not isinstance(item.call, ADDS_UP)}
    for column in question.selected:
        if isinstance(column, SelectedFormula) and any(part.total for part in column.parts):
            raise about(total_of_totals(column.text), column)
        if column.name in other:
            raise about(not_rolled_up(column.name), column)
    for name in other:  # in a formula, and nowhere else
        raise not_rolled_up(name)


def _with_made_texts(
    table: Source, schema: Schema, root: Schema, grouped: list[Expression]
) -> tuple[Source, Schema, list[Expression]]:
    """Texts made of undeclared ones are discovered like those of a column: they are one, as in a sub-query."""
    taken = {name.casefold() for name in schema.columns}
    found = [Computed(name, Column(name), schema.columns[name]) for name in schema.visible]
    columns = list(grouped)
    for place, key in enumerate(grouped):
        if is_made_text(key, schema):
            what = key.name.lower() if isinstance(key, Call) else "case"
            column = Column(_unused(f"{what}_{first_column(key)}".casefold(), taken))
            found.append(Computed(column.name, key, Text()))
            columns[place] = column
    source = Rows(table, None, tuple(found))
    return source, replace(derive(source, root), spelt=schema.spelt), columns


def _with_formulas(question: Question, selected: list[BoundKey | BoundAggregate], schema: Schema, groups: int) -> After:
    """What is computed of answers; aggregates that are measured for that alone join the others, and are not shown."""
    formulas = [item for item in question.selected if isinstance(item, SelectedFormula)]
    if not formulas:
        return question.after
    taken = {item.name for item in question.selected}
    found = {item.call: item.name for item in selected if isinstance(item, BoundAggregate)}
    computed = []
    for formula in formulas:
        operands = []
        for part in formula.parts:
            call = bind_call(part.call, schema, groups)
            if isinstance(call, Bins | BetweenEnds | MostFrequent):
                raise nothing_to_compute(part.call.text, "a list or a most frequent value")
            if part.total and not isinstance(call, CountRows | CountValues | Sum):
                raise total_of_answers(part.call.text)
            if call not in found:
                found[call] = _unused(part.call.text, taken)
                selected.append(BoundAggregate(found[call], call))
            operands.append(Operand(found[call], part.total))
        computed.append(Formula(formula.name, formula.formula, tuple(operands)))
    shown = tuple(item.name for item in question.selected)
    return replace(question.after, computed=tuple(computed), shown=shown)


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


@binding()
def _key(_: Expression, bound: Expression, schema: Schema) -> Key | OpenKey:
    """Of a key as it was typed and as it was bound."""
    return bind_key(bound, schema)


@binding()
def _left(_: Expression, declared: Key | OpenKey, where: Condition | None) -> Key | OpenKey:
    return shrunk(declared, where)


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


def _refuse_repeats(selected: Iterable[Selected]) -> None:
    seen: set[str] = set()
    for item in selected:
        if item.name in seen:
            raise about(duplicate_output(item.name), item)
        seen.add(item.name)
