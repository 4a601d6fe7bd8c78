"""Arithmetic on answers in a parsed text: which aggregates it needs, and what is computed from them."""

from sqlglot import exp

from sfumato.plan.nodes import CountRows, CountValues
from sfumato.query.computing import check_formula
from sfumato.query.question import Part, SelectedFormula, SumOf
from sfumato.query.sql_calls import read_call
from sfumato.query.sql_expressions import only, read_expression
from sfumato.query.sql_hints import is_aggregate, shown
from sfumato.query.wordings import column_beside_answers, total_of_answers

ADDS_UP = CountRows | CountValues | SumOf
LONGEST_NAME = 60


def is_formula(node: exp.Expr) -> bool:
    """Whether it computes with aggregates, and is none itself."""
    inner = node.unnest()
    known = isinstance(inner, exp.Binary | exp.Neg | exp.Func | exp.Window)
    if not known or isinstance(inner, exp.Predicate | exp.Connector | exp.Case) or is_aggregate(inner):
        return False
    return any(is_aggregate(part) for part in inner.walk())


def is_total(node: exp.Expr) -> bool:
    """SUM(…) OVER () of an aggregate: the total of all groups of the answer, which looks at no row."""
    if not isinstance(node, exp.Window) or not isinstance(node.this, exp.Sum):
        return False
    empty = not any(value for part, value in node.args.items() if part not in ("this", "over"))
    return empty and isinstance(node.this.this, exp.Expr) and is_aggregate(node.this.this)


def read_formula(node: exp.Expr, name: str | None, alias: str) -> SelectedFormula:
    parts: list[Part] = []

    def placed(part: Part) -> exp.Expr:
        if part not in parts:
            parts.append(part)
        return exp.column(exp.to_identifier(str(parts.index(part)), quoted=True))

    def replaced(inner: exp.Expr) -> exp.Expr:
        if is_total(inner):
            only(inner.this, "this")
            call = read_call(inner.this.this, None, alias)
            if not isinstance(call.call, ADDS_UP):
                raise total_of_answers(shown(inner))
            return placed(Part(call, total=True))
        if is_aggregate(inner):
            return placed(Part(read_call(inner, None, alias)))
        if isinstance(inner, exp.Column):
            raise column_beside_answers(shown(inner, "a column"))
        return inner

    formula = read_expression(node.transform(replaced), alias, 0)
    check_formula(formula)
    text = node.sql(comments=False)
    own = text if len(text) <= LONGEST_NAME and text.isprintable() else "formula"
    return SelectedFormula(name or own, formula, tuple(parts), text[:80])
