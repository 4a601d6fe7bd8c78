"""Aggregates of a parsed text, by an allow-list."""

from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from sfumato.errors import not_supported
from sfumato.plan.expressions import Number
from sfumato.plan.nodes import CountRows, CountValues
from sfumato.query.about import about
from sfumato.query.question import BinsOf, Call, DistinctOf, MeanOf, ModeOf, QuantileOf, SelectedCall, SpreadOf, SumOf
from sfumato.query.sql_expressions import only, read_expression, read_literal, refuse
from sfumato.query.sql_hints import called as name_of
from sfumato.query.sql_hints import is_aggregate, shown
from sfumato.query.sql_positions import reading
from sfumato.query.wordings import argument_wrong, distinct_of_several

LEVELS: dict[type[exp.Expr], tuple[Fraction, str]] = {
    exp.Median: (Fraction(1, 2), "median"),
    exp.Min: (Fraction(0), "min"),
    exp.Max: (Fraction(1), "max"),
}
BINNED = {"HISTOGRAM", "CDF"}
MOST_BINS, MOST_POINTS = 1_000, 1_024
FINEST_LEVEL = 10_000

# Whether divided by n - 1, whether its root is taken, and what its column is called.
SPREADS: dict[type[exp.Expr], tuple[bool, bool, str]] = {
    exp.Variance: (True, False, "variance"),
    exp.VariancePop: (False, False, "variance"),
    exp.Stddev: (True, True, "stddev"),
    exp.StddevSamp: (True, True, "stddev"),
    exp.StddevPop: (False, True, "stddev"),
}

# Other names of the same.
ALIASES: dict[str, type[exp.Expr]] = {
    "MEAN": exp.Avg,
    "AVERAGE": exp.Avg,
    "VAR": exp.Variance,
    "STD": exp.Stddev,
    "COUNT_DISTINCT": exp.Distinct,
    "APPROX_DISTINCT": exp.Distinct,
}
LEVELLED = ("PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE_CONT", "QUANTILE_DISC", "APPROX_PERCENTILE")


def with_plain_names(tree: exp.Expr) -> None:
    """MEAN becomes AVG, and the like: calls that mean the same by another name, or in another form."""
    for form in list(tree.find_all(exp.WithinGroup, exp.CountIf)):
        plain = _ordered_within(form) if isinstance(form, exp.WithinGroup) else _counted_if(form)
        if plain is not None:
            form.replace(plain)
    for filtered in list(tree.find_all(exp.Filter)):
        _filtered(filtered)
    for node in list(tree.find_all(exp.Func)):
        given = list(node.iter_expressions())
        kind = ALIASES.get(name_of(node)) if len(given) == 1 else None
        if kind is exp.Distinct:
            node.replace(exp.Count(this=exp.Distinct(expressions=given)))
        elif kind is not None:
            node.replace(kind(this=given[0]))
        elif len(given) == 2 and name_of(node) in LEVELLED:
            node.replace(exp.Quantile(this=given[0], quantile=given[1]))


def _ordered_within(node: exp.WithinGroup) -> exp.Expr | None:
    """PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x) is a quantile, with DESC the other one; MODE() the mode."""
    order = node.expression
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        return None
    (by,) = order.expressions
    call, falling = node.this, isinstance(by, exp.Ordered) and by.args.get("desc")
    value = by.this if isinstance(by, exp.Ordered) else by
    if isinstance(call, exp.Mode) and call.this is None:
        return exp.Mode(this=value)
    level = call.this if isinstance(call, exp.PercentileCont | exp.PercentileDisc) else None
    if not isinstance(level, exp.Literal) or level.is_string:
        return None
    if not _alone(call):
        raise about(argument_wrong(name_of(call), "one level before WITHIN GROUP, and one column in ORDER BY"), call)
    part = 1 - _level(level)
    return exp.Quantile(this=value, quantile=exp.Literal.number(str(_decimal(part))) if falling else level)


def _decimal(level: Fraction) -> Decimal:
    return Decimal(level.numerator) / level.denominator


def _counted_if(node: exp.Expr) -> exp.Expr | None:
    return exp.Count(this=exp.Case().when(node.this, exp.Literal.number(1))) if _alone(node) else None


def _filtered(node: exp.Filter) -> None:
    """COUNT(*) FILTER (WHERE c) counts the rows in which c holds; any other call takes x only where it does."""
    call, condition = node.this, node.expression.this
    values = call.this if isinstance(call, exp.AggFunc) else None
    if isinstance(call, exp.Anonymous) and call.expressions and _is_called_as_aggregate(call):
        call.set("expressions", [_where(condition, call.expressions[0]), *call.expressions[1:]])
    elif isinstance(call, exp.Count) and isinstance(values, exp.Star):
        call.set("this", _where(condition, exp.Literal.number(1)))
    elif isinstance(values, exp.Distinct) and len(values.expressions) == 1:
        values.set("expressions", [_where(condition, values.expressions[0])])
    elif isinstance(values, exp.Expr) and not isinstance(values, exp.Distinct):
        call.set("this", _where(condition, values))
    else:
        return
    node.replace(call)


def _is_called_as_aggregate(call: exp.Anonymous) -> bool:
    return is_aggregate(call) or name_of(call) in ALIASES or name_of(call) in LEVELLED


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    return exp.Case().when(condition.copy(), value)


def _alone(node: exp.Expr) -> bool:
    return not any(value for part, value in node.args.items() if part != "this")


@reading
def read_call(node: exp.Expr, name: str | None, alias: str) -> SelectedCall:
    text = node.sql()[:80]
    call: Call
    match node:
        case exp.Count(this=exp.Star() as star):
            only(node, "this", "big_int")
            only(star)
            call, label = CountRows(), "count"
        case exp.Count(this=exp.Distinct(expressions=[argument]) as distinct):
            only(node, "this", "big_int")
            only(distinct, "expressions")
            call, label = DistinctOf(read_expression(argument, alias, 0)), "distinct"
        case exp.Count(this=exp.Distinct()):
            raise distinct_of_several([shown(part, "x") for part in node.this.expressions])
        case exp.Count(this=argument):
            only(node, "this", "big_int")
            call, label = CountValues(read_expression(argument, alias, 0)), "count"
        case exp.Sum(this=argument):
            only(node, "this")
            call, label = SumOf(read_expression(argument, alias, 0)), "sum"
        case exp.Avg(this=argument):
            only(node, "this")
            call, label = MeanOf(read_expression(argument, alias, 0)), "avg"
        case exp.Func(this=argument) if type(node) in SPREADS:
            only(node, "this")
            sample, root, label = SPREADS[type(node)]
            call = SpreadOf(read_expression(argument, alias, 0), sample, root)
        case exp.Median(this=argument) | exp.Min(this=argument) | exp.Max(this=argument):
            only(node, "this")
            level, label = LEVELS[type(node)]
            call = QuantileOf(read_expression(argument, alias, 0), level)
        case exp.Quantile(this=argument, args={"quantile": part}):
            only(node, "this", "quantile")
            call = QuantileOf(read_expression(argument, alias, 0), _level(part))
            label = f"q{float(100 * call.level):g}"
        case exp.Mode(this=argument):
            only(node, "this")
            call, label = ModeOf(read_expression(argument, alias, 0)), "mode"
        case exp.Anonymous(this=str(called), expressions=[argument, bins]) if called.upper() in BINNED:
            label = called.lower()
            call = BinsOf(read_expression(argument, alias, 0), _bins(bins, called.upper()), called.upper() == "CDF")
            return SelectedCall(name or _named(label, argument), call, text)
        case exp.Anonymous(this=str(called)) if called.upper() in BINNED:
            raise argument_wrong(called.upper(), f"a column and how many cells: {called.upper()}(x, 10)")
        case _:
            refuse(node)
    argument = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
    return SelectedCall(name or _named(label, argument), call, text)


def _named(label: str, argument: exp.Expr) -> str:
    return f"{label}_{argument.name}" if isinstance(argument, exp.Column) else label


@reading
def _level(node: exp.Expr) -> Fraction:
    number = read_literal(node)
    if not isinstance(number, Number) or not 0 <= number.value <= 1 or FINEST_LEVEL % number.value.denominator:
        raise not_supported("this quantile", f"Write a number from 0 to 1 in steps of 1/{FINEST_LEVEL}: 0.25.")
    return number.value


@reading
def _bins(node: exp.Expr, called: str) -> int:
    number = read_literal(node)
    most = MOST_POINTS if called == "CDF" else MOST_BINS
    if not isinstance(number, Number) or number.value.denominator != 1 or not 1 <= number.value <= most:
        raise not_supported(f"this {called}", f"Say how many cells, 1 to {most}: {called}(x, 10).")
    return int(number.value)
