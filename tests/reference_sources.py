"""Where rows come from, in plain Python: what the reference interpreter evaluates plans over several tables on.

Tables are lists of dictionaries by name. A person's rows are found by comparing ids, one pair at a time.
"""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import duckdb

from sfumato.plan.expressions import Column
from sfumato.plan.sources import Computed, Folded, Kept, Lookup, OnUnit, PerUnit, Rows, Source, derive, one_row_each
from sfumato.schema.columns import Float, Int
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person

KINDS = {Int: "BIGINT", Float: "DOUBLE"}
Row = dict[str, Any]
Tables = Mapping[str, Sequence[Mapping[str, Any]]]


def rows_from(source: Source, schema: Schema, tables: Tables) -> list[Row]:
    match source:
        case str():
            return [dict(row) for row in tables[source]]
        case Rows(source=inner, where=where, columns=columns):
            reader = _reader(inner, schema)
            return [
                _id_of(row, schema) | {each.name: _computed(each, reader, row) for each in columns}
                for row in rows_from(inner, schema, tables)
                if where is None or reader.truth(where, row) is True
            ]
        case Lookup(source=inner, table=table, column=column, columns=taken, inner=only_matched):
            key = schema.lookups[table].key
            found = []
            for row in rows_from(inner, schema, tables):
                partners = [other for other in tables[table] if _equal(row[column], other[key])]
                found += _together(row, _merged(partners), taken, only_matched)
            return found
        case PerUnit(source=inner, where=where, columns=columns, rows=most):
            assert isinstance(schema.unit, Person)
            reader = _reader(inner, schema)
            people: dict[Any, list[Row]] = {}
            for row in rows_from(inner, schema, tables):
                if row[schema.unit.id] is not None and (where is None or reader.truth(where, row) is True):
                    people.setdefault(row[schema.unit.id], []).append(row)
            return [
                {schema.unit.id: person} | {each.name: _folded(each, reader, own, most) for each in columns}
                for person, own in people.items()
            ]
        case OnUnit(left=left, right=right, columns=taken, inner=only_matched):
            assert isinstance(schema.unit, Person)
            unit_id = schema.unit.id
            rows, others = rows_from(left, schema, tables), rows_from(right, schema, tables)
            if not one_row_each(left) and not one_row_each(right):
                rows = _limited(rows, left, source.left_rows, schema)
                others = _limited(others, right, source.right_rows, schema)
            found = []
            for row in rows:
                partners = [other for other in others if _equal(row[unit_id], other[unit_id])]
                found += _together(row, partners, taken, only_matched)
            return found
        case Kept(source=inner):
            return rows_from(inner, schema, tables)
        case _:
            assert_never(source)


def _limited(rows: list[Row], source: Source, most: int, schema: Schema) -> list[Row]:
    """Of each person at most so many rows, those with the smallest hashes; which hash is DuckDB's matter."""
    assert isinstance(schema.unit, Person)
    unit_id, columns = schema.unit.id, derive(source, schema).columns
    kinds = [("VARCHAR", unit_id)]
    kinds += [(KINDS.get(type(declared), "VARCHAR"), name) for name, declared in columns.items()]
    hashing = f"SELECT hash({', '.join(f'CAST(? AS {kind})' for kind, _ in kinds)})"
    kept = []
    with duckdb.connect(":memory:") as connection:
        for person in {row[unit_id] for row in rows} - {None}:
            own = [row for row in rows if row[unit_id] == person]
            if len(own) > most:
                own.sort(key=lambda row: connection.execute(hashing, [row[name] for _, name in kinds]).fetchall())
            kept += own[:most]
    return kept


def _reader(source: Source, schema: Schema) -> Any:
    from tests.reference import Reader

    return Reader(derive(source, schema))


def _id_of(row: Row, schema: Schema) -> Row:
    return {schema.unit.id: row[schema.unit.id]} if isinstance(schema.unit, Person) else {}


def _equal(left: Any, right: Any) -> bool:
    return left is not None and right is not None and left == right


def _merged(partners: list[Any]) -> list[Row]:
    """Rows of one key are one: the smallest of each column, NaN above all and NULL only where there is nothing else."""
    if len(partners) < 2:
        return partners
    columns = {name: [row[name] for row in partners if row[name] is not None] for name in partners[0]}
    return [{name: min(found, key=lambda one: (one != one, one), default=None) for name, found in columns.items()}]


def _together(row: Row, partners: list[Any], taken: Any, only_matched: bool) -> list[Row]:
    if not partners and not only_matched:
        return [row | {each.name: None for each in taken}]
    return [row | {each.name: partner[each.column] for each in taken} for partner in partners]


def _computed(each: Computed, reader: Any, row: Row) -> Any:
    if isinstance(each.value, Column):
        return row[each.value.name]
    value = reader.value(each.value, row)
    if value is None:
        return None
    match each.declared:
        case Int():
            whole = round(value) if abs(value) < 2**64 else None
            return whole if whole is not None and -(2**63) <= whole < 2**63 else None
        case Float():
            return float(value)
        case _:
            return value


def _folded(each: Folded, reader: Any, rows: list[Row], most: int) -> Any:
    lattice, step = each.lattice, 2.0**each.lattice.exponent
    if each.how == "count":
        return min(sum(reader.value(each.value, row) is not None for row in rows), most)
    steps = [k for row in rows if (k := reader.on_lattice(each.value, lattice, row)) is not None]
    if not steps:
        return None
    match each.how:
        case "sum":
            whole = max(most * min(lattice.lower, 0), min(most * max(lattice.upper, 0), sum(steps)))
        case "mean":
            return float(sum(steps)) / len(steps) * step
        case "least":
            whole = min(steps)
        case "most":
            whole = max(steps)
        case _:
            assert_never(each.how)
    return whole if lattice.exponent == 0 else float(whole) * step
