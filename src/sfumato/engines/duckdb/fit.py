"""How the cells of a table fit its declarations, as exact counts: for the owner's eyes. No answer passes here.

What fits is decided by the engine's own reading (`canonical_columns`), over texts: it depends on a cell's text alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from sfumato.engines.duckdb.canonical import canonical_columns
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sql.phrases import quoted, text
from sfumato.engines.wordings import check_unfinished
from sfumato.errors import EngineFailed, SfumatoError
from sfumato.schema.columns import MOST_LONGEST, Category, Date, Declared, Float, Identifier, Int, Text, plain_text
from sfumato.schema.draft import PAIRS, ZERO_ONE, Look, worth_a_look
from sfumato.schema.policy import Policy
from sfumato.schema.table import Schema
from sfumato.schema.unit import Person, Row

COMMA = "'\\s*-?[0-9.]*[0-9],[0-9]+\\s*'"
DAY_FIRST = "'\\s*[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}.*'"
SPELLINGS = tuple(
    tuple(how(word) for word in pair) for pair in (*PAIRS, ZERO_ONE) for how in (str.lower, str.upper, str.title)
)


@dataclass(frozen=True, slots=True)
class Beyond:
    """How many people have more than count unless a question says otherwise, and more than may count at all."""

    default: int
    most: int


@dataclass(frozen=True, slots=True)
class Fit:
    """Of a column how many cells are there, of these how many count, and why the others do not.

    `fit` are those that a question would count, `below` and `above` among them, which count as the bound. `mendable`
    are those that do not fit and look like what the declaration means, written otherwise. None: there is no such thing.
    """

    column: str
    declared: Declared
    there: int
    fit: int
    below: int | None
    above: int | None
    mendable: int
    groups: Beyond | None


@dataclass(frozen=True, slots=True)
class TableFit:
    """Of a table its rows, those of nobody, the people of the others, and its columns."""

    table: str
    rows: int
    nobodys: int
    people: int | None
    too_many_rows: Beyond | None
    columns: tuple[Fit, ...]


def fits(policy: Policy) -> list[TableFit]:
    """One aggregation for each table of a policy. Neither is a ledger opened nor anything spent."""
    schema = policy.schema
    engine = DuckDBEngine(
        policy.source, _as_texts(schema), source_table=policy.source_table, limits=policy.limits, version=policy.version
    )
    try:
        private = [_fit(engine, schema, name) for name in (schema.table, *schema.tables)]
        return private + [_fit_of_lookup(engine, schema, name) for name in schema.lookups]
    except EngineFailed:
        raise check_unfinished() from None
    finally:
        engine.close()


def looks(path: Path, source_table: str | None, columns: Mapping[str, str]) -> dict[str, Look]:
    """Which columns hold nothing but yes and no, which numbers with decimal commas; none if the table is torn."""
    names = worth_a_look(columns)
    try:
        engine = DuckDBEngine(path, Schema("t", Row(), {name: Text() for name in names}), source_table=source_table)
    except SfumatoError:  # whoever asks it a question is told why
        return {}
    words = ", ".join(text(word) for pair in SPELLINGS for word in pair)
    asked = [
        f"count({name}), count(*) FILTER ({name} IN ({words})), count(DISTINCT {name}) FILTER ({name} IN ({words})), "
        f"min({name}) FILTER ({name} IN ({words})), max({name}) FILTER ({name} IN ({words})), "
        f"count(*) FILTER (contains({name}, ',') AND regexp_full_match({name}, {COMMA}))"
        for name in map(quoted, names)
    ]
    try:
        (found,) = engine.run(f"SELECT {', '.join(asked)} FROM t")
    except SfumatoError:
        return {}
    finally:
        engine.close()
    seen = {name: _look(*found[place : place + 6]) for name, place in zip(names, range(0, len(found), 6), strict=True)}
    return {name: look for name, look in seen.items() if look is not None}


def _look(there: int, words: int, different: int, least: str, largest: str, commas: int) -> Look | None:
    if there and words == there and different == len(ZERO_ONE):
        return next(((no, yes) for no, yes in SPELLINGS if {no, yes} == {least, largest}), None)
    return "decimal commas" if commas and 2 * commas >= there else None


def _as_texts(schema: Schema) -> Schema:
    """The same tables with columns of texts: what is there, whatever was declared. Keys of lookups stay as they are."""
    unit_id = schema.unit.id if isinstance(schema.unit, Person) else None
    return Schema(
        schema.table,
        schema.unit,
        _texts(schema.columns, unit_id),
        {
            name: replace(one, columns=_texts(one.columns, one.key, one.key_column))
            for name, one in schema.lookups.items()
        },
        {name: replace(one, columns=_texts(one.columns, unit_id)) for name, one in schema.tables.items()},
    )


def _texts(columns: Mapping[str, Declared], kept: str | None, kept_as: Declared | None = None) -> dict[str, Declared]:
    return {name: (kept_as or one) if name == kept else Text(longest=MOST_LONGEST) for name, one in columns.items()}


def _fit(engine: DuckDBEngine, schema: Schema, table: str) -> TableFit:
    columns = (schema.columns if table == schema.table else schema.tables[table].columns).items()
    if not isinstance(schema.unit, Person):
        return _counted(engine, table, [_Cells(name, declared) for name, declared in columns])
    unit = schema.unit.id
    cells = [_Cells(name, declared) for name, declared in columns if name != unit]
    caps = schema.caps_of(table)
    return _counted(
        engine, table, cells, unit, (caps.default_max_rows, caps.max_rows), (caps.default_max_groups, caps.max_groups)
    )


def _fit_of_lookup(engine: DuckDBEngine, schema: Schema, table: str) -> TableFit:
    lookup = schema.lookups[table]
    return _counted(engine, table, [_Cells(name, one) for name, one in lookup.columns.items() if name != lookup.key])


@dataclass(frozen=True, slots=True)
class _Cells:
    """A column as SQL, read from a table of texts: as a question would read it, and what is asked of it."""

    column: str
    declared: Declared

    @property
    def read(self) -> str:
        name = quoted(self.column)
        if isinstance(self.declared, Identifier):
            return name
        said = canonical_columns(Schema("t", Row(), {self.column: self.declared}), {self.column: "VARCHAR"})
        return said.removesuffix(f" AS {name}")

    def counted(self, cell: str) -> str:
        """The condition under which a cell counts, whether or not it is clamped."""
        match self.declared:
            case Category(values=values):
                return f"CAST({cell} AS VARCHAR) IN ({', '.join(text(plain_text(value)) for value in values)})"
            case Float():
                return f"NOT isnan({cell})"
            case _:
                return f"{cell} IS NOT NULL"

    @property
    def ends(self) -> tuple[str, str] | None:
        """Its bounds, if it has any."""
        declared = self.declared
        if not isinstance(declared, Int | Float | Date) or declared.lower is None or declared.upper is None:
            return None
        if isinstance(declared, Date):
            return f"DATE '{declared.lower}'", f"DATE '{declared.upper}'"
        return f"CAST('{float(declared.lower)!r}' AS DOUBLE)", f"CAST('{float(declared.upper)!r}' AS DOUBLE)"

    def meant(self, said: str) -> str:
        """The condition under which a text seems to be what is declared, written otherwise."""
        match self.declared:
            case Int() | Float():
                return f"contains({said}, ',') AND regexp_full_match({said}, {COMMA})"
            case Date():
                return f"regexp_full_match({said}, {DAY_FIRST})"
            case Category(values=values):
                return f"lower(trim({said})) IN ({', '.join(text(plain_text(value).lower()) for value in values)})"
            case _:
                return "false"

    def group(self, cell: str) -> str | None:
        """The group a row is in by this column, if one may group by it."""
        if isinstance(self.declared, Category | Text):
            return f"CASE WHEN {self.counted(cell)} THEN {cell} END"
        if self.ends is None or isinstance(self.declared, Float):
            return None
        return f"CASE WHEN {cell} BETWEEN {self.ends[0]} AND {self.ends[1]} THEN {cell} END"

    @property
    def most_groups(self) -> float:
        """How many there can be."""
        return len(self.declared.values) if isinstance(self.declared, Category) else inf


NOTHING = (0, 0)


def _counted(
    engine: DuckDBEngine,
    table: str,
    columns: Sequence[_Cells],
    unit: str | None = None,
    rows: tuple[int, int] = NOTHING,
    groups: tuple[int, int] = NOTHING,
) -> TableFit:
    """All of a table by one query: cells, and people with what each has."""
    read = [f"{quoted(one.column)} AS t{place}, {one.read} AS c{place}" for place, one in enumerate(columns)]
    who = "NULL" if unit is None else quoted(unit)
    by = [place for place, one in enumerate(columns) if unit is not None and one.group("c")]
    grouped = [place for place in by if columns[place].most_groups > groups[0]]  # of others nobody has too many
    ((counts, beyond),) = engine.run(
        f"WITH cells AS (SELECT {', '.join([f'{who} AS person', *read])} FROM {quoted(table)}), "
        f"people AS ({_people(columns, grouped)}) "
        f"SELECT (SELECT [{_of_cells(columns)}] FROM cells), "
        f"(SELECT [{_of_people(rows, groups, grouped)}] FROM people)"
    )
    each = dict.fromkeys(by, Beyond(0, 0))
    each |= {place: Beyond(*beyond[3 + 2 * at : 5 + 2 * at]) for at, place in enumerate(grouped)}
    return TableFit(
        table=table,
        rows=counts[0],
        nobodys=0 if unit is None else counts[0] - counts[1],
        people=None if unit is None else beyond[0],
        too_many_rows=None if unit is None else Beyond(*beyond[1:3]),
        columns=tuple(
            _column(one, counts[2 + 5 * place : 7 + 5 * place], each.get(place)) for place, one in enumerate(columns)
        ),
    )


def _column(cells: _Cells, counts: Sequence[int], groups: Beyond | None) -> Fit:
    there, fit, below, above, mendable = counts
    bounded = cells.ends is not None
    return Fit(
        cells.column,
        cells.declared,
        there,
        fit,
        below if bounded else None,
        above if bounded else None,
        mendable,
        groups,
    )


def _of_cells(columns: Sequence[_Cells]) -> str:
    """Rows, rows of somebody, and five counts of each column."""
    asked = ["count(*)", "count(person)"]
    for place, one in enumerate(columns):
        said, cell = f"t{place}", f"c{place}"
        counts = one.counted(cell)
        low, high = (f"{cell} < {one.ends[0]}", f"{cell} > {one.ends[1]}") if one.ends else ("false", "false")
        asked += [
            f"count({said})",
            f"count(*) FILTER ({counts})",
            f"count(*) FILTER ({low})",
            f"count(*) FILTER (({high}) AND {counts})",  # NaN is above everything
            f"count(*) FILTER (({counts}) IS NOT TRUE AND {one.meant(said)})",
        ]
    return ", ".join(asked)


def _people(columns: Sequence[_Cells], grouped: Sequence[int]) -> str:
    """Of each person the rows, and the groups by each column."""
    groups = [f"count(DISTINCT {columns[place].group(f'c{place}')}) AS g{place}" for place in grouped]
    asked = ", ".join(["count(*) AS n", *groups])
    return f"SELECT {asked} FROM cells WHERE person IS NOT NULL GROUP BY person"


def _of_people(rows: tuple[int, int], groups: tuple[int, int], grouped: Sequence[int]) -> str:
    """People, and those with more than the default and than the ceiling: of rows, and of groups by each column."""
    caps = [("n", cap) for cap in rows] + [(f"g{place}", cap) for place in grouped for cap in groups]
    return ", ".join(["count(*)", *(f"count(*) FILTER ({what} > {cap})" for what, cap in caps)])
