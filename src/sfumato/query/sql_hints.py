"""Common mistakes of a parsed text: the reason, and the nearest thing that works, written out where it can be."""

from sqlglot import exp

from sfumato.errors import Refused, not_supported
from sfumato.plan.functions import FUNCTIONS
from sfumato.query.sql_functions import NODES
from sfumato.query.sql_instead import BY_NAME, KINDS, PARTS
from sfumato.query.wordings import function_unknown, refused_because

LONGEST_SHOWN = 80
COUNTED_IN = "COUNT(CASE WHEN {} THEN 1 END)"
ANSWERS = "and compute with the answer yourself: that costs nothing more."

AGGREGATES = (
    *("COUNT", "SUM", "AVG", "MEAN", "VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP"),
    *("MEDIAN", "QUANTILE", "MIN", "MAX", "MODE", "HISTOGRAM", "CDF"),
)
CONDITIONS = ("STARTS_WITH", "ENDS_WITH", "CONTAINS")
ROW_FUNCTIONS = (*FUNCTIONS, "BIN", "EXTRACT", "IF", *CONDITIONS)
WORKS = (
    "What works: SELECT keys, COUNT(*), COUNT(x), COUNT(DISTINCT x), SUM(x), AVG(x), VARIANCE(x), STDDEV(x), "
    "MEDIAN(x), QUANTILE(x, q), MIN(x), MAX(x), MODE(x), HISTOGRAM(x, bins), CDF(x, points) FROM table WHERE … "
    "GROUP BY keys HAVING … ORDER BY … LIMIT n."
)


def shown(node: exp.Expr, otherwise: str = "…") -> str:
    """As the parser writes it, if that is short and printable."""
    text = node.sql(comments=False)
    return text if len(text) <= LONGEST_SHOWN and text.isprintable() else otherwise


def is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and called(node) in AGGREGATES)


def refused_part(node: exp.Expr, part: str) -> Refused:
    """Of a node that carries a part it may not have."""
    if part in ("db", "catalog"):
        nearest = f"Ask FROM {shown(node.this)}." if isinstance(node, exp.Table) else "Write table.column, or column."
        return refused_because("a name of three parts or of a schema", "tables have plain names", nearest)
    if isinstance(node, exp.Fetch):
        number = node.args.get("count")
        return refused_because(
            "FETCH", "LIMIT says the same", f"Write LIMIT {'10' if number is None else shown(number, '10')}."
        )
    if part in PARTS:
        return PARTS[part].refusal()
    if isinstance(node, exp.Count):
        return refused_because("COUNT of several", "it counts one expression", "Write COUNT(*), COUNT(x) or COUNT(y).")
    if isinstance(node, exp.Func):
        return refused_because(
            f"this form of {called(node)}", "it has a part too many", f"Write it like {called(node)}(x)."
        )
    return not_supported(f"{part.rstrip('_').replace('_', ' ').upper()} here", WORKS)


def _is_value(node: exp.Expr) -> bool:
    """Whether it is made of known parts and computes a value."""
    known = isinstance(node, exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Case | exp.If | exp.Extract)
    return known or type(node) in NODES or called(node) == "BIN"


def refused_constant(node: exp.Expr) -> Refused:
    """Of what stands where a constant is needed."""
    if isinstance(node, exp.Column) or _is_value(node):
        return refused_because(
            f"{shown(node, 'this')} here", "a constant is needed", "Write 30, 'text', true or DATE '2024-01-31' there."
        )
    return refusal(node)


def refused_condition(node: exp.Expr) -> Refused:
    """Of what stands where a condition is needed."""
    match node.unnest():
        case exp.Boolean() | exp.Literal() | exp.Null():
            return refused_because(
                "a constant as a condition", "it holds for every row or for none", "Leave it out, or compare a column."
            )
        case exp.Column() as column:
            name = shown(column, "x")
            return refused_because(
                f"{name} alone as a condition",
                "a column is a value",
                f"Compare it: {name} = true, {name} = 'yes' or {name} > 0; {name} IS NOT NULL.",
            )
        case exp.Is(this=operand, expression=exp.Boolean(this=value)):
            word = "TRUE" if value else "FALSE"
            nearest = f"Write {shown(operand, 'x')} = {word.lower()}."
            return refused_because(f"IS {word}", "only IS NULL is known", nearest)
        case inner if _is_value(inner):
            return refused_because("a value as a condition", "a condition compares", f"Compare it: {shown(node)} > 0.")
        case _:
            return refusal(node)


def refusal(node: exp.Expr) -> Refused:
    """Of what stands where a value or an aggregate is needed."""
    match node:
        case exp.Star() | exp.Column(this=exp.Star()):
            return _star(node)
        case exp.Null():
            return _null(node)
        case exp.Filter():
            return _filter()
        case exp.Cast(this=inner):
            value = shown(inner, "x")
            return refused_because(
                "a cast",
                "it can fail on a single row, and columns have their declared types",
                f"Leave it out: {value}. ROUND({value}) and FLOOR({value}) are whole, DATE '2024-01-31' is a date.",
            )
        case exp.Distinct():
            call = called(node.parent) if isinstance(node.parent, exp.Func) else "SUM"
            value = shown(node.expressions[0], "x") if len(node.expressions) == 1 else "x"
            return refused_because(
                f"{call}(DISTINCT …)",
                "rows are added up, not different values",
                f"Write {call}({value}); COUNT(DISTINCT {value}) counts different values.",
            )
        case exp.Literal(is_string=True):
            return refused_because(
                "a text in quotes here",
                "it names nothing",
                'Names stand without quotes, or in double ones: "my age".',
            )
        case exp.Tuple(parent=exp.Group()):
            return refused_because("a bracket here", "keys stand side by side", "Write GROUP BY a, b.")
    if type(node) in KINDS:
        return KINDS[type(node)].refusal()
    if (found := BY_NAME.get(called(node))) is not None:
        return found.refusal(called(node))
    if is_aggregate(node):
        return _aggregate(node)
    inner = [part for part in node.find_all(exp.AggFunc, exp.Anonymous) if is_aggregate(part)]
    if inner and not isinstance(node, exp.Query):
        return _of_answers(node, inner)
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not) or called(node) in CONDITIONS:
        return _condition(node)
    if _is_value(node) or isinstance(node, exp.Literal | exp.Boolean):
        return refused_because(
            f"{shown(node)} here", "a column or an aggregate is needed", "Ask for COUNT(*), AVG(x) or another of them."
        )
    if isinstance(node, exp.Func):
        return function_unknown(called(node), (*AGGREGATES, *ROW_FUNCTIONS), ROW_FUNCTIONS)
    return not_supported(shown(node, "this expression"), WORKS)


def called(node: object) -> str:
    """What a function is called."""
    if isinstance(node, exp.Anonymous):
        return str(node.this)[:40].upper()
    return type(node).sql_name() if isinstance(node, exp.Func) else ""


def _star(node: exp.Expr) -> Refused:
    call = node.find_ancestor(exp.Func, exp.Select)
    if isinstance(call, exp.Func):
        name = called(call)
        if isinstance(node.parent, exp.Distinct):
            return refused_because(
                "COUNT(DISTINCT *)", "it counts the values of one column", "Write COUNT(DISTINCT x)."
            )
        if isinstance(call, exp.Count):
            return refused_because("COUNT of a table", "it counts rows or values", "Write COUNT(*) or COUNT(x).")
        return refused_because(f"{name}(*)", "only COUNT counts rows", f"Name a column: {name}(x); or write COUNT(*).")
    return refused_because(
        "SELECT *",
        "rows never leave",
        "Ask for aggregates: SELECT COUNT(*), AVG(x) FROM table, or SELECT key, COUNT(*) FROM table GROUP BY key.",
    )


def _null(node: exp.Null) -> Refused:
    compared = node.parent
    if isinstance(compared, exp.EQ | exp.NEQ):
        other = compared.expression if compared.this is node else compared.this
        test = "IS NULL" if isinstance(compared, exp.EQ) else "IS NOT NULL"
        return refused_because("comparing with NULL", "nothing equals NULL", f"Write {shown(other, 'x')} {test}.")
    return refused_because(
        "NULL here", "it is no value", "Test for it with x IS NULL; CASE without ELSE and NULLIF(x, 0) make one."
    )


def _filter() -> Refused:
    return refused_because(
        "this FILTER",
        "it stands behind one aggregate of one column",
        "Write COUNT(*) FILTER (WHERE age > 30), or put the condition into CASE: "
        "SUM(CASE WHEN age > 30 THEN income END).",
    )


def _aggregate(node: exp.Expr) -> Refused:
    """Of an aggregate that is not known, or stands where a row is looked at."""
    text = shown(node, called(node))
    around = node.find_ancestor(exp.AggFunc, exp.Where, exp.Group, exp.Anonymous, exp.Select)
    if isinstance(around, exp.AggFunc | exp.Anonymous):
        return refused_because(
            f"{text} inside {called(around)}",
            "an aggregate is not of a row",
            f"Select {text} {ANSWERS} Of each person's rows, add up in a sub-query with GROUP BY the unit id.",
        )
    if isinstance(around, exp.Where):
        return refused_because(
            f"{text} in WHERE",
            "rows would be compared with an answer without noise",
            f"Ask for {text} first and write the number it gives; conditions on answers stand in HAVING.",
        )
    if isinstance(around, exp.Group):
        return refused_because(f"GROUP BY {text}", "an aggregate is not of a row", "Group by columns.")
    if isinstance(node, exp.Anonymous) and isinstance(node.parent, exp.Expr) and _is_value(node.parent):
        return _of_answers(node.parent, [node])
    return not_supported(text, WORKS)


def _of_answers(node: exp.Expr, inner: list[exp.Expr]) -> Refused:
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not):
        return refused_because(
            "a condition on answers here",
            "SELECT shows keys and numbers",
            "Put it after HAVING, or test the answer.",
        )
    parts = list(dict.fromkeys(shown(part) for part in inner))
    nearest = f"Select {' and '.join(parts)} {ANSWERS}"
    return refused_because("computing with answers like this", "the noise is in them already", nearest)


def _condition(node: exp.Expr) -> Refused:
    """Of a condition where a value is needed."""
    condition = shown(node)
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    written = f"CASE WHEN {condition} THEN 1 ELSE 0 END"
    if isinstance(around, exp.Count):
        written = COUNTED_IN.format(condition)
    elif isinstance(around, exp.AggFunc):
        written = f"{called(around)}({written})"
    return refused_because("a condition as a value", "true and false are no numbers", f"Write {written}.")
