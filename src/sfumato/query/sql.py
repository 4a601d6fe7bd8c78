"""SQL text to a question, by an allow-list: what is not named here is refused.

Text is measured before it is parsed, and no text of the analyst survives this file: engines see only SQL that
`engines.emit` writes from a certified plan.
"""

import logging
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NoReturn

import sqlglot
from sqlglot import Token, TokenType, exp

from sfumato.errors import UsageError, not_sql, not_supported, select_without_group, too_deep, too_long
from sfumato.plan.expressions import (
    AllOf,
    AnyOf,
    Arithmetic,
    ArithmeticOperator,
    Column,
    Comparison,
    ComparisonOperator,
    Condition,
    Expression,
    IsNull,
    Negative,
    Not,
    Number,
    OneOf,
    String,
)
from sfumato.plan.nodes import CountRows, CountValues
from sfumato.query.after import After, Order
from sfumato.query.question import Call, MeanOf, Question, SelectedCall, SelectedKey, SpreadOf, SumOf
from sfumato.schema.numbers import exact

LONGEST = 10_000
DEEPEST = 30  # the parser takes some twenty frames a bracket
LONGEST_NUMBER = 100

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
PREFIX = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}

BEFORE_BRACKET = {"AND", "BETWEEN", "GROUP BY", "IN", "IS", "NOT", "OR", "SELECT", "WHERE"}
MOST_CALLS = 4  # one inside another; the language has none inside another

ARITHMETIC: dict[type[exp.Expr], ArithmeticOperator] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
COMPARISONS: dict[type[exp.Expr], ComparisonOperator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
# Whether divided by n - 1, whether its root is taken, and what its column is called.
SPREADS: dict[type[exp.Expr], tuple[bool, bool, str]] = {
    exp.Variance: (True, False, "variance"),
    exp.VariancePop: (False, False, "variance"),
    exp.Stddev: (True, True, "stddev"),
    exp.StddevSamp: (True, True, "stddev"),
    exp.StddevPop: (False, True, "stddev"),
}
# It would print the analyst's text where nobody asked for it.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

WORKS = (
    "What works: SELECT keys, COUNT(*), COUNT(x), SUM(x), AVG(x), VARIANCE(x), STDDEV(x) FROM table WHERE … "
    "GROUP BY keys HAVING … ORDER BY … LIMIT n."
)


def parse(text: str) -> Question:
    """The question that a text asks.

    Claim: gives a value made of plan nodes only, or raises Refused; never runs, opens or looks up anything.
    """
    try:
        return _question(_statement(text))
    except RecursionError:
        raise too_deep(DEEPEST) from None


def _question(select: exp.Select) -> Question:
    _only(select, "expressions", "from", "from_", "where", "group", "having", "order", "limit", "offset")
    table, alias = _source(select.args.get("from_") or select.args.get("from"))
    where = select.args.get("where")
    group = select.args.get("group")
    keys: tuple[Column, ...] = ()
    if group is not None:
        _only(group, "expressions")
        if not group.expressions:
            raise not_supported("GROUP BY without a column", "Name the columns, or leave out GROUP BY.")
        keys = tuple(_column(node, alias) for node in group.expressions)
    selected = tuple(_selected(node, keys, alias) for node in select.expressions)
    return Question(
        table=table,
        selected=selected,
        where=None if where is None else _condition(where.this, alias, 0),
        keys=keys,
        after=_after(select, selected, alias),
    )


def _after(select: exp.Select, selected: tuple[SelectedKey | SelectedCall, ...], alias: str) -> After:
    """HAVING, ORDER BY, LIMIT and OFFSET, in terms of the columns of the answer."""
    having, order, limit, offset = (select.args.get(part) for part in ("having", "order", "limit", "offset"))
    condition = None
    if having is not None:
        named = having.this.transform(lambda node: _by_name(node, selected, alias))
        condition = _condition(named, alias, 0)
    orders = []
    for node in order.expressions if order is not None else ():
        _only(node, "this", "desc", "nulls_first")
        orders.append(Order(_ordered_by(node.this, selected, alias), bool(node.args.get("desc"))))
    return After(condition, tuple(orders), _whole(limit), _whole(offset) or 0)


def _by_name(node: exp.Expr, selected: tuple[SelectedKey | SelectedCall, ...], alias: str) -> exp.Expr:
    """Columns and aggregates become columns of the answer; everything else stays for the allow-list."""
    if isinstance(node, exp.AggFunc | exp.Column):
        return exp.column(exp.to_identifier(_output(node, selected, alias), quoted=True))
    return node


def _ordered_by(node: exp.Expr, selected: tuple[SelectedKey | SelectedCall, ...], alias: str) -> str:
    if isinstance(node, exp.Literal) and not node.is_string:
        place = node.this
        if not place.isdecimal() or len(place) > 4 or not 1 <= int(place) <= len(selected):
            raise not_supported(f"ORDER BY {place[:40]}", f"There are {len(selected)} columns.")
        return selected[int(place) - 1].name
    return _output(node, selected, alias)


def _output(node: exp.Expr, selected: tuple[SelectedKey | SelectedCall, ...], alias: str) -> str:
    """The column of the answer that a name, a key or an aggregate means."""
    if isinstance(node, exp.Column):
        column = _column(node, alias)
        names = {item.name.casefold(): item.name for item in selected}
        keys = {item.column.name.casefold(): item.name for item in selected if isinstance(item, SelectedKey)}
        found = (names | keys).get(column.name.casefold())
    else:
        call = _call(node, None, alias).call
        found = next((item.name for item in selected if isinstance(item, SelectedCall) and item.call == call), None)
    if found is None:
        raise not_supported("a column that is not in the answer", "Select it too; it costs a share of the spend.")
    return found


def _whole(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    _only(node, "expression")
    number = node.expression
    if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdecimal() or len(number.this) > 9:
        raise not_supported(f"this {type(node).__name__.upper()}", "Write a whole number after it.")
    return int(number.this)


def _statement(text: str) -> exp.Select:
    if not isinstance(text, str):
        raise UsageError(f"a question is a text, not {type(text).__name__}.", 'E.g. session.ask("SELECT COUNT(*) …").')
    if len(text) > LONGEST:
        raise too_long(len(text), LONGEST)
    try:
        tokens = sqlglot.tokenize(text)
    except Exception:  # noqa: BLE001 - see below
        raise not_sql("it cannot be read") from None
    _check_depth(tokens)
    try:
        statements = sqlglot.parse(text)
    except sqlglot.errors.ParseError as error:
        raise not_sql(_where_it_stopped(error)) from None
    except Exception:  # noqa: BLE001 - a parser fed with hostile text: whatever it raises, the text is refused
        raise not_sql("it cannot be read") from None
    found = [
        statement for statement in statements if statement is not None and not isinstance(statement, exp.Semicolon)
    ]
    if len(found) != 1:
        raise not_sql("it must be one statement") if found else not_sql("it is empty")
    if not isinstance(found[0], exp.Select):
        raise not_sql("it is not a SELECT")
    return found[0]


def _check_depth(tokens: list[Token]) -> None:
    """Refuse what nests too deep, before the parser, some of whose rules take twice as long for each level."""
    depth = run = joins = 0  # casts count as joins: the language has neither
    costly: list[bool] = []  # of each open bracket: whether a word stands before it, or it is square
    before = ""
    for token in tokens:
        if token.token_type in OPENING:
            # Words of two parts count as well: DOUBLE PRECISION, USER-DEFINED.
            word = before[:1].isalpha() or before[:1] == "_"
            costly.append(token.text == "[" or (word and before not in BEFORE_BRACKET))
        elif token.token_type in CLOSING and costly:
            costly.pop()
        depth = len(costly)
        run = run + 1 if token.token_type in PREFIX else 0
        joins += "JOIN" in token.text.upper() and token.token_type is not TokenType.STRING
        joins += token.token_type is TokenType.DCOLON
        if depth + run > DEEPEST or sum(costly) > MOST_CALLS or joins > MOST_CALLS:
            raise too_deep(DEEPEST)
        before = " ".join(token.text.upper().split())


def _where_it_stopped(error: sqlglot.errors.ParseError) -> str:
    first = error.errors[0] if error.errors else {}
    word = str(first.get("highlight") or "").strip()
    return f"it stops making sense at {word[:40]!r}" if word else "it ends too early"


def _source(node: exp.Expr | None) -> tuple[str, str]:
    """The table's name and the name columns may be qualified with."""
    if node is None:
        raise not_supported("a question without FROM", "Add FROM and the table's name.")
    _only(node, "this")
    table = node.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        _refuse(table)
    _only(table, "this", "alias")
    name = str(table.this.this)
    alias = table.args.get("alias")
    if alias is None:
        return name, name
    _only(alias, "this")
    return name, _name(alias.this)


def _selected(node: exp.Expr, keys: tuple[Column, ...], alias: str) -> SelectedKey | SelectedCall:
    name = None
    if isinstance(node, exp.Alias):
        _only(node, "this", "alias")
        name, node = _name(node.args["alias"]), node.this
        if not name.isprintable():
            raise not_supported("a column name with control characters", "Use printable characters after AS.")
    if isinstance(node, exp.Column):
        column = _column(node, alias)
        if column.name.casefold() not in {key.name.casefold() for key in keys}:
            raise select_without_group(column.name)
        return SelectedKey(name or column.name, column)
    return _call(node, name, alias)


def _call(node: exp.Expr, name: str | None, alias: str) -> SelectedCall:
    text = node.sql()[:80]
    call: Call
    match node:
        case exp.Count(this=exp.Star() as star):
            _only(node, "this", "big_int")
            _only(star)
            call, label = CountRows(), "count"
        case exp.Count(this=exp.Distinct()):
            raise not_supported(text, "COUNT(*) and COUNT(x) work.")
        case exp.Count(this=argument):
            _only(node, "this", "big_int")
            call, label = CountValues(_expression(argument, alias, 0)), "count"
        case exp.Sum(this=argument):
            _only(node, "this")
            call, label = SumOf(_expression(argument, alias, 0)), "sum"
        case exp.Avg(this=argument):
            _only(node, "this")
            call, label = MeanOf(_expression(argument, alias, 0)), "avg"
        case exp.Func(this=argument) if type(node) in SPREADS:
            _only(node, "this")
            sample, root, label = SPREADS[type(node)]
            call = SpreadOf(_expression(argument, alias, 0), sample, root)
        case _:
            _refuse(node)
    if name is None:
        name = f"{label}_{node.this.name}" if isinstance(node.this, exp.Column) else label
    return SelectedCall(name, call, text)


def _condition(node: exp.Expr, alias: str, depth: int) -> Condition:
    if depth > DEEPEST:
        raise too_deep(DEEPEST)
    match node:
        case exp.Paren(this=inner):
            return _condition(inner, alias, depth + 1)
        case exp.And():
            return AllOf(tuple(_condition(part, alias, depth + 1) for part in _chain(node, exp.And)))
        case exp.Or():
            return AnyOf(tuple(_condition(part, alias, depth + 1) for part in _chain(node, exp.Or)))
        case exp.Not(this=inner):
            return Not(_condition(inner, alias, depth + 1))
        case exp.Is(this=operand, expression=exp.Null()):
            return IsNull(_expression(operand, alias, depth + 1))
        case exp.In(this=operand):
            _only(node, "this", "expressions")
            choices = [_literal(choice) for choice in node.expressions]
            if not choices:
                raise not_supported("IN without a list", "Name the values, e.g. IN (1, 2).")
            return OneOf(_expression(operand, alias, depth + 1), tuple(choices))
        case exp.Between(this=operand):
            _only(node, "this", "low", "high")
            value = _expression(operand, alias, depth + 1)
            low, high = (_expression(node.args[end], alias, depth + 1) for end in ("low", "high"))
            return AllOf((Comparison(">=", value, low), Comparison("<=", value, high)))
        case exp.Binary() if type(node) in COMPARISONS:
            _only(node, "this", "expression")
            left, right = (_expression(side, alias, depth + 1) for side in (node.this, node.expression))
            return Comparison(COMPARISONS[type(node)], left, right)
        case _:
            _refuse(node)


def _expression(node: exp.Expr, alias: str, depth: int) -> Expression:
    if depth > DEEPEST:
        raise too_deep(DEEPEST)
    match node:
        case exp.Paren(this=inner):
            return _expression(inner, alias, depth + 1)
        case exp.Column():
            return _column(node, alias)
        case exp.Literal() | exp.Boolean():
            return _literal(node)
        case exp.Neg(this=inner):
            return Negative(_expression(inner, alias, depth + 1))
        case exp.Binary() if type(node) in ARITHMETIC:
            left, right = (_expression(side, alias, depth + 1) for side in (node.this, node.expression))
            return Arithmetic(ARITHMETIC[type(node)], left, right)
        case _:
            _refuse(node)


def _literal(node: exp.Expr) -> Number | String:
    match node:
        case exp.Boolean(this=value):
            return String("true" if value else "false")
        case exp.Neg(this=exp.Literal(is_string=False) as inner):
            number = _literal(inner)
            return Number(-number.value) if isinstance(number, Number) else number
        case exp.Literal(is_string=True, this=text):
            if not text.isprintable():
                raise not_supported("a text with control characters", "Compare with printable text.")
            return String(text)
        case exp.Literal(this=text):
            if len(text) > LONGEST_NUMBER:
                raise not_supported("this number", "Write numbers as decimals of ordinary size.")
            try:
                return Number(exact(Decimal(text), "a number in the question"))
            except (InvalidOperation, UsageError):
                raise not_supported("this number", "Write numbers as decimals of ordinary size.") from None
        case _:
            _refuse(node)


def _column(node: exp.Expr, alias: str) -> Column:
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        _refuse(node)
    _only(node, "this", "table")
    qualifier = node.args.get("table")
    if qualifier is not None and _name(qualifier).casefold() != alias.casefold():
        raise not_supported(f'the table name "{qualifier.this}" here', f"Columns belong to {alias}.")
    return Column(str(node.this.this))


def _name(node: exp.Expr) -> str:
    """A plain name; @x and the like are nodes of another kind."""
    if not isinstance(node, exp.Identifier):
        _refuse(node)
    _only(node, "this", "quoted")
    return str(node.this)


def _chain(node: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The operands of a AND b AND c…, without recursing into a long left-deep tree."""
    operands = []
    while isinstance(node, kind):
        operands.append(node.expression)
        node = node.this
    yield node
    yield from reversed(operands)


def _only(node: exp.Expr, *allowed: str) -> None:
    """Refuse a node that carries any part beyond the named ones."""
    for part, value in node.args.items():
        if value not in (None, False, []) and part not in allowed:
            raise not_supported(f"{part.rstrip('_').replace('_', ' ').upper()} here", WORKS)


def _refuse(node: object) -> NoReturn:
    kind = type(node).__name__.upper() if isinstance(node, exp.Expr) else "this"
    match node:
        case exp.Anonymous(this=str(called)):
            kind = called[:40].upper()
        case exp.Paren():
            kind = "a bracket around this"
        case exp.Literal() | exp.Boolean() | exp.Column():
            kind = "a plain value here"
    raise not_supported(kind, WORKS)
