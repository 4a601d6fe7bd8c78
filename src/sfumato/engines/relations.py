"""Where rows come from, as SQL: the unit id goes along under its own name, and nothing fails on any row."""

from typing import assert_never

from sfumato.engines.expressions import Writer, column, huge, integer, quoted
from sfumato.engines.functions import double
from sfumato.errors import plan_refused
from sfumato.plan.expressions import Column, Condition
from sfumato.plan.sources import Computed, Folded, Lookup, OnUnit, PerUnit, Rows, Source, derive
from sfumato.schema.columns import Float, Identifier, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person


def write_source(source: Source, schema: Schema) -> str:
    """What stands between FROM and AS t."""
    match source:
        case str():
            return quoted(source)
        case Rows(source=inner, where=where, columns=computed):
            writer = Writer(derive(inner, schema))
            columns = [*_unit_id(schema), *(f"{_computed(each, writer)} AS {quoted(each.name)}" for each in computed)]
            kept = "" if where is None else f" WHERE {writer.condition(where)}"
            return f"(SELECT {', '.join(columns)} FROM {write_source(inner, schema)} AS t{kept})"
        case Lookup(source=inner, table=table, column=left, columns=taken, inner=only_matched):
            columns = [*_unit_id(schema), *_all_of(inner, schema)]
            columns += [f"other.{quoted(each.column)} AS {quoted(each.name)}" for each in taken]
            on = f"{column(left)} = other.{quoted(schema.lookups[table].key)}"
            return f"(SELECT {', '.join(columns)} FROM {_pair(inner, table, only_matched, schema)} ON {on})"
        case PerUnit(source=inner, where=where, columns=folded):
            return _per_unit(write_source(inner, schema), where, folded, Writer(derive(inner, schema)), _person(schema))
        case OnUnit(left=inner, right=right, columns=taken, inner=only_matched):
            columns = [*_unit_id(schema), *_all_of(inner, schema)]
            columns += [f"other.{quoted(each.column)} AS {quoted(each.name)}" for each in taken]
            on = f"{column(_person(schema).id)} = other.{quoted(_person(schema).id)}"
            return f"(SELECT {', '.join(columns)} FROM {_pair(inner, right, only_matched, schema)} ON {on})"
        case _:
            assert_never(source)


def _pair(left: Source, right: Source, only_matched: bool, schema: Schema) -> str:
    join = "JOIN" if only_matched else "LEFT JOIN"
    return f"{write_source(left, schema)} AS t {join} {write_source(right, schema)} AS other"


def _person(schema: Schema) -> Person:
    if not isinstance(schema.unit, Person):
        raise plan_refused("it puts rows of a person together, but protects rows")
    return schema.unit


def _unit_id(schema: Schema) -> list[str]:
    return [f"{column(schema.unit.id)} AS {quoted(schema.unit.id)}"] if isinstance(schema.unit, Person) else []


def _all_of(source: Source, schema: Schema) -> list[str]:
    columns = derive(source, schema).columns
    return [f"{column(name)} AS {quoted(name)}" for name, each in columns.items() if not isinstance(each, Identifier)]


def _computed(each: Computed, writer: Writer) -> str:
    match each.value, each.declared:
        case Column(name=name), _:
            return column(name)
        case value, Int():
            return f"TRY_CAST({writer.value(value)} AS BIGINT)"
        case value, Float():
            return f"TRY_CAST({writer.value(value)} AS DOUBLE)"
        case value, _:
            return writer.value(value)


def _per_unit(rows: str, where: Condition | None, folded: tuple[Folded, ...], writer: Writer, person: Person) -> str:
    kept = f"{column(person.id)} IS NOT NULL" + ("" if where is None else f" AND {writer.condition(where)}")
    values = "".join(f", {_folded_value(each, writer)} AS v{i}" for i, each in enumerate(folded))
    folds = "".join(f", {_fold(each, f'v{i}', person)} AS {quoted(each.name)}" for i, each in enumerate(folded))
    inner = f"SELECT {column(person.id)} AS u{values} FROM {rows} AS t WHERE {kept}"
    return f"(SELECT u AS {quoted(person.id)}{folds} FROM ({inner}) GROUP BY u)"


def _folded_value(each: Folded, writer: Writer) -> str:
    return writer.value(each.value) if each.how == "count" else writer.on_lattice(each.value, each.lattice)


def _fold(each: Folded, value: str, person: Person) -> str:
    """Whole numbers until the last step, so that the order of rows does not matter."""
    lattice = each.lattice
    step = f" * {double(float(lattice.step))}"
    kind, scaled = ("BIGINT", "") if lattice.exponent == 0 else ("DOUBLE", step)
    match each.how:
        case "count":
            return f"LEAST(COUNT({value}), {integer(person.max_rows)})"
        case "sum":
            low, high = (huge(person.max_rows * end) for end in (min(lattice.lower, 0), max(lattice.upper, 0)))
            clamped = f"LEAST(GREATEST(SUM({value}), {low}), {high})"  # these two pass over NULL
            total = f"CAST(CASE WHEN COUNT({value}) > 0 THEN {clamped} END AS BIGINT)"
            return total if lattice.exponent == 0 else f"CAST({total} AS DOUBLE){step}"
        case "mean":
            return f"CAST(SUM({value}) AS DOUBLE) / nullif(COUNT({value}), 0){step}"
        case "least":
            return f"CAST(MIN({value}) AS {kind}){scaled}"
        case "most":
            return f"CAST(MAX({value}) AS {kind}){scaled}"
        case _:
            assert_never(each.how)
