"""SQL text to a question, by an allow-list: what is not named here is refused.

Text is measured before it is parsed, and no text of the analyst survives this file: engines see only SQL that
`engines.sql.counting` writes from a certified plan.
"""

import logging
from functools import lru_cache

import sqlglot
from sqlglot import Token, TokenType, exp

from sfumato.errors import Refused, not_supported
from sfumato.plan.expressions import Column, Condition, Expression
from sfumato.plan.functions import FUNCTIONS
from sfumato.plan.walk import same, size
from sfumato.query.about import about
from sfumato.query.computing import check_formula
from sfumato.query.ordering import After, Order
from sfumato.query.question import Question, Selected, SelectedCall, SelectedFormula, SelectedKey, expressions_in
from sfumato.query.source_wordings import too_many_joins
from sfumato.query.sql_calls import read_call, with_plain_names
from sfumato.query.sql_dialect import PARSING
from sfumato.query.sql_expressions import (
    DEEPEST,
    is_row_expression,
    label,
    only,
    read_column,
    read_condition,
    read_expression,
    read_name,
    refuse,
)
from sfumato.query.sql_foreign import refuse_foreign
from sfumato.query.sql_formulas import is_formula, read_formula
from sfumato.query.sql_hints import is_aggregate, shown
from sfumato.query.sql_positions import located, reading
from sfumato.query.sql_refusals import refuse_by_kind
from sfumato.query.sql_rollup import keys_written
from sfumato.query.sql_sources import read_from, read_with
from sfumato.query.wordings import (
    calls_too_deep,
    not_in_answer,
    not_sql,
    question_not_text,
    sorted_by_computed,
    too_deep,
    too_large,
    too_long,
    too_many_casts,
)

LONGEST = 10_000
SHORT = 500  # a parsed question takes some 400 bytes a character: few of the longer ones are kept

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
JOINS = {kind for kind in TokenType if "JOIN" in kind.name}  # by their kind: a column may be called join_date
PREFIX = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}

TABLES = ("with", "with_", "from", "from_", "joins")
CLAUSES = ("expressions", *TABLES, "where", "group", "having", "order", "limit", "offset")
# Words before a bracket or CASE that the parser takes for one thing only: its time grows in step with their number.
HARMLESS = {
    *("AND", "BETWEEN", "CASE", "ELSE", "FROM", "GROUP BY", "IN", "IS", "NOT", "OR", "SELECT", "THEN", "WHEN", "WHERE"),
    *FUNCTIONS,
    *("CEILING", "POW", "LOG", "SUBSTR", "CHAR_LENGTH", "EXTRACT", "IF", "IFNULL", "BIN"),
    *("STARTS_WITH", "ENDS_WITH", "CONTAINS"),
}
MOST_CALLS = 4  # one inside another, of words the parser may take for something else
MOST_JOINS = MOST_CASTS = 4
MOST_NODES = 5_000
AROUND = ("start_context", "highlight", "end_context")  # of a word, as the parser's errors name them


# It would print the analyst's text where nobody asked for it.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


def parse(text: str) -> Question:
    """The question that a text asks.

    Claim: gives a value made of plan nodes only, or raises Refused; never runs, opens or looks up anything.
    """
    if not isinstance(text, str):
        raise question_not_text(type(text).__name__)
    with located(text):
        return _parsed(text)[0]


def tree(text: str) -> exp.Select:
    """What the parser made of a question. Needs: a text that `parse` takes."""
    return _parsed(text)[1]


def rewritten(text: str) -> str:
    """A question as the parser would write it; whether that asks the same is for the caller to see."""
    return tree(text).sql(comments=False)


def _parsed(text: str) -> tuple[Question, exp.Select]:
    """A question is explained, asked, written back and asked again: what was parsed last is kept."""
    return _kept(text) if len(text) <= SHORT else _kept_long(text)


@lru_cache(maxsize=256)
def _kept(text: str) -> tuple[Question, exp.Select]:
    return _read(text)


@lru_cache(maxsize=16)
def _kept_long(text: str) -> tuple[Question, exp.Select]:
    return _read(text)


def _read(text: str) -> tuple[Question, exp.Select]:
    try:
        select = _statement(text)
        with_plain_names(select)
        return _question(select), select
    except RecursionError:
        raise too_deep(DEEPEST) from None


def _question(select: exp.Select) -> Question:
    refuse_by_kind(select)
    only(select, *CLAUSES)
    table, alias = read_from(select, read_with(select))
    where = select.args.get("where")
    group = select.args.get("group")
    selected = tuple(_selected(node, alias) for node in select.expressions)
    keys: tuple[Expression, ...] = ()
    kept: int | None = None
    if group is not None:
        nodes, kept = keys_written(group)
        keys = tuple(_grouped_by(node, selected, alias) for node in nodes)
        if group.args.get("all"):
            keys = tuple(item.expression for item in selected if isinstance(item, SelectedKey))
        elif not keys:
            raise not_supported("GROUP BY without a column", "Name the columns, or leave out GROUP BY.")
    values = [value for item in selected for value in _written_in(item)]
    condition = None if where is None else read_condition(where.this, alias, 0)
    _check_size(*keys, *values, condition, *expressions_in(table))
    rolled = () if kept is None else tuple(range(len(keys) - 1, kept - 1, -1))
    after = _after(select, selected, alias, rolled)
    _check_size(after.having)
    return Question(table=table, selected=selected, where=condition, keys=keys, after=after)


def _written_in(item: Selected) -> list[Expression | None]:
    match item:
        case SelectedKey(expression=expression):
            return [expression]
        case SelectedCall(call=call):
            return [getattr(call, "value", None)]
        case SelectedFormula(formula=formula, parts=parts):
            return [formula, *(getattr(part.call.call, "value", None) for part in parts)]


def _check_size(*written: Expression | Condition | None) -> None:
    """Before anything walks over it: what is written once may stand in the plan many times."""
    if sum(size(node) for node in written if node is not None) > MOST_NODES:
        raise too_large(MOST_NODES)


@reading
def _grouped_by(node: exp.Expr, selected: tuple[Selected, ...], alias: str) -> Expression:
    """A column, an expression, or the place of one in the SELECT list."""
    if isinstance(node, exp.Literal) and not node.is_string:
        item = _at(node.this, selected, "GROUP BY")
        if not isinstance(item, SelectedKey):
            raise not_supported(f"GROUP BY {node.this[:40]}", "An aggregate cannot be grouped by.")
        return item.expression
    if not is_row_expression(node):
        refuse(node)
    return read_expression(node, alias, 0)


def _at(place: str, selected: tuple[Selected, ...], clause: str) -> Selected:
    if not place.isdecimal() or len(place) > 4 or not 1 <= int(place) <= len(selected):
        raise not_supported(f"{clause} {place[:40]}", f"There are {len(selected)} columns.")
    return selected[int(place) - 1]


def _after(select: exp.Select, selected: tuple[Selected, ...], alias: str, rolled: tuple[int, ...]) -> After:
    """ROLLUP, HAVING, ORDER BY, LIMIT and OFFSET, in terms of the columns of the answer."""
    having, order, limit, offset = (select.args.get(part) for part in ("having", "order", "limit", "offset"))
    condition = None
    if having is not None:
        named = having.this.transform(lambda node: _by_name(node, selected, alias))
        condition = read_condition(named, alias, 0)
    orders = []
    for node in order.expressions if order is not None else ():
        only(node, "this", "desc", "nulls_first")
        by = _ordered_by(node.this, selected, alias)
        orders.append(Order(by, bool(node.args.get("desc")), bool(node.args.get("nulls_first"))))
    return After(condition, tuple(orders), _whole(limit), _whole(offset) or 0, rolled=rolled)


def _by_name(node: exp.Expr, selected: tuple[Selected, ...], alias: str, *, by_alias: bool = False) -> exp.Expr:
    """Columns, keys and aggregates become columns of the answer; everything else stays for the allow-list."""
    if isinstance(node, exp.Column) or is_aggregate(node) or _selected_name(node, selected, alias) is not None:
        return exp.column(exp.to_identifier(_output(node, selected, alias, by_alias=by_alias), quoted=True))
    return node


def _selected_name(node: exp.Expr, selected: tuple[Selected, ...], alias: str) -> str | None:
    """The column of the answer that shows this key."""
    if isinstance(node, exp.Column | exp.Literal) or not is_row_expression(node):
        return None
    computed = [item for item in selected if isinstance(item, SelectedKey) and not isinstance(item.expression, Column)]
    if not computed:
        return None
    try:
        meant = read_expression(node, alias, 0)
    except Refused:
        return None
    return next((item.name for item in computed if same(item.expression, meant)), None)


@reading
def _ordered_by(node: exp.Expr, selected: tuple[Selected, ...], alias: str) -> str | Expression:
    """A column of the answer, or what is computed from several."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return _at(node.this, selected, "ORDER BY").name
    inner = node.unnest()
    if isinstance(inner, exp.Column) or is_aggregate(inner) or _selected_name(inner, selected, alias) is not None:
        return _output(inner, selected, alias, by_alias=True)
    if is_formula(inner) and (name := _selected_formula(inner, selected, alias)) is not None:
        return name
    try:
        formula = read_expression(
            inner.transform(lambda part: _by_name(part, selected, alias, by_alias=True)), alias, 0
        )
        check_formula(formula)
    except Refused:
        if is_row_expression(inner):
            raise sorted_by_computed(shown(inner), [item.name for item in selected]) from None
        raise
    return formula


@reading
def _output(node: exp.Expr, selected: tuple[Selected, ...], alias: str, *, by_alias: bool = False) -> str:
    """The column of the answer that a name, a key or an aggregate means.

    by_alias: as in ORDER BY, where a bare name is first one after AS; in HAVING it is first a column of the table.
    """
    if isinstance(node, exp.Column):
        column = read_column(node, alias)
        names = {item.name.casefold(): item.name for item in selected}
        keys = {
            item.expression.name.casefold(): item.name
            for item in selected
            if isinstance(item, SelectedKey) and isinstance(item.expression, Column)
        }
        meant = keys | names if by_alias and not node.table else names | keys
        found = meant.get(column.name.casefold())
        if found is None:
            raise not_in_answer(column.name, names.values())
    elif is_row_expression(node):
        found = _selected_name(node, selected, alias)
        if found is None:
            raise sorted_by_computed(shown(node), [item.name for item in selected])
    else:
        call = read_call(node, None, alias).call
        found = next((item.name for item in selected if isinstance(item, SelectedCall) and item.call == call), None)
    if found is None:
        text = f"{shown(node, 'an aggregate')}, which is not in the answer,"
        raise not_supported(text, "Select it too; it costs a share of the spend.")
    return found


def _selected_formula(node: exp.Expr, selected: tuple[Selected, ...], alias: str) -> str | None:
    """The column of the answer that shows this formula."""
    formula = read_formula(node, None, alias)
    formulas = [item for item in selected if isinstance(item, SelectedFormula)]
    return next((item.name for item in formulas if _alike(item, formula)), None)


def _alike(one: SelectedFormula, other: SelectedFormula) -> bool:
    parts = ([(part.call.call, part.total) for part in item.parts] for item in (one, other))
    return one.formula == other.formula and next(parts) == next(parts)


@reading
def _whole(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    only(node, "expression")
    number = node.expression
    if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdecimal() or len(number.this) > 9:
        raise not_supported(f"this {type(node).__name__.upper()}", "Write a whole number after it.")
    return int(number.this)


def _statement(text: str) -> exp.Select:
    found = one_statement(text)
    if isinstance(found, exp.SetOperation):
        refuse_by_kind(found)
    if not isinstance(found, exp.Select):
        raise not_sql("it is not a SELECT")
    return found


def one_statement(text: str) -> exp.Expr:
    """A text as the parser takes it apart, after it has been measured; nothing in it is accepted yet."""
    if not isinstance(text, str):
        raise question_not_text(type(text).__name__)
    if len(text) > LONGEST:
        raise too_long(len(text), LONGEST)
    try:
        tokens = PARSING.tokenize(text)
    except Exception:  # noqa: BLE001 - see below
        raise not_sql("it cannot be read") from None
    _check_depth(tokens)
    refuse_foreign(tokens)
    try:
        statements = PARSING.parser().parse(tokens, text)
    except sqlglot.errors.ParseError as error:
        refused, place = not_sql(_where_it_stopped(error)), _place_of(error, text)
        raise (refused if place is None else about(refused, place)) from None
    except Exception:  # noqa: BLE001 - a parser fed with hostile text: whatever it raises, the text is refused
        raise not_sql("it cannot be read") from None
    found = [
        statement for statement in statements if statement is not None and not isinstance(statement, exp.Semicolon)
    ]
    if len(found) != 1:
        raise not_sql("it must be one statement") if found else not_sql("it is empty")
    return found[0]


def _check_depth(tokens: list[Token]) -> None:
    """Refuse what nests too deep, before the parser, some of whose rules take twice as long for each level."""
    run = joins = casts = 0
    costly: list[bool] = []  # of each open bracket: whether a word stands before it, or it is square
    before = ""
    for token in tokens:
        if token.token_type in OPENING:
            # Words of two parts count as well: DOUBLE PRECISION, USER-DEFINED.
            word = before[:1].isalpha() or before[:1] == "_"
            costly.append(token.text == "[" or (word and before not in HARMLESS))
        elif token.token_type in CLOSING and costly:
            costly.pop()
        run = run + 1 if token.token_type in PREFIX else 0
        joins += token.token_type in JOINS
        casts += token.token_type is TokenType.DCOLON
        if len(costly) + run > DEEPEST:
            raise too_deep(DEEPEST)
        if sum(costly) > MOST_CALLS:
            raise calls_too_deep(MOST_CALLS)
        if joins > MOST_JOINS:
            raise too_many_joins(MOST_JOINS)
        if casts > MOST_CASTS:
            raise too_many_casts(MOST_CASTS)
        before = " ".join(token.text.upper().split())


def _where_it_stopped(error: sqlglot.errors.ParseError) -> str:
    first = error.errors[0] if error.errors else {}
    told = str(first.get("description") or "")
    word = str(first.get("highlight") or "").strip()
    if word == ")" and told.startswith(("Required", "The number of provided arguments")):
        return f"a call has too {'few' if told.startswith('Required') else 'many'} arguments"
    return f"it stops making sense at {word[:40]!r}" if word else "it ends too early"


def _place_of(error: sqlglot.errors.ParseError, text: str) -> tuple[int, int] | None:
    """The word at which the parser stopped; it tells what stands around it."""
    before, word, after = (str(error.errors[0].get(part) or "") if error.errors else "" for part in AROUND)
    start = text.find(f"{before}{word}{after}") + len(before)
    return (start, start + len(word)) if word.strip() and text[start:].startswith(word) else None


@reading
def _selected(node: exp.Expr, alias: str) -> Selected:
    name = None
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        name, node = read_name(node.args["alias"]), node.this
        if not name.isprintable():
            raise not_supported("a column name with control characters", "Use printable characters after AS.")
    node = node.unnest()
    if isinstance(node, exp.Column):
        return SelectedKey(name or node.name, read_column(node, alias))
    if is_formula(node):
        return read_formula(node, name, alias)
    if is_row_expression(node):
        return SelectedKey(name or label(node), read_expression(node, alias, 0))
    return read_call(node, name, alias)
