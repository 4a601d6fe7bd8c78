"""Functions of a parsed text, by an allow-list: which node of the parser is which function, and its parts in order."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from sfumato.plan.expressions import Arithmetic, Call, Column, Expression, Negative, Number, String
from sfumato.plan.functions import FunctionName
from sfumato.query.bind_functions import make_call
from sfumato.query.wordings import argument_wrong

Read = Callable[[exp.Expr], Expression]

# The parts of a node that are arguments, in the order of `plan.functions`.
NODES: dict[type[exp.Expr], tuple[FunctionName, tuple[str, ...]]] = {
    exp.Abs: ("ABS", ("this",)),
    exp.Round: ("ROUND", ("this", "decimals")),
    exp.Floor: ("FLOOR", ("this",)),
    exp.Ceil: ("CEIL", ("this",)),
    exp.Sign: ("SIGN", ("this",)),
    exp.Least: ("LEAST", ("this", "expressions")),
    exp.Greatest: ("GREATEST", ("this", "expressions")),
    exp.Sqrt: ("SQRT", ("this",)),
    exp.Ln: ("LN", ("this",)),
    exp.Log: ("LOG10", ("this",)),
    exp.Exp: ("EXP", ("this",)),
    exp.Pow: ("POWER", ("this", "expression")),
    exp.Mod: ("MOD", ("this", "expression")),
    exp.Upper: ("UPPER", ("this",)),
    exp.Lower: ("LOWER", ("this",)),
    exp.Trim: ("TRIM", ("this",)),
    exp.Length: ("LENGTH", ("this",)),
    exp.Substring: ("SUBSTRING", ("this", "start", "length")),
    exp.Left: ("LEFT", ("this", "expression")),
    exp.Right: ("RIGHT", ("this", "expression")),
    exp.Concat: ("CONCAT", ("expressions",)),
    exp.DPipe: ("CONCAT", ("this", "expression")),
    exp.Replace: ("REPLACE", ("this", "expression", "replacement")),
    exp.Year: ("YEAR", ("this",)),
    exp.Quarter: ("QUARTER", ("this",)),
    exp.Month: ("MONTH", ("this",)),
    exp.Week: ("WEEK", ("this",)),
    exp.Day: ("DAY", ("this",)),
    exp.DayOfMonth: ("DAY", ("this",)),
    exp.DayOfWeek: ("DAYOFWEEK", ("this",)),
    exp.DayOfWeekIso: ("ISODOW", ("this",)),
    exp.DayOfYear: ("DAYOFYEAR", ("this",)),
    exp.DateTrunc: ("DATE_TRUNC", ("unit", "this")),
    exp.DateDiff: ("DATE_DIFF", ("this", "expression", "unit")),
    exp.Coalesce: ("COALESCE", ("this", "expressions")),
    exp.Nullif: ("NULLIF", ("this", "expression")),
}
# How the parser marks what a function does with NULL anyway; we say that ourselves.
MARKS = ("safe", "ignore_nulls", "coalesce")
EXTRACTED: dict[str, FunctionName] = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAY": "DAY",
    "DOW": "DAYOFWEEK",
    "DAYOFWEEK": "DAYOFWEEK",
    "ISODOW": "ISODOW",
    "DOY": "DAYOFYEAR",
    "DAYOFYEAR": "DAYOFYEAR",
}


def read_function(node: exp.Expr, read: Read) -> Call:
    """A node of the table; `read` reads its arguments."""
    name, places = NODES[type(node)]
    if isinstance(node, exp.Log) and node.args.get("expression") is not None:
        return make_call("LOG10", (read(_of_base_ten(node)),))
    arguments: list[Expression] = []
    for place in places:
        found = node.args.get(place)
        given = found if isinstance(found, list) else [found] if found is not None else []
        arguments += [_named(one) if isinstance(one, exp.Var) else _folded(read(one)) for one in given]
    if name == "ROUND" and len(arguments) == 1:
        arguments.append(Number(Fraction(0)))
    return make_call(name, tuple(arguments))


def read_extract(node: exp.Extract, read: Read) -> Call:
    """EXTRACT(part FROM x)."""
    part = str(node.this.name).upper()
    if part not in EXTRACTED:
        raise argument_wrong("EXTRACT", f"one of {', '.join(EXTRACTED)}")
    return make_call(EXTRACTED[part], (read(node.expression),))


def read_bin(node: exp.Anonymous, read: Read) -> Expression:
    """BIN(x, width): the multiple of the width at or below x."""
    arguments = [_folded(read(one)) for one in node.expressions]
    if len(arguments) != 2 or not isinstance(arguments[1], Number) or arguments[1].value <= 0:
        raise argument_wrong("BIN", "an expression and a width above 0")
    value, width = arguments
    return Arithmetic("*", Call("FLOOR", (Arithmetic("/", value, width),)), width)


def _of_base_ten(node: exp.Log) -> exp.Expr:
    base = node.this
    if not isinstance(base, exp.Literal) or base.is_string or Decimal(base.this) != 10:
        raise argument_wrong("LOG", "one argument (base 10); LN is the natural logarithm")
    argument: exp.Expr = node.expression
    return argument


def _folded(value: Expression) -> Expression:
    """A minus before a number belongs to it."""
    if isinstance(value, Negative) and isinstance(value.operand, Number):
        return Number(-value.operand.value)
    return value


def _named(node: exp.Var) -> Expression:
    """The parser takes the last argument of DATE_DIFF for a unit: a date is still one, anything else names a column."""
    text = str(node.this)
    return String(text) if text[:1].isdigit() and text.isprintable() else Column(text)
