"""From a certified counting to SQL whose result is one row of whole numbers a group: its number, then what is counted.

The clamp is the last step before SUM, sums are of integers, and a person's share is bounded as docs/proofs/
contribution-bounding.md says. No expression can fail on any row: arithmetic is IEEE, NaN and x/0 are NULL.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from sfumato.engines.sql.dialect import Dialect, column, integer
from sfumato.engines.sql.expressions import LARGEST_INTEGER, Writer, position
from sfumato.engines.sql.phrases import part_of_rows
from sfumato.engines.sql.sources import NOTHING_KEPT, Names, ties, write_source
from sfumato.plan.counting import Counted, Counting, SumInCell
from sfumato.plan.expressions import LineOfCells, lines_of
from sfumato.plan.lattice import LARGEST
from sfumato.plan.nodes import (
    CentredSum,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Magnitudes,
    OpenKey,
    Sum,
)
from sfumato.plan.sources import derive
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row, UpTo

MOST_ADDED_UP = LARGEST_INTEGER // LARGEST - 1
MOST_HUGE_ROWS = 1 << 32  # of so many values of any magnitude the sum fits 128 bits
MOST_WEIGHED = 1 << 45  # people whose weights add up, with noise, in 64 bits


def emit(counting: Counting, schema: Schema, dialect: Dialect, names: Names = NOTHING_KEPT) -> str:
    """SQL in an engine's words: rows of values of open keys, the number of a group (and cell), and what is counted.

    Claim: adding or removing one unit moves the vector of everything counted by at most what `kernel.certify` derives.
    Proof: docs/proofs/contribution-bounding.md
    """
    writer = Writer(derive(counting.source, schema), dialect)
    rows = f"FROM {write_source(counting.source, schema, dialect, names)} AS t"
    match counting.unit:
        case Row() | UpTo() if counting.kind == "distinct":
            return _distinct_of_rows(counting, rows, writer)
        case Row() | UpTo():
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
    grouping = (*counting.keys, *_lines(counting))
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
    number = f"SELECT {opened}{_group_number(grouping, named, writer)} AS g, {outputs} FROM grouped"
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
    shares = ", ".join(f"COALESCE({dialect.sum_big(_share(counting, i, dialect))}, 0) AS m{i}" for i, _ in counted)
    groups, held = ", ".join(_names(counting)), " AND ".join(f"{name} IS NOT NULL" for name in _names(counting))
    steps = [
        f"rows AS (\n  SELECT {_person_columns(counting, unit, writer)}{_values(counting, writer)} "
        f"{rows}{_where(counting, writer)})",
        f"pairs AS (\n  SELECT u, {groups}, {parts} FROM rows WHERE {held} GROUP BY u, {groups})",
        *_bounded(counting, "pairs", "*", dialect),
    ]
    units = f", {_units(counting, dialect)} AS units" if counting.open else ""
    return "WITH " + ",\n".join(steps) + f"\nSELECT {groups}, {shares}{units} FROM bounded GROUP BY {groups}"


def _units(counting: Counting, dialect: Dialect) -> str:
    """The number of a group's people; with weights their sum, each by the number of that person's groups that count."""
    if not counting.weights:
        return "COUNT(*)"
    weight = dialect.edge(counting.weights, f"least(held, {len(counting.weights)})")
    return f"CASE WHEN COUNT(*) <= {MOST_WEIGHED} THEN {dialect.sum_big(weight)} END"


def _bounded(counting: Counting, pairs: str, columns: str, dialect: Dialect) -> Iterator[str]:
    """Which groups of a person count, and how many rows of each (`most`), from the numbers n of rows in `pairs`.

    Claim: the same for all countings of a plan. Needs: one row for each person and group, with all its rows in n.
    """
    caps, names = counting.caps, _names(counting)
    if _groups_bind(counting):
        order = ", ".join([dialect.order([dialect.as_text("u"), *names, str(counting.salt)]), *ties(names)])
        rank = f"row_number() OVER (PARTITION BY u ORDER BY {order}) AS rank"
        cut = any(isinstance(counted, CountCut) for counted in counting.counted)
        if counting.kind == "numbers" and (counting.weights or cut):  # in how many groups a person is
            rank += ", COUNT(*) OVER (PARTITION BY u) AS held"
        yield f"ranked AS (\n  SELECT *, {rank} FROM {pairs})"
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


def _groups_bind(counting: Counting) -> bool:
    return counting.open or counting.groups > counting.caps.groups


def _in_lines(counting: Counting, unit: Person, rows: str, writer: Writer) -> str:
    """Of each person and group so many rows in cells as count there, or so many different values, by their hashes."""
    names, caps, dialect = _names(counting), counting.caps, writer.dialect
    groups, held = ", ".join(names), " AND ".join(f"{name} IS NOT NULL" for name in names)
    sums = _sums_in_cells(counting, dialect)
    summed, added = "".join(f", {total} AS {name}" for name, total in sums), "".join(f", {name}" for name, _ in sums)
    steps = [
        f"rows AS (\n  SELECT {_person_columns(counting, unit, writer)}, {_cell(counting, writer)} AS c"
        f"{_values(counting, writer)} {rows}{_where(counting, writer)})",
        f"pairs AS (\n  SELECT u, {groups}, c, COUNT(*) AS n{summed} FROM rows WHERE {held} GROUP BY u, {groups}, c)",
    ]
    kept, most = "pairs WHERE c IS NOT NULL", _big(caps.rows_per_group, dialect)
    if _groups_bind(counting) or not caps.always:
        steps.append(f"whole AS (\n  SELECT u, {groups}, SUM(n) AS n FROM pairs GROUP BY u, {groups})")
        steps += _bounded(counting, "whole", f"u, {groups}", dialect)
        both = " AND ".join(f"pairs.{name} = bounded.{name}" for name in ["u", *names])
        listed = ", ".join(f"pairs.{name}" for name in ["u", *names, "c", "n", *(name for name, _ in sums)])
        steps.append(f"kept AS (\n  SELECT {listed}, most FROM pairs JOIN bounded ON {both} WHERE pairs.c IS NOT NULL)")
        kept, most = "kept", "most"
    own = f"PARTITION BY u, {groups}"
    if counting.kind == "distinct":
        order = ", ".join([dialect.order([dialect.as_text("u"), *names, "c", str(counting.salt)]), *ties(["c"])])
        place = f"row_number() OVER ({own} ORDER BY {order}) AS place"
        steps.append(f"lines AS (\n  SELECT {groups}, c, {most} AS most, {place} FROM {kept})")
        chosen = f"SELECT DISTINCT {groups}, c FROM lines WHERE place <= most"
        return "WITH " + ",\n".join(steps) + f"\nSELECT {groups}, COUNT(*) AS m0 FROM ({chosen}) AS s GROUP BY {groups}"
    upto = dialect.whole(f"SUM(n) OVER ({own} ORDER BY c ROWS UNBOUNDED PRECEDING)")
    total = dialect.whole(f"SUM(n) OVER ({own})")
    start = dialect.one_of([dialect.as_text("u"), *names, str(counting.salt)], "total")
    steps += [
        f"lines AS (\n  SELECT u, {groups}, c, n{added}, {most} AS most, {upto} AS upto, {total} AS total\n"
        f"  FROM {kept})",
        f"begun AS (\n  SELECT *, CASE WHEN total > most THEN {start} END AS start FROM lines)",
        f"counted AS (\n  SELECT {groups}, c, n{added}, {_thinned(dialect)} AS most FROM begun)",
    ]
    outputs = ", ".join(f"{total} AS m{i}" for i, total in enumerate(_counted_in_cells(counting, dialect)))
    opened = "".join(f"{name}, " for name in names[:-1])
    return (
        "WITH " + ",\n".join(steps) + f"\nSELECT {opened}g * {counting.size} + c AS g, {outputs} FROM counted "
        f"WHERE most > 0 GROUP BY {groups}, c"
    )


def _thinned(dialect: Dialect) -> str:
    """How many rows of a cell count, of a person who has `total` rows in cells of a group, where `most` may count.

    Along the cells every (total/most)-th row is taken, from a row on that the person's own hash tells.
    Claim: no more than the cell has, and of all cells together `most` exactly, where there are more.
    Proof: docs/proofs/contribution-bounding.md, "Cells".
    """
    to, before = (part_of_rows(rows, dialect) for rows in ("upto", "(upto - n)"))
    return f"CASE WHEN total > most THEN {to} - {before} ELSE n END"


def _sums_in_cells(counting: Counting, dialect: Dialect) -> list[tuple[str, str]]:
    """What is added up of a person's rows in a cell, by its name."""
    if counting.kind == "magnitudes":
        return [("s1", dialect.sum_huge("v1"))]
    return [(f"s{i}", dialect.sum_big(f"v{i}")) for i, each in enumerate(counting.counted) if isinstance(each, Sum)]


def _counted_in_cells(counting: Counting, dialect: Dialect) -> list[str]:
    """What `most` rows of a person make of a cell, for everything that is counted."""
    match counting.kind:
        case "sums":
            shares = (_share(counting, i, dialect) for i in range(len(counting.counted)))
            return [f"COALESCE({dialect.sum_big(share)}, 0)" for share in shares]
        case "magnitudes":
            return ["SUM(most)", dialect.sum_huge(_part_of_sum("s1", "n", dialect))]
        case _:
            return ["SUM(most)"]


def _lines(counting: Counting) -> tuple[LineOfCells | Magnitudes, ...]:
    """The lines of cells, each one more key."""
    match counting.cells:
        case None:
            return ()
        case Magnitudes():
            return (counting.cells,)
        case _:
            return lines_of(counting.cells)


def _names(counting: Counting) -> list[str]:
    """The columns that name a group: values of open keys, and the number of a declared group."""
    return [*(f"k{i}" for i in _opened(counting)), "g"]


def _group_columns(counting: Counting, writer: Writer) -> str:
    number = _group_number(counting.keys, [_grouped_by(key, writer) for key in counting.keys], writer)
    opened = [f"{_grouped_by(counting.keys[i], writer)} AS k{i}" for i in _opened(counting)]
    return ", ".join([*opened, f"{number} AS g"])


def _person_columns(counting: Counting, unit: Person, writer: Writer) -> str:
    return f"{column(unit.id, writer.dialect)} AS u, {_group_columns(counting, writer)}"


def _cell(counting: Counting, writer: Writer) -> str:
    """What a person's rows of a group are told apart by: the number of a cell, or a value that is counted once."""
    match counting.cells:
        case Magnitudes():
            return writer.magnitude(counting.cells)
        case None:
            pass
        case _:
            return writer.place(counting.cells)
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
            return _total(f"v{i}", "*", dialect)
        case CentredSum(lattice=lattice):
            return f"{_total(f'v{i}', f'v{i}', dialect)} - {dialect.huge(lattice.centre)} * COUNT(v{i})"
        case SumInCell():
            return f"CASE WHEN COUNT(*) <= {MOST_HUGE_ROWS} THEN COALESCE({dialect.sum_huge(f'v{i}')}, 0) END"
        case _:
            raise ValueError(f"no SQL for {type(counted).__name__} here")


def _total(value: str, counted: str, dialect: Dialect) -> str:
    """The sum of values on a lattice, in 64 bits; of so many that it might not fit there is none, and no answer.

    Needs: what is counted are all rows, or those that have a value.
    """
    return f"CASE WHEN COUNT({counted}) <= {MOST_ADDED_UP} THEN COALESCE({dialect.total(value)}, 0) END"


def _parts(counted: Counted, i: int, slot: int, dialect: Dialect) -> list[str]:
    """What is kept of one person in one group."""
    match counted:
        case CountRows() | CountPeople() | CountCut():
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


def _share(counting: Counting, i: int, dialect: Dialect) -> str:
    """One person's contribution to one group, bounded by `most` rows."""
    match counting.counted[i]:
        case CountRows():
            return "CASE WHEN n > most THEN most ELSE n END"
        case CountPeople():
            return "1"
        case CountCut():
            elsewhere = f" OR held > {counting.caps.groups}" if _groups_bind(counting) else ""
            return f"CASE WHEN n > most{elsewhere} THEN 1 ELSE 0 END"
        case CountValues():
            return f"CASE WHEN c{i} > most THEN most ELSE c{i} END"
        case Sum(lattice=lattice):
            low, high = integer(min(lattice.lower, 0)), integer(max(lattice.upper, 0))
            return (
                f"CASE WHEN s{i} > most * {high} THEN most * {high} "
                f"WHEN s{i} < most * {low} THEN most * {low} ELSE s{i} END"
            )
        case CentredSum():
            return _part_of_sum(f"s{i}", f"c{i}", dialect)
        case other:
            raise ValueError(f"no SQL for {type(other).__name__} here")


def _part_of_sum(total: str, count: str, dialect: Dialect) -> str:
    """What `most` of so many values add up to, if each is their mean, towards 0: total * most / count.

    As two quotients of the sign of the total: no step needs more bits than the total, or 64.
    """
    whole, rest = dialect.quotient(total, count), dialect.quotient(f"({total} % {count} * most)", count)
    return f"CASE WHEN {count} > most THEN {whole} * most + {rest} ELSE {total} END"


def _group_number(keys: Sequence[LineOfCells | OpenKey | Magnitudes], columns: list[str], writer: Writer) -> str:
    """The number of a row's group in the order of the declared keys; NULL when a key is not declared."""
    number = "0"
    for key, written in zip(keys, columns, strict=True):
        if isinstance(key, OpenKey):
            continue
        place = written if isinstance(key, Magnitudes) else position(key, written, writer.dialect)
        number = place if number == "0" else f"({number} * {key.size} + {place})"
    return number


def _grouped_by(key: LineOfCells | OpenKey | Magnitudes, writer: Writer) -> str:
    match key:
        case Magnitudes():
            return writer.magnitude(key)
        case OpenKey(expression=expression):
            return writer.discovered(expression)
        case _:
            return writer.line(key)


def _big(value: int, dialect: Dialect) -> str:
    """Of 64 bits, whatever it is multiplied with."""
    return f"CAST({value} AS {dialect.BIG})"
