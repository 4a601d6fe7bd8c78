"""FROM, joins, sub-queries and WITH of a parsed text, by an allow-list."""

from collections.abc import Mapping
from fractions import Fraction

from sqlglot import exp

from sfumato.plan.expressions import Expression, Number
from sfumato.plan.sources import FoldName
from sfumato.query.question import EveryColumn, From, Item, Join, Scope, SelectedFold, SelectedValue, SubQuery
from sfumato.query.source_wordings import (
    column_unnamed,
    fold_unknown,
    join_condition,
    join_kind,
    nested_with,
    sub_query_distinct,
    sub_query_limited,
    too_many_levels,
    too_many_tables,
    without_from,
)
from sfumato.query.sql_expressions import only, read_column, read_condition, read_expression, read_name, refuse
from sfumato.query.sql_positions import reading

MOST_TABLES = 8  # in all, each counted as often as it is used
MOST_LEVELS = 5  # of sub-queries, one inside another or made of another
UNNAMED = "the sub-query"  # what one is called that has no name: its columns need none

# What an aggregate is over one person's rows, and what its column is called.
FOLDS: dict[type[exp.Expr], tuple[FoldName, str]] = {
    exp.Count: ("count", "count"),
    exp.Sum: ("sum", "sum"),
    exp.Avg: ("mean", "avg"),
    exp.Min: ("least", "min"),
    exp.Max: ("most", "max"),
}

Known = Mapping[str, SubQuery]


def read_with(select: exp.Select) -> dict[str, SubQuery]:
    """The named sub-queries before a SELECT; each may use those before it."""
    known: dict[str, SubQuery] = {}
    clause = select.args.get("with_") or select.args.get("with")
    if clause is None:
        return known
    only(clause, "expressions")
    for table in clause.expressions:
        only(table, "this", "alias")
        alias = table.args["alias"]
        only(alias, "this")
        known[read_name(alias.this).casefold()] = _sub_query(table.this, known)
    return known


def read_from(select: exp.Select, known: Known) -> tuple[str | From, Scope]:
    """What stands after FROM, and what columns may be qualified with."""
    clause = select.args.get("from_") or select.args.get("from")
    if clause is None:
        raise without_from()
    only(clause, "this")
    first = _item(clause.this, known)
    names, joins = [first.name], []
    for node in select.args.get("joins") or ():
        joins.append(_join(node, Scope(*names), known))
        names.append(joins[-1].item.name)
    if not joins and isinstance(first.table, str):
        return first.table, Scope(first.name)
    source = From(first, tuple(joins))
    if _size(source) > MOST_TABLES:
        raise too_many_tables(MOST_TABLES)
    return source, Scope(*names)


def _items(source: str | From) -> list[Item]:
    return [Item(source, source)] if isinstance(source, str) else [source.first, *(join.item for join in source.joins)]


def _size(source: str | From) -> int:
    return sum(1 if isinstance(item.table, str) else item.table.size for item in _items(source))


@reading
def _item(node: exp.Expr, known: Known) -> Item:
    match node:
        case exp.Table(this=exp.Identifier()):
            only(node, "this", "alias")
            name = str(node.this.this)
            return Item(_alias(node) or name, known.get(name.casefold(), name))
        case exp.Subquery(this=exp.Table(this=exp.Identifier()) as table) if not (
            table.args.get("alias") or table.args.get("joins")
        ):
            only(node, "this", "alias")
            inner = _item(table, known)
            return Item(_alias(node) or inner.name, inner.table)
        case exp.Subquery(this=exp.Select() as select):
            only(node, "this", "alias")
            return Item(_alias(node) or UNNAMED, _sub_query(select, known))
        case _:
            refuse(node)


@reading
def _alias(node: exp.Expr) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    only(alias, "this")
    return read_name(alias.this)


@reading
def _join(node: exp.Join, before: Scope, known: Known) -> Join:
    side, kind, method = (str(node.args.get(part) or "").upper() for part in ("side", "kind", "method"))
    on, using = node.args.get("on"), node.args.get("using")
    if method or side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or (kind == "OUTER" and not side):
        raise join_kind(" ".join(word for word in (method, side, kind, "JOIN") if word))
    if on is None and not using:
        raise join_kind("a comma or JOIN without ON")
    only(node, "this", "side", "kind", "on", "using")
    item = _item(node.this, known)
    inner = side != "LEFT"
    if item.name.casefold() in {name.casefold() for name in before.names}:
        raise join_condition(f'two tables are called "{item.name}"')
    if using:
        if len(using) != 1:
            raise join_condition("USING names several columns")
        name = read_name(using[0])
        return Join(item, inner, read_column(exp.column(exp.to_identifier(name, quoted=True)), before), name, True)
    while isinstance(on, exp.Paren):
        on = on.this
    if not isinstance(on, exp.EQ) or not all(isinstance(part, exp.Column) for part in (on.this, on.expression)):
        raise join_condition("ON is not one equality of two columns")
    sides = [on.this, on.expression]
    own = [part for part in sides if _qualifier(part) == item.name.casefold()]
    others = [part for part in sides if _qualifier(part) not in ("", item.name.casefold())]
    if len(own) != 1 or len(others) != 1:
        raise join_condition("ON does not name one column of each table, written like p.code = r.code")
    return Join(item, inner, read_column(others[0], before), read_column(own[0], Scope(item.name)).name, False)


def _qualifier(column: exp.Expr) -> str:
    qualifier = column.args.get("table")
    return "" if qualifier is None else read_name(qualifier).casefold()


@reading
def _sub_query(select: exp.Expr, known: Known) -> SubQuery:
    if not isinstance(select, exp.Select):
        refuse(select)
    if select.args.get("with_") or select.args.get("with"):
        raise nested_with()
    if select.args.get("distinct"):
        raise sub_query_distinct()
    for part in ("having", "order", "limit", "offset"):
        if select.args.get(part):
            raise sub_query_limited(part.upper())
    only(select, "expressions", "from", "from_", "joins", "where", "group")
    source, scope = read_from(select, known)
    depth = 1 + max((item.table.depth for item in _items(source) if isinstance(item.table, SubQuery)), default=0)
    if depth > MOST_LEVELS:
        raise too_many_levels(MOST_LEVELS)
    where, group = select.args.get("where"), select.args.get("group")
    if group is not None:
        only(group, "expressions")
    return SubQuery(
        table=source,
        where=None if where is None else read_condition(where.this, scope, 0),
        keys=() if group is None else tuple(read_column(node, scope) for node in group.expressions),
        selected=tuple(_selected(node, scope) for node in select.expressions),
        size=_size(source),
        depth=depth,
    )


@reading
def _selected(node: exp.Expr, scope: Scope) -> EveryColumn | SelectedValue | SelectedFold:
    name = None
    if isinstance(node, exp.Star):
        only(node)
        return EveryColumn()
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        name, node = read_name(node.args["alias"]), node.this
    if isinstance(node, exp.AggFunc):
        return _fold(node, name, scope)
    if name is None and not isinstance(node, exp.Column):
        raise column_unnamed(node.sql()[:80])
    return SelectedValue(name or node.name, read_expression(node, scope, 0))


@reading
def _fold(node: exp.AggFunc, name: str | None, scope: Scope) -> SelectedFold:
    text = node.sql()[:80]
    if type(node) not in FOLDS or isinstance(node.this, exp.Distinct):
        raise fold_unknown(text)
    how, label = FOLDS[type(node)]
    only(node, "this", "big_int")
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        only(node.this)
        value: Expression = Number(Fraction(1))
    else:
        value = read_expression(node.this, scope, 0)
    own = f"{label}_{node.this.name}" if isinstance(node.this, exp.Column) else label
    return SelectedFold(name or own, how, value, text)
