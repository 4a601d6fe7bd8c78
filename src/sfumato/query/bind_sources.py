"""What stands after FROM and a schema: tables found, columns named apart, the unit kept."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from sfumato.errors import Refused, not_supported
from sfumato.plan.expressions import Column, Expression, Number
from sfumato.plan.kinds import kind_of
from sfumato.plan.lattice import Lattice
from sfumato.plan.nodes import ListedKey
from sfumato.plan.sources import (
    Computed,
    Folded,
    Lookup,
    OnUnit,
    PerUnit,
    Rows,
    Source,
    Taken,
    comparable,
    derive,
    number_between,
    table_caps,
)
from sfumato.query.about import about, binding
from sfumato.query.bind_calls import WIDEST, lattice_of
from sfumato.query.bind_expressions import (
    bind_condition,
    bind_number,
    bind_value,
    first_column,
    resolve,
    value_range,
)
from sfumato.query.bind_keys import bind_key
from sfumato.query.question import EveryColumn, From, Item, Join, SelectedFold, SelectedValue, SubQuery
from sfumato.query.source_wordings import (
    fold_of_many,
    join_of_kinds,
    join_of_people,
    join_of_rows,
    join_off_key,
    lookup_first,
    nothing_selected,
    plain_beside_fold,
    unit_id_computed,
    unit_id_renamed,
)
from sfumato.query.wordings import bounds_too_wide, duplicate_output, unknown_table
from sfumato.schema.columns import Category, Date, Declared, Float, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

COUNTED = Lattice(0, 1, 0)


@binding()
def bind_source(table: str | From, schema: Schema) -> tuple[Source, Schema]:
    """The source, and the schema of its columns with their spellings.

    Names that the question gives are in small letters in the source: other capitals are no other question.
    """
    if isinstance(table, str):
        private = _private(table, schema)
        return private, derive(private, schema)
    source, columns = _bind_item(table.first, schema)
    if not table.joins:
        return source, columns
    spelt: dict[str, str | None] = {}
    _spell(spelt, table.first.name, {name: name for name in [*columns.columns, *_unit_id(schema)]})
    for join in table.joins:
        known = replace(columns, spelt=spelt)
        lookup = _found(join.item.table, schema.lookups) if isinstance(join.item.table, str) else None
        if lookup is not None:
            source, taken = _with_lookup(source, known, join, lookup, schema)
        else:
            source, taken = _on_unit(source, known, join, schema)
        columns = derive(source, schema)
        _spell(spelt, join.item.name, {column.column: column.name for column in taken})
        if lookup is None:
            spelt |= {f"{join.item.name}.{unit_id}".casefold(): unit_id for unit_id in _unit_id(schema)}
    return source, replace(columns, spelt=spelt)


@binding()
def _private(name: str, schema: Schema) -> str:
    tables = [schema.table, *schema.tables]
    found = _found(name, tables)
    if found is None and _found(name, schema.lookups) is not None:
        raise lookup_first(name)
    if found is None:
        raise unknown_table(name, schema.table)
    return found


def _found(name: str, known: Iterable[str]) -> str | None:
    return next((table for table in known if table.casefold() == name.casefold()), None)


def _unit_id(schema: Schema) -> list[str]:
    return [schema.unit.id] if isinstance(schema.unit, Person) else []


@binding()
def _bind_item(item: Item, schema: Schema) -> tuple[Source, Schema]:
    if isinstance(item.table, str):
        return bind_source(item.table, schema)
    source = _bind_sub_query(item.table, schema)
    return source, derive(source, schema)


def _spell(spelt: dict[str, str | None], table: str, columns: dict[str, str]) -> None:
    """Every column may be written as table.column, and as column where that is clear."""
    for column, name in columns.items():
        plain = column.casefold()
        spelt[plain] = None if plain in spelt else name
        spelt[f"{table}.{column}".casefold()] = name


def _is_unit(column: Expression, schema: Schema, root: Schema) -> bool:
    if not isinstance(column, Column) or not isinstance(root.unit, Person):
        return False
    return schema.meant(column.name).casefold() == root.unit.id.casefold()


@binding(2)
def _with_lookup(
    source: Source, left: Schema, join: Join, table: str, schema: Schema
) -> tuple[Source, tuple[Taken, ...]]:
    lookup = schema.lookups[table]
    if join.right.casefold() != lookup.key.casefold():
        raise join_off_key(table, lookup.key)
    column = resolve(join.left, left).name
    if not comparable(left.columns[column], lookup.key_column):
        raise join_of_kinds(column, lookup.key)
    names = [name for name in lookup.columns if not (join.using and name == lookup.key)]
    taken = _taken(names, join.item.name, left, schema)
    return Lookup(source, table, column, taken, join.inner), taken


@binding(2)
def _on_unit(source: Source, left: Schema, join: Join, schema: Schema) -> tuple[Source, tuple[Taken, ...]]:
    right, columns = _bind_item(join.item, schema)
    if not isinstance(schema.unit, Person):
        raise join_of_rows()
    if not _is_unit(join.left, left, schema) or join.right.casefold() != schema.unit.id.casefold():
        raise join_of_people(schema.unit.id)
    taken = _taken(columns.visible, join.item.name, left, schema)
    rows = (table_caps(side, schema).max_rows for side in (source, right))
    return OnUnit(source, right, taken, join.inner, *rows), taken


def _taken(names: list[str], table: str, left: Schema, schema: Schema) -> tuple[Taken, ...]:
    """Columns keep their names unless these are taken."""
    used = {name.casefold() for name in [*left.columns, *_unit_id(schema)]}
    taken = []
    for name in names:
        own = name if name.casefold() not in used else f"{table}.{name}".casefold()
        if own.casefold() in used:
            raise duplicate_output(own)
        used.add(own.casefold())
        taken.append(Taken(own, name))
    return tuple(taken)


@binding()
def _bind_sub_query(query: SubQuery, schema: Schema) -> Source:
    inner, columns = bind_source(query.table, schema)
    where = None if query.where is None else bind_condition(query.where, columns)
    folds = any(isinstance(item, SelectedFold) for item in query.selected)
    if query.keys or folds:
        if len(query.keys) != 1 or not _is_unit(query.keys[0], columns, schema):
            raise fold_of_many(schema.unit.id if isinstance(schema.unit, Person) else None)
        return PerUnit(inner, where, _folded(query, columns, schema), table_caps(inner, schema).max_rows)
    return Rows(inner, where, _computed(query, columns, schema))


def _computed(query: SubQuery, columns: Schema, schema: Schema) -> tuple[Computed, ...]:
    found: list[Computed] = []
    for item in query.selected:
        match item:
            case EveryColumn():
                found += [Computed(name, Column(name), columns.columns[name]) for name in columns.visible]
            case SelectedValue(value=value) if _is_unit(value, columns, schema):
                _unrenamed(item, schema)
            case SelectedValue(name=name, value=value):
                bound = bind_value(value, columns)
                found.append(Computed(name.casefold(), bound, _declared(bound, name, columns)))
    if not found:
        raise nothing_selected()
    _named_apart([column.name for column in found], schema)
    return tuple(found)


def _folded(query: SubQuery, columns: Schema, schema: Schema) -> tuple[Folded, ...]:
    found: list[Folded] = []
    for item in query.selected:
        match item:
            case SelectedFold(name=name, how=how, value=value, text=text):
                bound = bind_value(value, columns) if how == "count" else bind_number(value, columns)
                lattice = COUNTED if how == "count" else lattice_of(bound, text, columns)
                found.append(Folded(name.casefold(), how, bound, lattice))
            case SelectedValue(value=value) if _is_unit(value, columns, schema):
                _unrenamed(item, schema)
            case SelectedValue(value=value):
                raise about(plain_beside_fold(first_column(value)), item)
            case EveryColumn():
                raise about(plain_beside_fold("*"), item)
    if not found:
        # Who has rows at all: one row per person, of which only that there is one matters.
        found.append(Folded("count", "count", Number(Fraction(1)), COUNTED))
    _named_apart([column.name for column in found], schema)
    return tuple(found)


@binding()
def _unrenamed(item: SelectedValue, schema: Schema) -> None:
    (unit_id,) = _unit_id(schema)
    if item.name.casefold() != unit_id.casefold():
        raise unit_id_renamed(unit_id)


def _named_apart(names: list[str], schema: Schema) -> None:
    seen: set[str] = set()
    for name in names:
        if not name.isprintable() or not name:
            raise not_supported("a column name with control characters", "Use printable characters after AS.")
        if name.casefold() in {unit_id.casefold() for unit_id in _unit_id(schema)}:
            raise unit_id_computed(name)
        if name.casefold() in seen:
            raise duplicate_output(name)
        seen.add(name.casefold())


def _text(value: Expression, schema: Schema) -> Declared:
    """With its values where they follow from the expression, so that they can be grouped by."""
    try:
        key = bind_key(value, schema)
    except Refused:
        return Text()
    return Category(key.values) if isinstance(key, ListedKey) else Text()


def _declared(value: Expression, name: str, schema: Schema) -> Declared:
    if isinstance(value, Column):
        return schema.columns[value.name]
    match kind_of(value, schema):
        case "text":
            return _text(value, schema)
        case "date":
            return Date()
    found = value_range(value, name, schema)
    if found.bounds is None:
        return Float()
    lower, upper = found.bounds
    if max(abs(lower), abs(upper)) > WIDEST:
        raise bounds_too_wide(name)
    return number_between(lower, upper, whole=found.whole)
