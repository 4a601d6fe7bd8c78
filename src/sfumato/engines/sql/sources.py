"""Where rows come from, as SQL: the unit id goes along under its own name, and nothing fails on any row."""

from typing import assert_never

from sfumato.engines.sql.expressions import Writer, column, huge, integer, quoted
from sfumato.engines.sql.functions import double
from sfumato.errors import plan_refused
from sfumato.plan.expressions import Column, Condition
from sfumato.plan.sources import Computed, Folded, Lookup, OnUnit, PerUnit, Rows, Source, Taken, derive, one_row_each
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
            sides = write_source(inner, schema), _one_row_a_key(table, schema.lookups[table].key, taken)
            return f"(SELECT {', '.join(columns)} FROM {_pair(*sides, on, only_matched, schema.lookups[table].key)})"
        case PerUnit(source=inner, where=where, columns=folded):
            return _per_unit(write_source(inner, schema), where, folded, Writer(derive(inner, schema)), _person(schema))
        case OnUnit(left=inner, right=right, columns=taken, inner=only_matched):
            columns = [*_unit_id(schema), *_all_of(inner, schema)]
            columns += [f"other.{quoted(each.column)} AS {quoted(each.name)}" for each in taken]
            on = f"{column(_person(schema).id)} = other.{quoted(_person(schema).id)}"
            write = write_source if one_row_each(inner) or one_row_each(right) else _limited
            sides = write(inner, schema), write(right, schema)
            return f"(SELECT {', '.join(columns)} FROM {_pair(*sides, on, only_matched, _person(schema).id)})"
        case _:
            assert_never(source)


def _pair(left: str, right: str, on: str, only_matched: bool, key: str) -> str:
    """An inner join would not read the left at all where the right has no row: one person would decide about it.

    A plain IS NOT NULL would be taken for an inner join.
    """
    matched = f" WHERE CASE WHEN other.{quoted(key)} IS NULL THEN FALSE ELSE TRUE END" if only_matched else ""
    return f"{left} AS t LEFT JOIN {right} AS other ON {on}{matched}"


def _one_row_a_key(table: str, key: str, taken: tuple[Taken, ...]) -> str:
    """A public table as it is joined, with the columns that are taken.

    Claim: one row a key, whatever the table holds: a row that is joined with it stays one row.
    Proof: it is grouped by the key alone, and a row equals at most one key (`plan.sources.comparable`: keys are texts
    or whole numbers, which an engine compares as it groups them). Of a table whose keys are unique, as loading demands,
    MIN is the value itself; of another it may take columns from several rows of a key, but always the same ones.
    """
    found = {column.column: f", MIN(l.{quoted(column.column)}) AS {quoted(column.column)}" for column in taken}
    columns = "".join(written for name, written in found.items() if name != key)
    named = f"l.{quoted(key)}"
    return f"(SELECT {named}{columns} FROM {quoted(table)} AS l WHERE {named} IS NOT NULL GROUP BY {named})"


def _limited(source: Source, schema: Schema) -> str:
    """A side of a join on the unit: of each person at most max_rows rows, those whose hashes are smallest.

    Which ones depends on that person's rows alone; rows that tie are equal. Only rows of people who have more are
    sorted: to sort all takes longer than the join.
    """
    person = _person(schema)
    unit, most = column(person.id), integer(person.max_rows)
    columns = [column(name) for name in derive(source, schema).visible]
    order = ", ".join([f"hash({', '.join([f'CAST({unit} AS VARCHAR)', *columns])})", *columns])
    shown = f"SELECT {', '.join([*_unit_id(schema), *_all_of(source, schema)])} FROM"
    counted = f"side AS t JOIN counts ON {unit} = counts.u"
    return (
        f"(WITH side AS MATERIALIZED ({shown} {write_source(source, schema)} AS t WHERE {unit} IS NOT NULL), "
        f"counts AS (SELECT {unit} AS u, COUNT(*) AS n FROM side AS t GROUP BY {unit}) "
        f"{shown} {counted} WHERE counts.n <= {most} UNION ALL {shown} {counted} WHERE counts.n > {most} "
        f"QUALIFY row_number() OVER (PARTITION BY {unit} ORDER BY {order}) <= {most})"
    )


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
        case _:
            return writer.value(each.value)


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
