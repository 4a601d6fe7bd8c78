"""Row expressions and conditions of a parsed text, by an allow-list: what is not named here is refused."""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from sqlglot import exp

from sfumato.errors import UsageError, not_supported
from sfumato.plan.expressions import (
    LONGEST_PATTERN,
    LONGEST_TRIED,
    MOST_WILDCARDS,
    AllOf,
    AnyOf,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Column,
    Comparison,
    ComparisonOperator,
    Condition,
    Day,
    Expression,
    IsNull,
    Matches,
    MatchKind,
    Negative,
    Not,
    Number,
    OneOf,
    String,
    fits,
)
from sfumato.query.about import about
from sfumato.query.question import Scope
from sfumato.query.sql_functions import MARKS, NODES, read_bin, read_extract, read_function
from sfumato.query.sql_hints import refusal, refused_condition, refused_constant, refused_part
from sfumato.query.sql_positions import reading
from sfumato.query.wordings import argument_wrong, too_deep
from sfumato.schema.columns import LONGEST_TEXT, as_date
from sfumato.schema.numbers import exact

DEEPEST = 30  # the parser takes some twenty frames a bracket
LONGEST_NUMBER = 100

ARITHMETIC: dict[type[exp.Expr], ArithmeticOperator] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
COMPARISONS: dict[type[exp.Expr], ComparisonOperator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
MATCHES: dict[type[exp.Expr], MatchKind] = {
    exp.Like: "like",
    exp.ILike: "like",
    exp.StartsWith: "starts",
    exp.EndsWith: "ends",
    exp.Contains: "contains",
}


@reading
def read_condition(node: exp.Expr, alias: str, depth: int) -> Condition:
    if depth > DEEPEST:
        raise too_deep(DEEPEST)
    match node:
        case exp.Paren(this=inner):
            return read_condition(inner, alias, depth + 1)
        case exp.And():
            return AllOf(tuple(read_condition(part, alias, depth + 1) for part in chain(node, exp.And)))
        case exp.Or():
            return AnyOf(tuple(read_condition(part, alias, depth + 1) for part in chain(node, exp.Or)))
        case exp.Not(this=inner):
            return Not(read_condition(inner, alias, depth + 1))
        case exp.Is(this=operand, expression=exp.Null()):
            return IsNull(read_expression(operand, alias, depth + 1))
        case exp.In(this=operand):
            only(node, "this", "expressions")
            choices = [read_literal(choice) for choice in node.expressions]
            if not choices:
                raise not_supported("IN without a list", "Name the values, e.g. IN (1, 2).")
            return OneOf(read_expression(operand, alias, depth + 1), tuple(choices))
        case exp.Between(this=operand):
            only(node, "this", "low", "high")
            value = read_expression(operand, alias, depth + 1)
            low, high = (read_expression(node.args[end], alias, depth + 1) for end in ("low", "high"))
            return AllOf((Comparison(">=", value, low), Comparison("<=", value, high)))
        case exp.Func() | exp.Binary() if type(node) in MATCHES:
            return _matches(node, alias, depth)
        case exp.Binary() if type(node) in COMPARISONS:
            only(node, "this", "expression")
            left, right = (read_expression(side, alias, depth + 1) for side in (node.this, node.expression))
            return Comparison(COMPARISONS[type(node)], left, right)
        case _:
            raise refused_condition(node)


@reading
def read_expression(node: exp.Expr, alias: str, depth: int) -> Expression:
    if depth > DEEPEST:
        raise too_deep(DEEPEST)
    match node:
        case exp.Paren(this=inner):
            return read_expression(inner, alias, depth + 1)
        case exp.Column():
            return read_column(node, alias)
        case exp.Literal() | exp.Boolean() | exp.Cast():
            return read_literal(node)
        case exp.Case() | exp.If():
            return _case(node, alias, depth)
        case exp.Extract():
            only(node, "this", "expression")
            return read_extract(node, lambda inner: read_expression(inner, alias, depth + 1))
        case exp.Anonymous(this=str(called)) if called.upper() == "BIN":
            return read_bin(node, lambda inner: read_expression(inner, alias, depth + 1))
        case exp.Expr() if type(node) in NODES:
            only(node, *NODES[type(node)][1], *MARKS, *(["expression"] if isinstance(node, exp.Log) else []))
            return read_function(node, lambda inner: read_expression(inner, alias, depth + 1))
        case exp.Neg(this=inner):
            return Negative(read_expression(inner, alias, depth + 1))
        case exp.Binary() if type(node) in ARITHMETIC:
            left, right = (read_expression(side, alias, depth + 1) for side in (node.this, node.expression))
            return Arithmetic(ARITHMETIC[type(node)], left, right)
        case _:
            refuse(node)


def is_row_expression(node: exp.Expr) -> bool:
    """Whether it is computed from one row: neither an aggregate nor made of one, nor a plain value."""
    inner = node.unnest()
    known = isinstance(inner, exp.Column | exp.Case | exp.If | exp.Extract | exp.Neg) or type(inner) in (
        *NODES,
        *ARITHMETIC,
    )
    called = isinstance(inner, exp.Anonymous) and str(inner.this).upper() == "BIN"
    return (known or called) and inner.find(exp.AggFunc) is None and inner.find(exp.Column, exp.Var) is not None


def label(node: exp.Expr) -> str:
    """What a column is called that shows this and has no name of its own."""
    inner = node.unnest()
    if isinstance(inner, exp.Anonymous):
        name = str(inner.this)
    elif isinstance(inner, exp.Extract):
        name = str(inner.this.name)
    else:
        name = (
            NODES[type(inner)][0] if type(inner) in NODES else "case" if isinstance(inner, exp.Case | exp.If) else "key"
        )
    columns = list(dict.fromkeys(column.name for column in inner.find_all(exp.Column)))
    return f"{name.lower()}_{columns[0]}" if len(columns) == 1 and name != "key" else name.lower()


def _case(node: exp.Case | exp.If, alias: str, depth: int) -> Case:
    """CASE with conditions, CASE x WHEN value, and IF."""
    only(node, "this", "ifs", "default", "true", "false")
    if isinstance(node, exp.If):
        branches, otherwise, operand = [node], node.args.get("false"), None
    else:
        branches, otherwise, operand = node.args["ifs"], node.args.get("default"), node.this
    value = None if operand is None else read_expression(operand, alias, depth + 1)
    pairs = []
    for branch in branches:
        if value is None:
            when = read_condition(branch.this, alias, depth + 1)
        else:
            when = Comparison("=", value, read_expression(branch.this, alias, depth + 1))
        if not isinstance(branch.args["true"], exp.Null):
            pairs.append((when, read_expression(branch.args["true"], alias, depth + 1)))
        else:
            raise not_supported("THEN NULL", "Leave out ELSE: what no branch takes is NULL.")
    last = None if otherwise is None or isinstance(otherwise, exp.Null) else otherwise
    return Case(tuple(pairs), None if last is None else read_expression(last, alias, depth + 1))


def _matches(node: exp.Expr, alias: str, depth: int) -> Condition:
    """LIKE and its kin; capitals do not matter to ILIKE because both sides lose them."""
    only(node, "this", "expression", "negate")
    value, pattern = read_expression(node.this, alias, depth + 1), node.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise argument_wrong(type(node).__name__.upper(), "a pattern in quotes")
    text = str(read_text(pattern).value)
    if isinstance(node, exp.ILike):
        value, text = Call("LOWER", (value,)), lowered(text)
    if not fits(text):
        most = f"at most {LONGEST_PATTERN} characters, {MOST_WILDCARDS} of them % or _; with _ one % before its end, "
        most += f"and at most {LONGEST_TRIED} characters behind it"
        raise argument_wrong(type(node).__name__.upper(), f"a pattern of {most}")
    found = Matches(MATCHES[type(node)], value, text)
    return Not(found) if node.args.get("negate") else found


def lowered(text: str) -> str:
    """Sign by sign, as engines do it: none becomes two."""
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


@reading
def read_text(node: exp.Literal) -> String:
    if not node.this.isprintable():
        raise not_supported("a text with control characters", "Compare with printable text.")
    if len(node.this) > LONGEST_TEXT:
        raise not_supported(f"a text of more than {LONGEST_TEXT} characters", "Compare with a shorter one.")
    return String(node.this)


@reading
def read_literal(node: exp.Expr) -> Number | String | Day:
    match node:
        case exp.Cast(this=exp.Literal(is_string=True, this=text), to=exp.DataType(this=exp.DType.DATE)):
            only(node, "this", "to")
            try:
                return Day(as_date(text).isoformat())
            except UsageError:
                raise not_supported("this date", "Write dates like DATE '2024-01-31'.") from None
        case exp.Boolean(this=value):
            return String("true" if value else "false")
        case exp.Neg(this=exp.Literal(is_string=False) as inner):
            number = read_literal(inner)
            return Number(-number.value) if isinstance(number, Number) else number
        case exp.Literal(is_string=True):
            return read_text(node)
        case exp.Literal(this=text):
            if len(text) > LONGEST_NUMBER:
                raise not_supported("this number", "Write numbers as decimals of ordinary size.")
            try:
                return Number(exact(Decimal(text), "a number in the question"))
            except (InvalidOperation, UsageError):
                raise not_supported("this number", "Write numbers as decimals of ordinary size.") from None
        case _:
            raise refused_constant(node)


@reading
def read_column(node: exp.Expr, alias: str) -> Column:
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        refuse(node)
    only(node, "this", "table")
    qualifier = node.args.get("table")
    name = str(node.this.this)
    if qualifier is None:
        return Column(name)
    scope = alias if isinstance(alias, Scope) else Scope(alias)
    table = read_name(qualifier)
    if not scope.knows(table):
        raise not_supported(f'the table name "{table}" here', f"Columns belong to {alias}.")
    return Column(name if len(scope.names) == 1 else f"{table}.{name}")


@reading
def read_name(node: exp.Expr) -> str:
    """A plain name; @x and the like are nodes of another kind."""
    if not isinstance(node, exp.Identifier):
        refuse(node)
    only(node, "this", "quoted")
    return str(node.this)


def chain(node: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The operands of a AND b AND c…, without recursing into a long left-deep tree."""
    operands = []
    while isinstance(node, kind):
        operands.append(node.expression)
        node = node.this
    yield node
    yield from reversed(operands)


def only(node: exp.Expr, *allowed: str) -> None:
    """Refuse a node that carries any part beyond the named ones."""
    for part, value in node.args.items():
        if value not in (None, False, []) and part not in allowed:
            raise about(refused_part(node, part), value if isinstance(value, exp.Expr) else node)


def refuse(node: object) -> NoReturn:
    if not isinstance(node, exp.Expr):
        raise not_supported("an empty bracket", "Name what is meant: COUNT(*), COUNT(x).")
    raise refusal(node)
