"""Where the rows of a plan come from: a private table by its name, or one of these nodes.

Every node keeps the unit: each of its rows is of one unit, and which rows a unit has depends on that unit's own rows
and on public tables alone. Proof: docs/proofs/contribution-bounding.md
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sfumato.errors import SfumatoError, plan_refused
from sfumato.plan.expressions import Call, Case, Column, Condition, Expression
from sfumato.plan.lattice import Lattice
from sfumato.plan.once import once
from sfumato.plan.totality import Seen, agrees, check, known
from sfumato.plan.writing import Shared
from sfumato.schema.columns import LARGEST_INT, Category, Declared, Float, Identifier, Int, Text
from sfumato.schema.table import Schema
from sfumato.schema.unit import ONE_ROW_EACH, Person, Row, TableCaps, Unit

FoldName = Literal["count", "sum", "mean", "least", "most"]


@dataclass(frozen=True, slots=True)
class Computed:
    """A column made of one row, and what is known of it."""

    name: str
    value: Expression
    declared: Declared


@dataclass(frozen=True, slots=True)
class Rows:
    """Some of the rows, with columns computed from each."""

    source: "Source"
    where: Condition | None
    columns: tuple[Computed, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A column of the other table of a join, and its name after it."""

    name: str
    column: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """Each row with the one row of a public table whose key equals `column`; without one, NULLs or (`inner`) no row."""

    source: "Source"
    table: str
    column: str
    columns: tuple[Taken, ...]
    inner: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """One number of all of a person's rows, from values clamped and rounded to a lattice."""

    name: str
    how: FoldName
    value: Expression
    lattice: Lattice


@dataclass(frozen=True, slots=True)
class PerUnit:
    """One row per person. Counts and sums are clamped to what `rows` rows can make."""

    source: "Source"
    where: Condition | None
    columns: tuple[Folded, ...]
    rows: int

    def __post_init__(self) -> None:
        _check_rows(self.rows)


@dataclass(frozen=True, slots=True)
class OnUnit:
    """Every pair of rows of the same person; a row of the left without a partner gets NULLs, or (`inner`) goes.

    Where both sides may have several rows a person, `left_rows` of the left are paired with `right_rows` of the right,
    chosen by a hash of the row.
    """

    left: "Source"
    right: "Source"
    columns: tuple[Taken, ...]
    inner: bool
    left_rows: int
    right_rows: int

    def __post_init__(self) -> None:
        _check_rows(self.left_rows)
        _check_rows(self.right_rows)


@dataclass(frozen=True, slots=True)
class Kept(Shared):
    """The rows of a source, worked out once: the door has an engine keep them for the draws of an envelope."""

    source: "Source"

    def __hash__(self) -> int:
        """Equal where sources are. It is looked up often: how deep they are is enough, to tell is for `==`."""
        return hash((Kept, _depth(self.source)))


Source = str | Rows | Lookup | PerUnit | OnUnit | Kept


def outermost(source: Source) -> tuple[Kept, ...]:
    """What has to be kept for a source; what lies inside of that does not matter any more."""
    match source:
        case Kept():
            return (source,)
        case Rows(source=inner) | Lookup(source=inner) | PerUnit(source=inner):
            return outermost(inner)
        case OnUnit(left=left, right=right):
            return (*outermost(left), *outermost(right))
        case _:
            return ()


def _depth(source: Source) -> int:
    match source:
        case Rows(source=inner) | Lookup(source=inner) | PerUnit(source=inner) | Kept(source=inner):
            return 1 + _depth(inner)
        case _:
            return 0


def _check_rows(rows: int) -> None:
    if type(rows) is not int or rows < 1:
        raise ValueError("of a person a whole number of rows counts, at least one")


@once(256)
def derive(source: Source, schema: Schema) -> Schema:
    """The columns of a source, as a schema of its own.

    Claim: refuses every source that is not made of these nodes, of the schema's tables and of its lookups, that uses
    an identifier, or in which an expression could fail on a row (`plan.totality`).
    Certifying, weighing and writing all ask, for every counting: of the same source and schema it is worked out once.
    """
    match source:
        case str():
            # Not a kind of text that says of itself what it is equal to.
            if type(source) is not str or (source != schema.table and source not in schema.tables):
                raise plan_refused("it protects another unit or asks another table")
            return schema.of_table(source)
        case Rows(source=inner, where=where, columns=computed):
            within = derive(inner, schema)
            _check_where(where, within)
            seen: Seen = {}
            lengths = {column.name: known(column.value, within, seen).longest for column in computed}
            if not all(agrees(column.value, column.declared, within, seen) for column in computed):
                raise plan_refused("a column of a source is not what it is declared as")
            texts = {column.name: texts_in(column.value, within) for column in computed}
            return _of(schema, [(column.name, column.declared) for column in computed], texts, lengths)
        case Lookup(source=inner, table=table, column=name, columns=taken):
            if table not in schema.lookups:
                raise plan_refused("it looks up in a table that is not public")
            left, lookup = derive(inner, schema), schema.lookups[table]
            known(Column(name), left)
            # An engine would cast one side to the other, and fail on the rows where it cannot.
            if not comparable(left.columns[name], lookup.key_column):
                raise plan_refused("it compares a key with something of another kind")
            return _joined(left, schema.of_lookup(table), taken)
        case PerUnit(source=inner, where=where, columns=folded, rows=rows):
            _person(schema)
            within = derive(inner, schema)
            _check_where(where, within)
            for column in folded:
                if known(column.value, within).kind != "number" and column.how != "count":
                    raise plan_refused("it folds values that are no numbers")
            return _of(schema, [(column.name, _fold_declared(column, rows)) for column in folded])
        case OnUnit(left=left, right=right, columns=taken):
            _person(schema)
            return _joined(derive(left, schema), derive(right, schema), taken)
        case Kept(source=inner):
            return derive(inner, schema)
        case _:
            raise plan_refused(f"it holds an unknown {type(source).__name__}")


def _check_where(where: Condition | None, schema: Schema) -> None:
    if where is not None:
        check(where, schema)


def table_caps(source: Source, schema: Schema) -> TableCaps:
    """How much of a person counts in a source: of a join as much as in any of its tables, of a fold one row.

    Needs: a person as the unit, and tables of the schema.
    """
    match source:
        case str():
            return schema.caps_of(source)
        case PerUnit():
            return ONE_ROW_EACH
        case Rows(source=inner) | Lookup(source=inner) | Kept(source=inner):
            return table_caps(inner, schema)
        case OnUnit(left=left, right=right):
            return table_caps(left, schema).beside(table_caps(right, schema))


def unit_of(source: Source, unit: Unit) -> Unit:
    """Whose each row of a source is: where everybody has at most one row, a row is a person."""
    return Row() if one_row_each(source) else unit


def one_row_each(source: Source) -> bool:
    match source:
        case PerUnit():
            return True
        case Rows(source=inner) | Lookup(source=inner) | Kept(source=inner):
            return one_row_each(inner)
        case OnUnit(left=left, right=right):
            return one_row_each(left) and one_row_each(right)
        case _:
            return False


def comparable(left: Declared, right: Declared) -> bool:
    """Whether both are texts, or both whole numbers, to an engine."""
    return _kind(left) is not None and _kind(left) == _kind(right)


def _kind(declared: Declared) -> Literal["text", "whole"] | None:
    match declared:
        case Category(values=values):
            return "whole" if type(values[0]) is int else "text"
        case Text():
            return "text"
        case Int():
            return "whole"
        case _:
            return None


def number_between(lower: Fraction, upper: Fraction, *, whole: bool) -> Int | Float:
    """A declaration that holds these bounds; without them where they are too wide to declare."""
    upper = max(upper, lower + 1) if lower == upper else upper
    if whole and max(abs(lower), abs(upper)) <= LARGEST_INT:
        return Int(int(lower), int(upper))
    try:
        return Float(lower, upper)
    except SfumatoError:
        return Float()


def _person(schema: Schema) -> Person:
    if not isinstance(schema.unit, Person):
        raise plan_refused("it puts rows of a person together, but protects rows")
    return schema.unit


def _fold_declared(column: Folded, rows: int) -> Int | Float:
    lattice = column.lattice
    low, high = Fraction(lattice.lower), Fraction(lattice.upper)
    match column.how:
        case "count":
            return Int(0, rows)
        case "sum":
            bounds = rows * min(low, Fraction(0)) * lattice.step, rows * max(high, Fraction(0)) * lattice.step
            return number_between(*bounds, whole=lattice.exponent == 0)
        case "mean":
            return number_between(low * lattice.step, high * lattice.step, whole=False)
        case "least" | "most":
            return number_between(low * lattice.step, high * lattice.step, whole=lattice.exponent == 0)
        case _:
            raise plan_refused("it folds rows in an unknown way")


def texts_in(value: Expression, schema: Schema) -> int:
    """How many columns and constants may stand one after the other in it."""
    match value:
        case Call(name="CONCAT", arguments=arguments):
            return sum(texts_in(argument, schema) for argument in arguments)
        case Call(arguments=arguments):
            return max(texts_in(argument, schema) for argument in arguments)
        case Case(branches=branches, otherwise=otherwise):
            thens = [then for _, then in branches] + ([] if otherwise is None else [otherwise])
            return max(texts_in(then, schema) for then in thens)
        case Column(name=name):
            return schema.texts.get(name, 1)
        case _:
            return 1


def _joined(left: Schema, right: Schema, taken: tuple[Taken, ...]) -> Schema:
    lengths = {column.name: known(Column(column.column), right).longest for column in taken}
    texts = {column.name: right.texts.get(column.column, 1) for column in taken}
    columns = [*left.columns.items(), *((column.name, right.columns[column.column]) for column in taken)]
    return _of(left, columns, {**left.texts, **texts}, {**left.lengths, **lengths})


def _of(
    schema: Schema,
    columns: Iterable[tuple[str, Declared]],
    texts: Mapping[str, int] | None = None,
    lengths: Mapping[str, int] | None = None,
) -> Schema:
    """Engines do not tell capitals apart, and the unit id keeps its name in every source."""
    listed = dict(columns)
    names = {name.casefold() for name in listed}
    taken = {schema.unit.id.casefold()} if isinstance(schema.unit, Person) else set()
    visible = {name.casefold() for name, declared in listed.items() if not isinstance(declared, Identifier)}
    if len(names) < len(listed) or visible & taken:
        raise plan_refused("a source has two columns of the same name")
    return Schema(schema.table, schema.unit, listed, texts=texts or {}, lengths=lengths or {})
