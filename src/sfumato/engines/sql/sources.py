"""Where rows come from, as SQL: the unit id goes along under its own name, and nothing fails on any row."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import assert_never

from sfumato.engines.sql.dialect import Dialect, column, integer
from sfumato.engines.sql.expressions import Writer
from sfumato.errors import plan_refused
from sfumato.plan.expressions import Column, Pick, UnitPart
from sfumato.plan.sources import (
    Computed,
    Folded,
    Kept,
    Lookup,
    OnUnit,
    PerUnit,
    Rows,
    Source,
    Taken,
    derive,
    one_row_each,
)
from sfumato.schema.columns import Float, Identifier, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

RANK = "sfumato_rank"
Names = Mapping[Kept, str]
NOTHING_KEPT: Names = MappingProxyType({})


def write_source(source: Source, schema: Schema, dialect: Dialect, names: Names = NOTHING_KEPT) -> str:
    """What stands between FROM and AS t; `names` are those of sources that the engine has kept."""
    match source:
        case str():
            return dialect.quoted(source)
        case Rows(source=inner, where=where, columns=computed):
            writer = Writer(derive(inner, schema), dialect)
            columns = _unit_id(schema, dialect)
            columns += [f"{_computed(each, writer)} AS {dialect.quoted(each.name)}" for each in computed]
            kept = "" if where is None else f" WHERE {dialect.filter(writer.condition(where))}"
            return f"(SELECT {', '.join(columns)} FROM {write_source(inner, schema, dialect, names)} AS t{kept})"
        case Lookup(source=inner, table=table, column=left, columns=taken, inner=only_matched):
            columns = [*_unit_id(schema, dialect), *_all_of(inner, schema, dialect), *_taken(taken, dialect)]
            key = dialect.quoted(schema.lookups[table].key)
            on = f"{column(left, dialect)} = other.{key}"
            sides = write_source(inner, schema, dialect, names), _one_row_a_key(table, schema, taken, dialect)
            return f"(SELECT {', '.join(columns)} FROM {_pair(*sides, on, only_matched, key)})"
        case PerUnit(source=inner):
            rows, writer = write_source(inner, schema, dialect, names), Writer(derive(inner, schema), dialect)
            return _per_unit(rows, source, writer, _person(schema))
        case OnUnit(left=inner, right=right, columns=taken, inner=only_matched):
            columns = [*_unit_id(schema, dialect), *_all_of(inner, schema, dialect), *_taken(taken, dialect)]
            key = dialect.quoted(_person(schema).id)
            if one_row_each(inner) or one_row_each(right):
                sides = write_source(inner, schema, dialect, names), write_source(right, schema, dialect, names)
            else:
                sides = (
                    _limited(inner, source.left_rows, schema, dialect, names),
                    _limited(right, source.right_rows, schema, dialect, names),
                )
            return f"(SELECT {', '.join(columns)} FROM {_pair(*sides, f't.{key} = other.{key}', only_matched, key)})"
        case Kept(source=inner):
            return dialect.quoted(names[source]) if source in names else write_source(inner, schema, dialect, names)
        case _:
            assert_never(source)


def _pair(left: str, right: str, on: str, only_matched: bool, key: str) -> str:
    """An inner join would not read the left at all where the right has no row: one person would decide about it.

    A plain IS NOT NULL would be taken for an inner join.
    """
    matched = f" WHERE CASE WHEN other.{key} IS NULL THEN FALSE ELSE TRUE END" if only_matched else ""
    return f"{left} AS t LEFT JOIN {right} AS other ON {on}{matched}"


def _one_row_a_key(table: str, schema: Schema, taken: tuple[Taken, ...], dialect: Dialect) -> str:
    """A public table as it is joined, with the columns that are taken.

    Claim: one row per key, whatever the table holds: a row that is joined with it stays one row.
    Proof: it is grouped by the key alone, and a row equals at most one key (`plan.sources.comparable`: keys are texts
    or whole numbers, which an engine compares as it groups them). Of a table whose keys are unique, as loading demands,
    MIN is the value itself; of another it may take columns from several rows of a key, but always the same ones.
    """
    key = schema.lookups[table].key
    others = {dialect.quoted(each.column): None for each in taken if each.column != key}
    columns = "".join(f", MIN(l.{name}) AS {name}" for name in others)
    named = f"l.{dialect.quoted(key)}"
    return f"(SELECT {named}{columns} FROM {dialect.quoted(table)} AS l WHERE {named} IS NOT NULL GROUP BY {named})"


def _limited(source: Source, rows: int, schema: Schema, dialect: Dialect, names: Names) -> str:
    """A side of a join on the unit: of each person at most so many rows, those whose hashes are smallest.

    Which ones depends on that person's rows alone; rows that tie are equal. Only rows of people who have more are
    sorted: to sort all takes longer than the join. What is hashed has no NaN, which may stand for what is missing
    where one row has made doubles of a column; and a text that no row shows is not held with the others, once for
    every two thousand rows.
    """
    person, inside = _person(schema), derive(source, schema)
    visible, writer = inside.visible, Writer(inside, dialect)
    unit, most = column(person.id, dialect), integer(rows)
    columns = [column(name, dialect) for name in visible]
    chosen = ", ".join([dialect.order([dialect.as_text(unit), *columns]), *ties(columns)])
    rank = dialect.quoted(_unlike((person.id, *visible)))
    held = [f"{writer.held(Column(name))} AS {dialect.quoted(name)}" for name in visible]
    side = ", ".join([*_unit_id(schema, dialect), *held])
    shown = ", ".join([*_unit_id(schema, dialect), *_all_of(source, schema, dialect)])
    counted = f"side AS t JOIN counts ON {unit} = counts.u"
    numbered = f"row_number() OVER (PARTITION BY {unit} ORDER BY {chosen}) AS {rank}"
    return (
        f"(WITH side AS{dialect.MATERIALIZED} (SELECT {side} FROM {write_source(source, schema, dialect, names)} AS t "
        f"WHERE {unit} IS NOT NULL), "
        f"counts AS (SELECT {unit} AS u, COUNT(*) AS n FROM side AS t GROUP BY {unit}) "
        f"SELECT {shown} FROM {counted} WHERE counts.n <= {most} UNION ALL SELECT {shown} FROM "
        f"(SELECT {shown}, {numbered} FROM {counted} WHERE counts.n > {most}) AS t WHERE t.{rank} <= {most})"
    )


def ties(columns: Iterable[str]) -> list[str]:
    """What decides between rows whose hashes are equal; engines differ in where they put NULL."""
    return [f"{name} NULLS FIRST" for name in columns]


def _unlike(names: Iterable[str]) -> str:
    """A name that none of these is, whatever the case of letters."""
    known, name = {each.casefold() for each in names}, RANK
    while name in known:
        name += "_"
    return name


def _person(schema: Schema) -> Person:
    if not isinstance(schema.unit, Person):
        raise plan_refused("it puts rows of a person together, but protects rows")
    return schema.unit


def _unit_id(schema: Schema, dialect: Dialect) -> list[str]:
    return [_same(schema.unit.id, dialect)] if isinstance(schema.unit, Person) else []


def _all_of(source: Source, schema: Schema, dialect: Dialect) -> list[str]:
    columns = derive(source, schema).columns
    return [_same(name, dialect) for name, each in columns.items() if not isinstance(each, Identifier)]


def _same(name: str, dialect: Dialect) -> str:
    return f"{column(name, dialect)} AS {dialect.quoted(name)}"


def _taken(columns: tuple[Taken, ...], dialect: Dialect) -> list[str]:
    return [f"other.{dialect.quoted(each.column)} AS {dialect.quoted(each.name)}" for each in columns]


def _computed(each: Computed, writer: Writer) -> str:
    match each.value, each.declared:
        case Column(name=name), _:
            return column(name, writer.dialect)
        case Pick() | UnitPart() as value, Int():
            return writer.value(value)
        case value, Int():
            written = writer.value(value)
            return writer.dialect.to_big(written) if writer.is_real(value) else writer.dialect.whole(written)
        case value, Float():
            return writer.dialect.to_double(writer.value(value))
        case _:
            return writer.value(each.value)


def _per_unit(rows: str, fold: PerUnit, writer: Writer, person: Person) -> str:
    dialect, person_id = writer.dialect, column(person.id, writer.dialect)
    kept = f"{person_id} IS NOT NULL"
    if fold.where is not None:
        kept += f" AND {dialect.filter(writer.condition(fold.where))}"
    folded = list(enumerate(fold.columns))
    values = "".join(f", {_folded_value(each, writer)} AS v{i}" for i, each in folded)
    folds = "".join(
        f", {_fold(each, f'v{i}', fold.rows, dialect)} AS {dialect.quoted(each.name)}" for i, each in folded
    )
    inner = f"SELECT {person_id} AS u{values} FROM {rows} AS t WHERE {kept}"
    return f"(SELECT u AS {dialect.quoted(person.id)}{folds} FROM ({inner}) AS s GROUP BY u)"


def _folded_value(each: Folded, writer: Writer) -> str:
    return writer.value(each.value) if each.how == "count" else writer.on_lattice(each.value, each.lattice)


def _fold(each: Folded, value: str, rows: int, dialect: Dialect) -> str:
    """Whole numbers until the last step, so that the order of rows does not matter."""
    lattice = each.lattice
    is_whole, step, total = lattice.exponent == 0, float(lattice.step), dialect.sum_big(value)
    match each.how:
        case "count":
            return f"LEAST(COUNT({value}), {integer(rows)})"
        case "sum":
            ends = min(lattice.lower, 0), max(lattice.upper, 0)
            low, high = (dialect.huge(rows * end) for end in ends)
            clamped = f"LEAST(GREATEST({total}, {low}), {high})"  # these two pass over NULL
            bounded = f"CAST(CASE WHEN COUNT({value}) > 0 THEN {clamped} END AS {dialect.BIG})"
            return bounded if is_whole else dialect.scaled(f"CAST({bounded} AS {dialect.DOUBLE})", step)
        case "mean":
            mean = f"CAST({total} AS {dialect.DOUBLE}) / nullif(COUNT({value}), 0)"
            return dialect.scaled(mean, step)
        case "least" | "most":
            end = f"{'MIN' if each.how == 'least' else 'MAX'}({value})"
            if is_whole:
                return f"CAST({end} AS {dialect.BIG})"
            return dialect.scaled(f"CAST({end} AS {dialect.DOUBLE})", step)
        case _:
            assert_never(each.how)
