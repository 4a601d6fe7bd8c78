"""A plan in a few readable lines, as the fixtures under tests/fixtures/sql show it."""

from fractions import Fraction

from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    Call,
    Case,
    Column,
    Comparison,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.nodes import (
    Aggregate,
    Cells,
    CentredSum,
    CountCut,
    CountDistinct,
    CountPeople,
    CountRows,
    CountValues,
    Cumulative,
    Grid,
    Histogram,
    ListedKey,
    MostFrequent,
    OpenKey,
    Plan,
    Quantiles,
    Sum,
)
from sfumato.plan.sources import Lookup, OnUnit, PerUnit, Rows, Source, Taken
from sfumato.query.rewrite import KeyColumn, MeanColumn, OutputColumn, QuantileColumn, SpreadColumn


def summary(plan: Plan, columns: tuple[OutputColumn, ...]) -> str:
    """Where, groups, measures with their share of the spend, and the columns of the answer."""
    whole = sum((measure.share for measure in plan.measures), Fraction(0))
    lines = [f"from {_source(plan.table)}"] if not isinstance(plan.table, str) else []
    lines += [f"where {_written(plan.where)}"] if plan.where is not None else []
    lines += [f"group by {_key(key)}" for key in plan.keys]
    for position, measure in enumerate(plan.measures):
        lines.append(f"m{position} = {_aggregate(measure.aggregate)}, {measure.share / whole} of the spend")
    return "\n".join([*lines, *(f"column {column.name} = {_column(column)}" for column in columns)])


def _source(source: Source) -> str:
    match source:
        case str():
            return source
        case Rows(source=inner, where=where, columns=columns):
            made = ", ".join(f"{_written(each.value)} as {each.name}: {_declared(each.declared)}" for each in columns)
            return f"({_source(inner)}{_kept(where)}; {made})"
        case PerUnit(source=inner, where=where, columns=columns):
            made = ", ".join(f"{each.how} of {_written(each.value)} as {each.name}" for each in columns)
            return f"(a person of {_source(inner)}{_kept(where)}; {made})"
        case Lookup(source=inner, table=table, column=column, columns=columns, inner=matched):
            kind = "matched" if matched else "looked up"
            return f"({_source(inner)} {kind} in {table} by {column}; {_taken(columns)})"
        case OnUnit(left=left, right=right, columns=columns, inner=matched):
            kind = "with" if matched else "perhaps with"
            return f"({_source(left)} {kind} {_source(right)}; {_taken(columns)})"


def _kept(where: Condition | None) -> str:
    return "" if where is None else f" where {_written(where)}"


def _taken(columns: tuple[Taken, ...]) -> str:
    return ", ".join(each.name if each.name == each.column else f"{each.column} as {each.name}" for each in columns)


def _declared(column: object) -> str:
    bounds = [str(getattr(column, end)) for end in ("lower", "upper") if getattr(column, end, None) is not None]
    return type(column).__name__ + (f" {'..'.join(bounds)}" if bounds else "")


def _key(key: Cells | OpenKey) -> str:
    if isinstance(key, OpenKey):
        return f"{key.column.name}, discovered"
    if isinstance(key, ListedKey):
        return f"{_written(key.expression)} in {', '.join(repr(value) for value in key.values)}"
    steps = "" if key.unit == 1 and key.offset == 0 else f" times {key.unit} plus {key.offset}"
    return f"{_written(key.expression)} from {key.lower} to {key.upper}{steps}"


def _aggregate(aggregate: Aggregate) -> str:
    match aggregate:
        case CountRows():
            return "count of rows"
        case CountValues(value=value):
            return f"count of {_written(value)}"
        case Sum(value=value, lattice=lattice):
            return f"sum of {_written(value)} in {lattice.lower}..{lattice.upper} steps of 2^{lattice.exponent}"
        case CentredSum(value=value, lattice=lattice):
            around = f"around {lattice.centre} in {lattice.lower}..{lattice.upper} steps of 2^{lattice.exponent}"
            return f"sum of {_written(value)} {around}"
        case CountDistinct(value=value):
            return f"different values of {_written(value)}"
        case CountCut():
            return "people above a cap"
        case CountPeople():
            return "count of people"
        case Histogram(cells=cells):
            return f"rows in {_cells(cells)}"
        case Cumulative(cells=cells):
            return f"running totals of {_cells(cells)}"
        case Quantiles(cells=cells, levels=levels):
            return f"levels {', '.join(map(str, levels))} of {_cells(cells)}"
        case MostFrequent(cells=cells):
            return f"most frequent of {_cells(cells)}"


def _cells(cells: Cells) -> str:
    if isinstance(cells, Grid):
        return f"{cells.size} cells of {_written(cells.value)} from {cells.lower} to {cells.upper}"
    return _key(cells)


def _column(column: OutputColumn) -> str:
    match column:
        case KeyColumn(key=key):
            return f"key {key}"
        case MeanColumn(total=total, count=count):
            return f"m{total} / m{count}"
        case SpreadColumn(total=total, squares=squares, count=count, spread=spread):
            kind = ("sample " if spread.sample else "") + ("deviation" if spread.root else "variance")
            return f"{kind} of m{total}, m{squares}, m{count}"
        case QuantileColumn(measure=measure, place=place):
            return f"level {place} of m{measure}"
        case _:
            return f"m{column.measure}"


def _written(node: Expression | Condition) -> str:
    match node:
        case Column(name=name):
            return name if name.isidentifier() else f'"{name}"'
        case Number(value=number):
            return str(number)
        case String(value=text):
            return repr(text)
        case Day(value=day):
            return f"date {day}"
        case Call(name=name, arguments=arguments):
            return f"{name}({', '.join(_written(argument) for argument in arguments)})"
        case Case(branches=branches, otherwise=otherwise):
            whens = "; ".join(f"{_written(when)}: {_written(then)}" for when, then in branches)
            return f"case({whens}{'' if otherwise is None else f'; else {_written(otherwise)}'})"
        case Matches(kind=kind, operand=operand, pattern=pattern):
            return f"{_written(operand)} {kind} {pattern!r}"
        case Negative(operand=operand):
            return f"(-{_written(operand)})"
        case Arithmetic(operator=operator, left=left, right=right):
            return f"({_written(left)} {operator} {_written(right)})"
        case Comparison(operator=operator, left=left, right=right):
            return f"{_written(left)} {operator} {_written(right)}"
        case OneOf(operand=operand, choices=choices):
            return f"{_written(operand)} in ({', '.join(_written(choice) for choice in choices)})"
        case IsNull(operand=operand):
            return f"{_written(operand)} is null"
        case Not(operand=condition):
            return f"not ({_written(condition)})"
        case AllOf(operands=operands):
            return "(" + " and ".join(_written(operand) for operand in operands) + ")"
        case AnyOf(operands=operands):
            return "(" + " or ".join(_written(operand) for operand in operands) + ")"
