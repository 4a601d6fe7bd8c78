"""From a certified counting to SQL whose result is one row of whole numbers a group: its number, then what is counted.

The clamp is the last step before SUM, sums are of integers, and a person's share is bounded as docs/proofs/
contribution-bounding.md says. No expression can fail on any row: arithmetic is IEEE, NaN and x/0 are NULL.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from sfumato.engines.sql.dialect import Dialect, column, integer
from sfumato.engines.sql.expressions import LARGEST_INTEGER, Writer
from sfumato.engines.sql.sources import ties, write_source
from sfumato.plan.counting import Counted, Counting, SumInCell
from sfumato.plan.lattice import LARGEST
from sfumato.plan.nodes import (
    Cells,
    CentredSum,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Grid,
    ListedKey,
    Magnitudes,
    OpenKey,
    RangeKey,
    Sum,
)
from sfumato.plan.sources import derive
from sfumato.schema.columns import plain_text
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

MOST_ADDED_UP = LARGEST_INTEGER // LARGEST - 1
MOST_HUGE_ROWS = 1 << 32  # of so many values of any magnitude the sum fits 128 bits


def emit(counting: Counting, schema: Schema, dialect: Dialect) -> str:
    """SQL in an engine's words: rows of values of open keys, the number of a group (and cell), and what is counted.

    Claim: adding or removing one unit moves the vector of everything counted by at most what `kernel.certify` derives.
    Proof: docs/proofs/contribution-bounding.md
    """
    writer = Writer(derive(counting.source, schema), dialect)
    rows = f"FROM {write_source(counting.source, schema, dialect)} AS t"
    match counting.unit:
        case Row() if counting.kind == "distinct":
            return _distinct_of_rows(counting, rows, writer)
        case Row():
            return _for_rows(counting, rows, writer)
        case Person() as person if counting.kind == "numbers":
            return _for_people(counting, person, rows, writer)
        case Person() as person:
            return _in_lines(counting, person, rows, writer)
        case _:
            assert_never(counting.unit)


def _for_rows(counting: Counting, rows: str, writer: Writer) -> str:
    values = _values(counting, writer)
    counted = list(enumerate(counting.counted))
    sums = ", ".join(f"{_plain(a, i, _slot(counting, i), writer.dialect)} AS m{i}" for i, a in counted)
    source = f"{rows}{_where(counting, writer)}"
    grouping = counting.keys if counting.cells is None else (*counting.keys, counting.cells)
    if not grouping:
        return f"SELECT 0 AS g, {sums}\nFROM (SELECT 1 AS one{values} {source}) AS s"
    named = [f"k{i}" for i in range(len(grouping))]
    keys = ", ".join(named)
    columns = ", ".join(f"{_grouped_by(key, writer)} AS k{i}" for i, key in enumerate(grouping))
    units = counting.open and counting.kind == "numbers"
    outputs = ", ".join([f"m{i}" for i in range(len(counting.counted))] + (["units"] if units else []))
    opened = "".join(f"k{i}, " for i in _opened(counting))
    held = "".join(f" AND k{i} IS NOT NULL" for i in _opened(counting))
    # Materialised, so that the test for declared keys runs once a group and not once a row.
    number = f"SELECT {opened}{_group_number(grouping, named, writer.dialect)} AS g, {outputs} FROM grouped"
    return (
        f"WITH grouped AS{writer.dialect.MATERIALIZED} (\n"
        f"  SELECT {keys}, {sums}{', COUNT(*) AS units' if units else ''}\n"
        f"  FROM (SELECT {columns}{values} {source}) AS s\n  GROUP BY {keys})\n"
        f"SELECT {opened}g, {outputs} FROM ({number}) AS numbered\nWHERE g IS NOT NULL{held}"
    )


def _distinct_of_rows(counting: Counting, rows: str, writer: Writer) -> str:
    names = _names(counting)
    held = " AND ".join(f"{name} IS NOT NULL" for name in [*names, "c"])
    groups = ", ".join(names)
    return (
        f"WITH found AS (\n  SELECT DISTINCT {_group_columns(counting, writer)}, {_cell(counting, writer)} AS c "
        f"{rows}{_where(counting, writer)})\n"
        f"SELECT {groups}, COUNT(*) AS m0 FROM found WHERE {held} GROUP BY {groups}"
    )


def _for_people(counting: Counting, unit: Person, rows: str, writer: Writer) -> str:
    """Of each person an integer a group, bounded by so many rows as count there."""
    dialect, counted = writer.dialect, list(enumerate(counting.counted))
    kept = [part for i, a in counted for part in _parts(a, i, _slot(counting, i), dialect)]
    parts = ", ".join(["COUNT(*) AS n", *kept])
    shares = ", ".join(f"COALESCE({dialect.sum_big(_share(a, i, dialect))}, 0) AS m{i}" for i, a in counted)
    groups, held = ", ".join(_names(counting)), " AND ".join(f"{name} IS NOT NULL" for name in _names(counting))
    steps = [
        f"rows AS (\n  SELECT {_person_columns(counting, unit, writer)}{_values(counting, writer)} "
        f"{rows}{_where(counting, writer)})",
        f"pairs AS (\n  SELECT u, {groups}, {parts} FROM rows WHERE {held} GROUP BY u, {groups})",
        *_bounded(counting, "pairs", "*", dialect),
    ]
    units = ", COUNT(*) AS units" if counting.open else ""
    return "WITH " + ",\n".join(steps) + f"\nSELECT {groups}, {shares}{units} FROM bounded GROUP BY {groups}"


def _bounded(counting: Counting, pairs: str, columns: str, dialect: Dialect) -> Iterator[str]:
    """Which groups of a person count, and how many rows of each (`most`), from the numbers n of rows in `pairs`.

    Claim: the same for all countings of a plan. Needs: one row for each person and group, with all its rows in n.
    """
    caps, names = counting.caps, _names(counting)
    if counting.open or counting.groups > caps.groups:
        order = ", ".join([dialect.order([dialect.as_text("u"), *names, str(counting.salt)]), *ties(names)])
        yield f"ranked AS (\n  SELECT *, row_number() OVER (PARTITION BY u ORDER BY {order}) AS rank FROM {pairs})"
        yield f"chosen AS (\n  SELECT * FROM ranked WHERE rank <= {caps.groups})"
        pairs = "chosen"
    most = _big(caps.rows_per_group, dialect)
    if not caps.always:
        # Who has more rows than count in all; joined, because a window over everybody takes longer.
        total = f"SUM(least(n, {most}))"
        yield f"beyond AS (\n  SELECT u, COUNT(*) AS many FROM {pairs} GROUP BY u HAVING {total} > {caps.rows})"
        part = dialect.quotient(_big(caps.rows, dialect), "many")
        most = f"CASE WHEN many IS NOT NULL THEN least({most}, {part}) ELSE {most} END"
        pairs += " LEFT JOIN beyond USING (u)"
    yield f"bounded AS (\n  SELECT {columns}, {most} AS most\n  FROM {pairs})"


def _in_lines(counting: Counting, unit: Person, rows: str, writer: Writer) -> str:
    """Of each person and group so many cells as rows of it count, or so many different values, by their hashes.

    Where they have more rows in cells than count, each of k cells keeps the k-th part of these.
    """
    names, caps, dialect = _names(counting), counting.caps, writer.dialect
    groups, held = ", ".join(names), " AND ".join(f"{name} IS NOT NULL" for name in names)
    sums, added = ("", "") if counting.kind != "magnitudes" else (f", {dialect.sum_huge('v1')} AS s1", ", s1")
    steps = [
        f"rows AS (\n  SELECT {_person_columns(counting, unit, writer)}, {_cell(counting, writer)} AS c"
        f"{_values(counting, writer)} {rows}{_where(counting, writer)})",
        f"pairs AS (\n  SELECT u, {groups}, c, COUNT(*) AS n{sums} FROM rows WHERE {held} GROUP BY u, {groups}, c)",
    ]
    kept, most = "pairs WHERE c IS NOT NULL", _big(caps.rows_per_group, dialect)
    if counting.open or counting.groups > caps.groups or not caps.always:
        steps.append(f"whole AS (\n  SELECT u, {groups}, SUM(n) AS n FROM pairs GROUP BY u, {groups})")
        steps += _bounded(counting, "whole", f"u, {groups}", dialect)
        both = " AND ".join(f"pairs.{name} = bounded.{name}" for name in ["u", *names])
        listed = ", ".join(f"pairs.{name}" for name in ["u", *names, "c", "n", *(["s1"] if sums else [])])
        steps.append(f"kept AS (\n  SELECT {listed}, most FROM pairs JOIN bounded ON {both} WHERE pairs.c IS NOT NULL)")
        kept, most = "kept", "most"
    order = ", ".join([dialect.order([dialect.as_text("u"), *names, "c", str(counting.salt)]), *ties(["c"])])
    steps.append(
        f"lines AS (\n  SELECT {groups}, c, n{added}, {most} AS most, row_number() OVER (PARTITION BY u, {groups} "
        f"ORDER BY {order}) AS place, SUM(n) OVER line AS total, COUNT(*) OVER line AS many\n"
        f"  FROM {kept} WINDOW line AS (PARTITION BY u, {groups}))"
    )
    if counting.kind == "distinct":
        chosen = f"SELECT DISTINCT {groups}, c FROM lines WHERE place <= most"
        return "WITH " + ",\n".join(steps) + f"\nSELECT {groups}, COUNT(*) AS m0 FROM ({chosen}) AS s GROUP BY {groups}"
    share = f"least(n, {dialect.quotient('most', 'least(many, most)')})"
    steps.append(
        f"counted AS (\n  SELECT {groups}, c{added}, CASE WHEN total > most THEN {share} ELSE n END AS most\n"
        f"  FROM lines WHERE place <= most)"
    )
    outputs = "SUM(most) AS m0" + (f", {dialect.sum_huge(_within(counting, dialect))} AS m1" if sums else "")
    opened = "".join(f"{name}, " for name in names[:-1])
    return (
        "WITH " + ",\n".join(steps) + f"\nSELECT {opened}g * {counting.size} + c AS g, {outputs} FROM counted "
        f"GROUP BY {groups}, c"
    )


def _within(counting: Counting, dialect: Dialect) -> str:
    """A person's sum in a cell of magnitudes, no more than so many values of its edge."""
    if not isinstance(counting.cells, Magnitudes):
        raise TypeError("only cells of magnitudes have edges")
    # Of 128 bits: max_rows times the largest edge does not fit 64.
    edges = counting.cells.edges
    edge = f"CAST({dialect.edge(edges, f'abs(c - {len(edges)})')} AS {dialect.HUGE})"
    return (
        f"CASE WHEN s1 > most * {edge} THEN most * {edge} WHEN s1 < -(most * {edge}) THEN -(most * {edge}) ELSE s1 END"
    )


def _names(counting: Counting) -> list[str]:
    """The columns that name a group: values of open keys, and the number of a declared group."""
    return [*(f"k{i}" for i in _opened(counting)), "g"]


def _group_columns(counting: Counting, writer: Writer) -> str:
    number = _group_number(counting.keys, [_grouped_by(key, writer) for key in counting.keys], writer.dialect)
    opened = [f"{_grouped_by(counting.keys[i], writer)} AS k{i}" for i in _opened(counting)]
    return ", ".join([*opened, f"{number} AS g"])


def _person_columns(counting: Counting, unit: Person, writer: Writer) -> str:
    return f"{column(unit.id, writer.dialect)} AS u, {_group_columns(counting, writer)}"


def _cell(counting: Counting, writer: Writer) -> str:
    """What a person's rows of a group are told apart by: the number of a cell, or a value that is counted once."""
    if counting.cells is not None:
        return _position(counting.cells, _grouped_by(counting.cells, writer), writer.dialect)
    match counting.counted:
        case (CountDistinct(value=value),):
            return writer.value(value)
        case _:
            raise ValueError("this counting has no cells and counts no different values")


def _opened(counting: Counting) -> list[int]:
    return [i for i, key in enumerate(counting.keys) if isinstance(key, OpenKey)]


def _where(counting: Counting, writer: Writer) -> str:
    """A row without an id is nobody's."""
    conditions = (
        [f"{column(counting.unit.id, writer.dialect)} IS NOT NULL"] if isinstance(counting.unit, Person) else []
    )
    if counting.where is not None:
        conditions.append(writer.dialect.filter(writer.condition(counting.where)))
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _values(counting: Counting, writer: Writer) -> str:
    """', expression AS v1' for everything counted that looks at a value."""
    found = []
    for i, counted in enumerate(counting.counted):
        match counted:
            case CountValues(value=value) if _slot(counting, i) == i:
                found.append(f", {writer.value(value)} AS v{i}")
            case Sum(value=value, lattice=lattice) | CentredSum(value=value, lattice=lattice):
                found.append(f", {writer.on_lattice(value, lattice)} AS v{i}")
            case SumInCell() if isinstance(counting.cells, Magnitudes):
                found.append(f", {writer.within_magnitude(counting.cells)} AS v{i}")
    return "".join(found)


def _slot(counting: Counting, i: int) -> int:
    """Which value is looked at: counting what is added up as well needs no expression of its own."""
    counted = counting.counted[i]
    if isinstance(counted, CountValues):
        for j, other in enumerate(counting.counted):
            # A value on a lattice is NULL exactly where the value is.
            if isinstance(other, Sum | CentredSum) and other.value == counted.value:
                return j
    return i


def _plain(counted: Counted, i: int, slot: int, dialect: Dialect) -> str:
    match counted:
        case CountRows() | CountPeople():  # people are counted like this where everybody has one row
            return "COUNT(*)"
        case CountValues():
            return f"COUNT(v{slot})"
        case Sum():
            return _total(f"v{i}", dialect)
        case CentredSum(lattice=lattice):
            return f"{_total(f'v{i}', dialect)} - {dialect.huge(lattice.centre)} * COUNT(v{i})"
        case SumInCell():
            return f"CASE WHEN COUNT(*) <= {MOST_HUGE_ROWS} THEN COALESCE({dialect.sum_huge(f'v{i}')}, 0) END"
        case _:
            raise ValueError(f"no SQL for {type(counted).__name__} here")


def _total(value: str, dialect: Dialect) -> str:
    """The sum of values on a lattice, in 64 bits; of so many that it might not fit there is none, and no answer."""
    return f"CASE WHEN COUNT(*) <= {MOST_ADDED_UP} THEN COALESCE({dialect.total(value)}, 0) END"


def _parts(counted: Counted, i: int, slot: int, dialect: Dialect) -> list[str]:
    """What is kept of one person in one group."""
    match counted:
        case CountRows() | CountPeople():
            return []
        case CountValues():
            return [f"COUNT(v{slot}) AS c{i}"]
        case Sum():
            return [f"{dialect.sum_big(f'v{i}')} AS s{i}"]
        case CentredSum(lattice=lattice):
            total = dialect.sum_big(f"v{i}")
            return [f"COUNT(v{i}) AS c{i}", f"{total} - {dialect.huge(lattice.centre)} * COUNT(v{i}) AS s{i}"]
        case _:
            raise ValueError(f"no SQL for {type(counted).__name__} here")


def _share(counted: Counted, i: int, dialect: Dialect) -> str:
    """One person's contribution to one group, bounded by `most` rows."""
    match counted:
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
        case CentredSum():
            # s * most / c, towards 0, as two quotients of the sign of s: no step needs more than 64 bits.
            whole, rest = dialect.quotient(f"s{i}", f"c{i}"), dialect.quotient(f"(s{i} % c{i} * most)", f"c{i}")
            return f"CASE WHEN c{i} > most THEN {whole} * most + {rest} ELSE s{i} END"
        case _:
            raise ValueError(f"no SQL for {type(counted).__name__} here")


def _group_number(keys: Sequence[Cells | OpenKey | Magnitudes], columns: list[str], dialect: Dialect) -> str:
    """The number of a row's group in the order of the declared keys; NULL when a key is not declared."""
    number = "0"
    for key, written in zip(keys, columns, strict=True):
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
            return writer.discovered(expression)
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


def _big(value: int, dialect: Dialect) -> str:
    """Of 64 bits, whatever it is multiplied with."""
    return f"CAST({value} AS {dialect.BIG})"
