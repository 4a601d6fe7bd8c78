"""Aggregates of a parsed text, by an allow-list."""

from sqlglot import exp

from sfumato.errors import not_supported
from sfumato.plan.nodes import CountRows, CountValues
from sfumato.query.question import Call, MeanOf, SelectedCall, SpreadOf, SumOf
from sfumato.query.sql_expressions import only, read_expression, refuse

# Whether divided by n - 1, whether its root is taken, and what its column is called.
SPREADS: dict[type[exp.Expr], tuple[bool, bool, str]] = {
    exp.Variance: (True, False, "variance"),
    exp.VariancePop: (False, False, "variance"),
    exp.Stddev: (True, True, "stddev"),
    exp.StddevSamp: (True, True, "stddev"),
    exp.StddevPop: (False, True, "stddev"),
}


def read_call(node: exp.Expr, name: str | None, alias: str) -> SelectedCall:
    text = node.sql()[:80]
    call: Call
    match node:
        case exp.Count(this=exp.Star() as star):
            only(node, "this", "big_int")
            only(star)
            call, label = CountRows(), "count"
        case exp.Count(this=exp.Distinct()):
            raise not_supported(text, "COUNT(*) and COUNT(x) work.")
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
        case _:
            refuse(node)
    if name is None:
        name = f"{label}_{node.this.name}" if isinstance(node.this, exp.Column) else label
    return SelectedCall(name, call, text)
