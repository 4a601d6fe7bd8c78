"""From a certified plan to SQL whose result is one row of whole numbers a group: group number, then each measure.

The clamp is the last step before SUM, sums are of integers, and a person's share is bounded as docs/proofs/
contribution-bounding.md says. No expression can fail on any row: arithmetic is IEEE, NaN and x/0 are NULL.
"""

from typing import assert_never

from sfumato.engines.sql.dialect import Dialect, column, integer
from sfumato.engines.sql.expressions import LARGEST_INTEGER, Writer
from sfumato.engines.sql.sources import ties, write_source
from sfumato.plan.expressions import Expression
from sfumato.plan.lattice import LARGEST
from sfumato.plan.nodes import (
    Aggregate,
    Cells,
    CentredSum,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Grid,
    ListedKey,
    Magnitudes,
    Measure,
    OpenKey,
    Plan,
    RangeKey,
    Sum,
    SumInCells,
)
from sfumato.plan.sources import derive, unit_of
from sfumato.schema.columns import plain_text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, Unit

MOST_ADDED_UP = LARGEST_INTEGER // LARGEST - 1
MOST_HUGE_ROWS = 1 << 32  # of so many values of any magnitude the sum fits 128 bits


def emit(plan: Plan, schema: Schema, dialect: Dialect) -> str:
    """SQL of one part of a plan (`plan.parts`), in the words of an engine.

    Claim: adding or removing one unit moves the vector of each measure by at most its certified sensitivity.
    Proof: docs/proofs/contribution-bounding.md
    """
    writer = Writer(derive(plan.table, schema), dialect)
    rows = f"FROM {write_source(plan.table, schema, dialect)} AS t"
    unit = unit_of(plan.table, plan.unit)
    match plan.measures:
        case (Measure(aggregate=CountDistinct(value=value)),):
            return _distinct(plan, value, unit, rows, writer)
    match unit:
        case Row():
            return _for_rows(plan, rows, writer)
        case Person():
            return _for_people(plan, unit, rows, writer)
        case _:
            assert_never(unit)


def _for_rows(plan: Plan, rows: str, writer: Writer) -> str:
    values = _values(plan, writer)
    sums = ", ".join(f"{_plain(a, i, _slot(plan, i), writer.dialect)} AS m{i}" for i, a in enumerate(_aggregates(plan)))
    source = f"{rows}{_where(plan, writer)}"
    if not plan.keys:
        return f"SELECT 0 AS g, {sums}\nFROM (SELECT 1 AS one{values} {source}) AS s"
    keys = ", ".join(f"k{i}" for i in range(len(plan.keys)))
    columns = ", ".join(f"{_grouped_by(key, writer)} AS k{i}" for i, key in enumerate(plan.keys))
    outputs = ", ".join([f"m{i}" for i in range(len(plan.measures))] + (["units"] if plan.open else []))
    opened = "".join(f"k{i}, " for i in _opened(plan))
    held = "".join(f" AND k{i} IS NOT NULL" for i in _opened(plan))
    # Materialised, so that the test for declared keys runs once a group and not once a row.
    return (
        f"WITH grouped AS{writer.dialect.MATERIALIZED} (\n"
        f"  SELECT {keys}, {sums}{', COUNT(*) AS units' if plan.open else ''}\n"
        f"  FROM (SELECT {columns}{values} {source}) AS s\n  GROUP BY {keys})\n"
        f"SELECT {opened}g, {outputs} FROM (SELECT {opened}"
        f"{_group_number(plan, [f'k{i}' for i in range(len(plan.keys))], writer.dialect)} AS g, "
        f"{outputs} FROM grouped) AS numbered\n"
        f"WHERE g IS NOT NULL{held}"
    )


def _for_people(plan: Plan, unit: Person, rows: str, writer: Writer) -> str:
    group = _group_number(plan, [_grouped_by(key, writer) for key in plan.keys], writer.dialect)
    dialect, aggregates = writer.dialect, list(enumerate(_aggregates(plan)))
    kept = [part for i, a in aggregates for part in _parts(a, i, _slot(plan, i), dialect)]
    parts = ", ".join(["COUNT(*) AS n", *kept])
    shares = ", ".join(f"COALESCE({_sum(a, _share(a, i, dialect), dialect)}, 0) AS m{i}" for i, a in aggregates)
    person = column(unit.id, dialect)
    source = f"{rows}{_where(plan, writer, f'{person} IS NOT NULL')}"
    opened = "".join(f"{_grouped_by(plan.keys[i], writer)} AS k{i}, " for i in _opened(plan))
    groups = "".join(f"k{i}, " for i in _opened(plan)) + "g"
    held = " AND ".join(f"{name} IS NOT NULL" for name in groups.split(", "))
    steps = [
        f"rows AS (\n  SELECT {person} AS u, {opened}{group} AS g{_values(plan, writer)} {source})",
        f"pairs AS (\n  SELECT u, {groups}, {parts} FROM rows WHERE {held} GROUP BY u, {groups})",
    ]
    pairs = "pairs"
    if plan.open or plan.groups > unit.max_groups:
        salt, names = int(plan.digest()[:15], 16), groups.split(", ")
        chosen = ", ".join([dialect.order([dialect.as_text("u"), *names, str(salt)]), *ties(names)])
        steps.append(
            f"ranked AS (\n  SELECT *, row_number() OVER (PARTITION BY u ORDER BY {chosen}) AS rank FROM pairs)"
        )
        pairs = f"ranked WHERE rank <= {unit.max_groups}"
    total, many = ("n", "1") if not plan.keys else ("SUM(n) OVER person", "COUNT(*) OVER person")
    window = " WINDOW person AS (PARTITION BY u)" if plan.keys else ""
    steps.append(
        # NULL leaves a share as it is; a number is the most that each of the person's groups may count.
        f"bounded AS (\n  SELECT *, CASE WHEN {total} > {unit.max_rows} "
        f"THEN {dialect.quotient(f'CAST({unit.max_rows} AS {dialect.BIG})', many)} END AS most\n  FROM {pairs}{window})"
    )
    units = ", COUNT(*) AS units" if plan.open else ""
    return "WITH " + ",\n".join(steps) + f"\nSELECT {groups}, {shares}{units} FROM bounded GROUP BY {groups}"


def _opened(plan: Plan) -> list[int]:
    return [i for i, key in enumerate(plan.keys) if isinstance(key, OpenKey)]


def _distinct(plan: Plan, value: Expression, unit: Unit, rows: str, writer: Writer) -> str:
    """Different values a group. Of a person with more than max_rows of them, those with the smallest hashes count."""
    group = _group_number(plan, [_grouped_by(key, writer) for key in plan.keys], writer.dialect)
    opened = "".join(f"{_grouped_by(plan.keys[i], writer)} AS k{i}, " for i in _opened(plan))
    groups = "".join(f"k{i}, " for i in _opened(plan)) + "g"
    held = " AND ".join(f"{name} IS NOT NULL" for name in [*groups.split(", "), "v"])
    chosen = "held"
    if isinstance(unit, Person):
        dialect, person, salt = writer.dialect, column(unit.id, writer.dialect), int(plan.digest()[:15], 16)
        names = [*groups.split(", "), "v"]
        order = ", ".join([dialect.order([dialect.as_text("u"), *names, str(salt)]), *ties(names)])
        source = f"{rows}{_where(plan, writer, person + ' IS NOT NULL')}"
        ranked = (
            f",\nranked AS (\n  SELECT {groups}, v, row_number() OVER (PARTITION BY u "
            f"ORDER BY {order}) AS rank FROM held)"
        )
        chosen = f"ranked WHERE rank <= {unit.max_rows}"
    else:
        person, ranked, source = "0", "", f"{rows}{_where(plan, writer)}"
    return (
        f"WITH found AS (\n  SELECT DISTINCT {person} AS u, {opened}{group} AS g, {writer.value(value)} AS v "
        f"{source}),\n"
        f"held AS (\n  SELECT u, {groups}, v FROM found WHERE {held}){ranked}\n"
        f"SELECT {groups}, COUNT(*) AS m0 FROM (SELECT DISTINCT {groups}, v FROM {chosen}) AS s GROUP BY {groups}"
    )


def _aggregates(plan: Plan) -> list[Aggregate]:
    return [measure.aggregate for measure in plan.measures]


def _where(plan: Plan, writer: Writer, first: str = "") -> str:
    conditions = [first] if first else []
    if plan.where is not None:
        conditions.append(writer.dialect.filter(writer.condition(plan.where)))
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _values(plan: Plan, writer: Writer) -> str:
    """', expression AS v1' for every aggregate that looks at a value."""
    found = []
    for i, aggregate in enumerate(_aggregates(plan)):
        match aggregate:
            case CountValues(value=value) if _slot(plan, i) == i:
                found.append(f", {writer.value(value)} AS v{i}")
            case Sum(value=value, lattice=lattice) | CentredSum(value=value, lattice=lattice):
                found.append(f", {writer.on_lattice(value, lattice)} AS v{i}")
            case SumInCells(cells=cells):
                found.append(f", {writer.within_magnitude(cells)} AS v{i}")
    return "".join(found)


def _slot(plan: Plan, i: int) -> int:
    """Which value an aggregate looks at: counting what is added up as well needs no expression of its own."""
    counted = plan.measures[i].aggregate
    if isinstance(counted, CountValues):
        for j, other in enumerate(_aggregates(plan)):
            # A value on a lattice is NULL exactly where the value is.
            if isinstance(other, Sum | CentredSum) and other.value == counted.value:
                return j
    return i


def _plain(aggregate: Aggregate, i: int, slot: int, dialect: Dialect) -> str:
    match aggregate:
        case CountRows() | CountPeople():  # people are counted like this where everybody has one row
            return "COUNT(*)"
        case CountValues():
            return f"COUNT(v{slot})"
        case Sum():
            return _total(f"v{i}", dialect)
        case CentredSum(lattice=lattice):
            return f"{_total(f'v{i}', dialect)} - {dialect.huge(lattice.centre)} * COUNT(v{i})"
        case SumInCells():
            return f"CASE WHEN COUNT(*) <= {MOST_HUGE_ROWS} THEN COALESCE({dialect.sum_huge(f'v{i}')}, 0) END"
        case _:
            raise ValueError(f"no SQL for {type(aggregate).__name__} in this part")


def _total(value: str, dialect: Dialect) -> str:
    """The sum of values on a lattice, in 64 bits; of so many that it might not fit there is none, and no answer."""
    return f"CASE WHEN COUNT(*) <= {MOST_ADDED_UP} THEN COALESCE({dialect.total(value)}, 0) END"


def _sum(aggregate: Aggregate, values: str, dialect: Dialect) -> str:
    return dialect.sum_huge(values) if isinstance(aggregate, SumInCells) else dialect.sum_big(values)


def _parts(aggregate: Aggregate, i: int, slot: int, dialect: Dialect) -> list[str]:
    """What is kept of one person in one group."""
    match aggregate:
        case CountRows() | CountPeople():
            return []
        case CountValues():
            return [f"COUNT(v{slot}) AS c{i}"]
        case Sum() | SumInCells():
            return [f"{_sum(aggregate, f'v{i}', dialect)} AS s{i}"]
        case CentredSum(lattice=lattice):
            total = _sum(aggregate, f"v{i}", dialect)
            return [f"COUNT(v{i}) AS c{i}", f"{total} - {dialect.huge(lattice.centre)} * COUNT(v{i}) AS s{i}"]
        case _:
            raise ValueError(f"no SQL for {type(aggregate).__name__} in this part")


def _share(aggregate: Aggregate, i: int, dialect: Dialect) -> str:
    """One person's contribution to one group, bounded by `most` rows."""
    match aggregate:
        case CountRows():
            return "CASE WHEN n > most THEN most ELSE n END"
        case CountPeople():
            return "1"
        case CountValues():
            return f"CASE WHEN c{i} > most THEN most ELSE c{i} END"
        case Sum(lattice=lattice):
            low, high = integer(min(lattice.lower, 0)), integer(max(lattice.upper, 0))
            return (
                f"CASE WHEN s{i} > most * {high} THEN most * {high} "
                f"WHEN s{i} < most * {low} THEN most * {low} ELSE s{i} END"
            )
        case SumInCells(cells=cells):
            # Of 128 bits: max_rows times the largest edge does not fit 64.
            edge = dialect.edge(cells.edges, f"abs(g % {cells.size} - {len(cells.edges)})")
            edge = f"CAST({edge} AS {dialect.HUGE})"
            return (
                f"CASE WHEN s{i} > most * {edge} THEN most * {edge} "
                f"WHEN s{i} < -(most * {edge}) THEN -(most * {edge}) ELSE s{i} END"
            )
        case CentredSum():
            # s * most / c, towards 0, as two quotients of the sign of s: no step needs more than 64 bits.
            whole, rest = dialect.quotient(f"s{i}", f"c{i}"), dialect.quotient(f"(s{i} % c{i} * most)", f"c{i}")
            return f"CASE WHEN c{i} > most THEN {whole} * most + {rest} ELSE s{i} END"
        case _:
            raise ValueError(f"no SQL for {type(aggregate).__name__} in this part")


def _group_number(plan: Plan, columns: list[str], dialect: Dialect) -> str:
    """The number of a row's group in the order of the declared keys; NULL when a key is not declared."""
    number = "0"
    for key, written in zip(plan.keys, columns, strict=True):
        if isinstance(key, OpenKey):
            continue
        position = _position(key, written, dialect)
        number = position if number == "0" else f"({number} * {key.size} + {position})"
    return number


def _grouped_by(key: Cells | OpenKey | Magnitudes, writer: Writer) -> str:
    match key:
        case Grid():
            return writer.cell(key)
        case Magnitudes():
            return writer.magnitude(key)
        case OpenKey(expression=expression):
            return writer.value(expression)
        case _:
            return writer.key(key)


def _position(key: Cells | Magnitudes, written: str, dialect: Dialect) -> str:
    match key:
        case Grid(size=size):
            return f"CASE WHEN {written} < {size} THEN {written} WHEN {written} >= {size} THEN {size - 1} END"
        case Magnitudes():
            return written
        case RangeKey(lower=lower, upper=upper):
            low, high = integer(lower), integer(upper)
            position = dialect.small(f"{dialect.whole(written)} - {low}")
            return f"CASE WHEN {written} BETWEEN {low} AND {high} THEN {position} END"
        case ListedKey(values=values):
            return dialect.position(written, [plain_text(value) for value in values])
        case _:
            assert_never(key)
